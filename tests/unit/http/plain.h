/* plain.h - what most cases play with: a plain server and its client, begun by play(), ended after the case.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_HTTP_PLAIN_H
#define TESTS_HTTP_PLAIN_H

#include "tests/unit/http/play.h"

static struct server s;
static struct run run;

static void serve(server_fn *fn)
{
	server_start(&s, fn, false);
}

static void play(server_fn *fn)
{
	serve(fn);
	open_plain(&run, &s);
}

static void play_end(void)
{
	if (run.base)
		close_run(&run);
	if (s.log)
		server_stop(&s);
}

#endif
