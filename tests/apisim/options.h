/* The command line. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_OPTIONS_H
#define APISIM_OPTIONS_H

#include "tests/apisim/fill.h"

enum { TOKENS_MAX = 32 };

struct options {
	char host[64];
	uint16_t port;
	const char *port_file, *request_log, *tls_cert, *tls_key;
	const char *tokens[TOKENS_MAX];
	size_t token_count;
	struct fill_options fill;
	uint64_t history; /* events kept */
	uint64_t backlog; /* events a watcher may lag behind before it is cut off */
	uint64_t bookmark_ms;
	double clock_skew;
	bool no_watchlist, log_answers;
};

/* Reads the flags; prints what is wrong and exits with 64, or the help and exits with 0. */
void options_parse(struct options *opt, int argc, char **argv);

#endif
