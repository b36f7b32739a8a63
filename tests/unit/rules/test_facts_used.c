/* Which duty asks for which fact: the column DUTIES of model/fields.def, held to what the rules do. Of each
 * of many pods one fact after the other is taken from another pod; a duty whose answers change has asked for
 * it. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include "base/cleanup.h"
#include "kube/decode_json.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/kube/random_pod.h"

#define PODS 14000

static struct pod_context around[5];

/* Everything that the rules say of a pod in the name of a duty. */
struct answers {
	struct verdict v[ARRAY_SIZE(around)];
	int64_t began;
	bool fails, works;
};

static void ask(enum duty d, const struct pod_facts *p, struct answers *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < ARRAY_SIZE(around); i++)
		judge_duty(d, p, &policy, &around[i], NOW, &ret->v[i]);
	ret->began = judge_began(d, p, &around[0]);
	ret->fails = judge_fails(d, p, &policy, NOW, NULL);
	ret->works = judge_works(d, p, NOW);
}

static bool same(const struct answers *a, const struct answers *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(around); i++)
		if (a->v[i].kind != b->v[i].kind || a->v[i].reason != b->v[i].reason ||
		    a->v[i].at_ms != b->v[i].at_ms || !facts_equal(&a->v[i].evidence, &b->v[i].evidence))
			return false;
	return a->began == b->began && a->fails == b->fails && a->works == b->works;
}

/* The duties whose answers on p are others than `before`. */
static unsigned changed(const struct pod_facts *p, const struct answers before[static DUTY__MAX])
{
	struct answers now;
	unsigned ret = 0;

	for (enum duty d = 0; d < DUTY__MAX; d++) {
		ask(d, p, &now);
		ret |= same(&now, &before[d]) ? 0 : 1u << d;
	}
	return ret;
}

#define ID_OF_POD(kind, member, packed, duties, doc)       POD_##member,
#define ID_OF_CONTAINER(kind, member, packed, duties, doc) CONTAINER_##member,
enum field { POD_FACTS(ID_OF_POD) CONTAINER_FACTS(ID_OF_CONTAINER) FIELD__MAX };
static unsigned used[FIELD__MAX];

/* Puts another's value in place of each fact in turn, and back. */
#define SWAP(id, mine, others)                                                                               \
	do {                                                                                                 \
		const __typeof__(mine) was_ = mine;                                                          \
                                                                                                             \
		mine = others;                                                                               \
		if (memcmp(&was_, &mine, sizeof(was_)) != 0)                                                 \
			used[id] |= changed(p, before);                                                      \
		mine = was_;                                                                                 \
	} while (0);
#define SWAP_OF_POD(kind, member, packed, duties, doc)       SWAP(POD_##member, p->member, other->member)
#define SWAP_OF_CONTAINER(kind, member, packed, duties, doc) SWAP(CONTAINER_##member, c->member, o->member)

static void try_each(struct pod_facts *p, const struct pod_facts *other)
{
	struct answers before[DUTY__MAX];

	for (enum duty d = 0; d < DUTY__MAX; d++)
		ask(d, p, &before[d]);
	POD_FACTS(SWAP_OF_POD)
	if (p->n_containers && other->n_containers) {
		struct container_facts *c = &p->containers[0];
		const struct container_facts *o = &other->containers[0];

		CONTAINER_FACTS(SWAP_OF_CONTAINER)
	}
}

#define CHECK_POD(kind, member, packed, duties, doc)                                                         \
	ck_assert_msg(used[POD_##member] == (duties), #member " of a pod: used %#x", used[POD_##member]);
#define CHECK_CONTAINER(kind, member, packed, duties, doc)                                                   \
	ck_assert_msg(used[CONTAINER_##member] == (duties), #member " of a container: used %#x",             \
		      used[CONTAINER_##member]);

TEST(every_duty_asks_for_what_the_list_says)
{
	static struct pod_facts facts[2];
	struct dual pod[2];

	policy.duty[DUTY_EVICTED].announce_ms = MIN;
	policy.duty[DUTY_CRASH_LOOP].counts = 1; /* few of the pods have restarted often */
	around[0] = cache(), around[1] = live_pull(), around[2] = live_node_gone();
	around[3] = live_node_ready(), around[4] = live_pull();
	around[4].failing_since = 0, around[4].ready = 1; /* no clock, for others do work */
	for (uint64_t seed = 1; seed <= PODS; seed += 2) {
		for (size_t i = 0; i < 2; i++) {
			pod[i] = random_pod(seed + i);
			ck_assert_int_eq(decode_pod_json(pod[i].json, &facts[i]), 0);
		}
		try_each(&facts[0], &facts[1]);
		for (size_t i = 0; i < 2; i++)
			dual_done(&pod[i]);
	}
	POD_FACTS(CHECK_POD)
	CONTAINER_FACTS(CHECK_CONTAINER)
}

TEST_MAIN("rules/facts_used")
{
	tcase_add_checked_fixture(t, policy_setup, policy_teardown);
	tcase_set_timeout(t, 120);
}
