// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/options.h"
#include "tests/apisim/util.h"

#include <getopt.h>
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

enum flag {
	LISTEN = 1,
	PORT_FILE,
	TLS_CERT,
	TLS_KEY,
	TOKEN,
	REQUEST_LOG,
	LOG_ANSWERS,
	FILL,
	FILL_SEED,
	NAMESPACES,
	NODES,
	FILL_EVICTED,
	FILL_TERMINATING,
	FILL_CRASHLOOP,
	FILL_PULLFAIL,
	HISTORY,
	BACKLOG,
	BOOKMARK,
	CLOCK_SKEW,
	NO_WATCHLIST,
	HELP,
};

static const struct option flags[] = {
	{ "listen", required_argument, NULL, LISTEN },
	{ "port-file", required_argument, NULL, PORT_FILE },
	{ "tls-cert", required_argument, NULL, TLS_CERT },
	{ "tls-key", required_argument, NULL, TLS_KEY },
	{ "token", required_argument, NULL, TOKEN },
	{ "request-log", required_argument, NULL, REQUEST_LOG },
	{ "log-answers", no_argument, NULL, LOG_ANSWERS },
	{ "fill", required_argument, NULL, FILL },
	{ "fill-seed", required_argument, NULL, FILL_SEED },
	{ "namespaces", required_argument, NULL, NAMESPACES },
	{ "nodes", required_argument, NULL, NODES },
	{ "fill-evicted", required_argument, NULL, FILL_EVICTED },
	{ "fill-terminating", required_argument, NULL, FILL_TERMINATING },
	{ "fill-crashloop", required_argument, NULL, FILL_CRASHLOOP },
	{ "fill-pullfail", required_argument, NULL, FILL_PULLFAIL },
	{ "history", required_argument, NULL, HISTORY },
	{ "watch-backlog", required_argument, NULL, BACKLOG },
	{ "bookmark-period", required_argument, NULL, BOOKMARK },
	{ "clock-skew", required_argument, NULL, CLOCK_SKEW },
	{ "no-watchlist", no_argument, NULL, NO_WATCHLIST },
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

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

static void set_text(struct options *opt, int flag, const char *text)
{
	switch (flag) {
	case LISTEN:
		set_listen(opt, text);
		break;
	case PORT_FILE:
		opt->port_file = text;
		break;
	case TLS_CERT:
		opt->tls_cert = text;
		break;
	case TLS_KEY:
		opt->tls_key = text;
		break;
	case TOKEN:
		if (opt->token_count == TOKENS_MAX)
			util_die(64, "--token: at most %d", TOKENS_MAX);
		opt->tokens[opt->token_count++] = text;
		break;
	case REQUEST_LOG:
		opt->request_log = text;
		break;
	case CLOCK_SKEW:
		if (!util_parse_double(text, &opt->clock_skew))
			util_die(64, "--clock-skew %s: a number of seconds is wanted", text);
		break;
	}
}

static uint64_t *number_of(struct options *opt, int flag)
{
	switch (flag) {
	case FILL:
		return &opt->fill.pods;
	case FILL_SEED:
		return &opt->fill.seed;
	case NAMESPACES:
		return &opt->fill.namespaces;
	case NODES:
		return &opt->fill.nodes;
	case FILL_EVICTED:
		return &opt->fill.evicted;
	case FILL_TERMINATING:
		return &opt->fill.terminating;
	case FILL_CRASHLOOP:
		return &opt->fill.crashloop;
	case FILL_PULLFAIL:
		return &opt->fill.pullfail;
	case HISTORY:
		return &opt->history;
	case BACKLOG:
		return &opt->backlog;
	case BOOKMARK:
		return &opt->bookmark_ms;
	default:
		return NULL;
	}
}

void options_parse(struct options *opt, int argc, char **argv)
{
	int flag, index;
	uint64_t *to;

	*opt = (struct options){ .host = "127.0.0.1",
				 .history = 20000,
				 .backlog = 10000,
				 .bookmark_ms = 60000,
				 .fill = { .seed = 1, .namespaces = 20, .nodes = 50 } };
	while ((flag = getopt_long(argc, argv, "", flags, &index)) != -1) {
		to = number_of(opt, flag);
		if (flag == '?')
			exit(64);
		if (flag == HELP) {
			fputs(help, stdout);
			exit(0);
		}
		if (flag == NO_WATCHLIST)
			opt->no_watchlist = true;
		else if (flag == LOG_ANSWERS)
			opt->log_answers = true;
		else if (to)
			*to = number(flags[index].name, optarg);
		else
			set_text(opt, flag, optarg);
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
