/* world.c - see world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"

struct world w;

static void on_msg(void *ctx, enum role role, uint64_t number, const struct msg *m)
{
	(void)ctx;
	(void)role;
	if (m->type == MSG_GRANT && m->u.grant.id < ARRAY_SIZE(w.holders))
		w.holders[m->u.grant.id] = number;
	if (m->type == MSG_CTL_DRY_RUN)
		w.asked_worker = number;
	if (w.n < HEARD_MAX)
		w.heard[w.n++] = *m;
}

void start(void)
{
	w.o.dir = w.dir;
	w.o.on_msg = on_msg;
	w.s = stage_new(&w.o);
}

void set_up(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	suite_folder(w.folder);
	w.dir = xasprintf("%s/state", w.folder);
	clock_fake_set(INT64_C(1790000000000), 1000000);
	start();
}

void tear_down(void)
{
	stage_free(&w.s);
	free(w.dir);
}

void start_again(void)
{
	stage_free(&w.s);
	start();
}

void forget(void)
{
	w.n = 0;
}

size_t count(enum msg_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < w.n; i++)
		n += w.heard[i].type == type;
	return n;
}

const struct msg *heard(enum msg_type type, size_t i)
{
	for (size_t k = 0; k < w.n; k++)
		if (w.heard[k].type == type && i-- == 0)
			return &w.heard[k];
	ck_abort_msg("%s was not sent", msg_desc(type)->name);
}

void say(enum role role, const struct msg *m)
{
	ck_assert(stage_say(w.s, role, 0, m));
	stage_run(w.s);
}

struct msg end_of(uint64_t next_id)
{
	return (struct msg){ .type = MSG_OPEN_END, .u.open_end.next_id = next_id };
}

void open_history(void)
{
	const struct msg end = end_of(1);

	say(ROLE_REPORTER, &end);
}

struct msg nomination(unsigned number)
{
	struct msg m = { .type = MSG_NOMINATE };
	struct msg_nominate *n = &m.u.nominate;

	strcpy(n->ns, "default");
	(void)snprintf(n->name, sizeof(n->name), "pod-%u", number);
	(void)snprintf(n->uid, sizeof(n->uid), "uid-%u", number);
	strcpy(n->action_key, n->uid);
	strcpy(n->reason, "Evicted");
	return m;
}

void nominate(unsigned number)
{
	const struct msg m = nomination(number);

	say(ROLE_WATCHER, &m);
}

void acknowledge(uint64_t id)
{
	const struct msg m = { .type = MSG_INTENT_ACK, .u.intent_ack = { .id = id, .written = true } };

	say(ROLE_REPORTER, &m);
}

struct msg result_of(uint64_t id, enum outcome outcome)
{
	struct msg m = { .type = MSG_RESULT, .u.result = { .id = id, .outcome = outcome, .replicas = -1 } };

	strcpy(m.u.result.reason, "Evicted");
	return m;
}

void end_lease(uint64_t id, enum outcome outcome)
{
	const struct msg m = result_of(id, outcome), ack = { .type = MSG_RECORD_ACK, .u.record_ack.id = id };

	ck_assert(stage_say(w.s, ROLE_WORKER, w.holders[id], &m));
	stage_run(w.s);
	say(ROLE_REPORTER, &ack);
}

struct msg open_of(const struct msg *intent)
{
	struct msg m = { .type = MSG_OPEN_INTENT };

	msg_copy_fields(&m, intent);
	return m;
}

size_t open_leases(void)
{
	return lease_table_count(stage_supervisor(w.s)->leases);
}

const struct msg_record *only_record(void)
{
	ck_assert_uint_eq(count(MSG_RECORD), 1);
	return &heard(MSG_RECORD, 0)->u.record;
}
