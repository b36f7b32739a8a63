/* lease_server.c - see lease_server.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kube/lease_server.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/annotations.h"

static int64_t number_after(const char *body, const char *key)
{
	const char *at = strstr(body, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static void text_after(const char *body, const char *key, char *ret, size_t size)
{
	const char *at = strstr(body, key);

	ck_assert_ptr_nonnull(at);
	at += strlen(key);
	(void)snprintf(ret, size, "%.*s", (int)strcspn(at, "\""), at);
}

long lease_write(struct lease_server *s, const char *body, bool create)
{
	char rv[64] = "";

	if (create == s->exists)
		return create ? 409 : 404;
	if (!create)
		text_after(body, "\"resourceVersion\":\"", rv, sizeof(rv));
	if (!create && strcmp(rv, s->lease.rv) != 0)
		return 409;
	s->exists = true;
	(void)snprintf(s->lease.rv, sizeof(s->lease.rv), "%u", ++s->version);
	if (strstr(body, "\"" ANNOTATION_CLAIM "\":\""))
		text_after(body, "\"" ANNOTATION_CLAIM "\":\"", s->lease.claim, sizeof(s->lease.claim));
	else if (strstr(body, ANNOTATION_CLAIM))
		s->lease.claim[0] = '\0';
	if (strstr(body, "\"" ANNOTATION_MEMORY "\":\""))
		text_after(body, "\"" ANNOTATION_MEMORY "\":\"", s->memory, sizeof(s->memory));
	if (!strstr(body, "\"spec\""))
		return 200;
	text_after(body, "\"holderIdentity\":\"", s->lease.holder, sizeof(s->lease.holder));
	s->lease.duration_s = number_after(body, "\"leaseDurationSeconds\":");
	s->lease.transitions = number_after(body, "\"leaseTransitions\":");
	s->lease.renewed++;
	return 200;
}

enum leader_ask one(struct leader *l, struct lease_server *s, uint64_t now)
{
	static const char *const names[] = { "-", "get ", "create ", "update ", "claim " };
	uint64_t at = 0;
	const enum leader_ask ask = leader_step(l, now, &at);
	char *body;
	long status = 200;

	if (ask == LEADER_WAIT)
		return ask;
	body = leader_body(l, "ns", "name", now, WALL);
	(void)strncat(s->ops, names[ask], sizeof(s->ops) - strlen(s->ops) - 1);
	if (ask == LEADER_GET)
		status = s->exists ? 200 : 404;
	else
		status = lease_write(s, body, ask == LEADER_CREATE);
	free(body);
	leader_answer(l, status, status == 200 ? &s->lease : NULL, now, 0);
	return ask;
}

void run(struct leader *l, struct lease_server *s, uint64_t now)
{
	for (int i = 0; i < 8 && one(l, s, now) != LEADER_WAIT; i++)
		;
}
