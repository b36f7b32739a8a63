/* balance.c - see balance.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/balance.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/siphash.h"
#include "base/xalloc.h"

/* Compared as texts: the greatest has the cluster. */
static void weigh(const char *cluster, const char *replica, char ret[static SIPHASH_TEXT_MAX])
{
	static const uint8_t key[SIPHASH_KEY_SIZE];
	_cleanup_free_ char *both = xasprintf("%s\n%s", cluster, replica);

	siphash_text(key, both, strlen(both), ret);
}

/* Of pointers to names. */
static int by_name(const void *a, const void *b)
{
	return strcmp(**(char *const *const *)a, **(char *const *const *)b);
}

/* Each replica gets at least `low` and at most `high`; `above`: so many may still go beyond the least. */
struct loads {
	size_t low, high, above;
	size_t *of;
};

static bool has_room(const struct loads *l, size_t replica)
{
	return l->of[replica] < l->low || (l->of[replica] < l->high && l->above > 0);
}

static size_t choose(const char *cluster, const struct str_list *replicas, const struct loads *l)
{
	char weight[SIPHASH_TEXT_MAX], greatest[SIPHASH_TEXT_MAX] = "";
	size_t best = 0;

	for (size_t i = 0; i < replicas->n; i++) {
		if (!has_room(l, i))
			continue;
		weigh(cluster, replicas->v[i], weight);
		if (strcmp(weight, greatest) > 0) {
			memcpy(greatest, weight, sizeof(weight));
			best = i;
		}
	}
	return best;
}

static void take(struct loads *l, size_t replica)
{
	l->above -= l->of[replica] >= l->low;
	l->of[replica]++;
}

void balance(const struct str_list *clusters, const struct str_list *replicas, size_t ret[])
{
	const size_t n = clusters->n, m = replicas->n, slack = n / m / 20;
	_cleanup_free_ char *const **order = xcalloc(n + 1, sizeof(*order));
	_cleanup_free_ size_t *of = xcalloc(m, sizeof(*of));
	struct loads l = { n / m - slack, (n + m - 1) / m + slack, 0, of };

	l.above = n - m * l.low;
	for (size_t i = 0; i < n; i++)
		order[i] = &clusters->v[i];
	qsort(order, n, sizeof(*order), by_name);
	for (size_t i = 0; i < n; i++) {
		const size_t best = choose(*order[i], replicas, &l);

		ret[order[i] - clusters->v] = best;
		take(&l, best);
	}
}
