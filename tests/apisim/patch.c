// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/patch.h"
#include "tests/apisim/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *share(const json_t *v)
{
	return json_incref((json_t *)(uintptr_t)v);
}

static const char *merge_key(const char *field)
{
	static const char *const keys[][2] = {
		{ "containers", "name" }, { "initContainers", "name" }, { "ephemeralContainers", "name" },
		{ "conditions", "type" }, { "ownerReferences", "uid" }, { "volumes", "name" },
		{ "env", "name" },        { "podIPs", "ip" },           { "hostIPs", "ip" },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i][0], field))
			return keys[i][1];
	return NULL;
}

static json_t *strategic_list(const json_t *doc, const json_t *patch, const char *by)
{
	json_t *out = json_is_array(doc) ? json_copy((json_t *)(uintptr_t)doc) : json_array(), *item;
	size_t i;

	json_array_foreach (patch, i, item) {
		const char *id = util_str(item, by);
		size_t at = 0;

		while (at < json_array_size(out) && !util_streq(util_str(json_array_get(out, at), by), id))
			at++;
		if (util_streq(util_str(item, "$patch"), "delete"))
			json_array_remove(out, at);
		else if (at < json_array_size(out))
			json_array_set_new(out, at, patch_merge(json_array_get(out, at), item, true));
		else
			json_array_append_new(out, patch_merge(NULL, item, true));
	}
	return out;
}

json_t *patch_merge(const json_t *doc, const json_t *patch, bool strategic)
{
	json_t *out, *value;
	const char *key;

	if (!json_is_object(patch))
		return share(patch);
	out = json_is_object(doc) ? json_copy((json_t *)(uintptr_t)doc) : json_object();
	json_object_foreach ((json_t *)(uintptr_t)patch, key, value) {
		json_t *old = json_object_get(out, key);
		const char *by = strategic && json_is_array(value) ? merge_key(key) : NULL;

		if (json_is_null(value))
			json_object_del(out, key);
		else if (!strategic || (strncmp(key, "$setElementOrder/", 17) && strcmp(key, "$patch")))
			json_object_set_new(out, key,
					    by ? strategic_list(old, value, by)
					       : patch_merge(old, value, strategic));
	}
	return out;
}

/* The next segment of a JSON pointer, unescaped, or NULL at the end. The result is the caller's. */
static char *segment(const char **path)
{
	size_t n;
	char *s, *to;

	if (**path != '/')
		return NULL;
	n = strcspn(*path + 1, "/");
	s = to = util_strndup(*path + 1, n);
	*path += n + 1;
	for (char *p = s; *p; p++) {
		if (p[0] == '~' && (p[1] == '0' || p[1] == '1')) {
			*to++ = p[1] == '0' ? '~' : '/';
			p++;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
	return s;
}

static bool array_index(const json_t *list, const char *s, bool adding, size_t *ret)
{
	int64_t n;

	if (adding && !strcmp(s, "-")) {
		*ret = json_array_size(list);
		return true;
	}
	if (!util_parse_int(s, &n) || n < 0 || (size_t)n >= json_array_size(list) + (adding ? 1u : 0u))
		return false;
	*ret = (size_t)n;
	return true;
}

static json_t *child(const json_t *at, const char *key)
{
	size_t i;

	if (json_is_array(at))
		return array_index(at, key, false, &i) ? json_array_get(at, i) : NULL;
	return json_object_get(at, key);
}

static json_t *pointer_get(json_t *doc, const char *path)
{
	char *key;

	while (doc && (key = segment(&path))) {
		doc = child(doc, key);
		free(key);
	}
	return doc;
}

enum edit { ADD, REPLACE, REMOVE };

static int change_in(json_t *parent, const char *key, enum edit what, json_t *value)
{
	size_t i;

	if (json_is_array(parent)) {
		if (!array_index(parent, key, what == ADD, &i))
			return -ENOENT;
		if (what == REMOVE)
			return json_array_remove(parent, i);
		return what == ADD ? json_array_insert(parent, i, value) : json_array_set(parent, i, value);
	}
	if (!json_is_object(parent) || (what != ADD && !json_object_get(parent, key)))
		return -ENOENT;
	return what == REMOVE ? json_object_del(parent, key) : json_object_set(parent, key, value);
}

static int pointer_change(json_t **doc, const char *path, enum edit what, json_t *value)
{
	json_t *at = *doc;
	char *key = segment(&path);
	int rc;

	if (!key) {
		if (what == REMOVE)
			return -ENOENT;
		json_incref(value);
		json_decref(*doc);
		*doc = value;
		return 0;
	}
	while (at && *path == '/') {
		at = child(at, key);
		free(key);
		key = segment(&path);
	}
	rc = at ? change_in(at, key, what, value) : -ENOENT;
	free(key);
	return rc;
}

static int apply(json_t **doc, const json_t *op, char why[160])
{
	const char *what = util_str(op, "op"), *path = util_str(op, "path"), *from = util_str(op, "from");
	json_t *value = json_object_get(op, "value"), *moved;
	int rc;

	if (!what || !path || (*path && *path != '/')) {
		snprintf(why, 160, "each operation needs \"op\" and \"path\"");
		return -EINVAL;
	}
	if (!strcmp(what, "remove"))
		return pointer_change(doc, path, REMOVE, NULL);
	if (!strcmp(what, "move") || !strcmp(what, "copy")) {
		moved = from ? json_deep_copy(pointer_get(*doc, from)) : NULL;
		rc = moved ? 0 : -ENOENT;
		if (!rc && *what == 'm')
			rc = pointer_change(doc, from, REMOVE, NULL);
		if (!rc)
			rc = pointer_change(doc, path, ADD, moved);
		json_decref(moved);
		return rc;
	}
	if (!value) {
		snprintf(why, 160, "operation %.40s needs \"value\"", what);
		return -EINVAL;
	}
	if (!strcmp(what, "test")) {
		json_t *found = pointer_get(*doc, path);

		return (found ? json_equal(found, value) : json_is_null(value)) ? 0 : -ENOENT;
	}
	if (!strcmp(what, "add") || !strcmp(what, "replace"))
		return pointer_change(doc, path, *what == 'a' ? ADD : REPLACE, value);
	snprintf(why, 160, "unexpected operation \"%.40s\"", what);
	return -EINVAL;
}

int patch_json(const json_t *doc, const json_t *ops, char why[160], json_t **ret)
{
	json_t *copy, *op;
	size_t i;
	int rc = 0;

	why[0] = '\0';
	if (!json_is_array(ops)) {
		snprintf(why, 160, "a JSON patch is an array of operations");
		return -EINVAL;
	}
	copy = json_deep_copy(doc);
	json_array_foreach (ops, i, op) {
		rc = apply(&copy, op, why);
		if (rc)
			break;
	}
	if (rc) {
		json_decref(copy);
		return rc == -EINVAL ? rc : -ENOENT;
	}
	*ret = copy;
	return 0;
}
