/* rbac.c - `rbac`: the least that a configuration needs of an API server, as YAML for kubectl: accounts,
 * roles and their bindings; the admission policy (admission.c); how a machine outside gets a token. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/admission.h"
#include "cli/command.h"
#include "cli/paths.h"
#include "cli/local/rbac_needs.h"
#include "cli/rbac_check.h"
#include "cli/output.h"
#include "config/config.h"
#include "config/diag.h"
#include "model/namespaces.h"
#include "model/rights.h"

#define HOME       ADMISSION_HOME
#define RBAC_GROUP "rbac.authorization.k8s.io"

/* -- what is needed -- */

static bool has_rows(const struct rbac_request *q, enum right_role role)
{
	const struct right_desc *r;

	for (size_t i = 0; (r = right_at(i)); i++)
		if (r->role == role && rbac_needs_right(q, r))
			return true;
	return false;
}

/* -- YAML -- */

static void print_rule(const char *group, const char *resources, const char *verbs, const char *more)
{
	printf("  - {apiGroups: [%s], resources: [%s]%s, verbs: [%s]}\n", *group ? group : "\"\"", resources,
	       more, verbs);
}

/* One rule for each group, at the first of its kinds. */
static void print_kinds(const struct rbac_request *q, const struct right_desc *r)
{
	const struct kind_desc *k, *other;

	for (size_t i = 0; (k = rbac_kind_of(q, i)); i++) {
		_cleanup_free_ char *list = xstrdup("");
		bool first = true;

		for (size_t j = 0; (other = rbac_kind_of(q, j)); j++) {
			if (!right_is_for(r->set, other) || strcmp(other->group, k->group) != 0)
				continue;
			first = first && j >= i;
			char *longer = xconcat(list, *list ? ", " : "", other->resource, r->resources, NULL);

			free(list);
			list = longer;
		}
		if (first && right_is_for(r->set, k))
			print_rule(k->group, list, r->verbs, "");
	}
}

static void print_right(const struct rbac_request *q, const struct right_desc *r)
{
	_cleanup_free_ char *named = xconcat(", resourceNames: [", q->config->settings.lease_name, "]", NULL);

	if (r->why)
		printf("  # %s\n", r->why);
	if (r->set == SET_ONE)
		print_rule(r->group, r->resources, r->verbs, r->needs == NEED_ELECTION_NAMED ? named : "");
	else
		print_kinds(q, r);
}

static void print_role(const struct rbac_request *q, enum right_role role)
{
	const struct role_desc *desc = role_of(role);
	const struct right_desc *r;

	printf("---\napiVersion: " RBAC_GROUP "/v1\n");
	if (desc->scope == SCOPE_HOME)
		printf("kind: Role\nmetadata: {name: ops-pod-cleaner-%s, namespace: %s}\nrules:\n",
		       desc->name, rbac_lease_namespace(q));
	else
		printf("kind: ClusterRole\nmetadata: {name: ops-pod-cleaner-%s}\nrules:\n", desc->name);
	for (size_t i = 0; (r = right_at(i)); i++)
		if (r->role == role && rbac_needs_right(q, r))
			print_right(q, r);
}

static void print_subject(const struct rbac_request *q, enum account a)
{
	const char *name = a == ACCOUNT_READER ? "reader" : "writer";

	if (a == ACCOUNT_WRITER && q->o->writer)
		printf("  - {kind: User, apiGroup: " RBAC_GROUP ", name: \"%s\"}\n", q->o->writer);
	else
		printf("  - {kind: ServiceAccount, name: ops-pod-cleaner-%s, namespace: " HOME "}\n", name);
}

static void print_binding(const struct rbac_request *q, enum right_role role)
{
	const struct role_desc *desc = role_of(role);
	const char *ns = desc->scope == SCOPE_HOME     ? rbac_lease_namespace(q)
			 : desc->scope == SCOPE_SPREAD ? q->o->ns
						       : NULL;

	printf("---\napiVersion: " RBAC_GROUP "/v1\nkind: %sRoleBinding\n", ns ? "" : "Cluster");
	printf("metadata: {name: ops-pod-cleaner-%s%s%s}\n", desc->name, ns ? ", namespace: " : "",
	       ns ? ns : "");
	printf("roleRef: {apiGroup: " RBAC_GROUP ", kind: %sRole, name: ops-pod-cleaner-%s}\nsubjects:\n",
	       desc->scope == SCOPE_HOME ? "" : "Cluster", desc->name);
	if (desc->account != ACCOUNT_WRITER)
		print_subject(q, ACCOUNT_READER);
	if (desc->account != ACCOUNT_READER)
		print_subject(q, ACCOUNT_WRITER);
}

static void print_account(const char *name)
{
	printf("---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: ops-pod-cleaner-%s, "
	       "namespace: " HOME "}\n",
	       name);
}

static void print_rights(const struct rbac_request *q)
{
	printf("# The least that this configuration asks of a cluster, as `ops-pod-cleaner rbac` prints it; "
	       "kubectl apply -f\n"
	       "#\n"
	       "# The watcher reads and the workers write, each with an account of its own: what reads the "
	       "most can write nothing.\n"
	       "# A role that allows to change all of an object is bound only beside the admission policy, "
	       "which holds the workers\n"
	       "# to what is needed of it: `ops-pod-cleaner rbac --admission`, deploy/admission.yaml.\n"
	       "# For few namespaces: --namespace, once for each.\n"
	       "apiVersion: v1\nkind: Namespace\nmetadata: {name: " HOME "}\n");
	print_account("reader");
	if (!q->o->writer)
		print_account("writer");
	for (int i = 0; i < ROLE_OF__MAX; i++) {
		const enum right_role role = (enum right_role)i;

		if (!has_rows(q, role))
			continue;
		print_role(q, role);
		if (role_of(role)->bound == BOUND_ALONE)
			print_binding(q, role);
	}
}

static void print_admission(const struct rbac_request *q)
{
	const struct admission_request a = { .config = q->config,
					     .writer = q->o->writer,
					     .kinds = q->kinds,
					     .n_kinds = q->n_kinds,
					     .annotations = q->annotations,
					     .suspends = q->needs & NEED_SUSPENDS,
					     .suspends_cron_jobs = q->needs & NEED_SUSPENDS_CRON,
					     .announces = q->needs & NEED_ANNOUNCES };

	admission_print(&a, stdout);
	for (int i = 0; i < ROLE_OF__MAX; i++)
		if (has_rows(q, (enum right_role)i) && role_of((enum right_role)i)->bound == BOUND_GUARDED)
			print_binding(q, (enum right_role)i);
}

/* -- the token -- */

static int print_kubeconfig_for(const struct options *o)
{
	static const char text[] =
		"# The credential of the %1$s for a machine outside the cluster: run this where kubectl may "
		"do everything,\n"
		"# and give the file, mode 0600, to the user that the program runs as. It is valid until its "
		"Secret is deleted.\n"
		"kubectl apply -f - <<'YAML'\n"
		"apiVersion: v1\n"
		"kind: Secret\n"
		"type: kubernetes.io/service-account-token\n"
		"metadata:\n"
		"  name: ops-pod-cleaner-%1$s\n"
		"  namespace: " HOME "\n"
		"  annotations: {kubernetes.io/service-account.name: ops-pod-cleaner-%1$s}\n"
		"YAML\n"
		"secret() { kubectl -n " HOME
		" get secret ops-pod-cleaner-%1$s -o \"jsonpath={.data.$1}\"; }\n"
		"until [ -n \"$(secret token)\" ]; do sleep 1; done\n"
		"umask 077\n"
		"cat >%1$s.kubeconfig <<YAML\n"
		"apiVersion: v1\n"
		"kind: Config\n"
		"clusters:\n"
		"- name: cluster\n"
		"  cluster:\n"
		"    server: $(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')\n"
		"    certificate-authority-data: $(secret 'ca\\.crt')\n"
		"contexts:\n"
		"- name: %1$s\n"
		"  context: {cluster: cluster, user: %1$s, namespace: " HOME "}\n"
		"current-context: %1$s\n"
		"users:\n"
		"- name: %1$s\n"
		"  user: {token: $(secret token | base64 -d)}\n"
		"YAML\n";

	if (strcmp(o->kubeconfig_for, "reader") != 0 && strcmp(o->kubeconfig_for, "writer") != 0)
		return command_misuse(o, "%s", TEXT(RBAC_KUBECONFIG_FOR));
	printf(text, o->kubeconfig_for);
	return EXIT_CODE_OK;
}

/* -- the verb -- */

static int print_yaml(const struct options *o, const char *path)
{
	_cleanup_free_ char *kinds = o->kinds ? xstrdup(o->kinds) : NULL;
	_cleanup_free_ char *annotations = o->webhook_annotations ? xstrdup(o->webhook_annotations) : NULL;
	struct diags d = OUTPUT_DIAGS;
	struct config c;

	config_init(&c);
	const int r = config_load(path, &c, &d);
	struct rbac_request q = { .config = &c, .o = o, .needs = r < 0 ? 0 : rbac_needs_of(&c) };
	int code = r < 0 ? EXIT_CODE_CONFIG : EXIT_CODE_OK;

	for (size_t i = 0; i < d.n; i++)
		if (d.v[i].error)
			(void)fprintf(stderr, "%s\n", d.v[i].text);
	if (r == 0 && kinds && !rbac_read_kinds(&q, kinds))
		code = command_misuse(o, "%s", TEXT(RBAC_KINDS));
	if (r == 0 && annotations && !rbac_read_annotations(&q, annotations))
		code = command_misuse(o, "%s", TEXT(RBAC_WEBHOOK_ANNOTATIONS));
	if (code == EXIT_CODE_OK)
		(o->admission ? print_admission : print_rights)(&q);
	str_list_done(&q.annotations);
	diags_done(&d);
	config_done(&c);
	return code;
}

int command_rbac(const struct options *o)
{
	_cleanup_free_ char *found = o->config ? NULL : paths_find_config();

	if (o->kubeconfig_for)
		return print_kubeconfig_for(o);
	if (o->check)
		return rbac_check(o);
	return print_yaml(o, found ? found : o->config);
}
