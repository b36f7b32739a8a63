/* same_facts.h - are two pods the same, fact by fact of model/fields.def?  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SAME_FACTS_H
#define TESTS_SAME_FACTS_H

#include <check.h>
#include <string.h>

#include "model/pod.h"

#define SAME_TEXT(m)                                                                                         \
	ck_assert_msg(str_eq(a->m, b->m), "%s: " #m ": '%.*s' and '%.*s'", what, STR_ARG(a->m), STR_ARG(b->m))
#define SAME_BOOL(m)                                                                                         \
	ck_assert_msg(a->m == b->m, "%s: " #m ": %lld and %lld", what, (long long)a->m, (long long)b->m)
#define SAME_INT32(m)   SAME_BOOL(m)
#define SAME_TIME(m)    SAME_BOOL(m)
#define SAME_SECONDS(m) SAME_BOOL(m)

/* Does the cache keep all of it? */
#define IS_KEPT_BIT   true
#define IS_KEPT_RARE  true
#define IS_KEPT_FIELD true
#define IS_KEPT_AGAIN (a->state != CONTAINER_RUNNING || a->restarts != 0)
#define IS_KEPT_OWN   true
#define IS_KEPT_PART  false
#define IS_KEPT_NO    false

#define SAME_FACT(kind, member, packed, duties, doc)                                                         \
	if (!kept || IS_KEPT_##packed)                                                                       \
		SAME_##kind(member);

static inline void same_container(const struct container_facts *a, const struct container_facts *b, bool kept,
				  const char *what)
{
	CONTAINER_FACTS(SAME_FACT)
	SAME_INT32(kind);
	SAME_INT32(state);
}

/* Maps have no order: labels are compared as sets, and of too many each reader drops its own. */
static inline void same_labels(const struct pod_facts *a, const struct pod_facts *b, const char *what)
{
	SAME_INT32(n_labels);
	for (uint32_t i = 0; i < a->n_labels && !a->labels_cut; i++) {
		uint32_t k = 0;

		while (k < b->n_labels && !(str_eq(a->labels[i].key, b->labels[k].key) &&
					    str_eq(a->labels[i].value, b->labels[k].value)))
			k++;
		ck_assert_msg(k < b->n_labels, "%s: label %.*s", what, STR_ARG(a->labels[i].key));
	}
}

/* Fails, in the name of `what`, when a fact differs; kept: of those alone that the cache keeps. */
static inline void same_facts(const struct pod_facts *a, const struct pod_facts *b, bool kept,
			      const char *what)
{
	POD_FACTS(SAME_FACT)
	SAME_TEXT(owner.api_version);
	SAME_TEXT(owner.kind);
	SAME_TEXT(owner.name);
	SAME_TEXT(owner.uid);
	SAME_INT32(annotations.skip);
	SAME_TIME(annotations.extend_ms);
	for (uint32_t i = 0; i < DUTY__MAX; i++)
		SAME_TIME(annotations.announced[i]);
	if (!kept)
		same_labels(a, b, what);
	SAME_INT32(n_finalizers);
	for (uint32_t i = 0; i < a->n_finalizers && i < POD_FINALIZERS_MAX; i++)
		SAME_TEXT(finalizers[i]);
	SAME_INT32(n_containers);
	for (uint32_t i = 0; i < a->n_containers; i++)
		same_container(&a->containers[i], &b->containers[i], kept, what);
}

#endif
