/* reporter_link.c - see reporter_link.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/reporter_link.h"

#include "base/clock.h"
#include "base/log.h"
#include "supervisor/actions/dispatch.h"

#define SAVED_AGAIN_MS 5000u /* less than SAVED_GET_MS of an honest watcher */

/* A history that is not open must not be taken for one that holds nothing: it is not asked. Neither is it
 * asked again while it answers: an answer is all rows of a cluster. One that could not be read has no end. */
static bool hold_saved_get(struct supervisor *s, const struct msg *m)
{
	if (m->type != MSG_SAVED_GET)
		return false;
	const uint64_t cluster = m->u.saved_get.cluster;
	const bool is_asked =
		s->saved[cluster].asked && clock_boot_ms() < s->saved[cluster].asked_ms + SAVED_AGAIN_MS;

	if (!s->history_open || (is_asked && s->saved[cluster].stale))
		s->saved[cluster].pending = true;
	return s->saved[cluster].pending || is_asked;
}

static void note_asked(struct supervisor *s, uint64_t cluster)
{
	s->saved[cluster].asked++;
	s->saved[cluster].asked_ms = clock_boot_ms();
	s->saved[cluster].stale = false;
}

static bool send_now(struct supervisor *s, const struct msg *m)
{
	const bool sent = children_send(s->children, ROLE_REPORTER, CLUSTERS_MAX, m);

	if (sent && m->type == MSG_SAVED_GET)
		note_asked(s, m->u.saved_get.cluster);
	return sent;
}

void reporter_link_send(struct supervisor *s, const struct msg *m)
{
	if (hold_saved_get(s, m))
		return;
	if (reporter_queue_count(s->queue) > 0 || !send_now(s, m))
		reporter_queue_put(s->queue, m);
}

static void log_dropped(struct supervisor *s)
{
	for (uint64_t c = 0; c <= CLUSTERS_MAX; c++) {
		const uint64_t dropped = reporter_queue_dropped(s->queue, c);

		if (dropped)
			(void)log_warn(0, "messages for the reporter were dropped while it took none",
				       kv_s("cluster", c < CLUSTERS_MAX ? settings(s)->names[c] : ""),
				       kv_u("dropped", dropped));
	}
	reporter_queue_reset_dropped(s->queue);
}

void reporter_link_send_waiting(struct supervisor *s)
{
	struct msg m;

	while (reporter_queue_first(s->queue, &m)) {
		if (!hold_saved_get(s, &m) && !send_now(s, &m))
			return;
		reporter_queue_remove_first(s->queue);
	}
	log_dropped(s);
}

/* -- what is saved for watchers -- */

void reporter_link_on_reporter_dead(struct supervisor *s)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++) {
		/* Its question has died with it: the next one is asked at once. */
		s->saved[c].pending |= s->saved[c].asked > 0 && !s->saved[c].stale;
		s->saved[c].asked = 0;
		s->saved[c].stale = false;
	}
}

void reporter_link_on_watcher_dead(struct supervisor *s, uint64_t cluster)
{
	s->saved[cluster].stale = s->saved[cluster].asked > 0;
	s->saved[cluster].pending = false;
}

static void ask_for_saved(struct supervisor *s, uint64_t cluster)
{
	const struct msg m = { .type = MSG_SAVED_GET, .u.saved_get.cluster = cluster };

	if (!s->saved[cluster].pending)
		return;
	s->saved[cluster].pending = false;
	reporter_link_send(s, &m);
}

bool reporter_link_take_saved(struct supervisor *s, uint64_t cluster, bool ends)
{
	const bool stale = s->saved[cluster].stale;

	if (ends) {
		s->saved[cluster].asked--;
		s->saved[cluster].stale = false;
		ask_for_saved(s, cluster);
	}
	return !stale;
}

void reporter_link_on_history_open(struct supervisor *s)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		ask_for_saved(s, c);
}
