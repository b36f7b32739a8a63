/* inside.c - see inside.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/inside.h"
#include "tests/apisim/api.h"
#include "tests/apisim/sim.h"
#include "tests/apisim/util.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS_MAX = 32 };

struct inside {
	struct sim sim;
	struct options opt;
};

static void start(struct inside *s, const char *const *flags, struct event_base *base)
{
	const char *argv[FLAGS_MAX + 1] = { "apisim" };
	struct http_server *http = s->sim.http;
	int n = 1;

	while (*flags && n < FLAGS_MAX)
		argv[n++] = *flags++;
	optind = 1;
	options_parse(&s->opt, n, (char **)(uintptr_t)argv);
	s->opt.fill.seed = util_random(); /* no two servers make the same uids */
	s->sim = (struct sim){ .http = http };
	sim_start(&s->sim, &s->opt, base);
}

struct inside *inside_new(struct event_base *base, const char *const *flags)
{
	struct inside *s = util_alloc(sizeof(*s));

	start(s, flags, base);
	s->sim.http = http_server_new(base, s->opt.host, s->opt.port, NULL, api_on_request, api_before_send,
				      &s->sim);
	return s;
}

void inside_free(struct inside **s)
{
	if (!*s)
		return;
	http_server_free((*s)->sim.http);
	sim_stop(&(*s)->sim);
	free(*s);
	*s = NULL;
}

void inside_reset(struct inside *s, const char *const *flags)
{
	struct event_base *base = s->sim.base;

	http_server_drop_all(s->sim.http);
	sim_stop(&s->sim);
	start(s, flags, base);
}

unsigned inside_port(const struct inside *s)
{
	return http_server_port(s->sim.http);
}

int inside_request(struct inside *s, const char *method, const char *path, const char *body)
{
	json_error_t error;
	json_t *tree = body ? json_loads(body, 0, &error) : NULL;

	if (body && !tree)
		util_die(70, "%s %s: %s", method, path, error.text);
	return api_run_internal(&s->sim, method, path, tree);
}

bool inside_pod(const struct inside *s, const char *ns, const char *name, char uid[64], uint64_t *rv)
{
	const struct obj *o = store_get(s->sim.store, kinds_pods(), ns, name);
	char room[64];

	if (!o)
		return false;
	*rv = o->rv;
	snprintf(uid, 64, "%s", object_uid(o, room));
	return true;
}
