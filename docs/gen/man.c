/* man.c - prints a manual page: `gen_man 8` that of the program, from the table of commands; `gen_man 5` that
 * of its configuration, from config/settings.def. */
// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "build_id.h"
#include "cli/commands/command.h"
#include "config/config_print.h"

/* A row of a list: what stands alone on its line, and what it means. */
struct entry {
	const char *name, *text;
};

static const struct entry environment[] = {
	{ "KUBECONFIG", "kubeconfig files, separated by colons; before the pod's service account and "
			"~/.kube/config, after --kubeconfig and the configuration." },
	{ "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT",
	  "set in a pod: the API server, for the service account of that pod." },
	{ "POD_NAME, POD_NAMESPACE", "set in a pod by the downward API: what the leader election calls this "
				     "instance, and the namespace that is protected." },
	{ "SSL_CERT_FILE",
	  "certificates to trust instead of the system's, where kubeconfig or sink names none." },
	{ "TZ, TZDIR", "the local time zone, and where the zones are." },
	{ "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR, HOME",
	  "where configuration, history and control socket are for a user who is not root." },
	{ "OPC_LOG_LEVEL", "debug, info, warn or error; info by default." },
	{ "OPC_LOG_FORMAT", "json or text; text on a terminal, json elsewhere." },
	{ "JOURNAL_STREAM, NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID",
	  "set by systemd: log lines carry their priority, readiness and signs of life are sent." },
	{ "COLUMNS, TERM, NO_COLOR", "width of the tables; whether there are colors." },
	{ "LC_ALL, LC_MESSAGES, LANG", "the first that is set decides the language of sentences: Chinese for "
				       "zh_CN.UTF-8 and the like, else "
				       "English; `--language` LOCALE before the command beats them. JSON, "
				       "codes, names of columns, --help and "
				       "the log are in English." },
	{ "SUDO_USER", "who paused, when it was done with sudo." },
	{ NULL, NULL },
};

static const struct entry signals[] = {
	{ "SIGTERM, SIGINT, SIGQUIT", "drain and end; a second one ends at once." },
	{ "SIGHUP", "load the settings again; all processes take them or none does." },
	{ "SIGUSR1", "dump the state to the log." },
	{ "SIGKILL",
	  "may hit any of the processes at any time: nothing that was done is forgotten, nothing is "
	  "done twice." },
	{ NULL, NULL },
};

static const struct entry files[] = {
	{ "/etc/ops-pod-cleaner/config.yml", "the configuration: ops-pod-cleaner.yml(5)." },
	{ "/etc/ops-pod-cleaner/kubeconfig", "cluster and credential, for the systemd unit." },
	{ "/var/lib/ops-pod-cleaner", "the history and what must outlast a restart." },
	{ "/run/ops-pod-cleaner/control.sock",
	  "control socket of the commands. Write permission on it is permission to command." },
	{ "/run/ops-pod-cleaner/read.sock",
	  "where members of the group ops-pod-cleaner ask, who may look and change nothing." },
	{ "/etc/ops-pod-cleaner/NAME.yml, /etc/ops-pod-cleaner/NAME.kubeconfig, "
	  "/var/lib/ops-pod-cleaner@NAME, "
	  "/run/ops-pod-cleaner@NAME/control.sock",
	  "the same for the unit ops-pod-cleaner@NAME.service, an instance for one cluster." },
	{ NULL, NULL },
};

static const struct entry examples[] = {
	{ "ops-pod-cleaner config check /etc/ops-pod-cleaner/config.yml",
	  "check the file; print where each duty works." },
	{ "ops-pod-cleaner plan -n shop", "due actions there, and why." },
	{ "ops-pod-cleaner explain shop/web-595d85dffb-k2cx4 --rules",
	  "why the program acts on this pod, or does not." },
	{ "ops-pod-cleaner pause errImagePull --for 2h --reason 'incident 17'",
	  "scale nothing down for now." },
	{ "ops-pod-cleaner history --since 6h --outcome done", "actions that were done; then show ID." },
	{ "ops-pod-cleaner restore --since 1h --dry-run", "which replicas would come back." },
	{ NULL, NULL },
};

static const struct {
	int code;
	const char *text;
} codes[] = {
	{ EXIT_CODE_OK, "all went well" },
	{ EXIT_CODE_FAILURE, "not found, or not done; status: there is trouble" },
	{ EXIT_CODE_DUE, "plan --detailed-exitcode: something is due" },
	{ EXIT_CODE_USAGE, "wrong command line" },
	{ EXIT_CODE_DATA, "a file that was named is not what it should be" },
	{ EXIT_CODE_UNAVAILABLE, "no running instance, or it does not answer" },
	{ EXIT_CODE_INTERNAL, "a bug" },
	{ EXIT_CODE_RESOURCE, "out of memory, descriptors or processes" },
	{ EXIT_CODE_TEMPORARY, "try again" },
	{ EXIT_CODE_CREDENTIAL, "the credential is refused, or permission denied at the control socket" },
	{ EXIT_CODE_CONFIG, "the configuration is wrong, or a requirement is not met" },
};

/* Text for roff: no request at the beginning of a line, no hyphenation of options. */
static void put(const char *s)
{
	for (const char *at = s; *at; at++) {
		if ((at == s || at[-1] == '\n') && (*at == '.' || *at == '\''))
			(void)fputs("\\&", stdout);
		if (*at == '\\')
			(void)fputs("\\e", stdout);
		else if (*at == '-')
			(void)fputs("\\-", stdout);
		else
			(void)fputc(*at, stdout);
	}
}

/* What is printed for put(). */
struct held {
	FILE *f;
	char *text;
	size_t n;
};

static FILE *hold(struct held *h)
{
	*h = (struct held){ 0 };
	h->f = open_memstream(&h->text, &h->n);
	if (!h->f)
		abort();
	return h->f;
}

/* The caller frees it. */
static char *let_go(struct held *h)
{
	(void)fclose(h->f);
	return h->text;
}

static void put_held(struct held *h)
{
	char *text = let_go(h);

	put(text);
	free(text);
}

/* Running text, in lines of the width that mandoc recommends. */
static void put_prose(const char *s)
{
	struct held h;

	config_print_wrapped(hold(&h), s, 0, 72);
	put_held(&h);
}

/* Items that '|' or ',' divides, with room between them, where a line may break. */
static void print_items(const char *s, FILE *out)
{
	for (; *s; s++)
		(void)fprintf(out, *s == '|' ? " | " : *s == ',' ? ", " : "%c", *s);
}

static void put_head(const char *name, int section, const char *what)
{
	(void)fputs(".\\\" Generated by docs/gen/man.c; do not edit.\n.TH ", stdout);
	for (const char *at = name; *at; at++)
		(void)fputc(toupper((unsigned char)*at), stdout);
	printf(" %d %s ", section, OPC_RELEASED);
	printf("\"ops\\-pod\\-cleaner %s\" \"System Administration\"\n.SH NAME\n", OPC_VERSION);
	put(name);
	(void)fputs(" \\- ", stdout);
	put(what);
	(void)fputc('\n', stdout);
}

static void put_entries(const char *heading, char font, const struct entry *e)
{
	printf(".SH %s\n", heading);
	for (; e->name; e++) {
		printf(".TP\n.%c ", font);
		put(e->name);
		(void)fputc('\n', stdout);
		put_prose(e->text);
	}
}

static void put_option(const struct option_use *use)
{
	struct held h;

	options_help(use, hold(&h));
	put_held(&h);
}

static void put_command(const struct command *c)
{
	(void)fputs(".SS ", stdout);
	put(c->name);
	(void)fputs("\n.B ops\\-pod\\-cleaner ", stdout);
	put(c->name);
	if (c->usage[0])
		(void)fputc(' ', stdout);
	put(c->usage);
	(void)fputs("\n.PP\n", stdout);
	put(c->summary);
	(void)fputs(".\n", stdout);
	if (c->options[0].help || c->notes)
		(void)fputs(".PP\n.nf\n", stdout);
	for (const struct option_use *use = c->options; use->help; use++)
		put_option(use);
	if (c->options[0].help && c->notes)
		(void)fputs(".sp\n", stdout);
	if (c->notes)
		put(c->notes);
	if (c->options[0].help || c->notes)
		(void)fputs(".fi\n", stdout);
}

static void put_codes(void)
{
	(void)fputs(".SH EXIT STATUS\n", stdout);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		printf(".TP\n.B %d\n%s\n", codes[i].code, codes[i].text);
}

static void put_program(void)
{
	const struct command *c;

	put_head("ops-pod-cleaner", 8, "a Kubernetes janitor");
	(void)fputs(".SH SYNOPSIS\n.B ops\\-pod\\-cleaner\n[\n.B \\-\\-language\n.I LOCALE\n]\n.I "
		    "COMMAND\n[options]\n"
		    ".SH DESCRIPTION\n",
		    stdout);
	put_prose(
		"Deletes evicted pods, force-deletes pods stuck in Terminating where that is safe, scales to "
		"zero what cannot pull its image, and reports what restarts too often. Every act is judged "
		"by rules with a reason, written down before it is done, and can be looked at; a scale-down "
		"can be taken back.");
	(void)fputs(".SH COMMANDS\n", stdout);
	for (size_t i = 0; (c = command_at(i)); i++)
		if (!c->hidden)
			put_command(c);
	put_codes();
	put_entries("ENVIRONMENT", 'B', environment);
	put_entries("SIGNALS", 'B', signals);
	put_entries("FILES", 'I', files);
	put_entries("EXAMPLES", 'B', examples);
	(void)fputs(
		".SH SEE ALSO\n.BR ops\\-pod\\-cleaner.yml (5),\n.BR systemctl (1),\n.BR journalctl (1)\n",
		stdout);
}

/* What may be written, in what limits, and what holds when nothing is. */
static void print_value(const struct setting *row, FILE *out)
{
	print_items(config_type_name(row), out);
	if (row->kind == SET_COUNT || row->kind == SET_DURATION)
		config_print_range(row, out, ", ", "");
	if (row->kind == SET_REASONS && row->unit[0] != '\0') {
		(void)fputs(" of ", out);
		print_items(row->unit, out);
	}
	if (row->def[0] != '\0') {
		(void)fputs("; default ", out);
		print_items(row->def, out);
	}
	(void)fputc('.', out);
	if (row->flags & SETTING_FIXED)
		(void)fputs(" Changed by a restart, not by a reload.", out);
	if (row->flags & SETTING_SECRET)
		(void)fputs(" A secret: never shown.", out);
}

static void put_setting(const struct setting *row)
{
	const char *dot = strrchr(row->path, '.');
	struct held h;

	print_value(row, hold(&h));
	char *value = let_go(&h);

	(void)fputs(".TP\n.B ", stdout);
	put(dot ? dot + 1 : row->path);
	(void)fputc('\n', stdout);
	put_prose(row->doc);
	(void)fputs(".br\n", stdout);
	put_prose(value);
	free(value);
}

static void put_section(const struct setting *section)
{
	const size_t n = strlen(section->path);

	(void)fputs(".SS ", stdout);
	put(section->path);
	(void)fputc('\n', stdout);
	put_prose(section->doc);
	for (const struct setting *row = settings_table; row->path; row++)
		if (strncmp(row->path, section->path, n) == 0 && row->path[n] == '.' &&
		    !(row->flags & SETTING_DERIVED))
			put_setting(row);
}

static void put_rows(const char *heading, const char *text, const struct setting *row, bool top_only)
{
	(void)fputs(".SS ", stdout);
	put(heading);
	(void)fputc('\n', stdout);
	put_prose(text);
	for (; row->path; row++)
		if (!(row->flags & SETTING_DERIVED) && row->kind != SET_SECTION &&
		    !(top_only && strchr(row->path, '.')))
			put_setting(row);
}

static void put_file(void)
{
	put_head("ops-pod-cleaner.yml", 5, "configuration of ops-pod-cleaner");
	(void)fputs(".SH SYNOPSIS\n.I /etc/ops\\-pod\\-cleaner/config.yml\n"
		    ".SH DESCRIPTION\n",
		    stdout);
	put_prose(
		"One YAML file, read at the start and by `ops-pod-cleaner reload`. Keys are read without "
		"regard to "
		"case; an unknown key, a key given twice and a value out of its range are errors with file, "
		"line "
		"and column. A list is a YAML list or one text separated by commas. A duration is a number "
		"with "
		"a unit: 90s, 30m, 1h30m; a week is 168h. Every duty is off until it has `enable: true`. "
		"With "
		"`mode: observe` nothing is written to a cluster, and the history shows what would have been "
		"done.");
	(void)fputs(".PP\n", stdout);
	put_prose("Anchors, aliases and merge keys work; tags and several documents are refused; so is a "
		  "file above 1 MiB, or one "
		  "that anybody may change. A relative path starts in the folder of the file.");
	(void)fputs(".SH KEYS\n", stdout);
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->kind == SET_SECTION)
			put_section(row);
	put_rows("At the top of the file", "Keys of no section:", settings_table, true);
	put_rows("clusters", "A list; each item:", settings_cluster_table, false);
	put_rows("sinks", "A list; each item:", settings_sink_table, false);
	put_rows("overrides",
		 "A list; each item, and any key of a duty that may differ, in a section of the duty's name:",
		 settings_override_table, false);
	(void)fputs(".SH EXAMPLES\n.nf\nmode: observe\ndeleteEvictedPod:\n  enable: true\n"
		    "  namespaces: [\"team\\-*\", \"!team\\-x\"]\nerrImagePull:\n  enable: true\n"
		    "  namespaces: default,dev\n  hours: 24h\n.fi\n"
		    ".SH SEE ALSO\n.BR ops\\-pod\\-cleaner (8);\n"
		    ".B ops\\-pod\\-cleaner config help\nprints the same keys.\n",
		    stdout);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "8") == 0)
		put_program();
	else if (argc == 2 && strcmp(argv[1], "5") == 0)
		put_file();
	else
		return EXIT_CODE_USAGE;
	return fflush(stdout) == 0 ? 0 : 1;
}
