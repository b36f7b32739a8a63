/* mirror.h - a dictionary kept by a reflector's words alone, beside the apisim it was told about. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_KUBE_MIRROR_H
#define TESTS_KUBE_MIRROR_H

#include <event2/event.h>
#include <jansson.h>

#include "http/client.h"
#include "kube/reflector.h"
#include "tests/apisim/inside.h"

struct mirror {
	struct inside *server;
	struct event_base *base;
	struct http_client *client;
	struct reflector *reflector;
	json_t *pods; /* "ns/name" -> { uid, rv, list } */
	json_int_t list;
	bool listing, synced;
	unsigned lists, failed, troubles, bad;
};

void mirror_start(struct mirror *m, const char *const *flags, const struct reflector_config *config);
void mirror_stop(struct mirror *m);
/* The reflector anew, from nothing. */
void mirror_again(struct mirror *m, const struct reflector_config *config);
/* Let the loop run for so long. */
void mirror_turn(struct mirror *m, long ms);
/* Until the dictionary is what the server lists now; fails when it never is. */
void mirror_settle(struct mirror *m, const char *what);
/* The same within so many turns of the loop, 2 ms each. */
void mirror_settle_within(struct mirror *m, const char *what, int turns);
/* A request to the server (body NULL: none), which comes after those that the reflector has sent; the status
 * (0: no answer). The JSON it answers in *ret when that is not NULL, for the caller to release. */
long mirror_request(struct mirror *m, const char *method, const char *path, const char *body, json_t **ret);
/* POST to an endpoint of /_sim/ with that body (or NULL). */
void mirror_sim(struct mirror *m, const char *path, const char *body);
/* Requests of that verb for pods that the server has had. */
json_int_t mirror_requests(struct mirror *m, const char *verb);
/* Create pod ns/name; annotation bytes of filler. */
void mirror_create(struct mirror *m, const char *ns, const char *name, size_t filler);

#endif
