/* status.c - see status.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/status.h"

#include <stdio.h>
#include <string.h>

static void set(char buf[static STATUS_MAX], const char *prefix, struct str s)
{
	(void)snprintf(buf, STATUS_MAX, "%s%.*s", prefix, s.n > 64 ? 64 : (int)s.n, s.n ? s.p : "");
}

/* A sidecar that has started or an init container that ended well holds nobody up. */
static bool init_done(const struct container_facts *c)
{
	return (c->state == CONTAINER_TERMINATED && c->exit_code == 0) ||
	       (c->started && c->state == CONTAINER_RUNNING);
}

/* The first init container that is not done says what the pod waits for. False: all are done. */
static bool init_status(const struct pod_facts *p, char buf[static STATUS_MAX])
{
	uint32_t total = 0, done = 0;
	const struct container_facts *first = NULL;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind != CONTAINER_INIT)
			continue;
		total++;
		if (!first && init_done(c))
			done++;
		else if (!first)
			first = c;
	}
	if (!first)
		return false;
	if (first->state == CONTAINER_TERMINATED && str_empty(first->reason))
		(void)snprintf(buf, STATUS_MAX, "Init:ExitCode:%d", first->exit_code);
	else if (first->state == CONTAINER_TERMINATED ||
		 (first->state == CONTAINER_WAITING && !str_empty(first->reason) &&
		  !str_is(first->reason, "PodInitializing")))
		set(buf, "Init:", first->reason);
	else
		(void)snprintf(buf, STATUS_MAX, "Init:%u/%u", done, total);
	return true;
}

/* Last to first, so that the first container wins. */
static void main_status(const struct pod_facts *p, char buf[static STATUS_MAX])
{
	bool running = false;

	for (uint32_t i = p->n_containers < POD_CONTAINERS_MAX ? p->n_containers : POD_CONTAINERS_MAX;
	     i-- > 0;) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind != CONTAINER_MAIN)
			continue;
		if (c->state != CONTAINER_RUNNING && !str_empty(c->reason))
			set(buf, "", c->reason);
		else if (c->state == CONTAINER_TERMINATED)
			(void)snprintf(buf, STATUS_MAX, "ExitCode:%d", c->exit_code);
		else if (c->state == CONTAINER_RUNNING && c->ready)
			running = true;
	}
	if (strcmp(buf, "Completed") == 0 && running)
		(void)snprintf(buf, STATUS_MAX, "%s", p->ready ? "Running" : "NotReady");
}

const char *status_of(const struct pod_facts *p, char buf[static STATUS_MAX])
{
	set(buf, "", str_empty(p->reason) ? p->phase : p->reason);
	if (!init_status(p, buf) || p->initialized)
		main_status(p, buf);
	if (p->deletion > 0 && str_is(p->reason, "NodeLost"))
		(void)snprintf(buf, STATUS_MAX, "Unknown");
	else if (p->deletion > 0 && !pod_is_finished(p))
		(void)snprintf(buf, STATUS_MAX, "Terminating");
	return buf;
}
