/* own_state.c - see own_state.h. The file is text, a line a thing, its members apart by tabs; the last line
 * is the hash of all before it. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/own_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/private_dir.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "model/reasons.h"

#define FILE_MAX (64u << 20) /* more than all that may be known (known.h) */
#define HEAD     "ops-pod-cleaner supervisor 1"
#define SUM_LEN  (4 + SIPHASH_TEXT_MAX) /* "sum" TAB hash NEWLINE */
#define MEMBERS  7

struct own_state {
	struct pause_list *pauses;
	char *dir; /* NULL before it is opened */
	int lock_fd;
	enum own_found found;
	bool unread; /* what the history says of pauses: of a first start, or of the version before */
	uint8_t key[SIPHASH_KEY_SIZE];
	uint64_t floor;
	struct write_count counts[CLUSTERS_MAX];
	size_t n_counts;
	struct known *known;
};

/* -- signatures -- */

static void new_key(struct own_state *o)
{
	if (getrandom(o->key, sizeof(o->key), 0) != (ssize_t)sizeof(o->key))
		abort(); /* the kernel has none: nothing could be signed */
}

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

uint64_t own_state_floor(const struct own_state *o)
{
	return o->floor;
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

struct known *own_state_known(const struct own_state *o)
{
	return o->known;
}

/* -- writing -- */

static void put_key(const struct own_state *o, FILE *f)
{
	(void)fputs("key\t", f);
	for (size_t i = 0; i < sizeof(o->key); i++)
		(void)fprintf(f, "%02x", o->key[i]);
	(void)fprintf(f, "\nfloor\t%" PRIu64 "\n", o->floor);
}

static void put_counts(const struct own_state *o, FILE *f)
{
	for (size_t i = 0; i < o->n_counts; i++) {
		const struct write_count *c = &o->counts[i];

		(void)fprintf(f, "wrote\t%s\t%" PRId64 "\t%" PRIu64 "\t%" PRId64 "\t%" PRIu64 "\n",
			      c->cluster_name, c->minute.at, c->minute.kept, c->hour.at, c->hour.kept);
	}
}

static void put_pauses(const struct own_state *o, FILE *f)
{
	const struct pause *e;

	if (o->unread)
		(void)fprintf(f, "unread\n");
	for (size_t i = 0; (e = pause_list_get(o->pauses, i)); i++)
		if (e->p.on)
			(void)fprintf(f, "pause\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%s\n",
				      e->p.cluster_name, e->p.duty, e->p.at, e->p.until, e->p.by, e->p.why);
}

static void put_known(const struct own_state *o, FILE *f)
{
	const struct known_entry *e = NULL;

	while ((e = known_next(o->known, e)))
		(void)fprintf(f, "known\t%s\t%" PRIu64 "\t%s\t%s\t%" PRId64 "\n",
			      known_cluster_name(o->known, e), e->duty, e->owner, e->revision, e->at);
}

int own_state_save(struct own_state *o)
{
	char sum[SIPHASH_TEXT_MAX];
	char *text = NULL;
	size_t n = 0;

	if (!o->dir)
		return -EBADF;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return -ENOMEM;
	(void)fprintf(f, "%s\n", HEAD);
	put_key(o, f);
	put_counts(o, f);
	put_pauses(o, f);
	put_known(o, f);
	(void)fflush(f);
	siphash_text(o->key, text, n, sum);
	(void)fprintf(f, "sum\t%s\n", sum);
	const bool ok = fclose(f) == 0;
	const int r = ok ? private_dir_replace(o->dir, OWN_STATE_FILE, text, n) : -ENOMEM;

	free(text);
	if (r == 0)
		known_kept(o->known);
	return r;
}

/* -- reading -- */

static bool read_u64(const char *s, uint64_t max, uint64_t *ret)
{
	return str_to_u64(s, strlen(s), ret) == 0 && *ret <= max;
}

static bool read_i64(const char *s, int64_t *ret)
{
	uint64_t u = 0;

	if (!read_u64(s, INT64_MAX, &u))
		return false;
	*ret = (int64_t)u;
	return true;
}

static bool read_digit(char c, uint8_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	*ret = (uint8_t)(at ? at - digits : 0);
	return at != NULL;
}

static bool read_key(struct own_state *o, char *const v[])
{
	bool ok = strlen(v[0]) == 2 * sizeof(o->key);
	uint8_t high = 0, low = 0;

	for (size_t i = 0; ok && i < sizeof(o->key); i++) {
		ok = read_digit(v[0][2 * i], &high) && read_digit(v[0][2 * i + 1], &low);
		o->key[i] = (uint8_t)(high << 4 | low);
	}
	return ok;
}

static bool read_floor(struct own_state *o, char *const v[])
{
	return read_u64(v[0], INT64_MAX, &o->floor);
}

/* All that may have been written counts as used. */
static bool read_wrote(struct own_state *o, char *const v[])
{
	struct write_count *c = strlen(v[0]) < sizeof(c->cluster_name) ? own_state_count(o, v[0]) : NULL;

	if (!c || !read_i64(v[1], &c->minute.at) || !read_u64(v[2], INT64_MAX, &c->minute.kept) ||
	    !read_i64(v[3], &c->hour.at) || !read_u64(v[4], INT64_MAX, &c->hour.kept))
		return false;
	c->minute.used = c->minute.kept;
	c->hour.used = c->hour.kept;
	return true;
}

static bool read_pause(struct own_state *o, char *const v[])
{
	struct msg m = { .type = MSG_PAUSE, .u.pause.on = true };
	struct msg_pause *p = &m.u.pause;
	uint64_t duty = 0;

	p->duty = DUTY_ALL;
	if (strcmp(v[1], "-1") != 0) {
		if (!read_u64(v[1], DUTY__MAX - 1, &duty))
			return false;
		p->duty = (int64_t)duty;
	}
	msg_set(&m, pause.cluster_name, v[0], strlen(v[0]));
	msg_set(&m, pause.by, v[4], strlen(v[4]));
	msg_set(&m, pause.why, v[5], strlen(v[5]));
	return read_i64(v[2], &p->at) && read_i64(v[3], &p->until) && pause_list_set(o->pauses, p);
}

static bool read_known(struct own_state *o, char *const v[])
{
	struct known_key key = { .cluster_name = v[0], .owner = v[2], .revision = v[3] };
	int64_t at = 0;

	if (!read_u64(v[1], DUTY__MAX - 1, &key.duty) || !read_i64(v[4], &at))
		return false;
	return known_add(o->known, &key, at);
}

static bool read_unread(struct own_state *o, char *const v[])
{
	(void)v;
	return o->unread = true;
}

static const struct line {
	const char *name;
	size_t members;
	bool (*read)(struct own_state *o, char *const v[]);
} lines[] = {
	{ "key", 1, read_key },     { "floor", 1, read_floor }, { "wrote", 5, read_wrote },
	{ "pause", 6, read_pause }, { "known", 5, read_known }, { "unread", 0, read_unread },
};

static bool read_line(struct own_state *o, char *text)
{
	char *v[MEMBERS];
	size_t n = 0;

	while (text && n < MEMBERS)
		v[n++] = strsep(&text, "\t");
	for (size_t i = 0; !text && i < ARRAY_SIZE(lines); i++)
		if (strcmp(v[0], lines[i].name) == 0)
			return n == 1 + lines[i].members && lines[i].read(o, v + 1);
	return false;
}

/* The key stands in front of what it vouches for: against a damaged disk, not against somebody who can write
 * there. */
static bool read_text(struct own_state *o, char *text, size_t n)
{
	char sum[SIPHASH_TEXT_MAX], *line, *rest = text;
	bool ok = n > SUM_LEN && strlen(text) == n && text[n - 1] == '\n';

	if (!ok)
		return false;
	char *const last = text + n - SUM_LEN;
	char *const copy = xmemdup(text, n - SUM_LEN + 1);

	text[n - 1] = '\0';
	copy[n - SUM_LEN] = '\0';
	last[-1] = '\0';
	line = strsep(&rest, "\n");
	ok = strcmp(line, HEAD) == 0;
	while (ok && rest && (line = strsep(&rest, "\n")))
		ok = read_line(o, line);
	siphash_text(o->key, copy, n - SUM_LEN, sum);
	free(copy);
	return ok && strncmp(last, "sum\t", 4) == 0 && strcmp(last + 4, sum) == 0;
}

static void forget_all(struct own_state *o)
{
	struct pause *e;

	while ((e = pause_list_get(o->pauses, 0)))
		pause_list_remove(o->pauses, e);
	known_forget_all(o->known);
	o->n_counts = 0;
	o->floor = 0;
	new_key(o);
}

/* What was paused is not known any more, so all is. */
static void pause_all(struct own_state *o)
{
	static const char why[] = "the supervisor's own file of pauses and limits was damaged: look at what "
				  "was paused, then resume";
	struct msg m = { .type = MSG_PAUSE,
			 .u.pause = { .duty = DUTY_ALL, .on = true, .at = clock_wall_ms() } };

	msg_set(&m, pause.by, "ops-pod-cleaner", 15);
	msg_set(&m, pause.why, why, sizeof(why) - 1);
	(void)pause_list_set(o->pauses, &m.u.pause);
}

static int read_file(struct own_state *o)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	const int r = private_dir_read(o->dir, OWN_STATE_FILE, FILE_MAX, &text, &n);

	if (r < 0 && r != -ENOENT && r != -EFBIG)
		return r;
	o->found = r == -ENOENT ? OWN_NEW : r == 0 && read_text(o, text, n) ? OWN_READ : OWN_DAMAGED;
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

/* The version before kept the history where our own file is. The database moves last: as long as it is there,
 * this is not over. */
static int move_history(const char *dir, char *text)
{
	static const char *const files[] = { "history.db-wal", "history.db-journal", "history.db" };
	_cleanup_free_ char *made = xasprintf("%s/%s/history.db", dir, OWN_STATE_HISTORY),
			    *left = xasprintf("%s/history.db", dir);

	if (access(left, F_OK) < 0)
		return 0;
	if (access(made, F_OK) == 0) {
		(void)log_warn(0, "there are two histories: the older version's is left alone",
			       kv_s("used", made), kv_s("left", left));
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *from = xasprintf("%s/%s", dir, files[i]),
				    *to = xasprintf("%s/%s/%s", dir, OWN_STATE_HISTORY, files[i]);

		if (rename(from, to) < 0 && errno != ENOENT)
			return str_fail(text, OWN_STATE_TEXT_MAX, -errno,
					"%s: cannot be moved to %s: %s; move it by hand", from, to,
					strerror(errno));
	}
	log_info("the history has moved into a folder of its own", kv_s("file", made));
	return 0;
}

static int take_dir(struct own_state *o, const char *dir, char *text)
{
	_cleanup_free_ char *history = xasprintf("%s/%s", dir, OWN_STATE_HISTORY);
	int r = private_dir_make(dir, text);

	if (r == 0)
		r = private_dir_lock(dir, &o->lock_fd, text);
	if (r == 0)
		r = private_dir_make(history, text);
	return r < 0 ? r : move_history(dir, text);
}

int own_state_open(struct own_state *o, const char *dir, char ret_text[static OWN_STATE_TEXT_MAX])
{
	int r = take_dir(o, dir, ret_text);

	if (r < 0)
		return r;
	o->dir = xstrdup(dir);
	r = read_file(o);
	if (r == 0 && o->found != OWN_READ) /* else a full disk is no reason not to start */
		r = own_state_save(o);
	return r < 0 ? str_fail(ret_text, OWN_STATE_TEXT_MAX, r, "%s/%s: cannot be used: %s", dir,
				OWN_STATE_FILE, strerror(-r))
		     : 0;
}

void own_state_set_read(struct own_state *o)
{
	o->unread = false;
}

enum own_found own_state_found(const struct own_state *o)
{
	return o->found;
}

/* -- from start to end -- */

struct own_state *own_state_new(struct pause_list *pauses)
{
	struct own_state *o = xcalloc(1, sizeof(*o));

	*o = (struct own_state){ .pauses = pauses, .lock_fd = -1, .known = known_new() };
	new_key(o);
	return o;
}

void own_state_free(struct own_state **op)
{
	struct own_state *o = *op;

	if (o && o->lock_fd >= 0)
		(void)close(o->lock_fd);
	if (o) {
		free(o->dir);
		known_free(&o->known);
	}
	free(o);
	*op = NULL;
}
