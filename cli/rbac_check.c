/* rbac_check.c - see rbac_check.h. A worker has one credential: an instance for the reader's, whose workers
 * have it, too, and one for the writer's, where that is another. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/rbac_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/alone.h"
#include "cli/command.h"
#include "cli/ctl.h"
#include "cli/paths.h"
#include "cli/rbac_needs.h"
#include "cli/round.h"
#include "cli/start.h"
#include "config/diag.h"

#define START_MS UINT64_C(20000)
#define ASK_MS   UINT64_C(20000)
#define DRAIN_MS 2000u

/* -- the question -- */

struct check {
	const struct rbac_request *q;
	struct ctl *ctl;
	unsigned asked, missing;
	int code; /* of asking */
};

static void print_missing(const struct msg_ctl_access *a, const struct right_desc *r)
{
	const bool guarded = role_of(r->role)->bound == BOUND_GUARDED;

	printf("missing%s: %s %s%s%s%s%s%s%s, role ops-pod-cleaner-%s\n", guarded ? " (optional)" : "",
	       a->verb, a->resource, a->group[0] ? "." : "", a->group, a->subresource[0] ? "/" : "",
	       a->subresource, a->ns[0] ? " in " : "", a->ns, role_of(r->role)->name);
}

static int ask_server(struct ctl *c, const struct msg_ctl_access *a, bool *ret_allowed)
{
	const struct msg ask = { .type = MSG_CTL_ACCESS, .u.ctl_access = *a };
	struct msg m = { 0 };
	int code = ctl_send(c, &ask);

	while (code == EXIT_CODE_OK && m.type != MSG_CTL_ACCESS_ROW && m.type != MSG_CTL_END)
		code = ctl_recv(c, ASK_MS, &m);
	if (code != EXIT_CODE_OK)
		return code;
	*ret_allowed = m.type == MSG_CTL_ACCESS_ROW && m.u.ctl_access_row.allowed;
	if (m.type == MSG_CTL_ACCESS_ROW && m.u.ctl_access_row.known)
		return EXIT_CODE_OK;
	(void)fprintf(stderr, "ops-pod-cleaner: %s\n",
		      m.type == MSG_CTL_END ? m.u.ctl_end.text : m.u.ctl_access_row.text);
	return EXIT_CODE_UNAVAILABLE;
}

static void check_verbs(struct check *k, const struct right_desc *r, const char *group, const char *resource,
			const char *subresource)
{
	const enum role_scope scope = role_of(r->role)->scope;
	const char *ns = scope == SCOPE_HOME     ? rbac_lease_namespace(k->q)
			 : scope == SCOPE_SPREAD ? k->q->o->ns
						 : NULL;
	const char *name = r->needs == NEED_ELECTION_NAMED ? k->q->config->settings.lease_name : "";
	_cleanup_free_ char *verbs = xstrdup(r->verbs);
	char *rest = verbs;

	for (char *verb; k->code == EXIT_CODE_OK && (verb = strsep(&rest, ","));) {
		struct msg m = { .type = MSG_CTL_ACCESS };
		bool allowed = false;

		verb += *verb == ' ';
		msg_set(&m, ctl_access.group, group, strlen(group));
		msg_set(&m, ctl_access.resource, resource, strlen(resource));
		msg_set(&m, ctl_access.subresource, subresource, strlen(subresource));
		msg_set(&m, ctl_access.verb, verb, strlen(verb));
		msg_set(&m, ctl_access.ns, ns ? ns : "", ns ? strlen(ns) : 0);
		msg_set(&m, ctl_access.name, name, strlen(name));
		k->code = ask_server(k->ctl, &m.u.ctl_access, &allowed);
		k->asked++;
		if (k->code != EXIT_CODE_OK || allowed)
			continue;
		k->missing += role_of(r->role)->bound == BOUND_ALONE;
		print_missing(&m.u.ctl_access, r);
	}
}

static void check_right(struct check *k, const struct right_desc *r)
{
	const struct kind_desc *kind;

	if (r->set == SET_ONE)
		check_verbs(k, r, r->group, r->resources, "");
	for (size_t i = 0; r->set != SET_ONE && (kind = rbac_kind_of(k->q, i)); i++)
		if (right_is_for(r->set, kind))
			check_verbs(k, r, kind->group, kind->resource,
				    r->resources[0] == '/' ? r->resources + 1 : "");
}

static void check_account(struct check *k, enum account a)
{
	const struct right_desc *r;

	for (size_t i = 0; k->code == EXIT_CODE_OK && (r = right_at(i)); i++) {
		const enum account of = role_of(r->role)->account;

		if (rbac_needs_right(k->q, r) && (of == a || of == ACCOUNT_BOTH || a == ACCOUNT_BOTH))
			check_right(k, r);
	}
}

/* -- by an instance -- */

static const char *const account_words[] = {
	[ACCOUNT_READER] = "reader", [ACCOUNT_WRITER] = "writer", [ACCOUNT_BOTH] = "reader and writer"
};

/* The file has been checked; the kinds, too. */
static int check_as(const struct options *o, const char *socket, enum account a)
{
	_cleanup_free_ char *found = o->config ? NULL : paths_find_config();
	_cleanup_free_ char *kinds = o->kinds ? xstrdup(o->kinds) : NULL;
	struct rbac_request q = { .o = o };
	struct check k = { .q = &q };
	struct diags d = { 0 };
	struct config c;

	config_init(&c);
	q.config = &c;
	if (config_load(found ? found : o->config, &c, &d) < 0 || (kinds && !rbac_read_kinds(&q, kinds)))
		k.code = EXIT_CODE_CONFIG;
	q.needs = rbac_needs_of(&c);
	if (k.code == EXIT_CODE_OK)
		k.code = ctl_open_soon(socket, START_MS, &k.ctl);
	if (k.code == EXIT_CODE_OK)
		k.code = round_await_workers(k.ctl, START_MS);
	if (k.code == EXIT_CODE_OK)
		check_account(&k, a);
	ctl_close(&k.ctl);
	diags_done(&d);
	config_done(&c);
	if (k.code == EXIT_CODE_OK)
		printf("%s: %u of %u rights are missing\n", account_words[a], k.missing, k.asked);
	return k.code != EXIT_CODE_OK ? k.code : k.missing ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

static int ask_reader(const struct options *o, const char *socket)
{
	return check_as(o, socket, ACCOUNT_READER);
}

static int ask_writer(const struct options *o, const char *socket)
{
	return check_as(o, socket, ACCOUNT_WRITER);
}

static int ask_both(const struct options *o, const char *socket)
{
	return check_as(o, socket, ACCOUNT_BOTH);
}

static int run(const struct options *o, bool own_writer,
	       int (*ask)(const struct options *o, const char *socket))
{
	const char *set[START_ALONE_MAX];
	const struct alone a = { .o = o, .set = set, .drain_ms = DRAIN_MS, .ask = ask };

	start_alone(set, !own_writer, !own_writer);
	return alone_run(&a);
}

/* What is wrong with the file is told by alone_run(). */
static int look(const struct options *o, bool *ret_clusters, bool *ret_writer)
{
	_cleanup_free_ char *found = o->config ? NULL : paths_find_config();
	struct diags d = { 0 };
	struct config c;

	config_init(&c);
	const int r = config_load(found ? found : o->config, &c, &d);

	*ret_clusters = r == 0 && c.n_clusters > 0;
	*ret_writer = r == 0 && (c.writer_kubeconfig || c.writer_context);
	diags_done(&d);
	config_done(&c);
	return r;
}

int rbac_check(const struct options *o)
{
	_cleanup_free_ char *kinds = o->kinds ? xstrdup(o->kinds) : NULL;
	struct rbac_request q = { 0 };
	bool clusters = false, writer = false;

	if (kinds && !rbac_read_kinds(&q, kinds))
		return command_misuse(o, "--kinds takes RESOURCE.GROUP, as in fleets.example.com");
	if (look(o, &clusters, &writer) == 0 && clusters)
		return command_misuse(o, "--check is for one cluster, and the configuration has `clusters`");
	if (!writer || o->kubeconfig || o->context)
		return run(o, false, ask_both);
	const int reader = run(o, false, ask_reader), code = run(o, true, ask_writer);

	return reader != EXIT_CODE_OK ? reader : code;
}
