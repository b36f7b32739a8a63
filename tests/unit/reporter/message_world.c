/* message_world.c - see message_world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reporter/message_world.h"

#include "base/clock.h"
#include "reporter/history/attention.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/sender.h"
#include "reporter/notify/action_messages.h"

static char *pay[] = { (char *)"pay" };
struct sink_settings sinks[3];
struct settings settings;
struct state *state;
char text[20000];
bool put;
enum actions_left left;
int64_t team_down_at;

void tell_setup(void)
{
	world_setup();
	sinks[0] = (struct sink_settings){ .name = (char *)"team", .news = 7, .top = 3 };
	sinks[1] = (struct sink_settings){
		.name = (char *)"pay", .news = 7, .top = 3, .language = LANGUAGE_ZH, .namespaces = { pay, 1 }
	};
	sinks[2] = (struct sink_settings){ .name = (char *)"reports", .news = 1 << NEWS_REPORT, .top = 3 };
	settings = (struct settings){ .sinks = sinks, .n_sinks = 3, .gather_ms = MINUTE, .remind_ms = DAY };
	settings.cluster_names = w.clusters;
	team_down_at = 0;
	state = state_new();
	ck_assert_int_eq(action_messages_begin(w.db), 0);
}

void tell_teardown(void)
{
	state_free(&state);
	world_teardown();
}

/* In the place of reporter/notify/sender.c: whether the sink "team" is down. */
const char *sender_sink(const struct sender *r, size_t i, int64_t *ret_down_at, const struct facts **ret_why)
{
	static struct facts down, none;

	(void)r;
	*ret_down_at = i == 0 ? team_down_at : 0;
	down = quoting("code 19024");
	*ret_why = *ret_down_at ? &down : &none;
	return i < settings.n_sinks ? sinks[i].name : NULL;
}

void act(uint64_t id, enum action_kind action, const char *ns, const char *name, enum outcome outcome,
	 bool ends)
{
	char uid[24];

	(void)snprintf(uid, sizeof(uid), "uid-%llu", (unsigned long long)id);
	struct msg m[2] = { world_intent(id, 0, uid), world_record(id, outcome) };

	m[0].u.intent.action = action;
	m[0].u.intent.duty = action == ACTION_SCALE_DOWN ? DUTY_IMAGE_PULL
			     : action == ACTION_DELETE   ? DUTY_EVICTED
							 : DUTY_TERMINATING;
	test_set(&m[0], intent.ns, ns);
	test_set(&m[0], intent.name, name);
	test_set(&m[0], intent.reason,
		 action == ACTION_SCALE_DOWN ? "CannotPullImage"
		 : action == ACTION_DELETE   ? "Evicted"
					     : "StuckTerminating");
	if (action == ACTION_SCALE_DOWN) {
		char target[100];

		(void)snprintf(target, sizeof(target), "deployments.apps/%s/%s", ns, name);
		test_set(&m[1], record.target, target);
	}
	facts_name(&m[1].u.record.evidence, FACT_POD, STR_LIT("x"));
	facts_name(&m[1].u.record.evidence, FACT_NODE, STR_LIT("node-7"));
	facts_quoted(&m[1].u.record.evidence, FACT_WHY, STR_LIT("and so on"));
	world_write(m, ends ? 2 : 1);
}

/* The messages for a sink, which are delivered with this; as text. */
const char *told(const char *sink)
{
	struct outbox_row row;
	size_t n = 0;

	text[0] = '\0';
	while (outbox_next(w.db, sink, &row) == 1) {
		char *t = document_to_text(&row.document);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", t);
		free(t);
		ck_assert_int_eq(outbox_end(w.db, row.id, OUTBOX_DONE, &(const struct facts){ 0 }), 0);
		outbox_row_done(&row);
	}
	return text;
}

void tell(void)
{
	ck_assert_int_eq(action_messages_put(w.db, &settings, NULL, &put, &left), 0);
}

void look(int64_t ms)
{
	clock_fake_advance(ms);
	/* Nothing of the sender is looked at but sender_sink() above. */
	const struct sender *sender = (const struct sender *)(const void *)&settings;

	const struct alarm_sources from = { w.db, state, sender, &settings, NULL, NULL };

	ck_assert_int_eq(alarm_messages_put(&from, &put), 0);
}

void start_again(void)
{
	state_free(&state);
	world_close();
	world_open();
	state = state_new();
}

void trouble_of(enum trouble kind, const char *cluster, uint64_t n, const char *detail)
{
	struct msg m = { .type = MSG_TROUBLE_ROW };

	m.u.trouble_row = (struct msg_trouble_row){ .trouble = kind, .n = n, .since = clock_wall_ms() };
	test_set(&m, trouble_row.cluster_name, cluster);
	m.u.trouble_row.particulars = quoting(detail);
	state_put(state, cluster, &m);
}

void trouble(enum trouble kind, const char *cluster, uint64_t n)
{
	trouble_of(kind, cluster, n, "cannot delete pods");
}

/* Pods first..first+n-1 are refused. */
void refuse(unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		char uid[24], name[24];

		(void)snprintf(uid, sizeof(uid), "uid-%u", i);
		(void)snprintf(name, sizeof(name), "dns-%u", i);
		struct msg m = world_refusal(uid, "Forbidden");

		test_set(&m, refusal.name, name);
		world_write(&m, 1);
	}
}

/* They have been, for as long as it takes to need an operator. */
void refuse_long(unsigned first, unsigned n)
{
	refuse(first, n);
	clock_fake_advance(ATTENTION_LASTING_MS);
	refuse(first, n);
}
