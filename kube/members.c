/* members.c - see members.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/members.h"

#include <stdio.h>
#include <string.h>

#include "kube/leader.h"

void members_init(struct members *m, const char *name)
{
	*m = (struct members){ .name = name };
}

static bool lives(const struct member *one, uint64_t now)
{
	return one->known && now < lease_free_at(&one->seen, one->seen_at);
}

static struct member *find(struct members *m, const char *lease)
{
	char name[LEASE_TEXT];

	for (int i = 0; i < REPLICAS_MAX; i++) {
		(void)snprintf(name, sizeof(name), REPLICA_LEASE_FORMAT, m->name, i + 1);
		if (strcmp(name, lease) == 0)
			return &m->v[i];
	}
	return NULL;
}

void members_begin(struct members *m)
{
	for (int i = 0; i < REPLICAS_MAX; i++)
		m->v[i].listed = false;
}

void members_see(struct members *m, const struct lease_facts *facts, uint64_t now)
{
	struct member *one = find(m, facts->name);

	if (!one)
		return;
	if (!one->known || strcmp(one->seen.rv, facts->rv) != 0)
		one->seen_at = now;
	one->seen = *facts;
	one->known = one->listed = true;
}

void members_end(struct members *m, uint64_t sent_at)
{
	for (int i = 0; i < REPLICAS_MAX; i++)
		m->v[i].known = m->v[i].known && m->v[i].listed;
	m->complete = true;
	m->listed_at = sent_at;
}

int members_number(const struct members *m, const char *identity, uint64_t now)
{
	int free = -1;

	for (int i = 0; i < REPLICAS_MAX; i++) {
		if (lives(&m->v[i], now) && strcmp(m->v[i].seen.holder, identity) == 0)
			return i + 1;
		if (!lives(&m->v[i], now) && free < 0)
			free = i + 1;
	}
	return free;
}

uint64_t members_valid_until(const struct members *m)
{
	return m->complete ? m->listed_at + LEADER_MEMBER_MS : 0;
}

void members_format(const struct members *m, uint64_t now, char ret[static MEMBERS_TEXT])
{
	size_t n = 0;

	*ret = '\0';
	for (int i = 0; i < REPLICAS_MAX; i++)
		if (lives(&m->v[i], now))
			n += (size_t)snprintf(ret + n, MEMBERS_TEXT - n, "%s\n", m->v[i].seen.holder);
}
