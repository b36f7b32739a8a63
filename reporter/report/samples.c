/* samples.c - see samples.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "config/settings.h"

/* The clock of a kubelet may be behind. */
#define SKEW_MS INT64_C(300000)

/* What is known of one container. */
struct sampled {
	int64_t id, restarts, created, seen_at, known_since;
};

static struct msg as_msg(const struct msg_digest_row *row)
{
	return (struct msg){ .type = MSG_DIGEST_ROW, .u.digest_row = *row };
}

/* 1, 0 (never seen) or negative errno. */
static int find(struct db *db, const struct msg *m, const char *cluster_name, struct sampled *ret)
{
	sqlite3_stmt *st = db_stmt_msg(db, DB_SAMPLED_OF, m, db_s("cluster_name", cluster_name));
	const int r = db_step(st);

	*ret = (struct sampled){ 0 };
	if (r > 0)
		*ret = (struct sampled){ sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
					 sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3),
					 sqlite3_column_int64(st, 4) };
	(void)sqlite3_reset(st);
	return r;
}

/* When all containers of the cluster were last asked for; 0 = never. */
static int full_at(struct db *db, const char *cluster_name, int64_t *ret)
{
	const int r = db_number(db_stmt(db, DB_SAMPLING_FULL_AT, db_s("cluster_name", cluster_name)), ret);

	return r == -ENOENT ? (*ret = 0, 0) : r;
}

/* Restarts that came since it was last seen. What has a smaller count, or another age, began anew. */
static int64_t came(const struct sampled *s, const struct msg_digest_row *row)
{
	const int64_t now = (int64_t)row->restarts;

	return s->created == row->created && now >= s->restarts ? now - s->restarts : now;
}

int samples_put(struct db *db, const struct msg_digest_row *row, const char *cluster_name, int64_t now_ms)
{
	const struct msg m = as_msg(row);
	struct sampled s;
	int64_t full = 0;
	const int known = find(db, &m, cluster_name, &s);
	int r = known == 0 ? full_at(db, cluster_name, &full) : 0;

	if (known < 0 || r < 0)
		return known < 0 ? known : r;
	/* Of what was there before anybody looked only the count is known. */
	const int64_t since = known ? s.known_since : full > 0 ? row->created : now_ms;
	const int64_t delta = known ? came(&s, row) : full > 0 ? (int64_t)row->restarts : 0;

	if (known && delta == 0 && s.created == row->created && now_ms - s.seen_at < DAY_MS)
		return 0;
	r = db_do_msg(db, DB_SAMPLED_PUT, &m, db_s("cluster_name", cluster_name), db_i("at", now_ms),
		      db_i("known_since", since));
	if (r == 0 && delta > 0)
		r = db_do_msg(db, DB_SAMPLE_PUT, &m, db_s("cluster_name", cluster_name), db_i("at", now_ms),
			      db_i("delta", delta));
	return r;
}

int samples_answered(struct db *db, const char *cluster_name, bool all, int64_t now_ms)
{
	return db_do(db, DB_SAMPLING_PUT, db_s("cluster_name", cluster_name), db_i("at", now_ms),
		     db_i("full_at", all ? now_ms : 0));
}

int samples_since(struct db *db, const char *cluster_name, int64_t now_ms, int64_t *ret)
{
	int64_t full = 0, at = 0;
	int r = full_at(db, cluster_name, &full);

	*ret = 0;
	if (r < 0 || full == 0 || full > now_ms || now_ms - full >= DAY_MS)
		return r;
	r = db_number(db_stmt(db, DB_SAMPLING_AT, db_s("cluster_name", cluster_name)), &at);
	if (r == 0 && at > SKEW_MS && at <= now_ms)
		*ret = at - SKEW_MS;
	return r;
}

int samples_delta(struct db *db, const struct msg_digest_row *row, const char *cluster_name, int64_t from_ms,
		  int64_t *ret)
{
	const struct msg m = as_msg(row);
	struct sampled s;
	const int known = find(db, &m, cluster_name, &s);
	int64_t full = 0, counted = 0;
	int r = known == 0 ? full_at(db, cluster_name, &full) : 0;
	const bool began = row->created > 0 && row->created >= from_ms;

	/* What is first seen after a full answer has restarted since. */
	*ret = began || full > 0 ? (int64_t)row->restarts : DELTA_UNKNOWN;
	if (known <= 0 || s.known_since > from_ms)
		return known < 0 ? known : r;
	r = db_number(db_stmt(db, DB_SAMPLES_SUM, db_i("series", s.id), db_i("from", from_ms)), &counted);
	*ret = r < 0 ? *ret : counted + came(&s, row);
	return r;
}

/* -- the hourly question -- */

/* Rows are written in batches, as they come: a commit waits for the disk. */
#define BATCH 64u

struct sampled_cluster {
	bool all;         /* asked for all */
	uint64_t number;  /* of the open question; 0 = none */
	uint64_t next_ms; /* boot clock: when to ask, or ask again */
	uint64_t rows;
};

struct sampler {
	struct db *db;
	void (*send)(void *ctx, const struct msg *question);
	void *ctx;
	bool enable;
	struct str_list clusters;
	struct sampled_cluster v[CLUSTERS_MAX];
	uint64_t number;
	struct msg_digest_row *batch; /* of one cluster; NULL = none */
	size_t n_batch;
};

struct sampler *sampler_new(struct db *db, void (*send)(void *ctx, const struct msg *question), void *ctx)
{
	struct sampler *s = xcalloc(1, sizeof(*s));

	s->db = db;
	s->send = send;
	s->ctx = ctx;
	s->number = SAMPLER_NUMBERS | (uint64_t)clock_wall_ms();
	return s;
}

static void drop_batch(struct sampler *s)
{
	free(s->batch);
	s->batch = NULL;
	s->n_batch = 0;
}

void sampler_free(struct sampler **s)
{
	if (!*s)
		return;
	drop_batch(*s);
	str_list_done(&(*s)->clusters);
	free(*s);
	*s = NULL;
}

void sampler_set(struct sampler *s, bool enable, const struct str_list *clusters)
{
	s->enable = enable;
	if (str_list_equal(clusters, &s->clusters))
		return;
	drop_batch(s);
	str_list_done(&s->clusters);
	str_list_add_all(&s->clusters, clusters);
	memset(s->v, 0, sizeof(s->v));
}

/* -- answers -- */

/* The cluster whose open question that is, NULL = none. */
static struct sampled_cluster *asked(struct sampler *s, uint64_t cluster, uint64_t number)
{
	return cluster < s->clusters.n && number && s->v[cluster].number == number ? &s->v[cluster] : NULL;
}

static int write_batch(struct sampler *s)
{
	if (s->n_batch == 0)
		return 0;
	int r = db_begin(s->db);

	for (size_t i = 0; r == 0 && i < s->n_batch; i++)
		r = samples_put(s->db, &s->batch[i], s->clusters.v[s->batch[i].cluster], clock_wall_ms());
	drop_batch(s);
	return db_end(s->db, r);
}

/* It is asked again, later. */
static int give_up(struct sampled_cluster *c, int err)
{
	c->number = 0;
	c->next_ms = clock_boot_ms() + SAMPLER_AGAIN_MS;
	return err;
}

int sampler_on_row(struct sampler *s, const struct msg_digest_row *row)
{
	struct sampled_cluster *c = asked(s, row->cluster, row->digest);

	if (!c || c->rows++ >= SAMPLER_ROWS_MAX)
		return 0;
	if (!s->batch)
		s->batch = xcalloc(BATCH, sizeof(*s->batch));
	s->batch[s->n_batch++] = *row;
	if (s->n_batch < BATCH)
		return 0;
	const int r = write_batch(s);

	return r < 0 ? give_up(c, r) : 0;
}

int sampler_on_end(struct sampler *s, const struct msg_digest_end *end)
{
	struct sampled_cluster *c = asked(s, end->cluster, end->digest);

	if (!c)
		return 0;
	int r = write_batch(s);

	if (r < 0 || !end->synced)
		return give_up(c, r);
	r = samples_answered(s->db, s->clusters.v[end->cluster], c->all, clock_wall_ms());
	if (r < 0)
		return give_up(c, r);
	c->number = 0;
	c->next_ms = clock_boot_ms() + SAMPLER_MS;
	return 0;
}

/* -- questions -- */

static void ask_cluster(struct sampler *s, uint64_t cluster)
{
	struct sampled_cluster *c = &s->v[cluster];
	struct msg m = { .type = MSG_DIGEST_GET,
			 .u.digest_get = { .cluster = cluster, .digest = ++s->number, .all = true } };

	(void)samples_since(s->db, s->clusters.v[cluster], clock_wall_ms(), &m.u.digest_get.since);
	*c = (struct sampled_cluster){ .all = m.u.digest_get.since == 0,
				       .number = s->number,
				       .next_ms = clock_boot_ms() + SAMPLER_AGAIN_MS };
	s->send(s->ctx, &m);
}

uint64_t sampler_tick(struct sampler *s, const bool *synced)
{
	const uint64_t now = clock_boot_ms();
	uint64_t ret = SAMPLER_MS;

	for (size_t i = 0; s->enable && i < s->clusters.n; i++) {
		if (!synced[i])
			continue;
		if (now >= s->v[i].next_ms)
			ask_cluster(s, i);
		if (s->v[i].next_ms - now < ret)
			ret = s->v[i].next_ms - now;
	}
	return ret;
}
