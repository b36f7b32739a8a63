/* config.c - `config check|print|help|schema`: what config/ knows, for people and their editors. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/local/config_told.h"
#include "cli/local/schema.h"
#include "cli/local/yaml_json.h"
#include "cli/view/json.h"
#include "cli/view/output.h"
#include "config/config_print.h"
#include "config/diag.h"
#include "config/sink_files.h"
#include "model/kubernetes_version.h"

#define STDIN_MAX (1u << 20) /* as of a file */

/* The file, or standard input where it is called "-". What is too large is refused where it is read. */
static int load(const char *path, struct config *c, struct diags *d)
{
	if (strcmp(path, "-") != 0)
		return config_load(path, c, d);
	_cleanup_free_ char *text = xmalloc(STDIN_MAX + 1);
	const size_t n = fread(text, 1, STDIN_MAX + 1, stdin);

	return ferror(stdin) ? diags_error(d, place_of_file("-"), STDIN_UNREAD)
			     : config_load_text(path, text, n, c, d);
}

static json_t *messages_json(const struct diags *d)
{
	json_t *all = json_array();

	for (size_t i = 0; i < d->n; i++)
		json_array_append_new(all, json_pack("{s:b, s:I, s:I, s:s}", "error", d->v[i].error, "line",
						     (json_int_t)d->v[i].line, "column",
						     (json_int_t)d->v[i].column, "text", d->v[i].text));
	return all;
}

static json_t *kubernetes_json(void)
{
	json_t *all = json_array();
	const char *version;

	for (size_t i = 0; (version = kubernetes_version_at(i)); i++)
		json_array_append_new(all, json_string(version));
	return all;
}

static void tell_json(const char *path, bool good, const struct config *c, json_t *clusters,
		      const json_t *cluster, const struct diags *d)
{
	json_t *told = json_pack("{s:s, s:b, s:o}", "file", path, "ok", good, "messages", messages_json(d));

	if (c) {
		json_object_set_new(told, "mode",
				    json_string(json_mode(c->settings.policy.mode == MODE_OBSERVE)));
		json_object_set_new(told, "clusters", json_incref(clusters));
		json_object_set_new(told, "namespaces",
				    config_namespaces_json(&c->settings.policy, cluster, LANGUAGE_EN));
		json_object_set_new(told, "schedules", schedule_json(c, clock_wall_ms()));
		json_object_set_new(told, "triedOnKubernetes", kubernetes_json());
	}
	output_json(told);
}

static int check(const struct options *o, const char *path)
{
	_cleanup_(diags_done) struct diags d = { 0 };
	_cleanup_(config_done) struct config c = { 0 };
	json_auto_t *clusters = NULL,
		    *cluster = o->namespaces_file ? config_namespaces_load(o->namespaces_file) : NULL;

	if (o->namespaces_file && !cluster)
		return EXIT_CODE_DATA;
	config_init(&c);
	if (load(path, &c, &d) == 0) {
		clusters = config_clusters_look(path, &c, &d);
		(void)config_check_sink_files(path, &c, &d);
	}
	const bool taken = clusters && d.errors == 0;
	const bool good = taken && !(o->strict && d.n > 0);

	if (o->output == OUTPUT_JSON)
		tell_json(path, good, taken ? &c : NULL, clusters, cluster, &d);
	else
		config_print_diags(path, taken, &d, language_of_environment(), stdout);
	if (taken && o->output != OUTPUT_JSON) {
		config_told_print(&c, clusters, cluster);
		table_indented(stdout, 0, TEXT(CONFIG_KUBERNETES), kubernetes_versions_text());
	}
	if (taken && !good)
		output_complain("config", "%s", TEXT(CONFIG_STRICT));
	return good ? EXIT_CODE_OK : EXIT_CODE_CONFIG;
}

static int print_json(const struct config *c)
{
	struct diags d = { 0 };
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return EXIT_CODE_RESOURCE;
	config_print_effective(c, f);
	(void)fclose(f);
	output_document(yaml_json_load("", text, n, &d));
	free(text);
	diags_done(&d);
	return EXIT_CODE_OK;
}

static int print_effective(const struct options *o, const char *path)
{
	_cleanup_(config_done) struct config c = { 0 };
	_cleanup_(diags_done) struct diags d = { 0 };

	config_init(&c);
	int code = load(path, &c, &d) == 0 ? EXIT_CODE_OK : EXIT_CODE_CONFIG;

	output_diags(&d, false);
	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		code = print_json(&c);
	else if (code == EXIT_CODE_OK)
		config_print_effective(&c, stdout);
	return code;
}

int command_config(const struct options *o)
{
	const char *verb = o->n_args > 0 ? o->args[0] : "";
	const char *file = o->n_args == 2 ? o->args[1] : o->n_args == 1 ? o->config : NULL;
	const bool schema = strcmp(verb, "schema") == 0;
	const bool reads = strcmp(verb, "check") == 0 || strcmp(verb, "print") == 0;

	if (o->config && !reads)
		return command_misuse(o, "%s", TEXT(CONFIG_NEEDS));
	if (o->config && o->n_args == 2 && strcmp(o->config, file) != 0)
		return command_misuse(o, TEXT(CONFIG_TWO_FILES), file, o->config);

	if (o->n_args == 1 && (schema || (strcmp(verb, "help") == 0 && o->output == OUTPUT_JSON))) {
		output_document(schema_of_configuration());
		return EXIT_CODE_OK;
	}
	if (o->n_args == 1 && strcmp(verb, "help") == 0) {
		config_print_help(stdout);
		return EXIT_CODE_OK;
	}
	if (file && strcmp(verb, "check") == 0)
		return check(o, file);
	if (file && strcmp(verb, "print") == 0 && !o->strict && !o->namespaces_file)
		return print_effective(o, file);
	return command_misuse(o, "%s", TEXT(CONFIG_NEEDS));
}
