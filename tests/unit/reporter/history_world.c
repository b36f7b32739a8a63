/* history_world.c - see history_world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/reporter/history_world.h"

#include "base/clock.h"
#include "model/duties.h"

struct history_world w;

void world_on_committed(void *ctx, const struct history_entry *e)
{
	struct seen *s = ctx;

	if (s->n == sizeof(s->type) / sizeof(s->type[0]))
		return;
	s->type[s->n] = e->m->type;
	s->effect[s->n++] = e->effect;
	s->duty = e->duty;
	s->observe = e->observe;
	(void)snprintf(s->cluster, sizeof(s->cluster), "%s", e->cluster_name);
}

void world_open(void)
{
	w.db = test_db_open(w.dir);
	w.h = history_new(w.db, &w.clusters, world_on_committed, &w.seen);
	w.seen = (struct seen){ 0 };
}

void world_close(void)
{
	history_free(&w.h);
	db_close(&w.db);
}

void world_forget_staging(void)
{
	str_list_done(&w.clusters);
	test_names(&w.clusters, "prod", NULL);
}

void world_setup(void)
{
	clock_fake_set(WORLD_NOW, 1000);
	suite_folder(w.dir);
	test_names(&w.clusters, "prod", "staging"); /* which tests borrow */
	world_open();
}

void world_teardown(void)
{
	world_close();
	str_list_done(&w.clusters);
	clock_fake_clear();
}

struct msg world_intent(uint64_t id, uint64_t cluster, const char *uid)
{
	struct msg m = { .type = MSG_INTENT };

	m.u.intent = (struct msg_intent){
		.id = id, .cluster = cluster, .duty = DUTY_TERMINATING, .since = WORLD_NOW - 5000
	};
	test_set(&m, intent.ns, "shop");
	test_set(&m, intent.name, "web-1");
	test_set(&m, intent.uid, uid);
	test_set(&m, intent.rv, "42");
	test_set(&m, intent.action_key, uid);
	test_set(&m, intent.reason, "StuckTerminating");
	SET_SAID(m.u.intent.evidence, "3h past its deadline");
	return m;
}

struct msg world_record(uint64_t id, enum outcome outcome)
{
	struct msg m = { .type = MSG_RECORD };

	m.u.record = (struct msg_record){
		.id = id, .outcome = outcome, .replicas = 3, .http = 200, .at = WORLD_NOW
	};
	test_set(&m, record.reason, "Deleted");
	m.u.record.detail = facts_of(TEXT_NODE_GONE);
	test_set(&m, record.target, "pods/shop/web-1");
	return m;
}

struct msg world_refusal(const char *uid, const char *reason)
{
	struct msg m = { .type = MSG_REFUSAL };

	m.u.refusal = (struct msg_refusal){ .cluster = 1, .duty = DUTY_EVICTED };
	test_set(&m, refusal.ns, "kube-system");
	test_set(&m, refusal.name, "dns-1");
	test_set(&m, refusal.uid, uid);
	test_set(&m, refusal.action_key, uid);
	test_set(&m, refusal.reason, reason);
	SET_SAID(m.u.refusal.evidence, "excluded");
	return m;
}

void world_write(const struct msg *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert(history_add(w.h, &m[i]));
	ck_assert_int_eq(history_flush(w.h), 0);
}

int world_next_id(uint64_t *ret)
{
	return db_number(db_stmt(w.db, DB_OPEN_END), (int64_t *)ret);
}

/* Every message until the end of a query that was made with r. */
static size_t read_all(int r, struct query *c, struct msg *out, size_t max)
{
	ck_assert_int_eq(r, 0);
	size_t n = 0;

	while (n < max && query_next(c, &out[n]) == 1) {
		uint8_t frame[IPC_FRAME_MAX];

		ck_assert_uint_gt(msg_encode(&out[n], frame), 0); /* aborts on a field out of range */
		n++;
	}
	query_free(&c);
	return n;
}

size_t world_query(const struct msg_ctl_history *question, struct msg *out, size_t max)
{
	const struct msg m = { .type = MSG_CTL_HISTORY, .u.ctl_history = *question };
	struct query *c = NULL;
	const int r = query_history(w.db, w.h, &m, &c);

	return read_all(r, c, out, max);
}

size_t world_show(uint64_t id, struct msg *out, size_t max)
{
	const struct msg m = { .type = MSG_CTL_SHOW, .u.ctl_show = { .conn = 8, .id = id } };
	struct query *c = NULL;
	const int r = query_show(w.db, w.h, &m, &c);

	return read_all(r, c, out, max);
}

size_t world_saved(uint64_t cluster, bool observe, struct msg *out, size_t max)
{
	struct query *c = NULL;
	const int r = query_saved(w.db, w.h, cluster, &c);
	const size_t all = read_all(r, c, out, max);
	size_t n = 0;

	for (size_t i = 0; i < all; i++)
		if (out[i].type != MSG_ACTION_ROW || out[i].u.action_row.observe == observe)
			out[n++] = out[i];
	return n;
}

size_t world_open_intents(struct msg *out, size_t max)
{
	struct query *c = NULL;
	const int r = query_open_intents(w.db, w.h, &c);

	return read_all(r, c, out, max);
}

struct msg world_failing_since(uint64_t cluster, const char *owner, int64_t at)
{
	struct msg m = { .type = MSG_FAILING_SINCE,
			 .u.failing_since = { .cluster = cluster, .duty = DUTY_IMAGE_PULL, .at = at } };

	test_set(&m, failing_since.owner, owner);
	test_set(&m, failing_since.revision, "6b7f");
	return m;
}
