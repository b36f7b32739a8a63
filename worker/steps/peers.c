/* peers.c - a scale without a selector: whose pods are the workload's is told by ownerReferences alone. Pods
 * of the chain of owners that was read are its own; what controls others in the namespace is read up to its
 * top, but only where their pods would forbid the act. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include "base/clock.h"
#include "worker/action_end.h"

bool peers_is_ours(const struct action *a, struct str uid)
{
	for (size_t i = 0; i < a->found.n_owners; i++)
		if (str_eq(a->found.owners[i].ref.uid, uid))
			return true;
	return false;
}

static size_t find(const struct findings *f, struct str uid)
{
	size_t i = 0;

	while (i < f->n_peers && !str_eq(READ_TEXT(f->peers[i].ref, "uid"), uid))
		i++;
	return i;
}

enum step_then peers_add(struct action *a, const json_t *pod, bool serves)
{
	struct findings *f = &a->found;
	json_t *ref = read_controller_ref(pod);
	const size_t i = find(f, READ_TEXT(ref, "uid"));

	if (!ref)
		return STEP_NEXT;
	if (i == PEERS_MAX)
		return owner_refuse(a, REASON_TALLY_UNKNOWN, TEXT_PEERS_MANY);
	if (i == f->n_peers)
		f->peers[f->n_peers++] = (struct peer){ .ref = json_incref(ref) }; /* it outlives the list */
	f->peers[i].serves |= serves;
	return STEP_NEXT;
}

static enum owner_kinds_answer find_kind(struct action *a)
{
	struct findings *f = &a->found;

	f->peer_link.ref = read_owner(f->peers[f->peer].ref);
	return owner_kinds_find(a->env.kinds, f->peer_link.ref.api_version, f->peer_link.ref.kind,
				clock_boot_ms(), &f->peer_link.kind);
}

/* The next that has to be read. What has no namespace, or is of a kind that the server does not know, is
 * below nothing. */
enum step_then take_peer_next(struct action *a, const struct step_reply *reply)
{
	struct findings *f = &a->found;

	(void)reply;
	for (; f->peer < f->n_peers; f->peer++, f->height = 0) {
		const enum owner_kinds_answer answer = find_kind(a);

		f->peer_asks = answer == OWNER_KINDS_ASK;
		if (f->peer_asks || (answer == OWNER_KINDS_FOUND && f->peer_link.kind.namespaced))
			break;
	}
	return STEP_NEXT;
}

bool needs_peer(const struct action *a)
{
	return a->found.peer < a->found.n_peers;
}

bool needs_peer_kind(const struct action *a)
{
	return needs_peer(a) && a->found.peer_asks;
}

void ask_peer_kind(struct action *a, struct step_request *ret)
{
	ret->path = owner_kinds_path(a->found.peer_link.ref.api_version);
}

static enum step_then unreadable(struct action *a)
{
	return owner_refuse(a, REASON_TALLY_UNKNOWN, TEXT_PEERS_UNREAD);
}

enum step_then take_peer_kind(struct action *a, const struct step_reply *reply)
{
	const struct owner_facts *o = &a->found.peer_link.ref;

	if (reply->status == 403)
		return unreadable(a);
	owner_kinds_learn(a->env.kinds, o->api_version, o->kind, reply->body,
			  reply->json ? reply->body_len : 0, clock_boot_ms());
	return STEP_MORE;
}

void ask_peer(struct action *a, struct step_request *ret)
{
	ret->path = object_path(a, &a->found.peer_link, NULL, NULL);
}

static enum step_then refuse(struct action *a, bool serves)
{
	return owner_refuse(a, serves ? REASON_WORKLOAD_HAS_READY_PODS : REASON_NOT_ALL_FAILING,
			    TEXT_PEERS_BELOW);
}

/* Goes on with what controls the controller, unless that is known already. */
static enum step_then ascend(struct action *a, json_t *ref)
{
	struct findings *f = &a->found;
	struct peer *p = &f->peers[f->peer];
	const size_t known = find(f, READ_TEXT(ref, "uid"));

	if (known > f->peer && known < f->n_peers)
		f->peers[known].serves |= p->serves;
	if (known < f->n_peers) {
		f->peer++, f->height = 0;
		return STEP_MORE;
	}
	if (++f->height == OWNERS_MAX)
		return owner_refuse(a, REASON_TALLY_UNKNOWN, TEXT_PEERS_LONG);
	json_decref(p->ref);
	p->ref = json_incref(ref);
	return STEP_MORE;
}

enum step_then take_peer(struct action *a, const struct step_reply *reply)
{
	struct findings *f = &a->found;
	json_t *ref = reply->json ? read_controller_ref(reply->json) : NULL;

	if (!reply->json && reply->status != 404)
		return unreadable(a);
	if (ref && str_eq(READ_TEXT(reply->json, "metadata", "uid"), f->peer_link.ref.uid)) {
		if (peers_is_ours(a, READ_TEXT(ref, "uid")))
			return refuse(a, f->peers[f->peer].serves);
		return ascend(a, ref);
	}
	f->peer++, f->height = 0;
	return STEP_MORE;
}
