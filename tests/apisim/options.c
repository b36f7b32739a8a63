// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/options.h"
#include "tests/apisim/util.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: apisim [flags]\n"
	"  --listen HOST:PORT       IPv4 address and port; port 0 takes a free one (127.0.0.1:0)\n"
	"  --port-file FILE         where to write the port once requests are served\n"
	"  --tls-cert F --tls-key F serve TLS\n"
	"  --token TOKEN=USER[:[+]VERBS/RESOURCE[/SUB][@NAMESPACE]]...   may be given often; without any, "
	"all may do all\n"
	"  --request-log FILE       one JSON object a line\n"
	"  --log-answers            with the object each write answered\n"
	"  --fill N                 pods to begin with; --fill-seed S, --namespaces K, --nodes M\n"
	"  --fill-evicted N, --fill-terminating N, --fill-crashloop N   so many pods of them\n"
	"  --fill-pullfail N        so many Deployments whose pods cannot pull their image\n"
	"  --history N              events kept for watches (20000)\n"
	"  --watch-backlog N        events a watcher may lag behind before it is cut off (10000)\n"
	"  --bookmark-period MS     time between bookmarks (60000)\n"
	"  --clock-skew SECONDS     added to the server's time\n"
	"  --no-watchlist           refuse sendInitialEvents as an old server does\n";

enum takes { TEXT, NUMBER, SECONDS, LISTEN, TOKEN, FLAG, HELP };

static const struct row {
	const char *name;
	enum takes takes;
	size_t off; /* in struct options: const char *, uint64_t, double, or bool of a FLAG */
} rows[] = {
#define AT(member) offsetof(struct options, member)
	{ "listen", LISTEN, 0 },
	{ "port-file", TEXT, AT(port_file) },
	{ "tls-cert", TEXT, AT(tls_cert) },
	{ "tls-key", TEXT, AT(tls_key) },
	{ "token", TOKEN, 0 },
	{ "request-log", TEXT, AT(request_log) },
	{ "log-answers", FLAG, AT(log_answers) },
	{ "fill", NUMBER, AT(fill.pods) },
	{ "fill-seed", NUMBER, AT(fill.seed) },
	{ "namespaces", NUMBER, AT(fill.namespaces) },
	{ "nodes", NUMBER, AT(fill.nodes) },
	{ "fill-evicted", NUMBER, AT(fill.evicted) },
	{ "fill-terminating", NUMBER, AT(fill.terminating) },
	{ "fill-crashloop", NUMBER, AT(fill.crashloop) },
	{ "fill-pullfail", NUMBER, AT(fill.pullfail) },
	{ "history", NUMBER, AT(history) },
	{ "watch-backlog", NUMBER, AT(backlog) },
	{ "bookmark-period", NUMBER, AT(bookmark_ms) },
	{ "clock-skew", SECONDS, AT(clock_skew) },
	{ "no-watchlist", FLAG, AT(no_watchlist) },
	{ "help", HELP, 0 },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static uint64_t number(const char *flag, const char *text)
{
	int64_t n;

	if (!util_parse_int(text, &n) || n < 0)
		util_die(64, "--%s %s: a number that is not negative is wanted", flag, text);
	return (uint64_t)n;
}

static void set_listen(struct options *opt, const char *text)
{
	const char *colon = strrchr(text, ':');
	uint64_t port;

	if (!colon || colon == text)
		util_die(64, "--listen %s: HOST:PORT is wanted", text);
	port = number("listen", colon + 1);
	if (port > 65535)
		util_die(64, "--listen %s: a port is at most 65535", text);
	snprintf(opt->host, sizeof(opt->host), "%.*s", (int)(colon - text), text);
	opt->port = (uint16_t)port;
}

static void set(struct options *opt, const struct row *row, const char *text)
{
	void *to = (char *)opt + row->off;

	switch (row->takes) {
	case TEXT:
		*(const char **)to = text;
		break;
	case NUMBER:
		*(uint64_t *)to = number(row->name, text);
		break;
	case SECONDS:
		if (!util_parse_double(text, to))
			util_die(64, "--%s %s: a number of seconds is wanted", row->name, text);
		break;
	case LISTEN:
		set_listen(opt, text);
		break;
	case TOKEN:
		if (opt->token_count == TOKENS_MAX)
			util_die(64, "--token: at most %d", TOKENS_MAX);
		opt->tokens[opt->token_count++] = text;
		break;
	case FLAG:
		*(bool *)to = true;
		break;
	case HELP:
		fputs(help, stdout);
		exit(0);
	}
}

void options_parse(struct options *opt, int argc, char **argv)
{
	struct option flags[ROWS + 1] = { 0 };
	int flag, index;

	*opt = (struct options){ .host = "127.0.0.1",
				 .history = 20000,
				 .backlog = 10000,
				 .bookmark_ms = 60000,
				 .fill = { .seed = 1, .namespaces = 20, .nodes = 50 } };
	for (size_t i = 0; i < ROWS; i++)
		flags[i] = (struct option){ rows[i].name,
					    rows[i].takes < FLAG ? required_argument : no_argument, NULL, 0 };
	while ((flag = getopt_long(argc, argv, "", flags, &index)) != -1) {
		if (flag == '?')
			exit(64);
		set(opt, &rows[index], optarg);
	}
	if (optind < argc)
		util_die(64, "%s: no such argument; --help shows the flags", argv[optind]);
	if (!opt->tls_cert != !opt->tls_key)
		util_die(64, "--tls-cert and --tls-key go together");
	if (!opt->fill.namespaces || !opt->fill.nodes || !opt->bookmark_ms)
		util_die(64, "--namespaces, --nodes and --bookmark-period are at least 1");
	if (opt->history < 2 * opt->backlog)
		opt->history = 2 * opt->backlog;
}
