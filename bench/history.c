/* history.c - what an action costs in the reporter: its messages decoded, committed with those of others, and
 * told to a sink with those of others. Nothing is sent. bench_history FOLDER ACTIONS [told|KIND [bare]] says
 * nothing: for callgrind, and for whoever measures what lies in the folder, which is empty before */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "model/duties.h"
#include "model/news.h"
#include "model/quotes.h"
#include "reporter/history/history.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/action_messages.h"
#include "text/facts_text.h"
#include "text/texts.h"

#define COMMIT 50   /* deletions of one commit: what arrives in 10 ms at 5,000 a second */
#define TELL   1000 /* of one message */
#define NODES  10

#define QUOTED 2 /* of one action */

static struct frames {
	uint8_t bytes[QUOTED * COMMIT][IPC_FRAME_MAX];
	size_t size[QUOTED * COMMIT], n;
} intents, quotes, results;

#define IMAGE "registry.example.com/shop/web:1.2.4"
#define ANSWER                                                                                               \
	"Failed to pull image \"" IMAGE "\": rpc error: code = NotFound desc = failed to pull and unpack "   \
	"image \"" IMAGE "\": failed to resolve reference \"" IMAGE "\": " IMAGE ": not found"
#define EVICTED                                                                                              \
	"The node was low on resource: memory. Threshold quantity: 100Mi, available: 61284Ki. Container "    \
	"web "                                                                                               \
	"was using 1843232Ki, request is 512Mi, has larger consumption of memory."

#define UID "9f4d1c52-6b1e-4f0a-8d57-000000000001"
#define DELETE_REQUEST                                                                                       \
	"DELETE /api/v1/namespaces/shop/pods/web-7c5ddbdf54-1 {\"apiVersion\":\"v1\",\"kind\":"              \
	"\"DeleteOptions\",\"preconditions\":{\"uid\":\"" UID "\",\"resourceVersion\":\"123456\"}}"
#define SCALE_REQUEST                                                                                        \
	"PATCH /apis/apps/v1/namespaces/shop/deployments/web?fieldManager=ops-pod-cleaner "                  \
	"{\"spec\":{\"replicas\":0},\"metadata\":{\"uid\":\"" UID "\",\"resourceVersion\":\"123456\","       \
	"\"annotations\":{\"ops-pod-cleaner.io/scaled-down-by\":\"ops-pod-cleaner\","                        \
	"\"ops-pod-cleaner.io/scaled-down-action\":\"1\",\"ops-pod-cleaner.io/scaled-down-history\":"        \
	"\"d96ba0ba56ce4b539cf0a0dd4aa8e19b\",\"ops-pod-cleaner.io/"                                         \
	"scaled-down-at\":\"2026-03-02T03:12:00Z\""

/* lines: of each quote. The first is what is made without a word. */
static const struct kind {
	const char *name;
	enum duty duty;
	enum action_kind action;
	const char *reason, *request;
	enum fact said_as;
	const char *said;
	size_t quotes, lines;
	enum quote_kind quote;
	const char *line;
} kinds[] = {
	{ "deletion", DUTY_EVICTED, ACTION_DELETE, "Evicted", DELETE_REQUEST, FACT_POD_MESSAGE, EVICTED },
	{ "pull", DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, "CannotPullImage", SCALE_REQUEST, FACT_MESSAGE, ANSWER,
	  QUOTED, 1, QUOTE_MESSAGE, ANSWER },
	{ "crash", DUTY_CRASH_LOOP, ACTION_SCALE_DOWN, "CrashLooping", SCALE_REQUEST, FACT_MESSAGE,
	  "panic: no database", 1, 40, QUOTE_LOG,
	  "2026-03-02T03:12:00.000Z ERROR orders: cannot connect to postgres://db.team:5432/orders: "
	  "refused" },
};

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

static void make_intent(const struct kind *k, uint64_t id, struct msg *m)
{
	char name[64], uid[64];

	(void)snprintf(name, sizeof(name), "web-7c5ddbdf54-%llu", (unsigned long long)id);
	(void)snprintf(uid, sizeof(uid), "9f4d1c52-6b1e-4f0a-8d57-%012llx",
		       (unsigned long long)id * 2654435761u);
	*m = (struct msg){ .type = MSG_INTENT };
	m->u.intent = (struct msg_intent){
		.id = id, .duty = k->duty, .action = k->action, .since = clock_wall_ms()
	};
	SET(m, intent.ns, "shop");
	SET(m, intent.name, name);
	SET(m, intent.uid, uid);
	SET(m, intent.action_key, uid);
	SET(m, intent.rv, "123456");
	SET(m, intent.reason, k->reason);
	facts_name(&m->u.intent.evidence, FACT_PHASE, STR_LIT("Failed"));
	facts_name(&m->u.intent.evidence, FACT_POD_REASON, STR_LIT("Evicted"));
}

static void make_quote(const struct kind *k, uint64_t id, size_t number, struct msg *m)
{
	char text[QUOTE_TEXT_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < k->lines; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "\n" : "", k->line);
	*m = (struct msg){ .type = MSG_QUOTE };
	m->u.quote = (struct msg_quote){ .id = id, .number = number, .quote = k->quote };
	SET(m, quote.pod, "web-7c5ddbdf54-x8k2p");
	SET(m, quote.container, "web");
	SET(m, quote.image, IMAGE);
	SET(m, quote.text, text);
}

static void make_result(const struct kind *k, uint64_t id, struct msg *m)
{
	char target[64], pod[64], node[40];

	(void)snprintf(target, sizeof(target), "pods/shop/web-7c5ddbdf54-%llu", (unsigned long long)id);
	(void)snprintf(pod, sizeof(pod), "web-7c5ddbdf54-%llu", (unsigned long long)id);
	(void)snprintf(node, sizeof(node), "node-%llu", (unsigned long long)(id % NODES));
	*m = (struct msg){ .type = MSG_RECORD };
	m->u.record = (struct msg_record){
		.id = id, .outcome = OUTCOME_DONE, .replicas = -1, .http = 200, .at = clock_wall_ms()
	};
	SET(m, record.reason, k->reason);
	facts_quoted(&m->u.record.detail, k->said_as, STR_C(k->said));
	SET(m, record.target, target);
	facts_finding(&m->u.record.evidence, TEXT_POD_READ);
	facts_name(&m->u.record.evidence, FACT_POD, STR_C(pod));
	facts_name(&m->u.record.evidence, FACT_RESOURCE_VERSION, STR_LIT("123456"));
	facts_name(&m->u.record.evidence, FACT_PHASE, STR_LIT("Failed"));
	facts_name(&m->u.record.evidence, FACT_CONTROLLER, STR_LIT("ReplicaSet/web-7c5ddbdf54"));
	facts_name(&m->u.record.evidence, FACT_NODE, STR_C(node));
	SET(m, record.request, k->request);
}

static void add(struct frames *f, const struct msg *m)
{
	f->size[f->n] = msg_encode(m, f->bytes[f->n]);
	f->n++;
}

static void make(const struct kind *k, uint64_t first)
{
	struct msg m;

	intents.n = quotes.n = results.n = 0;
	for (uint64_t id = first; id < first + COMMIT; id++) {
		make_intent(k, id, &m);
		add(&intents, &m);
		for (size_t number = 0; number < k->quotes; number++) {
			make_quote(k, id, number, &m);
			add(&quotes, &m);
		}
		make_result(k, id, &m);
		add(&results, &m);
	}
}

static void write_down(const struct frames *f)
{
	const char *field = NULL;
	struct msg m;

	for (size_t i = 0; i < f->n; i++) {
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
	enum actions_left left;
	bool put;

	if (action_messages_put(db, s, NULL, &put, &left) < 0 || !put)
		fail("nothing is told");
	while (outbox_next(db, s->sinks[0].name, &row) > 0) {
		if (outbox_begin(db, row.id) < 0 || outbox_end(db, row.id, OUTBOX_DONE, &none) < 0)
			fail("a message is not delivered");
		outbox_row_done(&row);
	}
}

/* Callgrind counts what happens in here: --toggle-collect=take. */
static __attribute__((noinline, used)) void take(const struct settings *s, bool told)
{
	write_down(&intents);
	write_down(&quotes);
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

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static char sink_name[] = "ops";
	static struct sink_settings sink = { .name = sink_name, .news = 1 << NEWS_ACTIONS, .top = 20 };
	struct settings s = { .sinks = &sink, .n_sinks = 1 };
	const bool told = argc > 3 && strcmp(argv[3], "told") == 0;
	const struct kind *found = argc > 3 && !told ? kind_of(argv[3]) : kinds;
	struct kind bare = found ? *found : kinds[0];
	const struct kind *k = found && argc > 4 ? &bare : found;
	uint64_t n = 0;

	if (argc < 3 || str_to_u64(argv[2], strlen(argv[2]), &n) < 0 || n == 0 || n > 1000000 || n % TELL ||
	    !k) {
		(void)fprintf(stderr,
			      "usage: bench_history FOLDER ACTIONS [told|deletion|pull|crash [bare]], "
			      "thousands of them\n");
		return 64;
	}
	bare.said = ""; /* as before the words of others were kept */
	bare.quotes = 0;
	open_history(argv[1]);
	s.cluster_names = clusters;
	for (uint64_t i = 0; i < n; i += COMMIT) {
		make(k, i + 1);
		take(&s, told && (i + COMMIT) % TELL == 0);
	}
	history_free(&history);
	db_close(&db);
	str_list_done(&clusters);
	return 0;
}
