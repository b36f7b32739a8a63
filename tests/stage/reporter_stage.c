/* reporter_stage.c - see reporter_stage.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/stage/reporter_stage.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "http/global.h"
#include "process/process.h"
#include "reporter/history/db.h"
#include "reporter/sinks/delivery.h"

#define RUNS_MAX 64

struct process {
	struct event_base *base;
	const struct process_spec *spec;
	void *ctx;
	bool ended;
	struct reporter_stage_options o;
};

static struct process on_stage;

/* -- instead of a disk -- */

#define TABLES_MAX 32u

/* SQLite is no part of what is looked at: its memory is the C library's, whoever else watches that. */
void *__libc_malloc(size_t n);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static void *sql_realloc(void *p, int n)
{
	uint64_t *block = __libc_realloc(p ? (uint64_t *)p - 2 : NULL, (size_t)n + 16);

	if (!block)
		abort();
	block[0] = (uint64_t)n;
	return block + 2;
}

static void *sql_malloc(int n)
{
	return sql_realloc(NULL, n);
}

static void sql_free(void *p)
{
	__libc_free((uint64_t *)p - 2);
}

static int sql_size(void *p)
{
	return p ? (int)((uint64_t *)p)[-2] : 0;
}

static int sql_round_up(int n)
{
	return (n + 7) & ~7;
}

static int sql_init(void *ctx)
{
	(void)ctx;
	return SQLITE_OK;
}

static void sql_shutdown(void *ctx)
{
	(void)ctx;
}

static void configure_sqlite(void)
{
	static const sqlite3_mem_methods memory = { sql_malloc,   sql_free, sql_realloc,  sql_size,
						    sql_round_up, sql_init, sql_shutdown, NULL };

	(void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	(void)sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
}

/* To make the schema takes longer than most of what follows: a database is used again, empty. */
struct kept {
	struct db *db;
	sqlite3_stmt *empty[TABLES_MAX];
	size_t n;
};

static struct kept unlimited, limited, given_up;

static void keep(struct kept *k, sqlite3 *sql, const char *text)
{
	if (k->n == TABLES_MAX || sqlite3_prepare_v2(sql, text, -1, &k->empty[k->n++], NULL) != SQLITE_OK)
		abort();
}

static void note_tables(struct kept *k)
{
	sqlite3 *sql = sqlite3_db_handle(db_stmt(k->db, DB_INTENT_PUT));
	sqlite3_stmt *st = NULL;

	keep(k, sql, "BEGIN");
	(void)sqlite3_prepare_v2(sql, "SELECT name FROM sqlite_master WHERE type = 'table'", -1, &st, NULL);
	while (sqlite3_step(st) == SQLITE_ROW) {
		char *text = sqlite3_mprintf("DELETE FROM %Q", sqlite3_column_text(st, 0));

		keep(k, sql, text);
		sqlite3_free(text);
	}
	if (sqlite3_finalize(st) != SQLITE_OK)
		abort();
	keep(k, sql, "COMMIT");
}

static void empty_tables(struct kept *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (sqlite3_step(k->empty[i]) != SQLITE_DONE || sqlite3_reset(k->empty[i]) != SQLITE_OK)
			abort();
}

static void make_kept(struct kept *k, uint64_t max_bytes)
{
	struct facts why;

	if (db_open_memory(max_bytes, &k->db) < 0)
		abort();
	if (k == &given_up)
		(void)db_give_up(k->db, &why);
	else
		note_tables(k);
}

static int claim(const char *dir, struct db **ret, struct facts *ret_why)
{
	struct kept *k = on_stage.o.no_history ? &given_up : on_stage.o.max_bytes ? &limited : &unlimited;

	(void)dir;
	(void)ret_why;
	if (!k->db)
		make_kept(k, on_stage.o.max_bytes);
	empty_tables(k);
	*ret = k->db;
	return 0;
}

static void release(struct db **d)
{
	*d = NULL;
}

static int open_again(struct db *d, uint64_t max_bytes, struct facts *ret_why)
{
	(void)max_bytes;
	*ret_why = db_is_open(d) ? (struct facts){ 0 } : facts_of(TEXT_FILE_UNUSABLE);
	return db_is_open(d) ? 0 : -EIO;
}

/* -- the reporter -- */

#define db_claim                claim
#define db_open                 open_again
#define db_close                release
#define http_global_init()      ((void)0)
#define http_take_system_ca(ca) ((void)(ca))
#include "reporter/reporter.c"

/* -- instead of process/process.c -- */

struct event_base *process_base(struct process *p)
{
	return p->base;
}

void *process_ctx(struct process *p)
{
	return p->ctx;
}

void process_set_ctx(struct process *p, void *ctx)
{
	p->ctx = ctx;
}

/* What it says has to be what it may say. */
int process_send(struct process *p, const struct msg *m)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const size_t n = msg_encode(m, bytes);
	const char *field;
	struct msg heard;

	if (p->ended)
		return -EPIPE;
	if (msg_decode(ROLE_REPORTER, ROLE_SUPERVISOR, PH_RUN, bytes, n, &heard, &field) != (int)n)
		abort();
	p->o.on_msg(p->o.ctx, &heard);
	return 0;
}

void process_say_trouble(struct process *p, enum trouble kind, const struct facts *particulars)
{
	struct msg m = { .type = MSG_TROUBLE, .u.trouble.trouble = kind };

	if (particulars)
		facts_set(&m.u.trouble.particulars, particulars);
	(void)process_send(p, &m);
}

/* Every message is there at once. */
void process_read_waiting(struct process *p)
{
	(void)p;
}

int process_seal(struct process *p)
{
	(void)p;
	return 0;
}

void process_exit(struct process *p, int code)
{
	(void)code;
	p->ended = true;
}

void process_drained(struct process *p, uint64_t left)
{
	(void)left;
	p->ended = true;
}

void process_drain(struct process *p)
{
	if (!p->ended)
		p->spec->on_drain(p);
}

/* -- instead of reporter/sinks/delivery.c -- */

struct delivery {
	delivery_answer_fn *fn;
	void *ctx;
	struct event *answer;
};

static void on_answer(evutil_socket_t fd, short what, void *arg)
{
	const struct sink_answer a = { .verdict = on_stage.o.verdict,
				       .cause = on_stage.o.verdict == SINK_ACCEPTED ? SINK_NO_CAUSE
										    : SINK_OTHER,
				       .code = -1,
				       .retry_after_ms = -1 };
	const struct delivery *d = arg;

	(void)fd;
	(void)what;
	d->fn(d->ctx, &a);
}

struct delivery *delivery_new(struct event_base *base, const struct sink_settings *s, delivery_answer_fn *fn,
			      void *ctx)
{
	struct delivery *d = xcalloc(1, sizeof(*d));

	(void)s;
	*d = (struct delivery){ fn, ctx, NULL };
	d->answer = evtimer_new(base, on_answer, d);
	return d;
}

void delivery_free(struct delivery **d)
{
	if (*d)
		event_free((*d)->answer);
	free(*d);
	*d = NULL;
}

bool delivery_set(struct delivery *d, const struct sink_settings *s)
{
	(void)d;
	(void)s;
	return false;
}

void delivery_set_patience(struct delivery *d, uint64_t give_up_ms)
{
	(void)d;
	(void)give_up_ms;
}
uint64_t delivery_wait(const struct delivery *d)
{
	(void)d;
	return 0;
}

void delivery_send(struct delivery *d, const struct document *doc)
{
	char *text = document_to_text(doc);

	free(text);
	(void)evtimer_add(d->answer, CLOCK_TIMEVAL(0));
}

bool delivery_knows_ids(const struct delivery *d)
{
	(void)d;
	return false;
}

/* -- time -- */

static void run(void)
{
	for (int i = 0; i < RUNS_MAX && !on_stage.ended; i++) {
		(void)event_base_loop(on_stage.base, EVLOOP_NONBLOCK);
		if (event_base_get_num_events(on_stage.base, EVENT_BASE_COUNT_ACTIVE) == 0)
			break;
	}
}

void reporter_stage_pass(int64_t ms)
{
	clock_fake_advance(ms);
	run();
}

/* -- the interface -- */

void reporter_stage_start(const struct reporter_stage_options *o, struct settings *s)
{
	if (!on_stage.spec)
		configure_sqlite();
	on_stage = (struct process){ .o = *o };
	on_stage.base = event_base_new();
	on_stage.spec = &reporter_spec;
	if (on_stage.spec->on_start(&on_stage, s) < 0 || on_stage.spec->on_confined(&on_stage) < 0)
		on_stage.ended = true;
	else
		on_stage.spec->on_ready(&on_stage);
	settings_done(s);
	run();
}

void reporter_stage_stop(void)
{
	on_stage.spec->on_done(&on_stage);
	event_base_free(on_stage.base);
	on_stage.base = NULL;
}

bool reporter_stage_lives(void)
{
	return !on_stage.ended;
}

void reporter_stage_say(const struct msg *m)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const char *field;
	struct msg heard;

	if (msg_decode(ROLE_SUPERVISOR, ROLE_REPORTER, PH_RUN, bytes, msg_encode(m, bytes), &heard, &field) <
	    0)
		abort(); /* the test says what it must not say */
	if (!on_stage.ended)
		on_stage.spec->on_msg(&on_stage, &heard);
}

bool reporter_stage_commit(struct settings *s)
{
	enum text why;
	const bool ok = !on_stage.ended && on_stage.spec->check_settings(s, &why) == 0;

	if (ok)
		on_stage.spec->on_commit(&on_stage, s);
	settings_done(s);
	return ok;
}

void reporter_stage_drain(void)
{
	process_drain(&on_stage);
}

void reporter_stage_ask(const struct web_request *r, struct listener_answer *ret)
{
	*ret = (struct listener_answer){ .status = 404 };
	on_request(process_ctx(&on_stage), r, ret);
}
