/* main.c - ops-pod-cleaner: finds the command, reads its options, runs it. */
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/instance/answers.h"
#include "cli/view/output.h"
#include "config/config_print.h"

static int help_command(const struct command *c)
{
	printf("usage: ops-pod-cleaner %s %s\n\n%s.\n%s", c->name, c->usage, c->summary,
	       c->options[0].help ? "\n" : "");
	for (const struct option_use *use = c->options; use->help; use++)
		options_help(use, stdout);
	if (c->notes)
		printf("\n%s", c->notes);
	return EXIT_CODE_OK;
}

static int help(FILE *out, int code)
{
	const struct command *c;

	(void)fprintf(out, "usage: ops-pod-cleaner [--language LOCALE] COMMAND [options]\n\n"
			   "A Kubernetes janitor: deletes evicted pods, force-deletes pods stuck in\n"
			   "Terminating where that is safe, scales to zero what cannot pull its image, and\n"
			   "reports what restarts too often.\n\n");
	for (size_t i = 0; (c = command_at(i)); i++)
		if (!c->hidden)
			(void)fprintf(out, "  %-10s %s\n", c->name, c->summary);
	(void)fprintf(out, "\n`ops-pod-cleaner COMMAND --help` lists the options of one.\n");
	return code;
}

static int unknown(const char *name)
{
	const struct command *c;
	const char *best = NULL;
	size_t best_distance = strlen(name) < 6 ? strlen(name) / 2 + 1 : 4; /* of "top" none is near */

	for (size_t i = 0; (c = command_at(i)); i++) {
		const size_t d = str_distance(name, c->name);

		if (d < best_distance) {
			best_distance = d;
			best = c->name;
		}
	}
	_cleanup_free_ char *meant = best ? xasprintf(TEXT(DID_YOU_MEAN), best) : xstrdup("");

	output_complain(NULL, TEXT(UNKNOWN_COMMAND), name, meant);
	return EXIT_CODE_USAGE;
}

/* One of several that are shown as one (cli/instance/answers.h): it hands its answers on, or shows all. */
static int run_joined(const struct command *c, const struct options *o)
{
	const int read = o->answers ? EXIT_CODE_OK : answers_read(stdin);

	if (o->answers)
		answers_record();
	const int code = read == EXIT_CODE_USAGE ? read : c->run(o);

	if (o->answers && answers_print() < 0)
		return EXIT_CODE_FAILURE;
	return code == EXIT_CODE_OK ? read : code;
}

static int run(const struct command *c, int argc, char **argv)
{
	char err[OPTIONS_TEXT_MAX];
	struct options o;
	const int r = options_parse(c->options, c->max_args, c->one_dash, argc, argv, &o, err);

	o.command = c->name;
	if (r < 0)
		return command_misuse(&o, "%s", err);
	if (r > 0)
		return help_command(c);
	output_expect_json(!o.quiet && !o.answers && (o.output == OUTPUT_JSON || o.form == REPORT_FORM_JSON));
	return o.answers || o.with_answers ? run_joined(c, &o) : c->run(&o);
}

/* "--language zh" before the command beats the environment, which `kubectl exec` cannot hand on. Returns how
 * many words that was, or -1 when its value is missing. */
static int take_language(int argc, char **argv)
{
	static const char option[] = "--language";
	const size_t n = sizeof(option) - 1;
	const char *word = argc > 1 ? argv[1] : "";

	if (strncmp(word, option, n) != 0 || (word[n] != '\0' && word[n] != '='))
		return 0;
	const char *locale = word[n] == '=' ? word + n + 1 : argc > 2 ? argv[2] : NULL;

	if (!locale || setenv("LC_ALL", locale, 1) < 0)
		return -1;
	return word[n] == '=' ? 1 : 2;
}

/* Whoever asked for JSON gets it also where the options cannot be read. */
static bool asks_for_json(int argc, char **argv)
{
	static const char *const words[] = { "-ojson", "-o=json", "--output=json" };
	bool asks = false;

	for (int i = 1; i < argc; i++) {
		const char *before = argv[i - 1];

		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			asks = asks || strcmp(argv[i], words[k]) == 0;
		asks = asks || (strcmp(argv[i], "json") == 0 &&
				(strcmp(before, "-o") == 0 || strcmp(before, "--output") == 0));
	}
	return asks;
}

/* One of the three that is closed would be the number of the next socket or file, to which would be written
 * what is meant for the reader. As it stands here it cannot be used, which is told. */
static void hold_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	hold_standard();
	const int taken = take_language(argc, argv);
	const struct command *c;

	argc -= taken > 0 ? taken : 0;
	argv += taken > 0 ? taken : 0;
	const char *name = taken >= 0 && argc > 1 ? argv[1] : NULL;

	output_expect_json(asks_for_json(argc, argv));
	if (!name)
		return output_flush(help(stderr, EXIT_CODE_USAGE));
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return output_flush(help(stdout, EXIT_CODE_OK));
	if (strcmp(name, "--version") == 0)
		name = "version";
	if (strcmp(name, "--help-config") == 0) /* the original's */
		return config_print_help(stdout), output_flush(EXIT_CODE_OK);
	for (size_t i = 0; (c = command_at(i)); i++)
		if (strcmp(name, c->name) == 0)
			return output_flush(run(c, argc - 1, argv + 1));
	return output_flush(unknown(name));
}
