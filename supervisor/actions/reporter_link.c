/* reporter_link.c - see reporter_link.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/reporter_link.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"

#define SAVED_AGAIN_MS 5000u /* less than SAVED_GET_MS of an honest watcher */

struct reporter_link {
	struct lifecycle *root;
	const struct dispatch *dispatch;
	struct reporter_queue *queue; /* what the reporter could not take */
	struct saved_get {
		unsigned asked;    /* SAVED_GETs that the present reporter has to answer */
		uint64_t asked_ms; /* boot time of the last of them */
		bool stale;        /* the watcher that has asked is dead */
		bool pending;      /* one waits for OPEN_END, or for the end of a stale one */
	} saved[CLUSTERS_MAX];
};

/* A history that is not open must not be taken for one that holds nothing: it is not asked. Neither is it
 * asked again while it answers: an answer is all rows of a cluster. One that could not be read has no end. */
static bool hold_saved_get(struct reporter_link *l, const struct msg *m)
{
	if (m->type != MSG_SAVED_GET)
		return false;
	const uint64_t cluster = m->u.saved_get.cluster;
	const bool is_asked =
		l->saved[cluster].asked && clock_boot_ms() < l->saved[cluster].asked_ms + SAVED_AGAIN_MS;

	if (!dispatch_history_is_open(l->dispatch) || (is_asked && l->saved[cluster].stale))
		l->saved[cluster].pending = true;
	return l->saved[cluster].pending || is_asked;
}

static void note_asked(struct reporter_link *l, uint64_t cluster)
{
	l->saved[cluster].asked++;
	l->saved[cluster].asked_ms = clock_boot_ms();
	l->saved[cluster].stale = false;
}

static bool send_now(struct reporter_link *l, const struct msg *m)
{
	const bool sent = children_send(lifecycle_children(l->root), ROLE_REPORTER, CLUSTERS_MAX, m);

	if (sent && m->type == MSG_SAVED_GET)
		note_asked(l, m->u.saved_get.cluster);
	return sent;
}

void reporter_link_send(struct reporter_link *l, const struct msg *m)
{
	if (hold_saved_get(l, m))
		return;
	if (reporter_queue_count(l->queue) > 0 || !send_now(l, m))
		reporter_queue_put(l->queue, m);
}

static void log_dropped(struct reporter_link *l)
{
	for (uint64_t c = 0; c <= CLUSTERS_MAX; c++) {
		const uint64_t dropped = reporter_queue_dropped(l->queue, c);

		if (dropped)
			(void)log_warn(0, "messages for the reporter were dropped while it took none",
				       kv_s("cluster",
					    c < CLUSTERS_MAX ? lifecycle_generation(l->root)->names[c] : ""),
				       kv_u("dropped", dropped));
	}
	reporter_queue_reset_dropped(l->queue);
}

void reporter_link_send_waiting(struct reporter_link *l)
{
	struct msg m;

	while (reporter_queue_first(l->queue, &m)) {
		if (!hold_saved_get(l, &m) && !send_now(l, &m))
			return;
		reporter_queue_remove_first(l->queue);
	}
	log_dropped(l);
}

size_t reporter_link_waiting(const struct reporter_link *l)
{
	return reporter_queue_count(l->queue);
}

uint64_t reporter_link_dropped(const struct reporter_link *l, uint64_t cluster)
{
	return reporter_queue_dropped(l->queue, cluster);
}

/* -- what is saved for watchers -- */

void reporter_link_on_reporter_dead(struct reporter_link *l)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++) {
		/* Its question has died with it: the next one is asked at once. */
		l->saved[c].pending |= l->saved[c].asked > 0 && !l->saved[c].stale;
		l->saved[c].asked = 0;
		l->saved[c].stale = false;
	}
}

void reporter_link_on_watcher_dead(struct reporter_link *l, uint64_t cluster)
{
	l->saved[cluster].stale = l->saved[cluster].asked > 0;
	l->saved[cluster].pending = false;
}

bool reporter_link_was_asked(const struct reporter_link *l, uint64_t cluster)
{
	return l->saved[cluster].asked > 0;
}

static void ask_for_saved(struct reporter_link *l, uint64_t cluster)
{
	const struct msg m = { .type = MSG_SAVED_GET, .u.saved_get.cluster = cluster };

	if (!l->saved[cluster].pending)
		return;
	l->saved[cluster].pending = false;
	reporter_link_send(l, &m);
}

bool reporter_link_take_saved(struct reporter_link *l, uint64_t cluster, bool ends)
{
	const bool stale = l->saved[cluster].stale;

	if (ends) {
		l->saved[cluster].asked--;
		l->saved[cluster].stale = false;
		ask_for_saved(l, cluster);
	}
	return !stale;
}

void reporter_link_on_history_open(struct reporter_link *l)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		ask_for_saved(l, c);
}

struct reporter_link *reporter_link_new(struct lifecycle *root, const struct dispatch *d)
{
	struct reporter_link *l = xcalloc(1, sizeof(*l));

	l->root = root;
	l->dispatch = d;
	l->queue = reporter_queue_new();
	return l;
}

void reporter_link_free(struct reporter_link **l)
{
	reporter_queue_free(&(*l)->queue);
	free(*l);
	*l = NULL;
}
