/* object_events.c - see object_events.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/object_events.h"

#include "base/xalloc.h"

enum { NORMAL = false, WARNING = true };

static const struct object_event_desc events[OBJECT_EVENT__MAX] = {
#define OBJECT_EVENT(ID, done, will, type, done_phrase, will_phrase, would_phrase)                           \
	[OBJECT_EVENT_##ID] = {                                                                              \
		done, will, type, PHRASE_##done_phrase, PHRASE_##will_phrase, PHRASE_##would_phrase          \
	},
#include "model/object_events.def"
#undef OBJECT_EVENT
};

static const enum object_event_id of_actions[ACTION__MAX] = {
#define ACTION(ID, id, ...) [id] = OBJECT_EVENT_##ID,
#include "model/actions.def"
#undef ACTION
};

const struct object_event_desc *object_event_desc(enum object_event_id e)
{
	return &events[e];
}

const struct object_event_desc *object_event_of(enum action_kind a, enum scale_way way)
{
	static const enum object_event_id of_ways[] = {
		[SCALE_SUSPENDS] = OBJECT_EVENT_SUSPEND, [SCALE_DELETES] = OBJECT_EVENT_ORDINAL
	};

	return &events[way == SCALE_TO_ZERO ? of_actions[a] : of_ways[way]];
}

char *object_event_say_done(enum action_kind a, enum scale_way way, int64_t replicas, enum language l)
{
	if (a == ACTION_SCALE_DOWN && way == SCALE_TO_ZERO && replicas > 0)
		return xasprintf(phrase(NEWS_SCALED, l), replicas);
	if (a == ACTION_RESTORE && replicas > 0)
		return xasprintf(phrase(NEWS_RESTORED, l), replicas);
	return xstrdup(phrase_text(object_event_of(a, way)->done_phrase, l));
}

char *object_event_say_would(enum action_kind a, enum scale_way way, int64_t replicas, enum language l)
{
	if (a == ACTION_SCALE_DOWN && way == SCALE_TO_ZERO && replicas > 0)
		return xasprintf(phrase(NEWS_WOULD_SCALE, l), replicas);
	if (a == ACTION_RESTORE && replicas > 0)
		return xasprintf(phrase(NEWS_WOULD_RESTORE, l), replicas);
	return xstrdup(phrase_text(object_event_of(a, way)->would_phrase, l));
}
