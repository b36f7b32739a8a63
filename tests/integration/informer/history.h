/* history.h - what happens to a cluster and to the way there, as a list of steps that can be made at random,
 * written down, read back and made smaller. In text a history is a line "mode NAME" and a line a step: the
 * word and its argument, # begins a comment. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_INFORMER_HISTORY_H
#define TESTS_INFORMER_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { NAMESPACES = 2, NAMES = 4, PODS = NAMESPACES * NAMES };

/* How server and client come together. */
enum mode { MODE_WATCHLIST, MODE_PAGES, MODE_SHORT, MODE_OLD, MODE_NARROW, MODE__MAX };

enum op_kind {
	OP_CREATE,
	OP_EVICT,
	OP_RUN,
	OP_PULL,
	OP_TERMINATE,
	OP_DELETE,
	OP_RECREATE,
	OP_OTHER,
	OP_FAIL,
	OP_CLOSE,
	OP_CUT,
	OP_COMPACT,
	OP_BOOKMARKS,
	OP_BEHIND,
	OP_REPEAT,
	OP_PAUSE,
	OP_WAIT,
	OP_REST,
	OP__MAX
};

struct op {
	uint8_t kind;
	uint16_t arg; /* a pod, a fault, a number: see op_table */
};

enum { OPS_MAX = 200 };

struct history {
	enum mode mode;
	size_t n;
	struct op ops[OPS_MAX];
};

enum op_arg { ARG_NONE, ARG_POD, ARG_FAULT, ARG_NUMBER };

struct op_row {
	const char *word;
	enum op_arg arg;
	uint16_t max; /* ARG_NUMBER: the largest */
	uint16_t weight;
};
extern const struct op_row op_table[OP__MAX];

/* What goes wrong with one request: a rule of apisim. */
struct fault_row {
	const char *word, *rule;
};
extern const struct fault_row fault_table[];
extern const size_t fault_count;

/* splitmix64 of *state, below n. */
uint64_t history_random(uint64_t *state, uint64_t n);
/* The same seed makes the same history. */
void history_make(struct history *h, uint64_t seed);
void history_print(const struct history *h, FILE *to);
/* false: line *ret_line (from 1) is no step. */
bool history_read(struct history *h, FILE *from, int *ret_line);

#endif
