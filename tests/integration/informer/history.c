/* history.c - see history.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/informer/history.h"

#include <string.h>

#include "base/str.h"

/* Words of the statuses that a watch may end with; 0: without a word. */
static const uint16_t endings[] = { 0, 410, 429, 500 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const struct op_row op_table[OP__MAX] = {
	[OP_CREATE] = { "create", ARG_POD, 0, 12 },
	[OP_EVICT] = { "evict", ARG_POD, 0, 6 },
	[OP_RUN] = { "run", ARG_POD, 0, 5 },
	[OP_PULL] = { "pull", ARG_POD, 0, 3 },
	[OP_TERMINATE] = { "terminate", ARG_POD, 0, 3 },
	[OP_DELETE] = { "delete", ARG_POD, 0, 7 },
	[OP_RECREATE] = { "recreate", ARG_POD, 0, 6 },
	[OP_OTHER] = { "other", ARG_NONE, 0, 3 },
	[OP_FAIL] = { "fail", ARG_FAULT, 0, 12 },
	[OP_CLOSE] = { "close", ARG_NUMBER, COUNT(endings) - 1, 8 },
	[OP_CUT] = { "cut", ARG_NONE, 0, 3 },
	[OP_COMPACT] = { "compact", ARG_NONE, 0, 6 },
	[OP_BOOKMARKS] = { "bookmarks", ARG_NUMBER, 3, 3 },
	[OP_BEHIND] = { "behind", ARG_NUMBER, 9, 2 },
	[OP_REPEAT] = { "repeat", ARG_NUMBER, 9, 2 },
	[OP_PAUSE] = { "pause", ARG_NUMBER, 20, 2 },
	[OP_WAIT] = { "wait", ARG_NUMBER, 6, 10 },
	[OP_REST] = { "rest", ARG_NONE, 0, 12 },
};

#define PODS_RULE(verb, effect) "{\"verb\":\"" verb "\",\"resource\":\"pods\"," effect "}"

const struct fault_row fault_table[] = {
	{ "watch-500", PODS_RULE("watch", "\"status\":500") },
	{ "watch-429", PODS_RULE("watch", "\"status\":429") },
	{ "watch-410", PODS_RULE("watch", "\"status\":410,\"reason\":\"Expired\"") },
	{ "watch-401", PODS_RULE("watch", "\"status\":401,\"reason\":\"Unauthorized\"") },
	{ "watch-422", PODS_RULE("watch", "\"status\":422,\"reason\":\"Invalid\"") },
	{ "watch-noise", PODS_RULE("watch", "\"garbage\":true") },
	{ "watch-cut-0", PODS_RULE("watch", "\"dropResponse\":true") },
	{ "watch-cut-40", PODS_RULE("watch", "\"cutAfterBytes\":40") },
	{ "watch-cut-700", PODS_RULE("watch", "\"cutAfterBytes\":700") },
	{ "watch-cut-1900", PODS_RULE("watch", "\"cutAfterBytes\":1900") },
	{ "watch-html", PODS_RULE("watch", "\"bodyText\":\"<p>\",\"contentType\":\"text/html\"") },
	{ "watch-chunks", PODS_RULE("watch", "\"wrongLength\":true") },
	{ "list-503", PODS_RULE("list", "\"status\":503") },
	{ "list-429", PODS_RULE("list", "\"status\":429") },
	{ "list-410", PODS_RULE("list", "\"status\":410,\"reason\":\"Expired\"") },
	{ "list-410-later", PODS_RULE("list", "\"after\":1,\"status\":410,\"reason\":\"Expired\"") },
	{ "list-noise", PODS_RULE("list", "\"garbage\":true") },
	{ "list-cut-900", PODS_RULE("list", "\"cutAfterBytes\":900") },
	{ "list-length", PODS_RULE("list", "\"wrongLength\":true") },
};
const size_t fault_count = COUNT(fault_table);

static const char *const modes[MODE__MAX] = {
	[MODE_WATCHLIST] = "watchlist", [MODE_PAGES] = "pages", [MODE_SHORT] = "short", [MODE_OLD] = "old",
	[MODE_NARROW] = "narrow",
};

uint64_t history_random(uint64_t *state, uint64_t n)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % n;
}

static enum op_kind any_kind(uint64_t *seed)
{
	uint64_t all = 0, at;
	int kind = 0;

	for (int k = 0; k < OP__MAX; k++)
		all += op_table[k].weight;
	for (at = history_random(seed, all); at >= op_table[kind].weight; kind++)
		at -= op_table[kind].weight;
	return (enum op_kind)kind;
}

static uint16_t any_arg(uint64_t *seed, enum op_kind kind)
{
	const struct op_row *row = &op_table[kind];
	const uint64_t sizes[] = {
		[ARG_NONE] = 1,
		[ARG_POD] = PODS,
		[ARG_FAULT] = fault_count,
		[ARG_NUMBER] = row->max + 1u,
	};
	const uint16_t arg = (uint16_t)history_random(seed, sizes[row->arg]);

	return kind == OP_CLOSE ? endings[arg] : arg;
}

void history_make(struct history *h, uint64_t seed)
{
	h->mode = (enum mode)history_random(&seed, MODE__MAX);
	h->n = 8 + history_random(&seed, 40);
	const size_t first = history_random(&seed, 6); /* what the first list holds */

	for (size_t i = 0; i < first; i++)
		h->ops[i] = (struct op){ OP_CREATE, (uint16_t)history_random(&seed, PODS) };
	for (size_t i = first; i < h->n; i++) {
		const enum op_kind kind = any_kind(&seed);

		h->ops[i] = (struct op){ (uint8_t)kind, any_arg(&seed, kind) };
	}
}

/* -- text -- */

void history_print(const struct history *h, FILE *to)
{
	(void)fprintf(to, "mode %s\n", modes[h->mode]);
	for (size_t i = 0; i < h->n; i++) {
		const struct op op = h->ops[i];
		const struct op_row *row = &op_table[op.kind];

		(void)fputs(row->word, to);
		if (row->arg == ARG_POD)
			(void)fprintf(to, " ns-%d/p-%d", op.arg / NAMES, op.arg % NAMES);
		else if (row->arg == ARG_FAULT)
			(void)fprintf(to, " %s", fault_table[op.arg].word);
		else if (row->arg == ARG_NUMBER)
			(void)fprintf(to, " %d", op.arg);
		(void)fputc('\n', to);
	}
}

static bool read_pod(const char *text, uint16_t *ret)
{
	unsigned ns, name;
	char rest;

	if (sscanf(text, "ns-%2u/p-%2u%c", &ns, &name, &rest) != 2 || ns >= NAMESPACES || name >= NAMES)
		return false;
	*ret = (uint16_t)(ns * NAMES + name);
	return true;
}

static bool read_fault(const char *text, uint16_t *ret)
{
	for (*ret = 0; *ret < fault_count; ++*ret)
		if (strcmp(fault_table[*ret].word, text) == 0)
			return true;
	return false;
}

static bool read_number(const char *text, uint16_t *ret)
{
	uint64_t n;

	if (str_to_u64(text, strlen(text), &n) < 0 || n > 9999)
		return false;
	*ret = (uint16_t)n;
	return true;
}

static bool read_nothing(const char *text, uint16_t *ret)
{
	*ret = 0;
	return *text == '\0';
}

static bool read_op(struct history *h, const char *word, const char *arg)
{
	static bool (*const readers[])(const char *text, uint16_t *ret) = {
		[ARG_NONE] = read_nothing,
		[ARG_POD] = read_pod,
		[ARG_FAULT] = read_fault,
		[ARG_NUMBER] = read_number,
	};

	for (int k = 0; k < OP__MAX && h->n < OPS_MAX; k++) {
		struct op *op = &h->ops[h->n];

		if (strcmp(op_table[k].word, word) != 0)
			continue;
		op->kind = (uint8_t)k;
		h->n++;
		return readers[op_table[k].arg](arg, &op->arg);
	}
	return false;
}

static bool read_mode(struct history *h, const char *arg)
{
	for (h->mode = 0; h->mode < MODE__MAX; h->mode++)
		if (strcmp(modes[h->mode], arg) == 0)
			return true;
	return false;
}

bool history_read(struct history *h, FILE *from, int *ret_line)
{
	char line[160], word[40], arg[80];

	*h = (struct history){ 0 };
	for (*ret_line = 1; fgets(line, sizeof(line), from); (*ret_line)++) {
		line[strcspn(line, "#\n")] = '\0';
		*arg = '\0';
		if (sscanf(line, "%39s %79s", word, arg) < 1)
			continue;
		if (!(strcmp(word, "mode") == 0 ? read_mode(h, arg) : read_op(h, word, arg)))
			return false;
	}
	return true;
}
