/* own_state.c - see own_state.h. The file is messages of ipc/messages.def, one behind the other: OWN_STATE,
 * then OWN_COUNT, PAUSE, OWN_FAILING and OWN_WATCHED in any number, and OWN_END with the MAC of all bytes
 * before it. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/own_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/private_dir.h"
#include "base/random.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "model/reasons.h"
#include "text/private_dir_text.h"
#include "text/texts.h"

#define LOCK_WAIT_MS 5000u       /* of whoever was killed before us, it may go after the one of the socket */
#define STEP_MS      1000        /* wall and boot time go apart by more: somebody set the clock */
#define KEEP_MS      60000u      /* what is known to fail waits no longer to be written, */
#define KEEP_PER     64u         /* and a millisecond for so many bytes: all of it is written each time */
#define FILE_MAX     (64u << 20) /* more than all that may be known (failing_since_registry.h) */

/* -- signatures -- */

/* With its type: a signature of the one kind is none of the other. */
static void sign(const struct own_state *o, const struct msg *m, const char *cluster_name,
		 char ret[static SIPHASH_TEXT_MAX])
{
	uint8_t bytes[64 + IPC_FRAME_MAX] = { 0 };

	(void)snprintf((char *)bytes, 64, "%s", cluster_name);
	siphash_text(o->key, bytes, 64 + msg_encode(m, bytes + 64), ret);
}

/* In a time that tells nothing. */
static bool is_same(const char a[static SIPHASH_TEXT_MAX], const char b[static SIPHASH_TEXT_MAX])
{
	unsigned differs = 0;

	for (size_t i = 0; i < SIPHASH_TEXT_MAX; i++)
		differs |= (unsigned)a[i] ^ (unsigned)b[i];
	return differs == 0;
}

void own_state_sign(const struct own_state *o, const struct msg *m, const char *cluster_name,
		    char ret[static SIPHASH_TEXT_MAX])
{
	struct msg open = { .type = MSG_OPEN_INTENT };

	msg_copy_fields(&open, m);
	open.u.open_intent.cluster = 0;
	memset(open.u.open_intent.mac, 0, sizeof(open.u.open_intent.mac));
	sign(o, &open, cluster_name, ret);
}

bool own_state_is_signed(const struct own_state *o, const struct msg *open_intent, const char *cluster_name)
{
	char own[SIPHASH_TEXT_MAX];

	own_state_sign(o, open_intent, cluster_name, own);
	return is_same(own, open_intent->u.open_intent.mac);
}

/* Which action took how many from what, and where; not the words about it. */
static void sign_way_back(const struct own_state *o, const struct msg_ctl_restore_row *row,
			  const char *cluster_name, char ret[static SIPHASH_TEXT_MAX])
{
	struct msg m = { .type = MSG_CTL_RESTORE_ROW };
	struct msg_ctl_restore_row *to = &m.u.ctl_restore_row;

	to->duty = row->duty;
	to->action = ACTION_RESTORE;
	to->origin = row->origin;
	to->want_replicas = row->want_replicas;
	memcpy(to->ns, row->ns, sizeof(to->ns));
	memcpy(to->name, row->name, sizeof(to->name));
	memcpy(to->uid, row->uid, sizeof(to->uid));
	memcpy(to->action_key, row->action_key, sizeof(to->action_key));
	memcpy(to->want_target, row->want_target, sizeof(to->want_target));
	memcpy(to->want_uid, row->want_uid, sizeof(to->want_uid));
	(void)snprintf(to->reason, sizeof(to->reason), "%s",
		       reason_code(REASON_RESTORED)); /* it must have one */
	sign(o, &m, cluster_name, ret);
}

void own_state_sign_end(const struct own_state *o, const struct msg *intent, const struct msg_record *r,
			const char *cluster_name, char ret[static SIPHASH_TEXT_MAX])
{
	const struct msg_intent *i = &intent->u.intent;
	struct msg m = { .type = MSG_CTL_RESTORE_ROW };
	struct msg_ctl_restore_row *row = &m.u.ctl_restore_row;

	ret[0] = '\0';
	if (i->action != ACTION_SCALE_DOWN || i->observe || r->replicas < 1 ||
	    !(OUTCOMES_WRITTEN >> r->outcome & 1))
		return;
	msg_copy_fields(&m, intent);
	row->origin = i->id;
	row->want_replicas = r->replicas;
	memcpy(row->want_target, r->target, sizeof(row->want_target));
	memcpy(row->want_uid, r->target_uid, sizeof(row->want_uid));
	sign_way_back(o, row, cluster_name, ret);
}

bool own_state_vouches(const struct own_state *o, const struct msg_ctl_restore_row *row,
		       const char *cluster_name)
{
	char own[SIPHASH_TEXT_MAX];

	sign_way_back(o, row, cluster_name, own);
	return is_same(own, row->mac);
}

void own_state_history(const struct own_state *o, char ret[static SIPHASH_TEXT_MAX])
{
	siphash_text(o->key, "history", 7, ret);
}

void own_state_set_floor(struct own_state *o, uint64_t id)
{
	if (id > o->floor)
		o->floor = id;
}

struct write_count *own_state_count(struct own_state *o, const char *cluster_name)
{
	for (size_t i = 0; i < o->n_counts; i++)
		if (strcmp(o->counts[i].cluster_name, cluster_name) == 0)
			return &o->counts[i];
	if (o->n_counts == CLUSTERS_MAX)
		return NULL;
	struct write_count *c = &o->counts[o->n_counts++];

	*c = (struct write_count){ 0 };
	(void)snprintf(c->cluster_name, sizeof(c->cluster_name), "%s", cluster_name);
	return c;
}

void own_state_forget_count(struct own_state *o, struct write_count *c)
{
	*c = o->counts[--o->n_counts];
}

/* -- the clock -- */

static int64_t wall_ahead(void)
{
	return clock_wall_ms() - (int64_t)clock_boot_ms();
}

int64_t own_state_now(const struct own_state *o)
{
	return (int64_t)clock_boot_ms() + o->wall_ahead;
}

static void move(int64_t *at, int64_t step)
{
	if (*at > 0)
		*at = *at + step > 1 ? *at + step : 1;
}

bool own_state_follow_clock(struct own_state *o)
{
	const int64_t step = wall_ahead() - o->wall_ahead;
	struct pause *e;

	if (step >= -STEP_MS && step <= STEP_MS)
		return false;
	o->wall_ahead += step;
	for (size_t i = 0; (e = pause_list_get(o->pauses, i)); i++) {
		move(&e->p.at, e->earlier ? 0 : step);
		move(&e->p.until, e->earlier ? 0 : step);
	}
	for (size_t i = 0; i < o->n_counts; i++) {
		move(&o->counts[i].minute.at, o->counts[i].earlier ? 0 : step);
		move(&o->counts[i].hour.at, o->counts[i].earlier ? 0 : step);
	}
	failing_since_move(o->known, step);
	return true;
}

/* -- writing -- */

static void put(FILE *f, const struct msg *m)
{
	uint8_t bytes[IPC_FRAME_MAX];

	(void)fwrite(bytes, 1, msg_encode(m, bytes), f);
}

static void put_counts(const struct own_state *o, FILE *f)
{
	for (size_t i = 0; i < o->n_counts; i++) {
		const struct write_count *c = &o->counts[i];
		struct msg m = { .type = MSG_OWN_COUNT,
				 .u.own_count = { .minute_at = c->minute.at,
						  .minute_kept = c->minute.kept,
						  .hour_at = c->hour.at,
						  .hour_kept = c->hour.kept } };

		msg_text(&m, own_count.cluster_name, c->cluster_name);
		put(f, &m);
	}
}

static void put_known(const struct own_state *o, FILE *f)
{
	struct msg m = { .type = MSG_OWN_FAILING };
	const struct failing_since_entry *e = NULL;

	while ((e = failing_since_next(o->known, e))) {
		m.u.own_failing = (struct msg_own_failing){ .duty = e->duty, .at = e->at };
		msg_text(&m, own_failing.cluster_name, failing_since_cluster_name(o->known, e));
		msg_text(&m, own_failing.owner, e->owner);
		msg_text(&m, own_failing.revision, e->revision);
		put(f, &m);
	}
}

/* Behind what is known: of no other cluster is it kept. */
static void put_watched(const struct own_state *o, FILE *f)
{
	const struct failing_since_cluster *c;
	struct msg m = { .type = MSG_OWN_WATCHED };

	for (size_t i = 0; (c = failing_since_next_cluster(o->known, &i));) {
		m.u.own_watched = (struct msg_own_watched){ .at = c->watched, .since = c->since };
		msg_text(&m, own_watched.cluster_name, c->name);
		put(f, &m);
	}
}

static void put_all(const struct own_state *o, FILE *f)
{
	struct msg m = { .type = MSG_OWN_STATE, .u.own_state = { .floor = o->floor, .unread = o->unread } };
	const struct pause *e;

	memcpy(&m.u.own_state.key_1, o->key, 8);
	memcpy(&m.u.own_state.key_2, o->key + 8, 8);
	put(f, &m);
	put_counts(o, f);
	for (size_t i = 0; (e = pause_list_get(o->pauses, i)); i++) {
		m = (struct msg){ .type = MSG_PAUSE, .u.pause = e->p };
		if (e->p.on)
			put(f, &m);
	}
	put_known(o, f);
	put_watched(o, f);
}

int own_state_save(struct own_state *o)
{
	struct msg end = { .type = MSG_OWN_END };
	char *bytes = NULL;
	size_t n = 0;

	if (!o->dir)
		return -EBADF;
	FILE *f = open_memstream(&bytes, &n);

	if (!f)
		return -ENOMEM;
	put_all(o, f);
	(void)fflush(f);
	siphash_text(o->key, bytes, n, end.u.own_end.mac);
	put(f, &end);
	const int r = fclose(f) == 0 ? private_dir_replace(o->dir, OWN_STATE_FILE, bytes, n) : -ENOMEM;

	free(bytes);
	if (r == 0)
		failing_since_kept(o->known);
	o->known_ms = clock_boot_ms() + (n / KEEP_PER < KEEP_MS ? n / KEEP_PER : KEEP_MS);
	return r;
}

void own_state_keep_known(struct own_state *o)
{
	if (failing_since_is_changed(o->known) && clock_boot_ms() >= o->known_ms)
		(void)own_state_save(o);
}

/* -- reading -- */

/* Everything that may have been written counts as used. */
static bool take_count(struct own_state *o, const struct msg_own_count *m)
{
	struct write_count *c = own_state_count(o, m->cluster_name);

	if (!c)
		return false;
	c->minute = (struct write_span){ m->minute_at, m->minute_kept, m->minute_kept };
	c->hour = (struct write_span){ m->hour_at, m->hour_kept, m->hour_kept };
	c->earlier = true;
	return true;
}

static bool take_pause(struct own_state *o, const struct msg_pause *m)
{
	struct pause *e = m->on ? pause_list_set(o->pauses, m) : NULL;

	if (e)
		e->earlier = true;
	return e;
}

static bool take(struct own_state *o, const struct msg *m)
{
	const struct msg_own_failing *f = &m->u.own_failing;
	const struct msg_own_watched *c = &m->u.own_watched;

	switch (m->type) {
	case MSG_OWN_STATE:
		memcpy(o->key, &m->u.own_state.key_1, 8);
		memcpy(o->key + 8, &m->u.own_state.key_2, 8);
		o->floor = m->u.own_state.floor;
		o->unread = m->u.own_state.unread;
		return true;
	case MSG_OWN_COUNT:
		return take_count(o, &m->u.own_count);
	case MSG_PAUSE:
		return take_pause(o, &m->u.pause);
	case MSG_OWN_FAILING:
		return failing_since_add(
			o->known,
			&(struct failing_since_key){ f->cluster_name, f->duty, f->owner, f->revision },
			f->at);
	case MSG_OWN_WATCHED:
		return failing_since_on_kept(o->known, c->cluster_name, c->at, c->since);
	default:
		return false;
	}
}

/* The key stands in front of what it vouches for: against a damaged disk, not against somebody who can write
 * there. */
static bool read_all(struct own_state *o, const uint8_t *p, size_t n)
{
	char mac[SIPHASH_TEXT_MAX];
	const char *field;
	struct msg m;

	for (size_t at = 0; at < n;) {
		const size_t left = n - at < IPC_FRAME_MAX ? n - at : IPC_FRAME_MAX;
		const int used =
			msg_decode(ROLE_SUPERVISOR, ROLE_SUPERVISOR, PH_RUN, p + at, left, &m, &field);

		if (used < 0 || (at == 0) != (m.type == MSG_OWN_STATE))
			return false;
		if (m.type == MSG_OWN_END) {
			siphash_text(o->key, p, at, mac);
			return at + (size_t)used == n && is_same(mac, m.u.own_end.mac);
		}
		if (!take(o, &m))
			return false;
		at += (size_t)used;
	}
	return false;
}

static void forget_all(struct own_state *o)
{
	struct pause *e;

	while ((e = pause_list_get(o->pauses, 0)))
		pause_list_remove(o->pauses, e);
	failing_since_forget_all(o->known);
	o->n_counts = 0;
	o->floor = 0;
	random_bytes(o->key, sizeof(o->key));
}

/* What was paused is not known any more, so all is. */
static void pause_all(struct own_state *o)
{
	struct msg m = { .type = MSG_PAUSE,
			 .u.pause = { .duty = DUTY_ALL, .on = true, .at = clock_wall_ms() } };

	msg_set(&m, pause.by, "ops-pod-cleaner", 15);
	facts_finding(&m.u.pause.why, TEXT_OWN_STATE_DAMAGED);
	(void)pause_list_set(o->pauses, &m.u.pause);
}

static int read_file(struct own_state *o)
{
	_cleanup_free_ char *bytes = NULL;
	size_t n = 0;
	const int r = private_dir_read(o->dir, OWN_STATE_FILE, FILE_MAX, &bytes, &n);

	if (r < 0 && r != -ENOENT && r != -EFBIG)
		return r;
	o->found = r == -ENOENT                                       ? OWN_NEW
		   : r == 0 && read_all(o, (const uint8_t *)bytes, n) ? OWN_READ
								      : OWN_DAMAGED;
	if (o->found == OWN_READ && o->unread) {
		o->found = OWN_NEW; /* that life ended too early: what it has read of the history counts */
		return 0;
	}
	o->unread = o->found == OWN_NEW;
	if (o->found != OWN_READ)
		forget_all(o);
	if (o->found == OWN_DAMAGED)
		pause_all(o);
	return 0;
}

/* -- the directory -- */

static int take_dir(struct own_state *o, const char *dir, struct facts *ret_why)
{
	_cleanup_free_ char *history = xasprintf("%s/%s", dir, OWN_STATE_HISTORY);
	struct private_dir_error e;
	int r = private_dir_make(dir, &e);

	if (r == 0)
		r = private_dir_lock(dir, LOCK_WAIT_MS, &o->lock_fd, &e);
	if (r < 0)
		private_dir_facts(dir, &e, ret_why);
	if (r < 0)
		return r;
	r = private_dir_make(history, &e);
	if (r < 0)
		private_dir_facts(history, &e, ret_why);
	return r;
}

int own_state_open(struct own_state *o, const char *dir, struct facts *ret_why)
{
	int r = take_dir(o, dir, ret_why);

	if (r < 0)
		return r;
	o->dir = xstrdup(dir);
	r = read_file(o);
	if (r == 0 && o->found != OWN_READ) /* else a full disk is no reason not to start */
		r = own_state_save(o);
	if (r == 0)
		return 0;
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, OWN_STATE_FILE);

	*ret_why = facts_of(TEXT_FILE_UNUSABLE);
	facts_quoted(ret_why, FACT_PLACE, STR_C(path));
	facts_quoted(ret_why, FACT_SYSTEM, STR_C(strerror(-r)));
	return r;
}

/* -- from start to end -- */

struct own_state *own_state_new(struct pause_list *pauses)
{
	struct own_state *o = xcalloc(1, sizeof(*o));

	*o = (struct own_state){
		.pauses = pauses, .lock_fd = -1, .known = failing_since_new(), .wall_ahead = wall_ahead()
	};
	random_bytes(o->key, sizeof(o->key));
	return o;
}

void own_state_free(struct own_state **op)
{
	struct own_state *o = *op;

	if (o && o->lock_fd >= 0)
		(void)close(o->lock_fd);
	if (o) {
		free(o->dir);
		failing_since_free(&o->known);
	}
	free(o);
	*op = NULL;
}
