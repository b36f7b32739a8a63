/* Filled pods, made by casting, are the same as if each were encoded by itself. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/fill.h"
#include "tests/apisim/podpb.h"
#include "tests/apisim/util.h"
#include "tests/suite.h"

#include <string.h>

enum { PODS = 400 };

static const struct fill_options options = { .pods = PODS,
					     .seed = 7,
					     .namespaces = 5,
					     .nodes = 9,
					     .evicted = 20,
					     .terminating = 21,
					     .crashloop = 22,
					     .pullfail = 3 };

static void check_pod(struct obj *o)
{
	json_t *tree = object_tree(o), *parsed;
	struct blob *pb = object_pb(o), *text = object_text(o);
	char rv[24], uid[64];
	struct pb_buf b;

	pb_init(&b, 100);
	podpb_message(&b, "Pod", tree);
	ck_assert_uint_eq(pb_size(&b), pb->size - pb->head);
	ck_assert_mem_eq(b.data + b.at, pb->data + pb->head, pb_size(&b));
	pb_field_close(&b, 2, 0);
	ck_assert_mem_eq(b.data + b.at, pb->data, pb->size);
	pb_done(&b);
	parsed = json_loadb(text->data, text->size, 0, NULL);
	ck_assert(json_equal(parsed, tree));
	ck_assert_mem_eq(text->data + text->head - 1, ",\"metadata\"", 11);
	snprintf(rv, sizeof(rv), "%llu", (unsigned long long)o->rv);
	ck_assert_str_eq(json_string_value(object_at(tree, "metadata.resourceVersion")), rv);
	ck_assert_str_eq(json_string_value(object_at(tree, "metadata.name")), o->name);
	ck_assert_str_eq(json_string_value(object_at(tree, "metadata.namespace")), o->ns);
	ck_assert_str_eq(json_string_value(object_at(tree, "metadata.uid")), object_uid(o, uid));
	ck_assert(!strchr(json_string_value(object_at(tree, "spec.nodeName")), '$'));
	json_decref(parsed);
	blob_unref(text);
	json_decref(tree);
}

static const char *waiting(const json_t *tree)
{
	json_t *first = json_array_get(object_at(tree, "status.containerStatuses"), 0);

	return json_string_value(object_at(first, "state.waiting.reason"));
}

/* A store that was filled, and its pods. */
static struct store *filled(struct snapshot *ret)
{
	struct store *s = store_new(50, NULL, NULL);

	fill_store(s, &options);
	ck_assert_uint_eq(store_count(s, kinds_pods()), PODS);
	store_snapshot(s, kinds_pods(), NULL, 0, NULL, 0, NULL, NULL, ret);
	return s;
}

static void done(struct store *s, struct snapshot *snap)
{
	store_snapshot_done(snap);
	store_free(s);
}

TEST(test_cast_is_encode)
{
	struct snapshot snap;
	struct store *s = filled(&snap);

	for (size_t i = 0; i < snap.count; i++) {
		check_pod(snap.items[i]);
		check_pod(store_put_filled(s, snap.items[i], snap.items[i]->round + 1 + (uint32_t)i));
	}
	done(s, &snap);
	fill_done();
}

TEST(test_states_are_as_many_as_asked_for)
{
	struct snapshot snap;
	struct store *s = filled(&snap);
	size_t evicted = 0, terminating = 0, crashloop = 0, pulling = 0;

	for (size_t i = 0; i < snap.count; i++) {
		json_t *tree = object_tree(snap.items[i]);
		const char *reason = waiting(tree);

		evicted += util_streq(json_string_value(object_at(tree, "status.reason")), "Evicted");
		terminating += object_at(tree, "metadata.deletionTimestamp") != NULL;
		crashloop += util_streq(reason, "CrashLoopBackOff");
		pulling += util_streq(reason, "ImagePullBackOff");
		json_decref(tree);
	}
	ck_assert_uint_eq(evicted, 20);
	ck_assert_uint_eq(terminating, 21);
	ck_assert_uint_eq(crashloop, 22);
	ck_assert_uint_ge(pulling, 9);
	ck_assert_uint_le(pulling, 30);
	done(s, &snap);
	fill_done();
}

TEST(test_owners_exist)
{
	struct snapshot snap;
	struct store *s = filled(&snap);
	const struct kind *sets = kinds_find("apps", "v1", "replicasets"),
			  *tops = kinds_find("apps", "v1", "deployments");
	char uid[64];

	for (size_t i = 0; i < snap.count; i++) {
		json_t *tree = object_tree(snap.items[i]), *ref, *set_tree;
		struct obj *set, *top;

		ref = json_array_get(object_at(tree, "metadata.ownerReferences"), 0);
		set = store_get(s, sets, snap.items[i]->ns, util_str(ref, "name"));
		ck_assert_ptr_nonnull(set);
		ck_assert_str_eq(object_uid(set, uid), util_str(ref, "uid"));
		json_decref(tree);
		set_tree = object_tree(set);
		ref = json_array_get(object_at(set_tree, "metadata.ownerReferences"), 0);
		top = store_get(s, tops, set->ns, util_str(ref, "name"));
		ck_assert_ptr_nonnull(top);
		ck_assert_str_eq(object_uid(top, uid), util_str(ref, "uid"));
		json_decref(set_tree);
	}
	done(s, &snap);
	fill_done();
}

TEST(test_same_seed_same_pods)
{
	struct snapshot first, second;
	struct store *a = filled(&first), *b = filled(&second);

	for (size_t i = 0; i < first.count; i++) {
		char x[64], y[64];

		ck_assert_str_eq(first.items[i]->key, second.items[i]->key);
		ck_assert_str_eq(object_uid(first.items[i], x), object_uid(second.items[i], y));
	}
	done(a, &first);
	done(b, &second);
	fill_done();
}

SUITE("apisim/fill");
