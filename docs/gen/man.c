/* man.c - prints docs/man/ops-pod-cleaner.1 from the table of commands. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "cli/command.h"

/* Text for roff: no request at the beginning of a line, no hyphenation of options. */
static void put(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((i == 0 || s[i - 1] == '\n') && (s[i] == '.' || s[i] == '\''))
			(void)fputs("\\&", stdout);
		if (s[i] == '\\')
			(void)fputs("\\e", stdout);
		else if (s[i] == '-')
			(void)fputs("\\-", stdout);
		else
			(void)fputc(s[i], stdout);
	}
}

static void put_text(const char *s)
{
	put(s, strlen(s));
}

static void put_option(const struct option_use *use)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		abort();
	options_help(use, f);
	(void)fclose(f);
	put_text(text);
	free(text);
}

static void put_command(const struct command *c)
{
	(void)fputs(".SS ", stdout);
	put_text(c->name);
	(void)fputs("\n.B ops\\-pod\\-cleaner ", stdout);
	put_text(c->name);
	if (c->usage[0])
		(void)fputc(' ', stdout);
	put_text(c->usage);
	(void)fputs("\n.PP\n", stdout);
	put_text(c->summary);
	(void)fputs(".\n", stdout);
	if (c->options[0].help || c->notes)
		(void)fputs(".PP\n.nf\n", stdout);
	for (const struct option_use *use = c->options; use->help; use++)
		put_option(use);
	if (c->options[0].help && c->notes)
		(void)fputc('\n', stdout);
	if (c->notes)
		put_text(c->notes);
	if (c->options[0].help || c->notes)
		(void)fputs(".fi\n", stdout);
}

static void put_codes(void)
{
	static const struct {
		int code;
		const char *text;
	} codes[] = {
		{ EXIT_CODE_OK, "all went well" },
		{ EXIT_CODE_FAILURE, "what was asked is not there, or was not done" },
		{ EXIT_CODE_DUE, "plan --detailed-exitcode: something is due" },
		{ EXIT_CODE_USAGE, "wrong command line" },
		{ EXIT_CODE_DATA, "a file that was named is not what it should be" },
		{ EXIT_CODE_UNAVAILABLE, "no running instance, or it does not answer" },
		{ EXIT_CODE_INTERNAL, "a bug" },
		{ EXIT_CODE_RESOURCE, "out of memory, descriptors or processes" },
		{ EXIT_CODE_TEMPORARY, "try again" },
		{ EXIT_CODE_CREDENTIAL,
		  "the credential is refused, or permission denied at the control socket" },
		{ EXIT_CODE_CONFIG, "the configuration is wrong, or a requirement is not met" },
	};

	(void)fputs(".SH EXIT STATUS\n", stdout);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		printf(".TP\n.B %d\n%s\n", codes[i].code, codes[i].text);
}

int main(void)
{
	const struct command *c;

	(void)fputs(
		".\\\" Generated from cli/commands.c; do not edit.\n"
		".TH OPS\\-POD\\-CLEANER 1 \"\" \"\" \"ops\\-pod\\-cleaner\"\n"
		".SH NAME\nops\\-pod\\-cleaner \\- a Kubernetes janitor\n"
		".SH SYNOPSIS\n.B ops\\-pod\\-cleaner\n.I COMMAND\n[options]\n"
		".SH DESCRIPTION\n"
		"Deletes evicted pods, force\\-deletes pods stuck in Terminating where that is safe, scales "
		"to zero what "
		"cannot pull its image, and reports what restarts too often. Every act is judged by rules "
		"with a reason, "
		"written down before it is done, and can be looked at; a scale\\-down can be taken back.\n"
		".SH COMMANDS\n",
		stdout);
	for (size_t i = 0; (c = command_at(i)); i++)
		if (!c->hidden)
			put_command(c);
	put_codes();
	(void)fputs(".SH FILES\n.TP\n.I /etc/ops\\-pod\\-cleaner/config.yml\nthe configuration\n"
		    ".TP\n.I /var/lib/ops\\-pod\\-cleaner\nthe history\n"
		    ".TP\n.I /run/ops\\-pod\\-cleaner/control.sock\nwhere the commands ask\n",
		    stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}
