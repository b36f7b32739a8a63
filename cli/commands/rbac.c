/* rbac.c - `rbac`: the least that a configuration needs of an API server, as YAML for kubectl: accounts,
 * roles and their bindings; the admission policy; how a machine outside gets a token; which rights are
 * missing. The texts are text/templates/rbac. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/instance/start.h"
#include "cli/local/paths.h"
#include "cli/local/rbac_rights.h"
#include "cli/local/yaml_json.h"
#include "cli/view/output.h"
#include "config/clusters.h"
#include "config/diag.h"
#include "text/facts_text.h"

#define START_MS UINT64_C(20000)
#define ASK_MS   UINT64_C(20000)

/* One item a document of the manifests, as kubectl prints several objects. */
static json_t *list_of(char *manifests)
{
	json_t *items = json_array();

	for (char *next = manifests; next;) {
		char *text = next, *end = strstr(text, "\n---\n");
		struct diags d = { 0 };

		next = end ? end + strlen("\n---\n") : NULL;
		if (end)
			*end = '\0';
		json_array_append_new(items, yaml_json_load("rbac", text, strlen(text), &d));
		diags_done(&d);
	}
	return json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "List", "items", items);
}

static void print_manifests(const struct options *o, const char *name, json_t *values)
{
	if (o->output != OUTPUT_JSON) {
		output_template(name, "", values);
		return;
	}
	_cleanup_free_ char *text = output_filled(name, "", values);

	output_document(list_of(text));
}

static int print_kubeconfig_for(const struct options *o)
{
	if (strcmp(o->kubeconfig_for, "reader") != 0 && strcmp(o->kubeconfig_for, "writer") != 0)
		return command_misuse(o, "%s", TEXT(RBAC_KUBECONFIG_FOR));
	json_t *values = json_pack("{s:s, s:s}", "account", o->kubeconfig_for, "home", RBAC_HOME);

	if (o->output == OUTPUT_JSON) {
		_cleanup_free_ char *script = output_filled("rbac/kubeconfig", "", values);

		output_json(json_pack("{s:s, s:s}", "account", o->kubeconfig_for, "script", script));
	} else {
		output_template("rbac/kubeconfig", "", values);
	}
	return EXIT_CODE_OK;
}

/* -- with --check: the question -- */

/* What one account may do. A worker has one credential: for each cluster an instance with the reader's, and
 * one with the writer's where that is another. */
struct check {
	const struct rbac_request *q;
	const char *cluster; /* "" = the configuration names none */
	enum account account;
	struct ctl *ctl;
	unsigned asked, missing;
	int code;     /* of asking */
	json_t *rows; /* of what is missing; NULL: it is printed for people */
	int answer;   /* where rows are written to, as it is asked in a process of its own */
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

/* By what it is told on stderr, where the cluster's own line is not. */
static void complain_of(const char *cluster, const struct facts *why)
{
	_cleanup_free_ char *in = *cluster ? xasprintf(TEXT(THAT_CLUSTER), cluster) : xstrdup("");
	_cleanup_free_ char *text = facts_render_in(why, language_of_environment());

	output_complain(NULL, "%s%s%s", in, *in ? TEXT(COLON) : "", text);
}

static int ask_server(const struct check *k, const struct msg_ctl_access *a, bool *ret_allowed)
{
	struct ctl *c = k->ctl;
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
	complain_of(k->cluster, m.type == MSG_CTL_END ? &m.u.ctl_end.why : &m.u.ctl_access_row.why);
	return EXIT_CODE_UNAVAILABLE;
}

static void check_verbs(struct check *k, const struct right_desc *r, const char *group, const char *resource,
			const char *subresource)
{
	const enum role_scope scope = role_of(r->role)->scope;
	const char *ns = scope == SCOPE_HOME     ? rbac_lease_namespace(k->q)
			 : scope == SCOPE_SPREAD ? k->q->o->namespaces.v[0]
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
		k->code = ask_server(k, &m.u.ctl_access, &allowed);
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

static void check_account(struct check *k)
{
	const enum account a = k->account;
	const struct right_desc *r;

	for (size_t i = 0; k->code == EXIT_CODE_OK && (r = right_at(i)); i++) {
		const enum account of = role_of(r->role)->account;

		if (rbac_needs_right(k->q, r) && (of == a || of == ACCOUNT_BOTH || a == ACCOUNT_BOTH))
			check_right(k, r);
	}
}

/* -- with --check: an instance that asks it -- */

/* The name of an account in JSON. */
static const char *account_name(enum account a)
{
	static const char *const names[] = {
		[ACCOUNT_READER] = "reader", [ACCOUNT_WRITER] = "writer", [ACCOUNT_BOTH] = "both"
	};

	return names[a];
}

static int ask_rights(const void *ctx, const char *socket, struct ctl *c)
{
	struct check k = *(const struct check *)ctx;

	(void)socket;
	k.ctl = c;
	k.code = wait_ready(c, START_MS);
	if (k.code == EXIT_CODE_OK)
		check_account(&k);
	if (k.rows) {
		(void)json_dumpfd(k.rows, k.answer, JSON_COMPACT);
	} else if (k.code == EXIT_CODE_OK) {
		printf(TEXT(RBAC_COUNT),
		       k.account == ACCOUNT_BOTH ? TEXT(RBAC_BOTH) : account_name(k.account), k.missing,
		       k.asked);
		printf("\n");
	}
	return k.code != EXIT_CODE_OK ? k.code : k.missing ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

/* The instance only lends its workers' credential: what is asked for follows from the configuration in q. It
 * calls the cluster by its name there. Owned by the caller. */
static char *config_of_instance(const char *cluster, const char *context)
{
	json_auto_t *config = json_pack("{s:{s:b, s:s}}", "deleteEvictedPod", "enable", 1, "namespaces", "*");

	if (*cluster)
		json_object_set_new(config, "clusters",
				    json_pack("[{s:s, s:s*}]", "name", cluster, "context", context));
	return json_dumps(config, JSON_COMPACT);
}

/* answers: the list that this check is added to; NULL: it is printed for people. */
static int run_as(const struct rbac_request *q, json_t *answers, const char *cluster, const char *kubeconfig,
		  const char *context, enum account account)
{
	_cleanup_close_ int answer = answers ? memfd_create("rights", MFD_CLOEXEC) : -1;
	json_auto_t *rows = answers ? json_array() : NULL;
	const char *name = cluster ? cluster : "";
	struct options o = *q->o;
	_cleanup_free_ char *config = config_of_instance(name, context);
	const struct check k = {
		.q = q, .cluster = name, .account = account, .rows = rows, .answer = answer
	};
	const struct private_instance a = {
		.o = &o, .default_config = config, .kind = START_LOOKING, .ask = ask_rights, .ctx = &k
	};

	o.config = NULL;
	o.kubeconfig = kubeconfig;
	o.context = *name ? NULL : context;
	const int code = private_instance_run(&a);

	if (answers) {
		json_t *missing = lseek(answer, 0, SEEK_SET) == 0 ? json_loadfd(answer, 0, NULL) : NULL;

		json_array_append_new(answers,
				      json_pack("{s:s, s:s, s:o, s:i}", "cluster", *name ? name : "default",
						"account", account_name(account), "missing",
						missing ? missing : json_null(), "exitCode", code));
	}
	return code;
}

static int check_cluster(const struct rbac_request *q, json_t *answers, const char *path,
			 const struct cluster_config *c)
{
	_cleanup_(cluster_source_done) struct cluster_source reader =
		clusters_reader(q->config, c, path, NULL);
	_cleanup_(cluster_source_done) struct cluster_source writer =
		clusters_writer(q->config, c, path, NULL);

	if (q->config->n_clusters > 0 && !answers)
		printf(TEXT(THAT_CLUSTER), c->name), printf("\n");
	if (!clusters_own_writer(c))
		return run_as(q, answers, c->name, reader.kubeconfig, reader.context, ACCOUNT_BOTH);
	const int of_reader = run_as(q, answers, c->name, reader.kubeconfig, reader.context, ACCOUNT_READER);
	const int of_writer = run_as(q, answers, c->name, writer.kubeconfig, writer.context, ACCOUNT_WRITER);

	return of_reader != EXIT_CODE_OK ? of_reader : of_writer;
}

/* Returns the code of the first that is not as it should be. */
static int check_clusters(const struct rbac_request *q, json_t *answers, const char *path)
{
	int first = EXIT_CODE_OK;

	if (q->o->kubeconfig || q->o->context)
		return run_as(q, answers, "", q->o->kubeconfig, q->o->context, ACCOUNT_BOTH);
	for (size_t i = 0; i < clusters_count(q->config); i++) {
		const struct cluster_config one = clusters_at(q->config, i);
		const int code = check_cluster(q, answers, path, &one);

		first = first != EXIT_CODE_OK ? first : code;
	}
	return first;
}

/* Print the rights that are missing. Returns EXIT_CODE_FAILURE when some are. */
static int check_all(const struct rbac_request *q, const char *path)
{
	json_t *answers = q->o->output == OUTPUT_JSON ? json_array() : NULL;

	output_expect_json(false); /* not of each of those that ask */
	const int code = check_clusters(q, answers, path);

	if (answers)
		output_json(answers);
	return code;
}

/* -- the command -- */

int command_rbac(const struct options *o)
{
	_cleanup_free_ char *kinds = o->kinds ? xstrdup(o->kinds) : NULL;
	_cleanup_free_ char *annotations = o->webhook_annotations ? xstrdup(o->webhook_annotations) : NULL;
	_cleanup_free_ char *path = paths_find_config(o->config);
	_cleanup_(config_done) struct config c = { 0 };

	if (o->kubeconfig_for)
		return print_kubeconfig_for(o);
	int code = paths_load_config(path, &c);
	struct rbac_request q = { .config = &c,
				  .o = o,
				  .needs = code == EXIT_CODE_OK ? rbac_needs_of(&c) : 0 };

	if (code == EXIT_CODE_OK && kinds && !rbac_read_kinds(&q, kinds))
		code = command_misuse(o, "%s", TEXT(RBAC_KINDS));
	if (code == EXIT_CODE_OK && annotations && !rbac_read_annotations(&q, annotations))
		code = command_misuse(o, "%s", TEXT(RBAC_WEBHOOK_ANNOTATIONS));
	if (code == EXIT_CODE_OK && o->check)
		code = check_all(&q, path);
	else if (code == EXIT_CODE_OK)
		print_manifests(o, o->admission ? "rbac/admission" : "rbac/rbac", rbac_values(&q));
	str_list_done(&q.annotations);
	return code;
}
