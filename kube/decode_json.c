/* decode_json.c - a Pod as JSON -> struct pod_facts. It shares the list of fields (model/fields.def) with the
 * protobuf decoder and nothing else, so that one mistake can not nominate and kill. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/decode_json.h"

#include <errno.h>
#include <jansson.h>

#include "base/rfc3339.h"
#include "kube/pod_facts.h"
#include "model/fields.def"

static struct str text_of(const json_t *v)
{
	return json_is_string(v) ? (struct str){ json_string_value(v), json_string_length(v) }
				 : (struct str){ 0 };
}

static int32_t int32_of(const json_t *v)
{
	const json_int_t i = json_integer_value(v);

	return i < INT32_MIN || i > INT32_MAX ? 0 : (int32_t)i;
}

/* Seconds, as Kubernetes' Time keeps them. */
static int64_t time_of(const json_t *v)
{
	const struct str s = text_of(v);
	int64_t ms;

	if (str_empty(s) || rfc3339_parse(s.p, s.n, &ms) < 0)
		return 0;
	const int64_t below = ms % 1000;

	return facts_time((ms - (below < 0 ? below + 1000 : below)) / 1000);
}

typedef void pair_fn(struct pod_facts *pod, struct str key, struct str value);
typedef void item_fn(struct pod_facts *pod, struct str item);

static void each_pair(json_t *map, pair_fn *fn, struct pod_facts *pod)
{
	for (void *i = json_object_iter(map); i; i = json_object_iter_next(map, i)) {
		const json_t *v = json_object_iter_value(i);

		if (json_is_string(v))
			fn(pod, (struct str){ json_object_iter_key(i), json_object_iter_key_len(i) },
			   text_of(v));
	}
}

static void each_item(const json_t *list, item_fn *fn, struct pod_facts *pod)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_is_string(json_array_get(list, i)))
			fn(pod, text_of(json_array_get(list, i)));
}

/* What becomes of member v of the message o, by its kind. */
#define GET_TEXT(o, fact, v)    (o)->fact = text_of(v)
#define GET_BOOL(o, fact, v)    (o)->fact = json_is_true(v)
#define GET_INT32(o, fact, v)   (o)->fact = int32_of(v)
#define GET_SECONDS(o, fact, v) (o)->fact = json_is_integer(v) ? json_integer_value(v) : -1
#define GET_TIME(o, fact, v)    (o)->fact = time_of(v)
#define GET_PRESENT(o, fact, v) (o)->fact |= json_is_object(v)
#define GET_ONEOF(o, fact, v)   (o)->fact = json_is_object(v) ? (v) : NULL
#define GET_PART(o, fact, v)    fact##_read(v, o)
#define GET_MESSAGE(o, fact, v) fact##_get(v, o)
#define GET_EACH(o, fact, v)                                                                                 \
	for (size_t i_ = 0; i_ < json_array_size(v); i_++)                                                   \
	fact##_get(json_array_get(v, i_), o)
#define GET_NUMBERS(o, fact, v)                                                                              \
	for (size_t i_ = 0; i_ < json_array_size(v); i_++)                                                   \
	facts_add_##fact(o, int32_of(json_array_get(v, i_)))
#define GET_PAIR(o, fact, v)            each_pair(v, facts_add_##fact, o)
#define GET_ITEM(o, fact, v)            each_item(v, facts_add_##fact, o)
#define GET_CONTAINER(o, fact, v)       containers_get(v, CONTAINER_##fact, o)
#define GET(o, fact, number, key, kind) GET_##kind(o, fact, json_object_get(json, #key));

#define READER(message, type)                                                                                \
	static void message##_read(const json_t *json, type *o)                                              \
	{                                                                                                    \
		FIELDS_##message(GET, o)                                                                     \
	}

READER(owner, struct owner_row)
READER(volume, struct pod_facts)
READER(condition, struct condition_row)

static void owner_get(const json_t *json, struct pod_facts *pod)
{
	struct owner_row row;

	owner_read(json, &row);
	facts_add_owner(pod, &row);
}

static void volume_get(const json_t *json, struct pod_facts *pod)
{
	volume_read(json, pod);
}

READER(claim, struct claim_row)
READER(claim_status, struct claim_row)

static void claim_get(const json_t *json, struct pod_facts *pod)
{
	struct claim_row row;

	claim_read(json, &row);
	facts_add_claim(pod, &row);
}

static void claim_status_get(const json_t *json, struct pod_facts *pod)
{
	struct claim_row row = { 0 };

	claim_status_read(json, &row);
	if (json_is_object(json))
		facts_add_claim(pod, &row);
}

READER(exit_codes, struct rule_row)

static void exit_codes_get(const json_t *json, struct rule_row *rule)
{
	exit_codes_read(json, rule);
}

READER(rule, struct rule_row)

static void rule_get(const json_t *json, struct template_row *t)
{
	struct rule_row rule;

	t->has_rules = true;
	if (!t->of)
		return;
	rule = facts_rule(t);
	rule_read(json, &rule);
	facts_heed_rule(t, &rule);
}

READER(template, struct template_row)

static void template_get(const json_t *json, struct pod_facts *pod)
{
	struct template_row t = { 0 };

	if (pod->n_containers == 0)
		return;
	template_read(json, &t);
	for (uint32_t i = 0; t.has_rules && i < pod->n_containers; i++) {
		struct template_row ruled = { .of = facts_ruled(pod, i, t.name) };

		if (ruled.of)
			template_read(json, &ruled);
	}
	facts_note_template(pod, t.name);
}

static void condition_get(const json_t *json, struct pod_facts *pod)
{
	struct condition_row row;

	condition_read(json, &row);
	facts_add_condition(pod, &row);
}

struct json_states {
	const json_t *waiting, *running, *terminated;
};

READER(state, struct json_states)
READER(waiting, struct container_facts)
READER(running, struct container_facts)
READER(terminated, struct container_facts)
READER(last, struct container_facts)

static void state_get(const json_t *json, struct container_facts *c)
{
	struct json_states s;

	state_read(json, &s);
	c->state = facts_state(s.waiting, s.running, s.terminated);
	if (c->state == CONTAINER_WAITING)
		waiting_read(s.waiting, c);
	else if (c->state == CONTAINER_RUNNING)
		running_read(s.running, c);
	else if (c->state == CONTAINER_TERMINATED)
		terminated_read(s.terminated, c);
}

static void last_state_get(const json_t *json, struct container_facts *c)
{
	struct json_states s;

	state_read(json, &s);
	last_read(s.terminated, c);
}

READER(health, struct health_row)

static void health_get(const json_t *json, struct container_facts *c)
{
	struct health_row row;

	health_read(json, &row);
	facts_add_health(c, &row);
}

READER(allocated, struct container_facts)

static void allocated_get(const json_t *json, struct container_facts *c)
{
	allocated_read(json, c);
}

READER(container, struct container_facts)

static void containers_get(const json_t *list, enum container_kind kind, struct pod_facts *pod)
{
	struct container_facts *c;

	for (size_t i = 0; i < json_array_size(list) && (c = facts_add_container(pod, kind)); i++)
		container_read(json_array_get(list, i), c);
}

READER(meta, struct pod_facts)
READER(templates, struct pod_facts)
READER(spec, struct pod_facts)
READER(status, struct pod_facts)
READER(pod, struct pod_facts)

int decode_pod_json(const struct json_t *pod, struct pod_facts *ret)
{
	facts_begin(ret);
	pod_read(pod, ret);
	if (facts_need_templates(ret))
		templates_read(json_object_get(pod, "spec"), ret);
	facts_end(ret);
	return str_empty(ret->name) || str_empty(ret->uid) ? -EBADMSG : 0;
}
