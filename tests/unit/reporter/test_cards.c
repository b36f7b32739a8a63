/* test_cards.c - what was done and what needs an operator, as each type of sink is sent it, in every
 * language: from the history to the body. tests/golden/cards/TYPE.json holds them; OPC_GOLDEN_WRITE=1 writes
 * them anew. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/facts_en.h"
#include "tests/unit/reporter/history_world.h"

#include <jansson.h>
#include <openssl/evp.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/guards.h"
#include "reporter/history/attention.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/sender.h"
#include "reporter/notify/action_messages.h"
#include "text/texts.h"
#include "reporter/notify/alarm_messages.h"
#include "reporter/report/compose.h"
#include "reporter/sinks/sink.h"
#include "tests/unit/reporter/sink_document.h"

#define MINUTE     INT64_C(60000)
#define GOLDEN_MAX 65536

/* One sink of each language is told; its messages are then composed for every type. */
static struct sink_settings sinks[LANGUAGE__MAX];
static struct settings settings;
static struct state *state;
static json_t *cards[SINK_TYPE__MAX];

static void setup(void)
{
	world_setup();
	for (enum language l = 0; l < LANGUAGE__MAX; l++)
		sinks[l] = (struct sink_settings){
			.name = (char *)(uintptr_t)language_name(l), .news = 7, .top = 20, .language = l
		};
	settings = (struct settings){
		.sinks = sinks,
		.n_sinks = LANGUAGE__MAX,
		.gather_ms = MINUTE,
		.links = { (char *)"https://grafana.example.com/d/"
				   "pods?var-cluster={{cluster}}&var-namespace={{namespace}}",
			   (char *)"https://wiki.example.com/runbooks/{{reason}}" }
	};
	settings.cluster_names = w.clusters;
	state = state_new();
	ck_assert_int_eq(action_messages_begin(w.db), 0);
	for (enum sink_type t = 0; t < SINK_TYPE__MAX; t++)
		cards[t] = json_object();
}

static void teardown(void)
{
	for (enum sink_type t = 0; t < SINK_TYPE__MAX; t++)
		json_decref(cards[t]);
	state_free(&state);
	world_teardown();
}

/* In the place of reporter/notify/sender.c: every sink is well. */
const char *sender_sink(const struct sender *r, size_t i, int64_t *ret_down_at, const struct facts **ret_why)
{
	static const struct facts none;

	(void)r;
	*ret_down_at = 0;
	*ret_why = &none;
	return i < settings.n_sinks ? sinks[i].name : NULL;
}

/* -- bodies -- */

/* The lines of a mail's plain part, which stands in base64. */
static json_t *lines_of_mail(const char *mail)
{
	const char *at = strstr(mail, "text/plain");
	_cleanup_free_ char *coded = xcalloc(1, strlen(mail) + 1), *text = xcalloc(1, strlen(mail) + 1);
	json_t *lines = json_array();
	char *rest = text;
	size_t n = 0;

	ck_assert(at && (at = strstr(at, "\r\n\r\n")) != NULL);
	for (at += 4; *at && *at != '-'; at++)
		if (*at != '\r' && *at != '\n')
			coded[n++] = *at;
	ck_assert_int_gt(EVP_DecodeBlock((unsigned char *)text, (const unsigned char *)coded, (int)n), 0);
	for (char *line; (line = strsep(&rest, "\n"));)
		(void)json_array_append_new(lines, json_string(line));
	return lines;
}

static json_t *body_of(const struct document *d, enum sink_type type, enum language l)
{
	struct sink_settings s =
		sink_of_type(type, type == SINK_EMAIL ? "smtp://mail.test:587" : "https://h.test/x", NULL, l);
	struct sink_request rq;
	uint64_t left_out;

	s.from = (char *)(uintptr_t) "cleaner@example.org";
	str_list_add(&s.to, "ops@example.org", strlen("ops@example.org"));
	sink_compose(&s, d, 0, d->at_ms, &rq, &left_out);
	ck_assert_uint_eq(left_out, 0);
	json_t *body = type == SINK_EMAIL ? lines_of_mail(rq.body) : json_loads(rq.body, 0, NULL);

	ck_assert_ptr_nonnull(body);
	sink_request_done(&rq);
	str_list_done(&s.to);
	return body;
}

/* Names and commands are of no language; the heading "Pod" is both. */
static bool is_chinese(const char *text)
{
	return language_of_text(text) == LANGUAGE_ZH || strcmp(text, "Pod") == 0 ||
	       (!strchr(text, ' ') && strchr(text, '/'));
}

static void check_chinese(const struct document *d)
{
	ck_assert(is_chinese(d->title));
	for (size_t i = 0; i < d->n_sections; i++) {
		const struct section *s = &d->sections[i];

		ck_assert(is_chinese(s->title));
		for (size_t k = 0; k < s->n; k++) {
			ck_assert_msg(is_chinese(s->entries[k].title), "%s", s->entries[k].title);
			for (size_t line = 0; line < s->entries[k].lines.n; line++)
				ck_assert_msg(is_chinese(s->entries[k].lines.v[line]), "%s",
					      s->entries[k].lines.v[line]);
		}
	}
}

static void keep(const char *card, enum language l, struct document *d)
{
	free(d->id); /* which is random */
	d->id = xasprintf("%s-1", card);
	if (l == LANGUAGE_ZH)
		check_chinese(d);
	for (enum sink_type t = 0; t < SINK_TYPE__MAX; t++) {
		if (l == 0)
			(void)json_object_set_new(cards[t], card, json_object());
		(void)json_object_set_new(json_object_get(cards[t], card), language_name(l),
					  body_of(d, t, l));
	}
}

/* The one message that waits for each sink is that card. */
static void take(const char *card)
{
	for (enum language l = 0; l < LANGUAGE__MAX; l++) {
		struct outbox_row row;

		ck_assert_int_eq(outbox_next(w.db, language_name(l), &row), 1);
		keep(card, l, &row.document);
		ck_assert_int_eq(outbox_end(w.db, row.id, OUTBOX_DONE, &(const struct facts){ 0 }), 0);
		outbox_row_done(&row);
	}
}

/* -- what happens -- */

static void refused(struct facts *ret)
{
	*ret = facts_of(TEXT_ANSWERED);
	facts_count(ret, FACT_HTTP_STATUS, 401);
	facts_text(ret, FACT_PROBLEM, TEXT_CREDENTIAL_REFUSED);
}

/* As the kubelet says it; of both, as a worker finds it. */
static void found(enum duty duty, struct facts *ret)
{
	if (duty == DUTY_IMAGE_PULL) {
		facts_name(ret, FACT_IMAGE, STR_LIT("registry.example.com/shop/web:1.2.3"));
		facts_quoted(ret, FACT_MESSAGE,
			     STR_LIT("Back-off pulling image \"registry.example.com/shop/web:1.2.3\": "
				     "ErrImagePull: "
				     "rpc error: code = NotFound desc = failed to pull and unpack image: not "
				     "found"));
	} else if (duty == DUTY_EVICTED) {
		facts_quoted(ret, FACT_POD_MESSAGE,
			     STR_LIT("The node was low on resource: memory. Threshold quantity: 100Mi, "
				     "available: 96Mi. "));
	}
}

static void act(uint64_t id, enum duty duty, enum action_kind action, const char *name, const char *target,
		enum outcome outcome, const char *reason)
{
	char uid[24];

	(void)snprintf(uid, sizeof(uid), "uid-%llu", (unsigned long long)id);
	struct msg m[2] = { world_intent(id, 0, uid), world_record(id, outcome) };

	m[0].u.intent.action = action;
	m[0].u.intent.duty = duty;
	test_set(&m[0], intent.name, name);
	test_set(&m[0], intent.reason, reason);
	m[0].u.intent.evidence = facts_of(TEXT_TALLY);
	facts_count(&m[0].u.intent.evidence, FACT_FAILING, 3);
	facts_count(&m[0].u.intent.evidence, FACT_PODS, 3);
	facts_count(&m[0].u.intent.evidence, FACT_READY, 0);
	test_set(&m[1], record.target, target);
	if (outcome == OUTCOME_FORBIDDEN) {
		test_set(&m[1], record.reason, "Forbidden");
		refused(&m[1].u.record.detail);
	} else {
		found(duty, &m[1].u.record.detail);
	}
	facts_finding(&m[1].u.record.evidence, TEXT_POD_READ);
	facts_name(&m[1].u.record.evidence, FACT_POD, STR_LIT("web-1"));
	facts_name(&m[1].u.record.evidence, FACT_RESOURCE_VERSION, STR_LIT("7"));
	facts_name(&m[1].u.record.evidence, FACT_PHASE, STR_LIT("Failed"));
	facts_count(&m[1].u.record.evidence, FACT_FINALIZERS, 0);
	facts_name(&m[1].u.record.evidence, FACT_NODE, STR_LIT("node-7"));
	world_write(m, 2);
}

static void do_all(void)
{
	enum actions_left left;
	bool put;

	act(1, DUTY_IMAGE_PULL, ACTION_SCALE_DOWN, "web", "deployments.apps/shop/web", OUTCOME_DONE,
	    "CannotPullImage");
	act(2, DUTY_TERMINATING, ACTION_FORCE_DELETE, "db-0", "pods/shop/db-0", OUTCOME_DONE,
	    "StuckTerminating");
	act(3, DUTY_EVICTED, ACTION_DELETE, "cron-1", "pods/shop/cron-1", OUTCOME_DONE, "Evicted");
	act(4, DUTY_EVICTED, ACTION_DELETE, "cron-2", "pods/shop/cron-2", OUTCOME_DONE, "Evicted");
	act(5, DUTY_EVICTED, ACTION_DELETE, "cron-3", "pods/shop/cron-3", OUTCOME_FORBIDDEN, "Evicted");
	ck_assert_int_eq(action_messages_put(w.db, &settings, NULL, &put, &left), 0);
	ck_assert(put && left == ACTIONS_LEFT_NONE);
}

/* A trouble and a guard begin, or end. */
static void need(bool on)
{
	struct facts budget = facts_of(TEXT_BUDGET_SPENT);
	struct msg m = { .type = MSG_TROUBLE_ROW };
	bool put;

	facts_code(&budget, FACT_LIMIT_NAME, "deleteEvictedPod");
	facts_count(&budget, FACT_SPENT, 30);
	facts_count(&budget, FACT_LIMIT, 30);

	m.u.trouble_row =
		(struct msg_trouble_row){ .trouble = TROUBLE_FORBIDDEN, .n = on, .since = clock_wall_ms() };
	test_set(&m, trouble_row.cluster_name, "prod");
	refused(&m.u.trouble_row.particulars);
	state_put(state, "prod", &m);
	ck_assert_int_eq(attention_note_guards(w.db, on ? GUARD_BIT(BUDGET) : 0, &budget, "prod"), 0);
	for (int i = 0; i < 2; i++) {
		/* Nothing of the sender is looked at but sender_sink() above. */
		const struct sender *sender = (const struct sender *)(const void *)&settings;

		const struct alarm_sources from = { w.db, state, sender, &settings, NULL, NULL };

		clock_fake_advance(on ? ATTENTION_LASTING_MS : MINUTE);
		ck_assert_int_eq(alarm_messages_put(&from, &put), 0);
	}
}

/* Three workloads that restart on one node, one of which nobody counted before, and one that does no longer.
 */
static void take_report(void)
{
	static const int64_t deltas[] = { 12, DELTA_UNKNOWN, 3 };
	struct reported past[] = {
		{ (char *)"prod", (char *)"pay", (char *)"Deployment", (char *)"api", 7, 86400000 },
		{ (char *)"prod", (char *)"shop", (char *)"Deployment", (char *)"web2", 40, 86400000 }
	};
	const bool answered[] = { true, true };
	_cleanup_(digest_done) struct digest digest = { 0 };
	const int64_t now = clock_wall_ms();
	const struct report_input in = { .digest = &digest,
					 .clusters = &w.clusters,
					 .answered = answered,
					 .past = past,
					 .n_past = ARRAY_SIZE(past),
					 .from_ms = now - 86400000,
					 .at_ms = now,
					 .title = "Pods that restart too often" };
	struct report r;

	for (size_t i = 0; i < ARRAY_SIZE(deltas); i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "web%zu", i);
		struct msg m = test_row(0, 1, "shop", name, name, (uint64_t)(20 * i + 12));

		m.u.digest_row.created = now - 10 * 86400000;
		test_set(&m, digest_row.node, "node-7");
		digest_add(&digest, &m.u.digest_row);
		digest.pods[i].delta = deltas[i];
	}
	digest_group(&digest);
	report_build(&in, &r);
	for (enum language l = 0; l < LANGUAGE__MAX; l++) {
		struct document d;

		ck_assert(report_compose(&r, &in, &sinks[l], 0, &d));
		keep("report", l, &d);
		document_done(&d);
	}
	report_done(&r);
}

static void compare(enum sink_type t)
{
	_cleanup_free_ char *got = json_dumps(cards[t], JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	_cleanup_free_ char *want = xcalloc(1, GOLDEN_MAX);
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s.json", CARDS_DIR, sink_type_desc(t)->name);
	FILE *f = fopen(path, getenv("OPC_GOLDEN_WRITE") ? "w+" : "r");

	ck_assert_msg(f != NULL, "%s", path);
	if (getenv("OPC_GOLDEN_WRITE"))
		(void)fprintf(f, "%s\n", got);
	rewind(f);
	const size_t n = fread(want, 1, GOLDEN_MAX - 1, f);

	(void)fclose(f);
	ck_assert_uint_gt(n, 0);
	want[n - 1] = '\0'; /* the line's end */
	ck_assert_str_eq(got, want);
}

TEST(cards_are_the_golden_ones)
{
	do_all();
	take("actions");
	need(true);
	take("begin");
	need(false);
	take("end");
	take_report();
	for (enum sink_type t = 0; t < SINK_TYPE__MAX; t++)
		compare(t);
}

TEST_MAIN("reporter/cards")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
}
