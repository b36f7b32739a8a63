// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/fill_text.h"
#include "tests/apisim/fill_pod.def"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

static const char *const texts[FILL_TEXTS] = {
	[FILL_RUNNING] = POD("", STATUS_OK),
	[FILL_EVICTED] = POD("", STATUS_EVICTED),
	[FILL_TERMINATING] = POD(DELETING, STATUS_TERMINATING),
	[FILL_CRASHLOOP] = POD("", STATUS_CRASHLOOP),
	[FILL_PULLFAIL] = POD("", STATUS_PULLFAIL),
	[FILL_DEPLOYMENT] = DEPLOYMENT,
	[FILL_REPLICA_SET] = REPLICA_SET,
};

static json_t *trees[FILL_TEXTS];

json_t *fill_text_tree(enum fill_text which)
{
	json_error_t error;
	char *text;

	if (trees[which])
		return trees[which];
	text = util_strdup(texts[which]);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	trees[which] = json_loads(text, 0, &error);
	if (!trees[which])
		util_die(70, "fill_pod.def: text %d: %s at %d", which, error.text, error.position);
	free(text);
	return trees[which];
}

void fill_text_done(void)
{
	for (size_t i = 0; i < FILL_TEXTS; i++) {
		json_decref(trees[i]);
		trees[i] = NULL;
	}
}

const char *fill_text_string(const char *text, fill_word_fn value, const void *arg, char out[512])
{
	char room[256];
	size_t len = 0;

	while (*text && len < 511) {
		const char *end = *text == '$' ? strchr(text + 1, '$') : NULL;
		const char *word = end ? value(arg, text + 1, (size_t)(end - text) - 1, room) : NULL;

		if (!word) {
			out[len++] = *text++;
			continue;
		}
		len += (size_t)snprintf(out + len, 512 - len, "%s", word);
		len = len < 511 ? len : 511;
		text = end + 1;
	}
	out[len] = '\0';
	return out;
}

static json_t *expand_string(json_t *v, fill_word_fn value, const void *arg)
{
	const char *s = json_string_value(v);
	char out[512], room[256];
	const char *number;
	int64_t n;

	if (!strchr(s, '$'))
		return json_incref(v);
	if (s[0] != '$' || s[1] != '#')
		return json_string(fill_text_string(s, value, arg, out));
	number = value(arg, s + 2, strlen(s) - 3, room);
	return util_parse_int(number, &n) ? json_integer(n) : json_null();
}

/* Gives the member its name with the words replaced; o is not shared yet. */
static json_t *expand_key(json_t *o, const char *key, fill_word_fn value, const void *arg)
{
	json_t *member = json_incref(json_object_get(o, key));
	char name[512];

	json_object_del(o, key);
	json_object_set_new(o, fill_text_string(key, value, arg, name), member);
	return o;
}

json_t *fill_text_expand(json_t *v, fill_word_fn value, const void *arg)
{
	json_t *copy = NULL, *child, *made;
	const char *key;
	size_t i;

	if (json_is_string(v))
		return expand_string(v, value, arg);
	json_object_foreach (v, key, child) {
		made = fill_text_expand(child, value, arg);
		if (made != child && !copy)
			copy = json_copy(v);
		if (made != child)
			json_object_set(copy, key, made);
		json_decref(made);
		if (strchr(key, '$'))
			copy = expand_key(copy ? copy : json_copy(v), key, value, arg);
	}
	json_array_foreach (v, i, child) {
		made = fill_text_expand(child, value, arg);
		if (made != child && !copy)
			copy = json_copy(v);
		if (made != child)
			json_array_set(copy, i, made);
		json_decref(made);
	}
	return copy ? copy : json_incref(v);
}

void fill_node_name(unsigned index, char *out)
{
	snprintf(out, 24, "worker-%05u", index % 100000);
}

json_t *fill_text_namespace(uint64_t i)
{
	char name[32], uid[37];

	snprintf(name, sizeof(name), "prod-%02llu", (unsigned long long)i + 1);
	util_uuid(uid, util_random(), util_random());
	return json_pack("{s:{s:s, s:s, s:{s:s}}, s:{s:s}}", "metadata", "name", name, "uid", uid, "labels",
			 "kubernetes.io/metadata.name", name, "status", "phase", "Active");
}

json_t *fill_text_node(unsigned index, bool out_of_service, int64_t now)
{
	char name[24], uid[37], since[21];
	json_t *taints = json_array();

	fill_node_name(index, name);
	util_uuid(uid, util_random(), util_random());
	util_time_format(now - 5400, since);
	if (out_of_service) {
		json_array_append_new(taints, json_pack("{s:s, s:s}", "key", "node.kubernetes.io/unreachable",
							"effect", "NoExecute"));
		json_array_append_new(taints,
				      json_pack("{s:s, s:s, s:s}", "key", "node.kubernetes.io/out-of-service",
						"value", "nodeshutdown", "effect", "NoExecute"));
	}
	return json_pack("{s:{s:s, s:s, s:{s:s}}, s:{s:o}, s:{s:{s:s}, s:[{s:s, s:s, s:s, s:s, s:s}]}}",
			 "metadata", "name", name, "uid", uid, "labels", "kubernetes.io/hostname", name,
			 "spec", "taints", taints, "status", "capacity", "pods", "256", "conditions", "type",
			 "Ready", "status", out_of_service ? "Unknown" : "True", "reason",
			 out_of_service ? "NodeStatusUnknown" : "KubeletReady", "lastHeartbeatTime", since,
			 "lastTransitionTime", since);
}
