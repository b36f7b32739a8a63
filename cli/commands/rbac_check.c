/* rbac_check.c - see command.h. A worker has one credential: for each cluster an instance with the
 * reader's, and one with the writer's where that is another. */
// SPDX-License-Identifier: Apache-2.0

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/instance/private_instance.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/local/paths.h"
#include "cli/local/rbac_needs.h"
#include "cli/instance/wait_settled.h"
#include "cli/instance/start.h"
#include "cli/view/output.h"
#include "config/clusters.h"
#include "config/diag.h"

#define START_MS UINT64_C(20000)
#define ASK_MS   UINT64_C(20000)

/* -- the question -- */

struct check {
	const struct rbac_request *q;
	struct ctl *ctl;
	unsigned asked, missing;
	int code;     /* of asking */
	json_t *rows; /* of what is missing; NULL: it is printed for people */
};

static void add_missing(struct check *k, const struct msg_ctl_access *a, const struct right_desc *r,
			bool optional)
{
	json_array_append_new(k->rows, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "verb", a->verb,
						 "group", a->group, "resource", a->resource, "subresource",
						 a->subresource, "namespace", a->ns, "role",
						 role_of(r->role)->name, "optional", optional));
}

static void print_missing(const struct msg_ctl_access *a, const struct right_desc *r, bool optional)
{
	_cleanup_free_ char *in = a->ns[0] ? xasprintf(TEXT(RBAC_IN), a->ns) : xstrdup("");
	_cleanup_free_ char *what = xasprintf("%s%s%s%s%s", a->resource, a->group[0] ? "." : "", a->group,
					      a->subresource[0] ? "/" : "", a->subresource);

	const struct table_view view = table_view_of(stdout, false, false);

	table_text(stdout, &view, optional ? TEXT(RBAC_MISSING_OPTIONAL) : TEXT(RBAC_MISSING), a->verb, what,
		   in, role_of(r->role)->name);
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
	output_complain_facts(m.type == MSG_CTL_END ? &m.u.ctl_end.why : &m.u.ctl_access_row.why);
	return EXIT_CODE_UNAVAILABLE;
}

static void check_verbs(struct check *k, const struct right_desc *r, const char *group, const char *resource,
			const char *subresource)
{
	const enum role_scope scope = role_of(r->role)->scope;
	const char *ns = scope == SCOPE_HOME     ? rbac_lease_namespace(k->q)
			 : scope == SCOPE_SPREAD ? option_first(&k->q->o->namespaces)
						 : NULL;
	_cleanup_free_ char *leases = rbac_lease_names(k->q, r);
	const char *name = leases ? leases : "";
	_cleanup_free_ char *verbs = xstrdup(r->verbs);
	char *rest = verbs;

	for (char *verb; k->code == EXIT_CODE_OK && (verb = strsep(&rest, ","));) {
		struct msg m = { .type = MSG_CTL_ACCESS };
		bool allowed = false;

		verb += *verb == ' ';
		if (leases)
			leases[strcspn(leases, ",")] = '\0'; /* one stands for all */
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
		k->missing += !rbac_is_optional(k->q, r);
		if (k->rows)
			add_missing(k, &m.u.ctl_access, r, rbac_is_optional(k->q, r));
		else
			print_missing(&m.u.ctl_access, r, rbac_is_optional(k->q, r));
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

static const char *account_words(enum account a)
{
	static const char *const names[] = { [ACCOUNT_READER] = "reader", [ACCOUNT_WRITER] = "writer" };

	return a == ACCOUNT_BOTH ? TEXT(RBAC_BOTH) : names[a];
}

struct question {
	const struct rbac_request *q;
	enum account account;
	int answer; /* where its JSON is written to, as it is asked in a process of its own */
};

static int end_check(const struct question *asked, struct check *k)
{
	if (k->rows) {
		_cleanup_free_ char *text = json_dumps(k->rows, JSON_COMPACT);

		(void)dprintf(asked->answer, "%s", text);
		json_decref(k->rows);
		output_expect_json(false); /* it is not printed here */
	} else if (k->code == EXIT_CODE_OK) {
		printf(TEXT(RBAC_COUNT), account_words(asked->account), k->missing, k->asked), printf("\n");
	}
	return k->code != EXIT_CODE_OK ? k->code : k->missing ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

static int ask_rights(const void *ctx, const char *socket)
{
	const struct question *asked = ctx;
	struct check k = { .q = asked->q, .rows = asked->answer >= 0 ? json_array() : NULL };

	k.code = ctl_open_soon(socket, START_MS, &k.ctl);
	if (k.code == EXIT_CODE_OK)
		k.code = wait_ready(k.ctl, START_MS);
	if (k.code == EXIT_CODE_OK)
		check_account(&k, asked->account);
	ctl_close(&k.ctl);
	return end_check(asked, &k);
}

/* All checks of one command. */
struct checks {
	const struct rbac_request *q;
	json_t *answers; /* one object a check; NULL: they are printed for people */
};

/* What a check as that account found. */
static json_t *answer_json(const char *cluster, enum account account, int code, int answer)
{
	static const char *const names[] = {
		[ACCOUNT_READER] = "reader", [ACCOUNT_WRITER] = "writer", [ACCOUNT_BOTH] = "both"
	};
	json_t *missing = lseek(answer, 0, SEEK_SET) == 0 ? json_loadfd(answer, 0, NULL) : NULL;

	return json_pack("{s:s, s:s, s:o, s:i}", "cluster", cluster, "account", names[account], "missing",
			 missing ? missing : json_null(), "exitCode", code);
}

/* The instance only lends its workers' credential: what is asked for follows from the configuration in q. */
static const char any_duty[] = "deleteEvictedPod: {enable: true, namespaces: \"*\"}\n";

static int run_as(const struct checks *all, const char *cluster, const char *kubeconfig, const char *context,
		  enum account account)
{
	_cleanup_close_ int answer = all->answers ? memfd_create("rights", MFD_CLOEXEC) : -1;
	struct options o = *all->q->o;
	const char *set[START_PRIVATE_MAX];
	const struct question asked = { all->q, account, answer };
	const struct private_instance a = {
		.o = &o, .default_config = any_duty, .set = set, .ask = ask_rights, .ctx = &asked
	};

	o.config = NULL;
	o.kubeconfig = kubeconfig;
	o.context = context;
	start_private(set, true, true);
	const int code = private_instance_run(&a);

	if (all->answers)
		json_array_append_new(all->answers, answer_json(cluster, account, code, answer));
	return code;
}

static int check_cluster(const struct checks *all, const char *path, const struct cluster_config *c)
{
	const struct config *config = all->q->config;
	_cleanup_(cluster_source_done) struct cluster_source reader = clusters_reader(config, c, path, NULL);
	_cleanup_(cluster_source_done) struct cluster_source writer = clusters_writer(config, c, path, NULL);

	if (config->n_clusters > 0 && !all->answers)
		printf(TEXT(THAT_CLUSTER), c->name), printf("\n");
	if (!clusters_own_writer(c))
		return run_as(all, c->name, reader.kubeconfig, reader.context, ACCOUNT_BOTH);
	const int of_reader = run_as(all, c->name, reader.kubeconfig, reader.context, ACCOUNT_READER);
	const int of_writer = run_as(all, c->name, writer.kubeconfig, writer.context, ACCOUNT_WRITER);

	return of_reader != EXIT_CODE_OK ? of_reader : of_writer;
}

/* Returns the code of the first that is not as it should be. */
static int check_clusters(const struct checks *all, const char *path)
{
	const struct rbac_request *q = all->q;
	int first = EXIT_CODE_OK;

	if (q->o->kubeconfig || q->o->context)
		return run_as(all, "", q->o->kubeconfig, q->o->context, ACCOUNT_BOTH);
	for (size_t i = 0; i < clusters_count(q->config); i++) {
		const struct cluster_config one = clusters_at(q->config, i);
		const int code = check_cluster(all, path, &one);

		first = first != EXIT_CODE_OK ? first : code;
	}
	return first;
}

static int check_all(const struct rbac_request *q, const char *path)
{
	const struct checks all = { q, q->o->output == OUTPUT_JSON ? json_array() : NULL };
	const int code = check_clusters(&all, path);

	if (all.answers)
		output_json(all.answers);
	return code;
}

int rbac_check(const struct options *o)
{
	_cleanup_free_ char *found = o->config ? NULL : paths_find_config();
	_cleanup_free_ char *kinds = o->kinds ? xstrdup(o->kinds) : NULL;
	const char *path = found ? found : o->config;
	struct diags d = { 0 };
	struct config c;
	struct rbac_request q = { .config = &c, .o = o };
	int code = EXIT_CODE_CONFIG;

	config_init(&c);
	if (config_load(path, &c, &d) < 0) {
		config_print_diags(path, false, &d, language_of_environment(), stderr);
	} else {
		q.needs = rbac_needs_of(&c);
		code = kinds && !rbac_read_kinds(&q, kinds) ? command_misuse(o, "%s", TEXT(RBAC_KINDS))
							    : check_all(&q, path);
	}
	diags_done(&d);
	config_done(&c);
	return code;
}
