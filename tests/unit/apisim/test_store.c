/* The store against a plain array that keeps a copy of every state. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/store.h"
#include "tests/apisim/util.h"
#include "tests/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 40, STEPS = 3000, HISTORY = 200 };

/* What was there after each resourceVersion: the version of each name, 0 when absent. */
static uint64_t states[STEPS + 10][NAMES];
static size_t changes_seen;

static void on_change(void *arg, const struct change *c)
{
	(void)arg;
	ck_assert((c->prev == NULL) == (c->type == CHANGE_ADDED));
	changes_seen++;
}

static void name_of(unsigned i, char ns[8], char name[16])
{
	snprintf(ns, 8, "n%u", i % 3);
	snprintf(name, 16, "pod-%u", i);
}

static struct obj *find(struct store *s, unsigned i)
{
	char ns[8], name[16];

	name_of(i, ns, name);
	return store_get(s, kinds_pods(), ns, name);
}

static void put(struct store *s, unsigned i)
{
	char ns[8], name[16];

	name_of(i, ns, name);
	store_put(s, kinds_pods(), json_pack("{s:{s:s, s:s}}", "metadata", "name", name, "namespace", ns));
}

static void check_snapshot(struct store *s, uint64_t rv, const char *ns)
{
	struct snapshot snap;
	size_t expected = 0;
	char have[8], name[16];

	ck_assert_int_eq(store_snapshot(s, kinds_pods(), ns, rv, NULL, 0, NULL, NULL, &snap), 0);
	for (unsigned i = 0; i < NAMES; i++) {
		name_of(i, have, name);
		if (states[rv][i] && (!ns || !strcmp(ns, have)))
			expected++;
	}
	ck_assert_uint_eq(snap.count, expected);
	for (size_t i = 0; i < snap.count; i++) {
		unsigned n = (unsigned)strtoul(snap.items[i]->name + 4, NULL, 10);

		ck_assert_uint_eq(snap.items[i]->rv, states[rv][n]);
		ck_assert(i == 0 || strcmp(snap.items[i - 1]->key, snap.items[i]->key) < 0);
	}
	store_snapshot_done(&snap);
}

/* Pages of three, with changes between them, give the state at the first page. */
static void check_pages(struct store *s, uint64_t rv)
{
	size_t seen = 0, expected = 0;
	char *after = NULL;
	struct snapshot snap;

	do {
		ck_assert_int_eq(store_snapshot(s, kinds_pods(), NULL, rv, after, 3, NULL, NULL, &snap), 0);
		seen += snap.count;
		free(after);
		after = snap.left ? util_strdup(snap.last_key) : NULL;
		store_snapshot_done(&snap);
	} while (after);
	for (unsigned i = 0; i < NAMES; i++)
		expected += states[rv][i] != 0;
	ck_assert_uint_eq(seen, expected);
}

TEST(test_every_state_in_history)
{
	struct store *s = store_new(HISTORY, on_change, NULL);
	struct snapshot snap;

	util_random_seed(42);
	for (int step = 0; step < STEPS; step++) {
		unsigned i = (unsigned)(util_random() % NAMES);
		uint64_t before = store_rv(s);
		struct obj *o = find(s, i);

		memcpy(states[before + 1], states[before], sizeof(states[0]));
		if (o && util_random() % 3 == 0) {
			store_delete(s, o);
			states[before + 1][i] = 0;
		} else {
			put(s, i);
			states[before + 1][i] = before + 1;
		}
		ck_assert_uint_eq(store_rv(s), before + 1);
		ck_assert_ptr_nonnull(store_change(s, before + 1));
		if (step % 50 == 0) {
			uint64_t floor = store_floor(s),
				 rv = floor + util_random() % (store_rv(s) - floor + 1);

			check_snapshot(s, rv, NULL);
			check_snapshot(s, rv, "n1");
			check_pages(s, rv);
			if (floor > 1)
				ck_assert_int_eq(store_snapshot(s, kinds_pods(), NULL, floor - 1, NULL, 0,
								NULL, NULL, &snap),
						 -ESTALE);
		}
	}
	ck_assert_uint_eq(changes_seen, STEPS);
	ck_assert_uint_eq(store_rv(s) - store_floor(s), HISTORY);
	store_compact(s);
	ck_assert_ptr_null(store_change(s, store_rv(s)));
	check_snapshot(s, store_rv(s), NULL);
	store_free(s);
}

TEST(test_namespaces_that_begin_alike)
{
	static const char *const names[] = { "a", "a-b", "a.b", "ab", "b" };
	struct store *s = store_new(10, NULL, NULL);
	struct snapshot snap;

	for (size_t i = 0; i < 5; i++)
		store_put(s, kinds_pods(),
			  json_pack("{s:{s:s, s:s}}", "metadata", "name", "p", "namespace", names[i]));
	for (size_t i = 0; i < 5; i++) {
		ck_assert_int_eq(store_snapshot(s, kinds_pods(), names[i], 0, NULL, 0, NULL, NULL, &snap), 0);
		ck_assert_uint_eq(snap.count, 1);
		ck_assert_str_eq(snap.items[0]->ns, names[i]);
		store_snapshot_done(&snap);
	}
	store_free(s);
}

TEST(test_path_copies_leave_the_original)
{
	json_t *a = json_pack("{s:{s:i, s:{s:i}}, s:i}", "x", "y", 1, "z", "w", 2, "k", 3);
	json_t *b = object_with(json_incref(a), "x.z.w", json_integer(7));
	json_t *c = object_with(json_incref(a), "x.y", NULL);
	json_t *d = object_with(json_incref(a), "new.deep.value", json_true());

	ck_assert_int_eq(json_integer_value(object_at(a, "x.z.w")), 2);
	ck_assert_int_eq(json_integer_value(object_at(b, "x.z.w")), 7);
	ck_assert_int_eq(json_integer_value(object_at(b, "x.y")), 1);
	ck_assert_ptr_null(object_at(c, "x.y"));
	ck_assert_int_eq(json_integer_value(object_at(a, "x.y")), 1);
	ck_assert(json_is_true(object_at(d, "new.deep.value")));
	ck_assert_ptr_null(object_at(a, "new"));
	json_decref(a);
	json_decref(b);
	json_decref(c);
	json_decref(d);
}

TEST(test_what_others_hold_is_copied)
{
	json_t *a = json_pack("{s:{s:i}, s:{s:i}}", "x", "y", 1, "z", "w", 2),
	       *held = json_object_get(a, "x");
	json_t *b;

	json_incref(held);
	b = object_with(object_with(a, "x.y", json_integer(5)), "z.w", json_integer(6));
	ck_assert_ptr_eq(b, a);
	ck_assert_int_eq(json_integer_value(object_at(b, "x.y")), 5);
	ck_assert_int_eq(json_integer_value(object_at(b, "z.w")), 6);
	ck_assert_int_eq(json_integer_value(object_at(held, "y")), 1);
	json_decref(held);
	json_decref(b);
}

static void check_text(const char *tree, const char *expected)
{
	struct obj *o = object_new(kinds_pods(), json_loads(tree, 0, NULL), 7);
	struct blob *b = object_text(o);

	ck_assert_uint_eq(b->size, strlen(expected));
	ck_assert_mem_eq(b->data, expected, b->size);
	blob_unref(b);
	object_unref(o);
}

TEST(test_order_of_members)
{
	check_text("{\"x\":1,\"status\":{},\"metadata\":{\"name\":\"a\"},\"kind\":\"Wrong\",\"spec\":{}}",
		   "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":"
		   "\"7\"},"
		   "\"spec\":{},\"status\":{},\"x\":1}");
	check_text("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"x\":1}",
		   "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":"
		   "\"7\"},"
		   "\"x\":1}");
}

/* Both forms of a version are those of the same object encoded by itself. */
static void check_forms(struct obj *o)
{
	struct obj *alone = object_new(o->kind, json_deep_copy(o->tree), o->rv);
	struct blob *text = object_text(o), *text_alone = object_text(alone);
	const struct blob *pb = object_pb(o), *pb_alone = object_pb(alone);

	ck_assert_uint_eq(text->size, text_alone->size);
	ck_assert_mem_eq(text->data, text_alone->data, text->size);
	ck_assert_uint_eq(text->head, text_alone->head);
	ck_assert_uint_eq(pb->size, pb_alone->size);
	ck_assert_mem_eq(pb->data, pb_alone->data, pb->size);
	ck_assert_uint_eq(pb->head, pb_alone->head);
	blob_unref(text);
	blob_unref(text_alone);
	object_unref(alone);
}

static struct obj *change(struct store *s, const char *path, json_t *value)
{
	struct obj *o = store_get(s, kinds_pods(), "ns", "a");

	return store_put(s, kinds_pods(), object_with(object_tree(o), path, value));
}

TEST(test_forms_of_later_versions)
{
	struct store *s = store_new(100, NULL, NULL);

	check_forms(store_put(s, kinds_pods(),
			      json_loads("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\"},"
					 "\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\"}]},"
					 "\"status\":{\"phase\":\"Running\"}}",
					 0, NULL)));
	check_forms(change(s, "metadata.labels", json_pack("{s:s}", "spec", "status")));
	(void)change(s, "metadata.labels", NULL); /* nobody asks for the forms of this one */
	check_forms(change(s, "status.phase", json_string("Failed")));
	check_forms(change(s, "spec", NULL));
	check_forms(change(s, "spec.nodeName", json_string("other")));
	check_forms(change(s, "status", json_null()));
	check_forms(change(s, "more", json_integer(1)));
	check_forms(store_delete(s, store_get(s, kinds_pods(), "ns", "a")));
	store_free(s);
}

SUITE("apisim/store");
