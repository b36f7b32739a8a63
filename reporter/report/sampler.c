/* sampler.c - see sampler.h. Rows are written in batches, as they come: a commit waits for the disk. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "config/settings.h"
#include "reporter/report/samples.h"

#define BATCH 64u

struct sampled_cluster {
	bool synced;
	bool all;         /* asked for all */
	uint64_t number;  /* of the open question; 0 = none */
	uint64_t next_ms; /* boot clock: when to ask, or ask again */
	uint64_t rows;
};

struct sampler {
	struct db *db;
	sampler_ask_fn *ask;
	void *ctx;
	bool enable;
	struct str_list clusters;
	struct sampled_cluster v[CLUSTERS_MAX];
	uint64_t number;
	struct msg_digest_row *batch; /* of one cluster; NULL = none */
	size_t n_batch;
};

struct sampler *sampler_new(struct db *db, sampler_ask_fn *ask, void *ctx)
{
	struct sampler *s = xcalloc(1, sizeof(*s));

	s->db = db;
	s->ask = ask;
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
	bool same = clusters->n == s->clusters.n;

	s->enable = enable;
	for (size_t i = 0; same && i < clusters->n; i++)
		same = strcmp(clusters->v[i], s->clusters.v[i]) == 0;
	if (same)
		return;
	drop_batch(s);
	str_list_done(&s->clusters);
	for (size_t i = 0; i < clusters->n; i++) {
		str_list_add(&s->clusters, clusters->v[i], strlen(clusters->v[i]));
		s->v[i] = (struct sampled_cluster){ .synced = s->v[i].synced };
	}
}

void sampler_synced(struct sampler *s, uint64_t cluster, bool synced)
{
	if (cluster < CLUSTERS_MAX)
		s->v[cluster].synced = synced;
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
	struct msg_digest_get q = { .cluster = cluster, .digest = ++s->number, .all = true };

	(void)samples_since(s->db, s->clusters.v[cluster], clock_wall_ms(), &q.since);
	*c = (struct sampled_cluster){ .synced = true,
				       .all = q.since == 0,
				       .number = q.digest,
				       .next_ms = clock_boot_ms() + SAMPLER_AGAIN_MS };
	s->ask(s->ctx, &q);
}

uint64_t sampler_tick(struct sampler *s)
{
	const uint64_t now = clock_boot_ms();
	uint64_t ret = SAMPLER_MS;

	for (size_t i = 0; s->enable && i < s->clusters.n; i++) {
		if (s->v[i].synced && now >= s->v[i].next_ms)
			ask_cluster(s, i);
		if (s->v[i].synced && s->v[i].next_ms - now < ret)
			ret = s->v[i].next_ms - now;
	}
	return ret;
}
