/* test_response_stream.c - long answers never flood the channel, never block one another and come whole. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>

#include "reporter/history/query.h"
#include "tests/suite.h"
#include "tests/unit/reporter/history_world.h"

#define ROWS 1000u

struct channel {
	size_t room, sent, refused;
	size_t rows[3], ends[3];
	uint64_t last_id[3];
	bool gone;
};

static struct event_base *base;
static struct response_stream *stream;
static struct channel ch;

static int on_send(void *ctx, const struct msg *m)
{
	struct channel *c = ctx;

	if (c->gone)
		return -EPIPE;
	if (c->room == 0) {
		c->refused++;
		return -EAGAIN;
	}
	c->room--;
	c->sent++;
	if (m->type == MSG_CTL_END) {
		c->ends[m->u.ctl_end.conn]++;
		return 0;
	}
	const uint64_t conn = m->u.ctl_history_row.conn, id = m->u.ctl_history_row.id;

	ck_assert(c->rows[conn] == 0 || id < c->last_id[conn]); /* newest first, none twice */
	c->last_id[conn] = id;
	c->rows[conn]++;
	return 0;
}

static void on_trouble(void *ctx, int err)
{
	(void)ctx;
	ck_abort_msg("trouble %d", err);
}

static const struct response_stream_ops ops = { on_send, on_trouble };

static void setup(void)
{
	struct msg m = world_intent(0, 0, "u");

	world_setup();
	for (m.u.intent.id = 1; m.u.intent.id <= ROWS; m.u.intent.id++)
		ck_assert(history_add(w.h, &m));
	ck_assert_int_eq(history_flush(w.h), 0);
	base = event_base_new();
	ch = (struct channel){ 0 };
	stream = response_stream_new(base, &ops, &ch);
}

static void teardown(void)
{
	response_stream_free(&stream);
	event_base_free(base);
	world_teardown();
}

static void ask(uint64_t conn)
{
	const struct msg m = {
		.type = MSG_CTL_HISTORY,
		.u.ctl_history = { .conn = conn, .limit = 100000, .duty = DUTY_ALL, .outcomes = OUTCOMES_ALL }
	};
	struct query *c = NULL;

	ck_assert_int_eq(query_history(w.db, w.h, &m, &c), 0);
	ck_assert(response_stream_add(stream, c));
}

TEST(responses_come_whole_and_side_by_side)
{
	ch.room = SIZE_MAX;
	ask(1);
	ask(2);
	(void)event_base_loop(base, EVLOOP_ONCE);
	ck_assert_uint_gt(ch.rows[1], 0);
	ck_assert_uint_gt(ch.rows[2], 0); /* neither waits for the other */
	ck_assert_uint_le(ch.sent, 2 * RESPONSE_BATCH);
	(void)event_base_dispatch(base);
	for (int i = 1; i <= 2; i++) {
		ck_assert_uint_eq(ch.rows[i], ROWS);
		ck_assert_uint_eq(ch.ends[i], 1);
	}
}

TEST(a_full_channel_is_waited_for)
{
	ask(1);
	ask(2);
	for (int i = 0; i < 1000 && ch.ends[1] + ch.ends[2] < 2; i++) {
		ch.room = 7;
		ch.refused = 0;
		response_stream_room(stream);
		(void)event_base_dispatch(base); /* ends by itself: nothing spins while the channel is full */
		ck_assert_uint_le(ch.refused, 1);
	}
	ck_assert_uint_eq(ch.rows[1], ROWS);
	ck_assert_uint_eq(ch.rows[2], ROWS);
}

TEST(a_peer_that_went_away_ends_it)
{
	ch.room = 10;
	ask(1);
	(void)event_base_dispatch(base);
	ch.gone = true;
	response_stream_room(stream);
	(void)event_base_dispatch(base);
	ck_assert_uint_eq(ch.ends[1], 0);
	ck_assert_uint_eq(ch.rows[1], 10);
}

TEST_MAIN("reporter/response_stream")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
}
