/* schema.c - see schema.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/schema.h"

#include <string.h>

#include "base/cleanup.h"
#include "config/config_print.h"
#include "config/table.h"

#define DURATION_PATTERN "^(0|([0-9]+(\\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h|d))+)$"

static json_t *object_schema(json_t *properties)
{
	return json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0, "properties",
			 properties);
}

/* A list may be written as one text with commas. */
static json_t *list_schema(void)
{
	return json_pack("{s:[{s:s}, {s:s, s:{s:s}}]}", "anyOf", "type", "string", "type", "array", "items",
			 "type", "string");
}

static json_t *enum_schema(const char *options)
{
	json_t *values = json_array();

	for (size_t n; *options; options += n + (options[n] == '|')) {
		n = strcspn(options, "|");
		json_array_append_new(values, json_stringn(options, n));
	}
	return json_pack("{s:o}", "enum", values);
}

static json_t *value_schema(const struct setting *row)
{
	if (row->kind == SET_BOOL)
		return json_pack("{s:s}", "type", "boolean");
	if (row->kind == SET_COUNT)
		return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)row->min,
				 "maximum", (json_int_t)row->max);
	if (row->kind == SET_DURATION)
		return json_pack("{s:s, s:s}", "type", "string", "pattern", DURATION_PATTERN);
	if (row->kind == SET_ENUM)
		return enum_schema(row->unit);
	if (setting_is_list(row->kind) || row->kind == SET_OPTIONS)
		return list_schema();
	return json_pack("{s:s, s:I}", "type", "string", "maxLength", (json_int_t)row->max);
}

static void describe(const struct setting *row, json_t *schema)
{
	json_object_set_new(schema, "description", json_string(row->doc));
	if (row->def[0] && row->kind == SET_BOOL)
		json_object_set_new(schema, "default", json_boolean(strcmp(row->def, "true") == 0));
	else if (row->def[0] && row->kind == SET_COUNT)
		json_object_set_new(schema, "default", json_loads(row->def, JSON_DECODE_ANY, NULL));
	else if (row->def[0])
		json_object_set_new(schema, "default", json_string(row->def));
}

/* The last part of a path: "errImagePull.hours" -> "hours". */
static const char *key_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

static void add(json_t *properties, const struct setting *row, json_t *schema)
{
	describe(row, schema);
	if (row->alias[0])
		json_object_set(properties, key_of(row->alias), schema);
	json_object_set_new(properties, key_of(row->path), schema);
}

/* What an item of `clusters`, `overrides` or `sinks` has of its own. */
static json_t *item_properties(const struct setting *table)
{
	json_t *properties = json_object();

	for (const struct setting *row = table; row->path; row++)
		if (!(row->flags & SETTING_DERIVED))
			add(properties, row, value_schema(row));
	return properties;
}

static json_t *section_schema(const struct setting *section, json_t *below)
{
	json_t *object = object_schema(below);

	if (!(section->flags & SETTING_NUMBER))
		return object;
	json_t *number = value_schema(section + 2); /* its max */

	return json_pack("{s:[o, o]}", "anyOf", number, object);
}

/* The rows whose flags hold `flags`, those of a section below it; sections that stay empty are left out. */
static void add_rows(json_t *properties, unsigned flags)
{
	const struct setting *section = NULL;
	json_t *below = NULL;

	for (const struct setting *row = settings_table; row->path; row++) {
		if (row->kind == SET_SECTION) {
			section = row;
			below = NULL;
		}
		if (row->kind == SET_SECTION || row->flags & SETTING_DERIVED ||
		    (row->flags & flags) != flags || setting_item_table(row->kind))
			continue;
		if (strchr(row->path, '.') && !below) {
			below = json_object();
			add(properties, section, section_schema(section, below));
		}
		add(strchr(row->path, '.') ? below : properties, row, value_schema(row));
	}
}

static void add_items(json_t *properties, const char *path, json_t *of_one)
{
	add(properties, settings_find(path),
	    json_pack("{s:s, s:o}", "type", "array", "items", object_schema(of_one)));
}

json_t *schema_of_configuration(void)
{
	json_t *properties = json_object(), *override = item_properties(settings_override_table), *schema;

	add_rows(properties, 0);
	add_rows(override, SETTING_OVERRIDE);
	add_items(properties, "clusters", item_properties(settings_cluster_table));
	add_items(properties, "overrides", override);
	add_items(properties, "sinks", item_properties(settings_sink_table));
	schema = object_schema(properties);
	json_object_set_new(schema, "$schema", json_string("http://json-schema.org/draft-07/schema#"));
	json_object_set_new(schema, "title", json_string("ops-pod-cleaner configuration"));
	return schema;
}
