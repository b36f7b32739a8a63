/* fuzz_reporter.c - a reporter among hostile processes: every input is a history of valid messages of each
 * role, of the supervisor and of operators, of reloads, questions over HTTP, time, sinks that take nothing
 * and a history that is full or not there. Properties: it does not end by itself; nothing is acknowledged
 * that was not said, nor without a history; a question has one end; what is served may be shown, and nothing
 * in it is a mark. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "config/table.h"
#include "model/sink_types.h"
#include "tests/fuzz/made.h"
#include "tests/stage/repeatable.h"
#include "tests/stage/reporter_stage.h"

#define STEPS_MAX 200
#define IDS       64u
#define PAGES_MAX 1u

static struct {
	struct made made;
	struct reporter_stage_options o;
	uint64_t digest, inspection; /* the last that it asked */
	uint64_t conn;               /* of the last question of an operator */
	bool intents[IDS], ends[IDS];
	bool asked[IDS], ended[IDS]; /* by conn */
	unsigned pages;
} w;

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static uint8_t next(void)
{
	return made_next(&w.made);
}

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	(void)fprintf(stderr, "violated: %s\n", what);
	abort();
}

/* -- what it says -- */

static void on_end(uint64_t conn)
{
	if (conn >= IDS)
		return;
	demand(w.asked[conn] && !w.ended[conn], "a question has one end");
	w.ended[conn] = true;
}

static void on_msg(void *ctx, const struct msg *m)
{
	(void)ctx;
	switch (m->type) {
	case MSG_INTENT_ACK:
		demand(!w.o.no_history, "nothing is acknowledged without a history");
		demand(m->u.intent_ack.id >= IDS || w.intents[m->u.intent_ack.id], "an intent was said");
		break;
	case MSG_RECORD_ACK:
		demand(!w.o.no_history, "nothing is acknowledged without a history");
		demand(m->u.record_ack.id >= IDS || w.ends[m->u.record_ack.id], "an end was said");
		break;
	case MSG_DIGEST_GET:
		w.digest = m->u.digest_get.digest;
		break;
	case MSG_INSPECT:
		w.inspection = m->u.inspect.inspection;
		break;
	case MSG_CTL_END:
		on_end(m->u.ctl_end.conn);
		break;
	default:
		break;
	}
}

/* -- messages made of bytes -- */

static bool number(const struct msg_field *f, uint8_t b, uint64_t *ret)
{
	static const int64_t ago[] = { 0, 1000, 60000, 3600000, 86400000, 2592000000, -60000, 1 };

	if (strcmp(f->name, "conn") == 0)
		*ret = w.conn = (w.conn + 1) % UINT32_MAX;
	else if (strcmp(f->name, "id") == 0 && b < 224)
		*ret = 1 + b % 16u;
	else if (strcmp(f->name, "digest") == 0 && b < 224 && w.digest)
		*ret = w.digest;
	else if (strcmp(f->name, "look") == 0 && b < 224 && w.inspection)
		*ret = w.inspection;
	else if (strcmp(f->name, "cluster") == 0 && b < 128)
		*ret = b % 2u;
	else if (f->kind == KIND_I64 && f->max == INT64_MAX && b < 224)
		*ret = (uint64_t)(clock_wall_ms() - ago[b % 8]);
	else
		return false;
	return true;
}

static const char *text(const struct msg_field *f, uint8_t b)
{
	static const char *const reasons[] = { "Evicted", "Forbidden", "Done",     "BudgetExhausted",
					       "Paused",  "Gone",      "Restored", "nonsense" };
	static const char *const roles[] = { "watcher", "worker", "reporter", "loader" };
	static const char *const marks[] = { "<script>x</script>", "a\"b\\c{}", "\xe9\x87\x8d\xe5\x90\xaf",
					     "]]>&amp;" };

	if (b >= 240)
		return NULL;
	if (strcmp(f->name, "reason") == 0)
		return reasons[b % 8];
	if (strcmp(f->name, "role") == 0)
		return roles[b % 4];
	if (strcmp(f->name, "cluster_name") == 0)
		return b % 2 ? "prod" : b % 4 ? "test" : "";
	return f->kind == KIND_STR && b >= 128 ? marks[b % 4] : NULL;
}

static const char *const texts[8] = {
	"uid-0", "uid-1", "dns/web", "prod", "ready", "default", "breaker", ""
};

static void say_any(void)
{
	static const enum role roles[] = { ROLE_SUPERVISOR, ROLE_WATCHER, ROLE_WORKER, ROLE_CLI };
	struct msg m;

	if (!made_message(&w.made, roles[next() % 4], R_REPORTER, &m))
		return;
	if (m.type == MSG_SETTINGS || m.type == MSG_SETTINGS_COMMIT || m.type == MSG_LOG_LEVEL ||
	    m.type == MSG_DRAIN)
		return; /* process/process.c */
	if (m.type == MSG_INTENT && m.u.intent.id < IDS)
		w.intents[m.u.intent.id] = true;
	if (m.type == MSG_RECORD && m.u.record.id < IDS)
		w.ends[m.u.record.id] = true;
	const uint64_t conn = msg_get_u64(&m, "conn", IDS);

	if (conn < IDS && msg_desc(m.type)->from & R_CLI)
		w.asked[conn] = true;
	reporter_stage_say(&m);
}

/* -- settings, time, readers -- */

static void add_sink(struct settings *s, const char *name, enum sink_type type, uint64_t language)
{
	*(struct sink_settings *)setting_append(settings_find("sinks"), s) =
		(struct sink_settings){ .name = xstrdup(name),
					.type = type,
					.url = xstrdup("http://127.0.0.1:1/x"),
					.news = (1u << NEWS__MAX) - 1,
					.language = language,
					.top = 3 };
}

static void make_settings(struct settings *s, uint8_t b)
{
	settings_init(s);
	s->state_dir = xstrdup("/x");
	s->history_days = 30;
	s->remind_ms = s->give_up_ms = 86400000;
	s->gather_ms = 60000;
	s->history_megabytes = 512;
	s->policy.mode = b & 1 ? MODE_OBSERVE : MODE_ENFORCE;
	if (!(b & 2))
		str_list_add(&s->cluster_names, "prod", 4);
	if (!(b & 4))
		str_list_add(&s->cluster_names, "test", 4);
	free(s->schedule);
	s->schedule = xstrdup(b & 8 ? "@hourly" : "* * * * *");
	s->policy.duty[DUTY_RESTARTS].enable = !(b & 16);
	s->policy.duty[DUTY_RESTARTS].counts = 1;
	if (!(b & 32))
		add_sink(s, "chat", SINK_FEISHU, LANGUAGE_ZH);
	if (!(b & 64))
		add_sink(s, "ops", SINK_EMAIL, LANGUAGE_EN);
}

static void reload(void)
{
	struct settings s;

	make_settings(&s, next());
	demand(reporter_stage_commit(&s), "these settings are good");
}

static void pass(void)
{
	static const int64_t spans[] = { 0, 10, 100, 1000, 10000, 61000, 600000, 3600000 };

	reporter_stage_pass(spans[next() % 8]);
}

static void check_shown(const char *p, size_t n)
{
	for (size_t at = 0, k; at < n; at += k + 1) {
		const char *end = memchr(p + at, '\n', n - at);

		k = end ? (size_t)(end - (p + at)) : n - at;
		demand(unicode_all_printable(p + at, k), "what is served may be shown");
	}
	demand(!memmem(p, n, "<script", 7), "nothing in it is a mark");
}

/* A page takes as long as many steps: an input has PAGES_MAX, which its bytes choose. */
static void browse(void)
{
	static const char *const paths[] = { "/", "/metrics", "/readyz", "/livez" };
	const uint8_t b = next();

	if (w.pages == PAGES_MAX)
		return;
	w.pages++;
	const struct web_request r = { .path = paths[b % 4],
				       .query = b & 4 ? "verbose" : NULL,
				       .languages = b & 8 ? "zh" : NULL,
				       .accept = b & 16 ? "application/openmetrics-text" : NULL };
	struct listener_answer a;

	reporter_stage_ask(&r, &a);
	demand(a.body && (a.status == 200 || a.status == 500), "it is answered");
	if (b % 4 != 1)
		check_shown(a.body, a.size);
	free(a.body);
}

static void drain(void)
{
	if (next() % 16 == 0)
		reporter_stage_drain();
}

static void (*const steps[])(void) = {
	say_any, say_any, say_any, say_any, say_any, say_any, say_any, say_any,
	say_any, say_any, say_any, pass,    pass,    browse,  reload,  drain,
};

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct settings s;

	memset(&w, 0, sizeof(w));
	w.made = (struct made){ p, n, texts, number, text };
	repeatable_begin();
	log_override_level((enum log_level)(LOG_LEVEL_ERROR + 1), UINT64_MAX);
	const uint8_t b = next();

	w.o = (struct reporter_stage_options){ .no_history = b % 32 == 7,
					       .max_bytes = b % 32 == 6 ? 400000 : 0,
					       .verdict = (enum sink_verdict)(next() % (SINK_UNKNOWN + 1)),
					       .on_msg = on_msg };
	make_settings(&s, 0);
	reporter_stage_start(&w.o, &s);
	demand(reporter_stage_lives(), "it starts");
	for (int i = 0; i < STEPS_MAX && w.made.n > 0 && reporter_stage_lives(); i++)
		steps[next() % ARRAY_SIZE(steps)]();
	reporter_stage_stop();
	repeatable_end();
	return 0;
}
