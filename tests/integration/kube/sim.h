/* sim.h - an apisim of one's own, and requests to it that wait for the answer. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_KUBE_SIM_H
#define TESTS_KUBE_SIM_H

#include <event2/event.h>
#include <jansson.h>
#include <sys/types.h>

#include "http/client.h"

struct sim {
	pid_t pid;
	char url[64];
	struct event_base *base;
	struct http_client *client;
};

/* argv: further flags, ended by NULL. */
void sim_start(struct sim *s, const char *apisim, const char *const *flags);
/* Killed, and another one with those flags at the same address. */
void sim_restart(struct sim *s, const char *apisim, const char *const *flags);
void sim_stop(struct sim *s);
/* The status (0 = no answer); the body in *ret when not NULL, for the caller to release. */
long sim_call(struct sim *s, const char *method, const char *path, const char *type, const char *body,
	      json_t **ret);

#endif
