/* duties.h - what the program does, from model/duties.def. The number of a duty is its id there: it is
 * stable, and says nothing about the order in which duties are judged.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_DUTIES_H
#define MODEL_DUTIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "model/actions.h"
#include "model/duties.def"
#include "model/guards.h"

#define DUTY_ID(X, ID, rules, id, ...) DUTY_##ID = id,
enum duty { DUTY_LIST(DUTY_ID, ) DUTY__MAX };
/* In messages that choose: every duty that acts. */
#define DUTY_ALL (-1)

enum duty_kind { DUTY_ACTS, DUTY_REPORTS };
enum action_key { KEY_POD, KEY_WORKLOAD };
/* Duties that concern workloads are counted apart: a tally of pods and a clock are kept for each. */
#define DUTY_COUNT_WORKLOAD(X, ID, rules, id, name, alias, order, kind, action, key, ...)                    \
	+(KEY_##key == KEY_WORKLOAD)
enum { WORKLOAD_DUTIES = 0 DUTY_LIST(DUTY_COUNT_WORKLOAD, ) };

struct duty_desc {
	const char *name, *alias; /* keys of the configuration; alias "" = none */
	enum duty_kind kind;
	enum action_kind action; /* ACTION_NONE when it only reports */
	enum action_key key;
	unsigned guards; /* GUARD_BIT of those that name it */
	const char *doc;
};

/* Its row; NULL outside the table. */
const struct duty_desc *duty_desc(enum duty d);
/* Its name; "?" outside the table. */
const char *duty_name(enum duty d);
/* The duty of that name or alias; -1 when there is none. */
int duty_parse(struct str name);
bool duty_acts(enum duty d);
/* The duty judged in place i, from 0 to DUTY__MAX - 1: `for (size_t i = 0; i < DUTY__MAX; i++)`. */
enum duty duty_at(size_t i);
/* Is this what the duty does, or what belongs to it: a fresh attempt before, a restore after? */
bool duty_may(enum duty d, enum action_kind a);
/* The i-th duty that concerns workloads, in the order of the table, which is the order of judging, too;
 * i < WORKLOAD_DUTIES. And the i of a duty, -1 when it concerns pods alone. */
enum duty duty_of_workload(size_t i);
int duty_workload(enum duty d);
/* Does this guard concern it? */
bool duty_has_guard(enum duty d, enum guard g);

#endif
