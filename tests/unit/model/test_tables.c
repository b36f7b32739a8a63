/* test_tables.c - the tables of the model keep their own rules, and what is stored does not change its
 * meaning. */
// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "model/actions.h"
#include "model/object_events.h"
#include "model/reasons.h"
#include "model/rights.h"
#include "model/troubles.h"
#include "tests/suite.h"

/* What older histories, messages of saved state and annotations hold. A row may be added, never changed. */
TEST(stored_ids_keep_their_meaning)
{
	static const char *const duties[] = { "deleteEvictedPod", "deleteTerminatingPod", "errImagePull",
					      "tooManyRestart",   "deleteFinishedPod",    "crashLoop" };
	static const char *const actions[] = { "delete", "freshAttempt", "restore", "forceDelete",
					       "scaleDown" };
	static const char *const outcomes[] = { "done",   "gone",        "refused",   "conflict", "forbidden",
						"failed", "unconfirmed", "announced", "would" };

	for (size_t i = 0; i < ARRAY_SIZE(duties); i++)
		ck_assert_str_eq(duty_name((enum duty)i), duties[i]);
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		ck_assert_str_eq(action_desc((enum action_kind)i)->name, actions[i]);
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++)
		ck_assert_str_eq(outcome_name((enum outcome)i), outcomes[i]);
}

TEST(duties_are_complete_and_found_by_every_spelling)
{
	unsigned seen = 0;

	for (enum duty d = 0; d < DUTY__MAX; d++) {
		const struct duty_desc *desc = duty_desc(d);

		ck_assert_ptr_nonnull(desc->name);
		ck_assert_uint_gt(strlen(desc->doc), 10);
		ck_assert_int_eq(duty_parse(STR_C(desc->name)), (int)d);
		ck_assert(!*desc->alias || duty_parse(STR_C(desc->alias)) == (int)d);
		ck_assert_int_eq(duty_acts(d), desc->action != ACTION_NONE);
		seen |= 1u << duty_at(d);
	}
	ck_assert_uint_eq(seen, (1u << DUTY__MAX) - 1);
	ck_assert_int_eq(duty_parse(STR_LIT("")), -1);
	ck_assert_int_eq(duty_parse(STR_LIT("deleteevictedpod")), (int)DUTY_EVICTED); /* in any case */
	ck_assert_int_eq(duty_parse(STR_LIT("DELTEEVICTEDPOD")), (int)DUTY_EVICTED);
	ck_assert_int_eq(duty_parse(STR_LIT("deleteevictedpo")), -1);
	ck_assert_ptr_null(duty_desc(DUTY__MAX));
	ck_assert_str_eq(duty_name((enum duty)DUTY_ALL), "?");
	ck_assert(!duty_acts(DUTY__MAX));
}

TEST(duties_of_workloads_in_the_order_of_judging)
{
	size_t n = 0;

	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);
		const bool workload = duty_desc(d)->key == KEY_WORKLOAD;

		ck_assert_int_eq(duty_workload(d), workload ? (int)n : -1);
		ck_assert(!workload || duty_of_workload(n++) == d);
	}
	ck_assert_uint_eq(n, WORKLOAD_DUTIES);
	ck_assert_int_eq(duty_workload(DUTY__MAX), -1);
}

TEST(a_duty_does_its_own_action_only)
{
	for (enum duty d = 0; d < DUTY__MAX; d++)
		for (enum action_kind a = 0; a < ACTION__MAX; a++) {
			const struct duty_desc *desc = duty_desc(d);
			const bool around = a == ACTION_FRESH_ATTEMPT || a == ACTION_RESTORE;

			ck_assert_int_eq(duty_may(d, a),
					 a == desc->action || (around && desc->action == ACTION_SCALE_DOWN));
		}
	ck_assert(!duty_may(DUTY__MAX, ACTION_DELETE));
}

TEST(a_guard_blocks_for_its_own_reason)
{
	unsigned blocks = 0;

	for (enum guard g = 0; g < GUARD__MAX; g++) {
		const struct guard_desc *desc = guard_desc(g);

		ck_assert_int_eq(reason_desc(desc->reason)->class, CLASS_BLOCKED);
		ck_assert_str_ne(guard_name(g), "?");
		blocks++;
		for (enum duty d = 0; d < DUTY__MAX; d++)
			ck_assert(duty_has_guard(d, g) <= duty_acts(d) &&
				  (!desc->every || duty_has_guard(d, g) == duty_acts(d)));
	}
	for (enum reason r = 0; r < REASON__MAX; r++)
		blocks -= reason_desc(r)->class == CLASS_BLOCKED;
	ck_assert_uint_eq(blocks, 0);
	ck_assert_str_eq(guard_name(GUARD__MAX), "?");
}

TEST(codes_are_camel_case_unique_and_short)
{
	for (enum reason i = 0; i < REASON__MAX; i++) {
		const char *code = reason_code(i);

		ck_assert(isupper((unsigned char)code[0]));
		ck_assert_uint_le(strlen(code), 48);
		for (const char *c = code; *c; c++)
			ck_assert_msg(isalnum((unsigned char)*c), "%s", code);
		for (enum reason j = 0; j < i; j++)
			ck_assert_str_ne(code, reason_code(j));
		ck_assert_int_eq(reason_parse(code), i);
		ck_assert_ptr_eq(reason_find(code), reason_desc(i));
	}
	ck_assert_int_eq(reason_parse(""), REASON__MAX);
	ck_assert_int_eq(reason_parse("evicted"), REASON__MAX);
	ck_assert_int_eq(reason_parse("EvictedX"), REASON__MAX);
}

TEST(reasons_speak_every_language)
{
	for (enum reason r = 0; r < REASON__MAX; r++) {
		const struct reason_desc *d = reason_desc(r);

		ck_assert_uint_gt(strlen(d->text[LANGUAGE_EN].sentence), 10);
		ck_assert_uint_ge(strlen(d->text[LANGUAGE_EN].remedy), 4);
		ck_assert_msg((unsigned char)d->text[LANGUAGE_ZH].remedy[0] &&
				      strpbrk(d->text[LANGUAGE_ZH].sentence, "\xe4\xe5\xe6\xe7\xe8\xe9"),
			      "%s", d->code);
	}
}

/* A pull that is refused for what only somebody else can change is news; what passes by itself is not. */
TEST(news_is_what_somebody_can_change)
{
	for (enum reason r = 0; r < REASON__MAX; r++) {
		const struct reason_desc *d = reason_desc(r);

		ck_assert_msg(d->class != CLASS_NONE || d->attention == ATTENTION_NO, "%s", d->code);
		ck_assert_msg((d->attention != ATTENTION_GUARD && d->attention != ATTENTION_GUARD_NOW) ||
				      d->class == CLASS_BLOCKED,
			      "%s", d->code);
		ck_assert_msg(d->event == REASON_EVENT_NO || d->class == CLASS_REFUSAL ||
				      d->class == CLASS_BLOCKED,
			      "%s", d->code);
	}
	ck_assert_int_eq(reason_desc(REASON_HAS_FINALIZERS)->attention, ATTENTION_OBJECT);
	ck_assert_int_eq(reason_desc(REASON_REVERTED)->attention, ATTENTION_GUARD_NOW);
	ck_assert_int_eq(reason_desc(REASON_NAMESPACE_EXCLUDED)->attention, ATTENTION_NO);
}

/* What programs and alerts match on; no refusal is called the same. */
TEST(events_of_what_is_done)
{
	static const char *const reasons[OBJECT_EVENT__MAX][2] = {
		[OBJECT_EVENT_DELETE] = { "PodDeleted", "WillDeletePod" },
		[OBJECT_EVENT_FRESH_ATTEMPT] = { "PodDeleted", "" },
		[OBJECT_EVENT_RESTORE] = { "Restored", "" },
		[OBJECT_EVENT_FORCE_DELETE] = { "PodForceDeleted", "WillForceDeletePod" },
		[OBJECT_EVENT_SCALE_DOWN] = { "ScaledToZero", "WillScaleToZero" },
		[OBJECT_EVENT_SUSPEND] = { "Suspended", "WillSuspend" },
		[OBJECT_EVENT_ORDINAL] = { "PodDeleted", "WillDeletePod" },
	};

	for (enum object_event_id e = 0; e < OBJECT_EVENT__MAX; e++) {
		const struct object_event_desc *d = object_event_desc(e);

		ck_assert_str_eq(d->done, reasons[e][0]);
		ck_assert_str_eq(d->will, reasons[e][1]);
		ck_assert_int_eq(d->warning, e == OBJECT_EVENT_SCALE_DOWN || e == OBJECT_EVENT_SUSPEND);
		ck_assert(reason_find(d->done)->event == REASON_EVENT_NO &&
			  reason_parse(d->will) == REASON__MAX);
	}
	ck_assert_str_eq(object_event_of(ACTION_FORCE_DELETE, SCALE_TO_ZERO)->done, "PodForceDeleted");
	ck_assert_str_eq(object_event_of(ACTION_SCALE_DOWN, SCALE_SUSPENDS)->done, "Suspended");
	ck_assert_str_eq(object_event_of(ACTION_SCALE_DOWN, SCALE_DELETES)->done, "PodDeleted");
}

TEST(outside_the_tables_is_a_question_mark)
{
	ck_assert_str_eq(reason_code(REASON__MAX), "?");
	ck_assert_str_eq(reason_desc((enum reason) - 1)->text[LANGUAGE_EN].sentence, "");
	ck_assert_str_eq(reason_find("Nonsense")->text[LANGUAGE_ZH].remedy, "");
	ck_assert_str_eq(verdict_kind_name(VERDICT_ACT), "act");
	ck_assert_str_eq(verdict_kind_name((enum verdict_kind)99), "?");
	ck_assert_str_eq(outcome_name((enum outcome)OUTCOME_OPEN), "open");
}

/* What may have been written counts for a budget; what is known to have been, for what follows from it. */
TEST(outcomes_that_wrote)
{
	ck_assert_uint_eq(OUTCOMES_KNOWN_WRITTEN, 1u << OUTCOME_DONE | 1u << OUTCOME_MARKED);
	ck_assert_uint_eq(OUTCOMES_WRITTEN, OUTCOMES_KNOWN_WRITTEN | 1u << OUTCOME_UNCONFIRMED);
}

SUITE("model/tables");

/* Is there a right for that verb on those resources, "deployments/scale" written as its set says it? */
static bool is_right(const char *verb, const char *resources)
{
	const struct right_desc *r;

	for (size_t i = 0; (r = right_at(i)); i++) {
		const bool every = r->set != SET_ONE && resources[0] == '*';

		if (strstr(r->verbs, verb) && strcmp(r->resources, resources + every) == 0)
			return true;
	}
	return false;
}

TEST(every_write_has_its_right)
{
	for (int i = 0; i < ACTION__MAX; i++) {
		const struct action_desc *a = action_desc((enum action_kind)i);

		ck_assert_msg(is_right(a->verb, a->resources), "%s: %s %s", a->name, a->verb, a->resources);
	}
	ck_assert(!is_right("patch", "pods/status"));
}

TEST(rights_are_of_roles_and_writes_of_the_writer)
{
	const struct right_desc *r;
	bool used[ROLE_OF__MAX] = { 0 };

	for (size_t i = 0; (r = right_at(i)); i++) {
		const struct role_desc *role = role_of(r->role);
		const bool writes = strstr(r->verbs, "delete") ||
				    (strstr(r->verbs, "patch") && r->role != ROLE_OF_LEADER);

		used[r->role] = true;
		ck_assert_int_eq(r->group == NULL, r->set != SET_ONE);
		ck_assert(!writes || role->account == ACCOUNT_WRITER);
		/* What may change all of an object is never bound without the policy. */
		if (strstr(r->verbs, "patch") && !strchr(r->resources, '/') &&
		    strcmp(r->resources, "events") != 0 && r->role != ROLE_OF_LEADER)
			ck_assert_int_eq(role->bound, BOUND_GUARDED);
	}
	for (int i = 0; i < ROLE_OF__MAX; i++)
		ck_assert(used[i]);
}

/* What a worker reads the reader may read, too: it is enough to observe. */
TEST(the_reader_reads_all_that_is_read)
{
	const struct right_desc *r;

	for (size_t i = 0; (r = right_at(i)); i++) {
		const bool reads = strncmp(r->verbs, "get", 3) == 0 || strncmp(r->verbs, "list", 4) == 0;

		/* Events are read there to be written again; a log only where it is about to go. */
		ck_assert_msg(!reads || strstr(r->verbs, "create") ||
				      (r->resources && strcmp(r->resources, "pods/log") == 0) ||
				      role_of(r->role)->account != ACCOUNT_WRITER,
			      "%s %s is the writer's alone", r->verbs, r->resources ? r->resources : "");
	}
}

TEST(troubles_are_complete_in_both_languages)
{
	for (enum trouble k = 0; k < TROUBLE__MAX; k++) {
		const struct trouble_desc *d = trouble_desc(k);

		for (const char *p = d->name; *p; p++)
			ck_assert(islower((unsigned char)*p) || *p == '-');
		for (int l = 0; l < LANGUAGE__MAX; l++) {
			ck_assert_uint_gt(strlen(d->text[l].sentence), 10);
			ck_assert_uint_gt(strlen(d->text[l].remedy), 10);
		}
		for (enum trouble other = 0; other < k; other++)
			ck_assert_str_ne(d->name, trouble_desc(other)->name);
	}
}
