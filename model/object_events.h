/* object_events.h - what a Kubernetes Event says of a thing that was done or announced, from
 * model/object_events.def; chats and pages say it with the same phrases. Events are in English whatever the
 * language of the sinks: everybody who may read the namespace reads them, and programs match on them.
 * Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_OBJECT_EVENTS_H
#define MODEL_OBJECT_EVENTS_H

#include "model/actions.h"
#include "model/phrases.h"

enum object_event_id {
#define OBJECT_EVENT(ID, ...) OBJECT_EVENT_##ID,
#include "model/object_events.def"
#undef OBJECT_EVENT
	OBJECT_EVENT__MAX
};

struct object_event_desc {
	const char *done, *will; /* reasons; will "" = never announced */
	bool warning;            /* type Warning; else Normal */
	enum phrase done_phrase, will_phrase, would_phrase;
};

/* Its row. e is below OBJECT_EVENT__MAX. */
const struct object_event_desc *object_event_desc(enum object_event_id e);
/* That of an action, a below ACTION__MAX. */
const struct object_event_desc *object_event_of(enum action_kind a, enum scale_way way);
/* What was done, with its numbers: "scaled from 3 to 0". replicas: that it had, or has again; 0 or less: not
 * known. Owned by the caller. */
char *object_event_say_done(enum action_kind a, enum scale_way way, int64_t replicas, enum language l);
/* The same of a dry run: "would be scaled from 3 to 0 (observe mode)". Owned by the caller. */
char *object_event_say_would(enum action_kind a, enum scale_way way, int64_t replicas, enum language l);

#endif
