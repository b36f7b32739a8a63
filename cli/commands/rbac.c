/* rbac.c - `rbac`: the least that a configuration needs of an API server, as YAML for kubectl: accounts,
 * roles and their bindings; the admission policy; how a machine outside gets a token. The texts are
 * text/templates/rbac. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/local/paths.h"
#include "cli/local/rbac_values.h"
#include "cli/local/yaml_json.h"
#include "cli/view/output.h"
#include "cli/view/template.h"
#include "config/config.h"
#include "config/diag.h"

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
		template_print(name, "", values);
		return;
	}
	_cleanup_free_ char *text = template_filled(name, "", values);

	output_document(list_of(text));
}

static int print_kubeconfig_for(const struct options *o)
{
	if (strcmp(o->kubeconfig_for, "reader") != 0 && strcmp(o->kubeconfig_for, "writer") != 0)
		return command_misuse(o, "%s", TEXT(RBAC_KUBECONFIG_FOR));
	json_t *values = json_pack("{s:s, s:s}", "account", o->kubeconfig_for, "home", RBAC_HOME);

	if (o->output == OUTPUT_JSON) {
		_cleanup_free_ char *script = template_filled("rbac/kubeconfig", "", values);

		output_json(json_pack("{s:s, s:s}", "account", o->kubeconfig_for, "script", script));
	} else {
		template_print("rbac/kubeconfig", "", values);
	}
	return EXIT_CODE_OK;
}

static int print_yaml(const struct options *o, const char *path)
{
	_cleanup_free_ char *kinds = o->kinds ? xstrdup(o->kinds) : NULL;
	_cleanup_free_ char *annotations = o->webhook_annotations ? xstrdup(o->webhook_annotations) : NULL;
	struct diags d = { 0 };
	struct config c;

	config_init(&c);
	const int r = config_load(path, &c, &d);
	struct rbac_request q = { .config = &c, .o = o, .needs = r < 0 ? 0 : rbac_needs_of(&c) };
	int code = r < 0 ? EXIT_CODE_CONFIG : EXIT_CODE_OK;

	output_diags(&d, true);
	if (r == 0 && kinds && !rbac_read_kinds(&q, kinds))
		code = command_misuse(o, "%s", TEXT(RBAC_KINDS));
	if (r == 0 && annotations && !rbac_read_annotations(&q, annotations))
		code = command_misuse(o, "%s", TEXT(RBAC_WEBHOOK_ANNOTATIONS));
	if (code == EXIT_CODE_OK)
		print_manifests(o, o->admission ? "rbac/admission" : "rbac/rbac", rbac_values(&q));
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
