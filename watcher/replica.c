/* replica.c - see replica.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/replica.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "kube/members.h"
#include "text/texts.h"
#include "watcher/guards/handover.h"
#include "watcher/guards/leadership.h"
#include "watcher/guards/membership.h"

_Static_assert(MEMBERS_TEXT <= MEMBERS_LINES_MAX + 1, "MEMBERS has room for every identity");

struct replica {
	struct event_base *base;
	struct http_client *client;
	struct replica_ops ops;
	void *ctx;
	const struct cluster_state *cluster;
	char identity[LEASE_TEXT];
	const struct settings *settings;
	struct leadership *election;   /* NULL: this replica is the only one */
	struct handover *handover;     /* with an election */
	struct membership *membership; /* NULL: this is not the home cluster */
	struct leadership *presence;   /* NULL: nobody else is looked for */
	struct leadership *withdrawn;  /* a presence that gives its Lease back */
	struct membership *resigned;   /* a membership that does */
	struct facts unseen;           /* why nobody else can be seen, or none */
	struct facts apart;            /* why replicas cannot see one another, or none */
	bool leading, started, stopped;
	bool taken; /* what the leader before has left is known */
	void (*left)(void *ctx);
	void *left_ctx;
};

/* As configured, else the own one, else the credential's. */
static const char *lease_namespace(const struct settings *s)
{
	const char *const wanted[] = { s->lease_namespace, s->policy.own_namespace, s->cluster.namespace };

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (wanted[i] && *wanted[i])
			return wanted[i];
	return "default";
}

static int send_trouble(struct replica *r, enum trouble trouble, const struct facts *why)
{
	struct msg m = { .type = MSG_TROUBLE, .u.trouble.trouble = trouble };

	facts_set(&m.u.trouble.particulars, why);
	return r->ops.send(r->ctx, &m);
}

static void on_refused(void *ctx)
{
	struct replica *r = ctx;

	r->ops.refused(r->ctx);
}

/* -- election -- */

/* The time by which what was done is written down, and how old it is: Unix ms. */
static int64_t now_of(const struct replica *r)
{
	const struct clock_snapshot now = cluster_clocks(r->cluster);

	return clocks_behind(&now);
}

static void tell_next(struct replica *r)
{
	if (r->leading && r->taken && handover_is_news(r->handover))
		leadership_remember(r->election, handover_text(r->handover, now_of(r)));
}

/* What it tells beyond the own history: the other way round each act of a former life would count twice. */
static void take_over(struct replica *r)
{
	const char *memory = leadership_memory(r->election);

	if (!r->leading || !r->cluster->sync.remembered || r->taken)
		return;
	r->taken = true;
	handover_take(r->handover, STR_C(memory), r->cluster->number, now_of(r), r->ops.recall, r->ctx);
}

void replica_note(struct replica *r, const struct msg *m)
{
	/* What ends before the history has told of it stands in its rows. */
	if (!r->handover || (!r->cluster->sync.remembered && m->type == MSG_NOMINATION_RESULT))
		return;
	if (m->type == MSG_SAVED_END && m->u.saved_end.failed) /* its rows come again */
		handover_free(&r->handover), r->handover = handover_new();
	handover_note(r->handover, m, now_of(r));
	take_over(r);
	tell_next(r);
}

static void on_changed(void *ctx, bool leading, bool yielding, uint64_t valid_until, const char *holder)
{
	struct replica *r = ctx;
	struct msg m = { .type = MSG_LEADER,
			 .u.leader = { .cluster = r->cluster->number,
				       .leading = leading,
				       .yielding = yielding,
				       .valid_until = valid_until } };

	if (leading && !r->leading)
		log_info("this replica leads from now on");
	else if (!leading && r->leading)
		(void)log_warn(0, "this replica does not lead any more", kv_s("holder", holder));
	if (yielding)
		log_info("this replica gives the cluster to another one", kv_s("replica", holder));
	r->taken = r->taken && leading;
	r->leading = leading;
	take_over(r);
	r->ops.news(r->ctx);
	msg_text(&m, leader.holder, holder);
	(void)r->ops.send(r->ctx, &m); /* the next renewal sends it again */
	r->ops.leads(r->ctx, leading && !yielding, holder);
	tell_next(r);
}

static void on_lease_trouble(void *ctx, const struct facts *why)
{
	(void)send_trouble(ctx, TROUBLE_LEASE, why);
}

static void prepare_election(struct replica *r)
{
	static const struct leadership_ops ops = { on_changed, on_refused, on_lease_trouble, NULL };
	const struct settings *s = r->settings;

	if (!s->election)
		return;
	r->ops.leads(r->ctx, false, "");
	r->handover = handover_new();
	r->election = leadership_new(r->base, r->client, LEADER_ELECTION, r->identity, lease_namespace(s),
				     s->lease_name, &ops, r);
}

/* -- membership: of those that share clusters -- */

static void on_members(void *ctx, const char *live, uint64_t valid_until)
{
	struct replica *r = ctx;
	struct msg m = { .type = MSG_MEMBERS,
			 .u.members = { .cluster = r->cluster->number, .valid_until = valid_until } };

	msg_text(&m, members.own, r->identity);
	msg_text(&m, members.live, live);
	(void)r->ops.send(r->ctx, &m); /* the next list sends it again */
}

static void on_apart(void *ctx, const struct facts *why)
{
	struct replica *r = ctx;

	if (!facts_equal(why, &r->apart) && send_trouble(r, TROUBLE_REPLICAS, why) == 0)
		facts_set(&r->apart, why);
}

static void on_resigned(void *ctx)
{
	membership_free(&((struct replica *)ctx)->resigned);
}

static void set_home(struct replica *r, bool home)
{
	static const struct membership_ops ops = { on_members, on_refused, on_apart };
	static const struct facts none;

	home = home && r->election && !r->stopped;
	if (home == (r->membership != NULL))
		return;
	membership_free(&r->resigned);
	if (home) {
		r->membership = membership_new(r->base, r->client, r->identity, lease_namespace(r->settings),
					       r->settings->lease_name, &ops, r);
		return;
	}
	on_apart(r, &none);
	r->resigned = TAKE_PTR(r->membership);
	membership_release(r->resigned, on_resigned, r);
}

bool replica_on_msg(struct replica *r, const struct msg *m)
{
	if (m->type == MSG_PREFERRED) {
		if (r->election && !r->stopped)
			leadership_prefer(r->election, m->u.preferred.replica);
		set_home(r, m->u.preferred.home);
		return true;
	}
	if (m->type == MSG_LET_GO && r->election && !r->stopped)
		leadership_let_go(r->election);
	return m->type == MSG_LET_GO;
}

/* -- presence: without election, does another instance work on this cluster? -- */

static int on_other(void *ctx, const char *holder)
{
	struct replica *r = ctx;
	struct facts why = { 0 };
	_cleanup_free_ char *lease =
		xasprintf("%s/%s", lease_namespace(r->settings), r->settings->lease_name);

	if (*holder) {
		facts_finding(&why, TEXT_OTHER_HOLDER);
		facts_name(&why, FACT_LEADER, STR_C(holder));
		facts_name(&why, FACT_OBJECT, STR_C(lease));
	}
	return send_trouble(r, TROUBLE_ANOTHER_INSTANCE, &why);
}

static void on_unseen(void *ctx, const struct facts *why)
{
	struct replica *r = ctx;

	facts_set(&r->unseen, why);
	r->ops.news(r->ctx);
}

static void on_withdrawn(void *ctx)
{
	leadership_free(&((struct replica *)ctx)->withdrawn);
}

/* Who only observes is nobody's rival, and gives the Lease back: another one need not wait for its end. */
static void set_presence(struct replica *r)
{
	static const struct leadership_ops ops = { NULL, on_refused, on_unseen, on_other };
	const struct settings *s = r->settings;
	const bool wanted = !s->election && s->presence && s->policy.mode == MODE_ENFORCE;

	if (!r->started || r->stopped || wanted == (r->presence != NULL))
		return;
	r->unseen = (struct facts){ 0 };
	r->ops.news(r->ctx);
	leadership_free(&r->withdrawn);
	if (!wanted) {
		r->withdrawn = TAKE_PTR(r->presence);
		(void)on_other(r, "");
		leadership_release(r->withdrawn, on_withdrawn, r);
		return;
	}
	r->presence = leadership_new(r->base, r->client, LEADER_PRESENCE, r->identity, lease_namespace(s),
				     s->lease_name, &ops, r);
	leadership_start(r->presence);
}

/* -- its life -- */

struct replica *replica_new(struct event_base *base, struct http_client *client,
			    const struct cluster_state *cluster, uint64_t instance, const struct settings *s,
			    const struct replica_ops *ops, void *ctx)
{
	struct replica *r = xcalloc(1, sizeof(*r));

	r->base = base;
	r->client = client;
	r->ops = *ops;
	r->ctx = ctx;
	r->cluster = cluster;
	leadership_identity(instance, r->identity);
	r->settings = s;
	prepare_election(r);
	return r;
}

void replica_start(struct replica *r)
{
	r->started = true;
	if (r->election)
		leadership_start(r->election);
	set_presence(r);
}

void replica_set_settings(struct replica *r, const struct settings *s)
{
	r->settings = s;
	set_presence(r);
}

void replica_server_changed(struct replica *r)
{
	if (r->started && r->election)
		leadership_forget(r->election);
}

void replica_tell(const struct replica *r, struct msg_watch_stats *ret)
{
	ret->leading = !r->election || r->leading;
	ret->presence = r->presence != NULL;
	facts_set(&ret->unseen, &r->unseen);
}

static void on_all_left(void *ctx)
{
	struct replica *r = ctx;

	r->left(r->left_ctx);
}

/* Then the own Lease, so that the others share what this one led. */
static void on_lease_left(void *ctx)
{
	struct replica *r = ctx;
	struct membership *m = r->membership ? r->membership : r->resigned;

	if (m)
		membership_release(m, on_all_left, r);
	else
		on_all_left(r);
}

void replica_leave(struct replica *r, void (*left)(void *ctx), void *ctx)
{
	struct leadership *held = r->election ? r->election : r->presence;

	r->stopped = true;
	r->left = left;
	r->left_ctx = ctx;
	if (!held)
		held = r->withdrawn;
	if (held)
		leadership_release(held, on_lease_left, r);
	else
		on_lease_left(r);
}

void replica_free(struct replica **r)
{
	struct replica *old = *r;

	if (!old)
		return;
	membership_free(&old->membership);
	membership_free(&old->resigned);
	leadership_free(&old->election);
	handover_free(&old->handover);
	leadership_free(&old->presence);
	leadership_free(&old->withdrawn);
	free(old);
	*r = NULL;
}
