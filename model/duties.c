/* duties.c - see duties.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/duties.h"

#define DESC(X, ID, rules, id, name_, alias_, order, kind_, action_, key_, guards_, doc_)                    \
	[id] = { .name = name_,                                                                              \
		 .alias = alias_,                                                                            \
		 .kind = DUTY_##kind_,                                                                       \
		 .action = ACTION_##action_,                                                                 \
		 .key = KEY_##key_,                                                                          \
		 .guards = guards_,                                                                          \
		 .doc = doc_ },
static const struct duty_desc duties[DUTY__MAX] = { DUTY_LIST(DESC, ) };

/* An id or a place that is given twice does not compile. */
#define PLACE(X, ID, rules, id, name, alias, order, ...) [order] = DUTY_##ID,
static const enum duty places[DUTY__MAX] = { DUTY_LIST(PLACE, ) };

#define OF_POD(ID)
#define OF_WORKLOAD(ID)                                                  DUTY_##ID,
#define OF(X, ID, rules, id, name, alias, order, kind, action, key, ...) OF_##key(ID)
static const enum duty of_workloads[WORKLOAD_DUTIES] = { DUTY_LIST(OF, ) };

const struct duty_desc *duty_desc(enum duty d)
{
	return (unsigned)d < DUTY__MAX ? &duties[d] : NULL;
}

const char *duty_name(enum duty d)
{
	return (unsigned)d < DUTY__MAX ? duties[d].name : "?";
}

int duty_parse(struct str name)
{
	for (int d = 0; d < DUTY__MAX; d++)
		if (str_is_word(name, duties[d].name) ||
		    (*duties[d].alias && str_is_word(name, duties[d].alias)))
			return d;
	return -1;
}

bool duty_acts(enum duty d)
{
	return (unsigned)d < DUTY__MAX && duties[d].kind == DUTY_ACTS;
}

enum duty duty_at(size_t i)
{
	return places[i];
}

int duty_workload(enum duty d)
{
	for (int i = 0; i < WORKLOAD_DUTIES; i++)
		if (of_workloads[i] == d)
			return i;
	return -1;
}

enum duty duty_of_workload(size_t i)
{
	return of_workloads[i];
}

bool duty_may(enum duty d, enum action_kind a)
{
	return duty_acts(d) &&
	       (a == duties[d].action ||
		(duties[d].key == KEY_WORKLOAD && (a == ACTION_FRESH_ATTEMPT || a == ACTION_RESTORE)));
}

bool duty_has_guard(enum duty d, enum guard g)
{
	return duty_acts(d) && (guard_desc(g)->every || (duties[d].guards & 1u << g));
}
