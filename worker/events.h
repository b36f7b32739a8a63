/* events.h - Kubernetes Events on the objects that were acted on, or that an operator should look at. Best
 * effort: nothing waits for them, nothing fails with them. As client-go's recorder does
 * (tools/record/events_cache.go): the same thing said again is not another Event, its count and lastTimestamp
 * are raised, and the same is reported on one object at most every five minutes. There the count is kept in
 * memory; here the Event's name is made of the object's uid and the reason, so that workers and restarts find
 * it: POST, and when it exists GET and PATCH.  Layer: worker.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_EVENTS_H
#define WORKER_EVENTS_H

#include <stdbool.h>

#include "http/client.h"

#define EVENTS_AGAIN_MS   300000 /* refill of client-go's spam filter: one token in five minutes */
#define EVENTS_TIMEOUT_MS 4000
/* Over all objects: four workers together send what client-go's default client sends, 5 a second, and some
 * more at once. What happens to thousands of pods stands in the history; their deletion has not to wait for
 * a server that is busy with Events. */
#define EVENTS_PERIOD_MS 800
#define EVENTS_BURST     10

struct object_event {
	char api_version[320], kind[64], ns[64], name[254], uid[64]; /* the object it is about */
	char reason[49];    /* of model/object_events.def, or a code of model/reasons.def */
	char message[1024]; /* the server takes 1024 bytes */
	bool warning;       /* type Warning; else Normal */
};

struct events;
/* client is borrowed. denied(): the server does not allow it; reported once, then nothing is sent until the
 * end of the process. */
struct events *events_new(struct http_client *client, void (*denied)(void *ctx, const struct facts *why),
			  void *ctx);
/* Cancels what is under way. Accepts NULL. */
void events_free(struct events **e);
/* Copied; sent when those before it are. Left out when it was reported a short time ago, when there were too
 * many, or when the server does not allow it. */
void events_add(struct events *e, const struct object_event *event);

/* Name of the Event: that of the object and a hash of its uid and the reason. */
#define EVENT_NAME_MAX 254
void events_name(const struct object_event *event, char ret[static EVENT_NAME_MAX]);

#endif
