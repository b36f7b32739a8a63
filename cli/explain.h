/* explain.h - the verdict of every rule, collected and printed alike for a live pod and for a file.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"
#include "rules/judge.h"

struct explain_row {
	enum duty duty;
	enum verdict_kind verdict;
	const char *reason; /* code */
	int64_t until_ms;   /* end of a wait, 0 none */
	const char *evidence;
	const char *rule; /* NULL: the verdict of the duty; else one check of it */
	enum tri holds;   /* of a check: YES passed, NO decided, UNKNOWN not reached */
};

struct explain;
struct explain *explain_new(void);
void explain_free(struct explain **e);
/* Rows that follow are about this object. */
void explain_begin(struct explain *e, const char *object);
/* Everything is copied. */
void explain_add(struct explain *e, const struct explain_row *row);
void explain_print(const struct explain *e, enum output output);
/* Both say the same. */
bool explain_same(const struct explain *a, const struct explain *b);

/* Ask the running instance about a pod, or a workload and its pods. rules: every check too. Exit code. */
int explain_live(const struct command *self, const char *socket, const char *cluster, const char *object,
		 bool rules, struct explain *into);
/* Judge the pods of a file (YAML or JSON, "-" = stdin) by a configuration file. failing_since_ms 0: the clock
 * of a pull failure has not begun. Exit code. */
int explain_file(const char *config, const char *file, int64_t now_ms, int64_t failing_since_ms, bool rules,
		 struct explain *into);

#endif
