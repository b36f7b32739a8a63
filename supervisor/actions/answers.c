/* answers.c - see answers.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/answers.h"

#include "base/exit.h"

void answers_add(struct answers *all, struct asker *a)
{
	*a = (struct asker){ .next = all->first, .conn = ++all->last_conn, .take = a->take };
	all->first = a;
}

void answers_remove(struct answers *all, struct asker *a)
{
	struct asker **at = &all->first;

	while (*at && *at != a)
		at = &(*at)->next;
	if (*at)
		*at = a->next;
	a->conn = 0;
}

static struct asker *find_asker(const struct answers *all, uint64_t conn)
{
	struct asker *a = conn ? all->first : NULL;

	while (a && a->conn != conn)
		a = a->next;
	return a;
}

/* Index of the child's open questions, else of a free place, else ASKED_MAX. */
static size_t find_asked(const struct asker *a, const struct child *child, bool or_free)
{
	size_t i = 0, open = 0;

	while (open < ASKED_MAX && !(a->asked[open].open > 0 && a->asked[open].child == child))
		open++;
	while (i < ASKED_MAX && a->asked[i].open > 0)
		i++;
	return open < ASKED_MAX || !or_free ? open : i;
}

bool asker_waits(const struct asker *a)
{
	if (a->queued > 0)
		return true;
	for (size_t i = 0; i < ASKED_MAX; i++)
		if (a->asked[i].open > 0)
			return true;
	return false;
}

void answers_send(const struct answers *all, uint64_t conn, const struct msg *m)
{
	struct asker *a = find_asker(all, conn);

	if (a)
		(void)a->take(a, m);
}

void answers_end(const struct answers *all, uint64_t conn, uint64_t code, const struct facts *why)
{
	struct msg m = { .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = code } };

	if (why)
		facts_set(&m.u.ctl_end.why, why);
	answers_send(all, conn, &m);
}

void answers_refuse(const struct answers *all, uint64_t conn, uint64_t code, enum text why)
{
	const struct facts f = facts_of(why);

	answers_end(all, conn, code, &f);
}

static struct facts about_role(enum text statement, enum role role)
{
	struct facts f = facts_of(statement);

	facts_name(&f, FACT_ROLE, STR_C(role_name(role)));
	return f;
}

void answers_ask(struct answers *all, struct asker *a, struct child *to, enum role role, const struct msg *m)
{
	const size_t i = find_asked(a, to, true);
	const struct facts down = about_role(TEXT_NOT_RUNNING, role);

	if (i == ASKED_MAX) {
		answers_refuse(all, a->conn, EXIT_CODE_TEMPORARY, TEXT_MANY_QUESTIONS);
		return;
	}
	if (to && child_send(to, m, -1) == 0) {
		a->asked[i].child = to;
		a->asked[i].open++;
		return;
	}
	answers_end(all, a->conn, EXIT_CODE_UNAVAILABLE, &down);
}

void answers_queue(const struct answers *all, const struct msg *m)
{
	struct asker *a = find_asker(all, msg_get_u64(m, "conn", 0));

	if (a)
		a->queued++;
}

void answers_forward(struct answers *all, struct child *to, enum role role, const struct msg *m)
{
	struct asker *a = find_asker(all, msg_get_u64(m, "conn", 0));

	if (!a)
		return;
	a->queued--;
	answers_ask(all, a, to, role, m);
}

static bool ends_question(enum msg_type type)
{
	return type == MSG_CTL_END || type == MSG_CTL_ACCESS_ROW || type == MSG_CTL_RESTORE_ROW;
}

void answers_on_msg(const struct answers *all, struct child *child, const struct msg *m)
{
	struct asker *a = find_asker(all, msg_get_u64(m, "conn", 0));
	const size_t i = a ? find_asked(a, child, false) : 0;

	if (!a)
		return; /* the asker has left */
	if (i == ASKED_MAX) {
		child_protocol_error(child, TEXT_STRANGE_ANSWER);
		return;
	}
	a->asked[i].open -= ends_question(m->type);
	if (a->take(a, m))
		return;
	a->asked[i].open += ends_question(m->type); /* its death answers */
	child_protocol_error(child, TEXT_OTHER_ANSWER);
}

void answers_on_child_dead(const struct answers *all, const struct child *child)
{
	const struct facts dead = about_role(TEXT_ENDED_BEFORE, child_info(child)->role);

	for (struct asker *a = all->first, *next; a; a = next) {
		const uint64_t conn = a->conn;

		next = a->next;
		for (size_t i; (i = find_asked(a, child, false)) < ASKED_MAX;) {
			a->asked[i].open--;
			answers_end(all, conn, EXIT_CODE_UNAVAILABLE, &dead);
			if (find_asker(all, conn) != a)
				break; /* it took its leave */
		}
	}
}
