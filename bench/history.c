/* history.c - what a deletion costs in the reporter: its two messages decoded, committed with those of
 * others, and told to a sink with those of others. Nothing is sent. bench_history FOLDER DELETIONS [told]
 * says nothing: for callgrind; the folder is empty */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/duties.h"
#include "model/news.h"
#include "reporter/history/history.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/action_messages.h"
#include "text/facts_text.h"
#include "text/texts.h"

#define COMMIT 50   /* deletions of one commit: what arrives in 10 ms at 5,000 a second */
#define TELL   1000 /* of one message */
#define NODES  10

static struct frames {
	uint8_t bytes[COMMIT][IPC_FRAME_MAX];
	size_t size[COMMIT];
} intents, results;

static struct db *db;
static struct history *history;
static struct str_list clusters;

#define SET(m, member, s) msg_set(m, member, s, strlen(s))

static void fail(const char *what)
{
	(void)fprintf(stderr, "bench_history: %s\n", what);
	exit(1);
}

static void on_committed(void *ctx, const struct history_entry *e)
{
	(void)ctx;
	(void)e;
}

static void make_intent(uint64_t id, struct msg *m)
{
	char name[64], uid[64];

	(void)snprintf(name, sizeof(name), "web-7c5ddbdf54-%llu", (unsigned long long)id);
	(void)snprintf(uid, sizeof(uid), "9f4d1c52-6b1e-4f0a-8d57-%012llx",
		       (unsigned long long)id * 2654435761u);
	*m = (struct msg){ .type = MSG_INTENT };
	m->u.intent = (struct msg_intent){
		.id = id, .duty = DUTY_EVICTED, .action = ACTION_DELETE, .since = clock_wall_ms()
	};
	SET(m, intent.ns, "shop");
	SET(m, intent.name, name);
	SET(m, intent.uid, uid);
	SET(m, intent.action_key, uid);
	SET(m, intent.rv, "123456");
	SET(m, intent.reason, "Evicted");
	facts_name(&m->u.intent.evidence, FACT_PHASE, STR_LIT("Failed"));
	facts_name(&m->u.intent.evidence, FACT_POD_REASON, STR_LIT("Evicted"));
}

static void make_result(uint64_t id, struct msg *m)
{
	char target[64], pod[64], node[40];

	(void)snprintf(target, sizeof(target), "pods/shop/web-7c5ddbdf54-%llu", (unsigned long long)id);
	(void)snprintf(pod, sizeof(pod), "web-7c5ddbdf54-%llu", (unsigned long long)id);
	(void)snprintf(node, sizeof(node), "node-%llu", (unsigned long long)(id % NODES));
	*m = (struct msg){ .type = MSG_RECORD };
	m->u.record = (struct msg_record){
		.id = id, .outcome = OUTCOME_DONE, .replicas = -1, .http = 200, .at = clock_wall_ms()
	};
	SET(m, record.reason, "Deleted");
	SET(m, record.target, target);
	facts_finding(&m->u.record.evidence, TEXT_POD_READ);
	facts_name(&m->u.record.evidence, FACT_POD, STR_C(pod));
	facts_name(&m->u.record.evidence, FACT_RESOURCE_VERSION, STR_LIT("123456"));
	facts_name(&m->u.record.evidence, FACT_PHASE, STR_LIT("Failed"));
	facts_name(&m->u.record.evidence, FACT_CONTROLLER, STR_LIT("ReplicaSet/web-7c5ddbdf54"));
	facts_name(&m->u.record.evidence, FACT_NODE, STR_C(node));
	SET(m, record.request, "DELETE with uid and resourceVersion");
}

static void make(uint64_t first)
{
	struct msg m;

	for (size_t i = 0; i < COMMIT; i++) {
		make_intent(first + i, &m);
		intents.size[i] = msg_encode(&m, intents.bytes[i]);
		make_result(first + i, &m);
		results.size[i] = msg_encode(&m, results.bytes[i]);
	}
}

static void write_down(const struct frames *f)
{
	const char *field = NULL;
	struct msg m;

	for (size_t i = 0; i < COMMIT; i++) {
		const int r = msg_decode(ROLE_SUPERVISOR, ROLE_REPORTER, PH_RUN, f->bytes[i], f->size[i], &m,
					 &field);

		if (r < 0 || !history_add(history, &m))
			fail("a message is not taken");
	}
	if (history_flush(history) < 0)
		fail("no commit");
}

static void tell(const struct settings *s)
{
	static const struct facts none;
	struct outbox_row row;
	bool put = false, more = false;

	if (action_messages_put(db, s, NULL, &put, &more) < 0 || !put)
		fail("nothing is told");
	while (outbox_next(db, s->sinks[0].name, &row) > 0) {
		if (outbox_begin(db, row.id) < 0 || outbox_end(db, row.id, OUTBOX_DONE, &none) < 0)
			fail("a message is not delivered");
		outbox_row_done(&row);
	}
}

/* Callgrind counts what happens in here: --toggle-collect=take. */
static __attribute__((noinline)) void take(const struct settings *s, bool told)
{
	write_down(&intents);
	write_down(&results);
	if (told)
		tell(s);
}

static void open_history(const char *folder)
{
	struct facts why = { 0 };

	if (db_claim(folder, &db, &why) < 0 || db_open(db, 0, &why) < 0)
		fail(facts_render(&why, NULL));
	str_list_add(&clusters, "prod", strlen("prod"));
	history = history_new(db, &clusters, on_committed, NULL);
	if (action_messages_begin(db) < 0)
		fail(db_error(db));
}

int main(int argc, char **argv)
{
	static char sink_name[] = "ops";
	static struct sink_settings sink = { .name = sink_name, .news = 1 << NEWS_ACTIONS, .top = 20 };
	struct settings s = { .sinks = &sink, .n_sinks = 1 };
	uint64_t n = 0;

	if (argc < 3 || str_to_u64(argv[2], strlen(argv[2]), &n) < 0 || n == 0 || n > 1000000 || n % TELL ||
	    (argc > 3 && strcmp(argv[3], "told") != 0)) {
		(void)fprintf(stderr, "usage: bench_history FOLDER DELETIONS [told], thousands of them\n");
		return 64;
	}
	open_history(argv[1]);
	s.cluster_names = clusters;
	for (uint64_t i = 0; i < n; i += COMMIT) {
		make(i + 1);
		take(&s, argc > 3 && (i + COMMIT) % TELL == 0);
	}
	history_free(&history);
	db_close(&db);
	str_list_done(&clusters);
	return 0;
}
