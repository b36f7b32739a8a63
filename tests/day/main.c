/* main.c - the day, by two sets of thresholds, and for each twice: once with this program, once with the one
 * it grew out of. Prints docs/day.md. Exit 0 only when ours did all that was right, and nothing else. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "tests/day/cleaner.h"
#include "text/facts_text.h"

#define STEP_MS (10 * SECOND)
#define BOOT_MS 1000000 /* the host is up for a while */

/* What happens on the first day; then nothing new, until the longest threshold is over. */
static const struct set {
	const char *name, *thresholds;
	int64_t length;
	struct thresholds t;
} sets[] = {
	{ "With the thresholds of the original's file",
	  "24 hours for a failed pull, an hour for Terminating, 24 hours for what a node left behind and for "
	  "a crash "
	  "loop. They are played for three days, of which the first is the one that the table tells of.",
	  72 * (int64_t)HOUR,
	  { 24 * HOUR, HOUR, 24 * HOUR, 24 * HOUR } },
	{ "With short thresholds",
	  "30 minutes for a failed pull, 10 minutes for Terminating, 2 hours for what a node left behind, an "
	  "hour for "
	  "a crash loop.",
	  24 * (int64_t)HOUR,
	  { 30 * MINUTE, 10 * MINUTE, 2 * HOUR, HOUR } },
};

enum right { DONE, LEFT };

static const struct {
	const char *what;
	enum right right;
} situations[] = {
#define S(ID, what, right) [SIT_##ID] = { what, right },
	SITUATIONS(S)
#undef S
};

struct run {
	struct cleaner cleaner;
	struct ours *ours; /* NULL: the original */
	bool starting;
};

static void on_event(void *ctx, uint32_t pod, bool deleted)
{
	struct run *r = ctx;

	if (r->starting)
		return;
	if (r->ours)
		ours_event(r->ours, pod, deleted);
	else if (!deleted)
		original_event(&r->cleaner, pod);
}

static void step(struct run *r, int64_t begin)
{
	struct world *w = r->cleaner.world;
	struct story *s = r->cleaner.story;

	clock_fake_set(w->now + story_clock_off(s), (uint64_t)(w->now - begin + BOOT_MS));
	story_tell(s);
	clock_fake_set(w->now + story_clock_off(s), (uint64_t)(w->now - begin + BOOT_MS));
	if (story_restarts(s)) {
		if (r->ours)
			ours_restart(r->ours);
		else
			original_restart(&r->cleaner);
	}
	world_tick(w);
	if (r->ours)
		ours_step(r->ours);
	else
		original_step(&r->cleaner);
}

static void play(struct run *r, const struct set *set, bool ours)
{
	int64_t begin;

	(void)rfc3339_parse("2026-11-02T00:00:00Z", 20, &begin);
	clock_fake_set(begin, BOOT_MS);
	r->cleaner.thresholds = &set->t;
	r->cleaner.world = world_new(begin);
	r->cleaner.world->on_event = on_event;
	r->cleaner.world->ctx = r;
	r->cleaner.story = story_new(r->cleaner.world, set->length);
	r->starting = true;
	if (ours)
		r->ours = ours_new(&r->cleaner);
	else
		original_restart(&r->cleaner);
	r->starting = false;
	for (; r->cleaner.world->now < begin + set->length; r->cleaner.world->now += STEP_MS)
		step(r, begin);
	r->cleaner.world->outcomes[SIT_ORDINARY].objects = 0;
	for (int i = 0; i < WORKLOADS; i++)
		r->cleaner.world->outcomes[SIT_ORDINARY].objects +=
			r->cleaner.world->workloads[i].situation == SIT_ORDINARY;
}

static void run_free(struct run *r)
{
	if (r->ours)
		ours_free(&r->ours);
	story_free(&r->cleaner.story);
	world_free(&r->cleaner.world);
}

/* -- the table -- */

/* The reason given most often. */
static const char *main_reason(const struct cleaner *c, int situation, unsigned *ret_n)
{
	int best = -1;

	*ret_n = 0;
	for (int i = 0; i < REASON__MAX; i++)
		if (c->refused[situation][i] > *ret_n) {
			*ret_n = c->refused[situation][i];
			best = i;
		}
	return best < 0 ? "" : reason_code((enum reason)best);
}

static unsigned undone(const struct run *r, int i)
{
	const struct ledger *o = &r->cleaner.world->outcomes[i];

	return situations[i].right == DONE && o->objects > o->handled ? o->objects - o->handled : 0;
}

static void print_row(const struct run *ours, const struct run *original, int i)
{
	const struct ledger *a = &ours->cleaner.world->outcomes[i],
			    *b = &original->cleaner.world->outcomes[i];
	unsigned n;
	const char *why = main_reason(&ours->cleaner, i, &n);
	char refused[80] = "";

	if (n)
		(void)snprintf(refused, sizeof(refused), "%u `%s`", n, why);
	printf("| %s | %u | %s | %u | %u | %s | %u | %u | %u | %u | %u |\n", situations[i].what, a->objects,
	       situations[i].right == DONE ? "act" : "leave", a->handled, undone(ours, i), refused, a->harm,
	       b->handled, undone(original, i), b->harm, b->futile);
}

static const char intro[] =
	"# A day of a cluster\n"
	"\n"
	"Written by `tests/day` (a test holds it to what it prints): one day of a cluster of 100 nodes and "
	"5,000 pods, played in\n"
	"simulated time with this program, and with the rules of the program it grew out of. "
	"Rollouts, a registry that is down\n"
	"for 90 minutes, two nodes that are lost, evictions, stuck terminations, an operator that puts "
	"replicas back, a local clock\n"
	"that is an hour ahead for ten minutes, and two restarts of the cleaner itself. *Harm* is read from "
	"what "
	"is true, not from\n"
	"the rules: a workload stopped that serves or that would have recovered, a pod removed whose process "
	"still runs, a Job's\n"
	"record lost. *Left undone* is what was right and was not done by the end.\n"
	"\n"
	"Ours runs as in production from the cache to the nomination (`watcher/`, `rules/`, its memory over "
	"restarts); the worker's\n"
	"half is the same rules on what is true. The original's bodies were not published: it is played as "
	"described, on events\n"
	"only, by the local clock, per pod; where nothing is said, in its favour (it knows finalizers and "
	"serves only the\n"
	"namespaces of the teams). A failed pull it dates from the pod's creation. Its writes that changed "
	"nothing for good are *futile*.\n"
	"It has no duty for what a node left behind, nor for crash loops.\n";

static const char head[] = "| what happens | objects | right | ours: done | ours: left undone | ours: "
			   "refused or held | ours: harm "
			   "| original: done | original: left undone | original: harm | original: futile |\n"
			   "|---|---:|---|---:|---:|---|---:|---:|---:|---:|---:|\n";

/* What the breaker did, with the times of the day. */
static void print_breaker(const struct cleaner *c)
{
	char at[RFC3339_MAX];

	for (size_t i = 0; i < c->n_breaker; i++) {
		const struct msg_saved *m = &c->breaker[i].u.saved;

		rfc3339_format(c->breaker_at[i], false, at);
		_cleanup_free_ char *common = facts_render(&m->evidence, NULL);

		if (m->at)
			printf("- %.5s the breaker opens and holds `errImagePull`: %s\n", at + 11, common);
		else
			printf("- %.5s the breaker closes by itself\n", at + 11);
	}
}

struct sums {
	unsigned done, undone, harm, futile;
};

static struct sums sum(const struct run *r)
{
	struct sums s = { 0 };

	for (int i = 0; i < SIT__MAX; i++) {
		const struct ledger *o = &r->cleaner.world->outcomes[i];

		s.done += o->handled;
		s.undone += undone(r, i);
		s.harm += o->harm;
		s.futile += o->futile;
	}
	return s;
}

static void print_set(const struct set *set, const struct run *ours, const struct run *original)
{
	const struct sums a = sum(ours), b = sum(original);

	printf("\n## %s\n\n%s\n\n%s", set->name, set->thresholds, head);
	for (int i = 0; i < SIT__MAX; i++)
		print_row(ours, original, i);
	printf("| **all** | | | **%u** | **%u** | | **%u** | **%u** | **%u** | **%u** | **%u** |\n\n", a.done,
	       a.undone, a.harm, b.done, b.undone, b.harm, b.futile);
	print_breaker(&ours->cleaner);
	printf("\nActs before their time by the API server's clock: ours %lld, the original %lld. Writes of "
	       "ours that an operator took\n"
	       "back: %u, then it held off.\n",
	       (long long)ours->cleaner.early, (long long)original->cleaner.early,
	       ours->cleaner.world->outcomes[SIT_CAME_BACK].futile);
}

/* What must be true of ours. Returns the number of what is not. */
static int check(const struct run *r)
{
	int wrong = 0;

	for (int i = 0; i < SIT__MAX; i++) {
		const struct ledger *o = &r->cleaner.world->outcomes[i];
		const bool good = o->harm == 0 &&
				  (situations[i].right == DONE ? o->handled == o->objects : o->writes == 0);

		if (!good)
			(void)fprintf(stderr, "%s: of %u objects %u handled by %u writes, %u did harm\n",
				      situations[i].what, o->objects, o->handled, o->writes, o->harm);
		wrong += !good;
	}
	if (r->cleaner.early)
		(void)fprintf(stderr, "%lld acts came before their time\n", (long long)r->cleaner.early);
	if (r->cleaner.world->outcomes[SIT_CAME_BACK].futile > 40)
		(void)fprintf(stderr, "a reverted scale-down was not given up\n");
	wrong += r->cleaner.n_breaker != 2; /* opens once and closes again */
	return wrong + (r->cleaner.early != 0) + (r->cleaner.world->outcomes[SIT_CAME_BACK].futile > 40);
}

static int play_set(const struct set *set)
{
	struct run *ours = xcalloc(1, sizeof(*ours)), *original = xcalloc(1, sizeof(*original));

	play(ours, set, true);
	play(original, set, false);
	print_set(set, ours, original);
	const int wrong = check(ours);

	run_free(ours);
	run_free(original);
	free(ours);
	free(original);
	return wrong;
}

int main(void)
{
	int wrong = 0;

	log_set_level(LOG_LEVEL_ERROR + 1); /* stands beside what is printed */
	(void)fputs(intro, stdout);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		wrong += play_set(&sets[i]);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
