/* leader.c - see leader.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/leader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "model/annotations.h"

static const struct leader_pace {
	uint32_t lease_ms, renew_ms, retry_ms;
	double jitter;
} paces[LEADER_KIND__MAX] = {
	[LEADER_ELECTION] = { LEADER_LEASE_MS, LEADER_RENEW_MS, LEADER_RETRY_MS, LEADER_JITTER },
	[LEADER_PRESENCE] = { LEADER_PRESENCE_MS, LEADER_PRESENCE_RENEW_MS, LEADER_PRESENCE_RETRY_MS, 0 },
	[LEADER_MEMBER] = { LEADER_MEMBER_MS, LEADER_MEMBER_RENEW_MS, LEADER_MEMBER_RETRY_MS, 0 },
};

/* Boot ms at which a leader that has not renewed since stops. */
static uint64_t deadline(const struct leader *l)
{
	return l->renewed_at + paces[l->kind].renew_ms;
}

static bool is_mine(const struct leader *l)
{
	return l->known && strcmp(l->seen.holder, l->identity) == 0;
}

/* Boot ms from which on the record binds nobody. */
static uint64_t free_at(const struct leader *l)
{
	return l->known ? lease_free_at(&l->seen, l->seen_at) : l->seen_at;
}

/* Somebody's claim still stands, by our own clock. */
static bool is_held(const struct leader *l, uint64_t now)
{
	return l->known && now < free_at(l);
}

static bool is_preferred(const struct leader *l)
{
	return strcmp(l->preferred, l->identity) == 0;
}

/* The preferred replica, another one, has shown that it reaches this cluster. */
static bool is_claimed(const struct leader *l)
{
	return l->known && l->preferred[0] && !is_preferred(l) && strcmp(l->seen.claim, l->preferred) == 0;
}

/* The Lease is left to the preferred replica, for a while; what a former life of ours holds is not. */
static bool is_left_to_another(const struct leader *l, uint64_t now)
{
	if (!l->preferred[0] || is_preferred(l) || (is_mine(l) && !is_claimed(l)))
		return false;
	return now < free_at(l) + LEADER_HOLD_MS;
}

void leader_init(struct leader *l, const char *identity, enum leader_kind kind)
{
	*l = (struct leader){ .kind = kind, .next = LEADER_WAIT };
	(void)snprintf(l->identity, sizeof(l->identity), "%s", identity);
}

bool leader_leads(const struct leader *l, uint64_t now)
{
	return l->leading && now < deadline(l);
}

uint64_t leader_valid_until(const struct leader *l)
{
	return l->leading ? deadline(l) : 0;
}

const char *leader_other(const struct leader *l, uint64_t now)
{
	return l->other_lives && is_held(l, now) ? l->seen.holder : "";
}

void leader_done(struct leader *l)
{
	free(l->memory);
	l->memory = NULL;
}

void leader_remember(struct leader *l, char *memory, uint64_t now)
{
	free(l->memory);
	l->memory = memory;
	l->carries = false;
	if (l->leading && !l->yielding && l->next == LEADER_WAIT && l->try_at > now + LEADER_MEMORY_MS)
		l->try_at = now + LEADER_MEMORY_MS;
}

void leader_prefer(struct leader *l, const char *identity)
{
	(void)snprintf(l->preferred, sizeof(l->preferred), "%s", identity);
}

void leader_let_go(struct leader *l, uint64_t now)
{
	if (l->yielding)
		(void)leader_release(l, now);
}

enum leader_ask leader_step(struct leader *l, uint64_t now, uint64_t *ret_at)
{
	uint64_t at = l->try_at;

	if (l->leading && now >= deadline(l))
		l->leading = false;
	l->yielding = l->leading && (l->yielding || (l->next == LEADER_WAIT && is_claimed(l)));
	if (l->leading && (l->yielding || at > deadline(l)))
		at = deadline(l);
	if (l->next != LEADER_WAIT)
		return l->next;
	if (now < at && (l->yielding || now < l->try_at)) {
		*ret_at = at;
		return LEADER_WAIT;
	}
	/* A leader writes at once what it knows; everybody else looks first. */
	l->next = (l->leading || l->releasing) && is_mine(l) && is_held(l, now) ? LEADER_PATCH : LEADER_GET;
	return l->next;
}

static char *spec_json(const struct leader *l, int64_t wall_ms)
{
	const bool taken = is_mine(l);
	char acquired[RFC3339_MAX], renewed[RFC3339_MAX];

	rfc3339_format(taken && l->seen.acquired ? l->seen.acquired : wall_ms, true, acquired);
	rfc3339_format(wall_ms, true, renewed);
	/* MicroTime has six digits: "….123Z" becomes "….123000Z" (apimachinery meta/v1 micro_time.go). */
	acquired[strlen(acquired) - 1] = '\0';
	renewed[strlen(renewed) - 1] = '\0';
	return xasprintf("{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%u,\"acquireTime\":\"%s000Z\","
			 "\"renewTime\":\"%s000Z\",\"leaseTransitions\":%lld}",
			 l->releasing ? "" : l->identity, l->releasing ? 1u : paces[l->kind].lease_ms / 1000,
			 l->releasing ? renewed : acquired, renewed,
			 (long long)(l->known ? l->seen.transitions + !taken : 0));
}

/* Who takes a Lease that was claimed has done what was asked, or knows better. */
static bool ends_claim(const struct leader *l)
{
	return l->seen.claim[0] && !l->leading && !l->releasing;
}

/* Who takes the Lease over has to read first what the one before has left. */
static bool may_carry(const struct leader *l)
{
	return l->memory && (l->leading || l->releasing);
}

/* The annotations that a write changes, and a comma before; owned by the caller. */
static char *annotations_json(const struct leader *l)
{
	const bool claim = ends_claim(l), memory = may_carry(l);

	if (!claim && !memory)
		return xstrdup("");
	return xasprintf(",\"annotations\":{%s%s%s%s%s}", claim ? "\"" ANNOTATION_CLAIM "\":null" : "",
			 claim && memory ? "," : "", memory ? "\"" ANNOTATION_MEMORY "\":\"" : "",
			 memory ? l->memory : "", memory ? "\"" : "");
}

char *leader_body(struct leader *l, const char *ns, const char *name, uint64_t now, int64_t wall_ms)
{
	char *spec, *annotations, *body = NULL;

	l->sent_at = now;
	if (l->next == LEADER_WAIT || l->next == LEADER_GET)
		return NULL;
	if (l->next == LEADER_CLAIM)
		return xasprintf(
			"{\"metadata\":{\"resourceVersion\":\"%s\",\"annotations\":{\"" ANNOTATION_CLAIM
			"\":\"%s\"}}}",
			l->seen.rv, l->identity);
	spec = spec_json(l, wall_ms);
	annotations = annotations_json(l);
	l->carries = may_carry(l);
	if (l->next == LEADER_CREATE)
		body = xasprintf(
			"{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":"
			"{\"namespace\":\"%s\",\"name\":\"%s\"%s},\"spec\":%s}",
			ns, name,
			l->kind == LEADER_MEMBER ? ",\"labels\":{\"" LEADER_LABEL "\":\"true\"}" : "", spec);
	else
		body = xasprintf("{\"metadata\":{\"resourceVersion\":\"%s\"%s},\"spec\":%s}", l->seen.rv,
				 annotations, spec);
	free(annotations);
	free(spec);
	return body;
}

static void retry(struct leader *l, uint64_t now, double random)
{
	const struct leader_pace *pace = &paces[l->kind];
	const double spread = l->leading || is_preferred(l) ? 0 : random * pace->jitter;

	l->next = LEADER_WAIT;
	l->try_at = now + (uint64_t)(pace->retry_ms * (1 + spread));
	/* Who is preferred is there when it runs out. */
	if (!l->leading && is_preferred(l) && is_held(l, now) && l->try_at > free_at(l))
		l->try_at = free_at(l);
}

bool leader_is_denied(enum leader_ask asked, long status)
{
	return status == 403 || (asked == LEADER_CREATE && status == 404);
}

static bool same_record(const struct lease_facts *a, const struct lease_facts *b)
{
	return strcmp(a->holder, b->holder) == 0 && a->duration_s == b->duration_s &&
	       a->acquired == b->acquired && a->renewed == b->renewed && a->transitions == b->transitions;
}

static void see(struct leader *l, const struct lease_facts *facts, uint64_t at)
{
	const bool changed = !l->known || !same_record(&l->seen, facts);

	/* The first sight may be of a record that nobody keeps any more. */
	if (changed)
		l->other_lives = l->known && facts->holder[0] && strcmp(facts->holder, l->identity) != 0;
	if (changed)
		l->seen_at = at;
	l->seen = *facts;
	l->known = true;
}

/* A Lease that somebody has deleted binds as long as it would have: its holder knows nothing of it yet. */
static void on_read(struct leader *l, long status, const struct lease_facts *facts, uint64_t now,
		    double random)
{
	if (status == 404 && l->kind == LEADER_ELECTION && is_held(l, now) && !is_mine(l)) {
		retry(l, now, random);
		return;
	}
	if (status == 404 && !l->releasing) {
		l->known = false;
		l->other_lives = false;
		l->next = LEADER_CREATE;
		return;
	}
	if (!facts) {
		retry(l, now, random);
		return;
	}
	see(l, facts, now);
	if (l->releasing ? !is_mine(l) : is_held(l, now) && !is_mine(l)) {
		l->leading = false;
		l->releasing = false;
		if (is_preferred(l) && strcmp(l->seen.claim, l->identity) != 0)
			l->next = LEADER_CLAIM;
		else
			retry(l, now, random);
		return;
	}
	if (!l->leading && !l->releasing && is_left_to_another(l, now))
		retry(l, now, random);
	else
		l->next = LEADER_PATCH;
}

static void on_written(struct leader *l, const struct lease_facts *facts, uint64_t now, double random)
{
	l->seen = *facts;
	l->known = true;
	l->seen_at = l->sent_at;
	l->other_lives = false;
	l->leading = !l->releasing && is_mine(l);
	l->renewed_at = l->sent_at;
	l->releasing = false;
	if (l->carries)
		leader_done(l);
	l->carries = false;
	retry(l, now, random);
}

void leader_answer(struct leader *l, long status, const struct lease_facts *facts, uint64_t now,
		   double random)
{
	const enum leader_ask asked = l->next;

	if (l->kind == LEADER_PRESENCE && leader_is_denied(asked, status)) {
		l->other_lives = false;
		l->next = LEADER_WAIT;
		l->try_at = now + LEADER_DENIED_MS;
		return;
	}
	if (asked == LEADER_GET) {
		on_read(l, status, facts, now, random);
		return;
	}
	if (asked == LEADER_CLAIM) {
		if (facts)
			see(l, facts, now);
		retry(l, now, random);
		return;
	}
	if (facts) {
		on_written(l, facts, now, random);
		return;
	}
	/* A renewal without reading failed: read now, as client-go does; a write after a read: at the next
	 * try. */
	if (asked == LEADER_PATCH && (l->leading || l->releasing) && status != 0 && l->try_at != 0 &&
	    now >= l->try_at) {
		l->try_at = 0;
		l->next = LEADER_GET;
		return;
	}
	retry(l, now, random);
}

bool leader_release(struct leader *l, uint64_t now)
{
	if (!leader_leads(l, now) || !is_mine(l))
		return false;
	l->leading = false;
	l->yielding = false;
	l->releasing = true;
	l->next = LEADER_WAIT;
	l->try_at = now;
	return true;
}
