/* test_histories.c - thousands of random histories of a cluster and of the way there, against a dictionary. A
 * history that fails is made smaller until no step can be left out, and printed in the form of the files in
 * histories/; those that were found once are kept there and played first. SEED=n HISTORIES=n   the same
 * histories again, or more of them PLANT=n              with a fault planted (enum plant), to see it found
 * usage: test_histories FOLDER [HISTORIES] */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <dirent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "http/global.h"
#include "tests/integration/informer/shrink.h"
#include "tests/integration/informer/world.h"
#include "tests/suite.h"

/* Until a history has to come to rest: on a busy machine; and while one that failed is made smaller, and
 * altogether: SHRINK_TRIES end it, the time is for a machine that has become too slow for them. */
enum { LIMIT_MS = 30000, SHRINK_LIMIT_MS = 3000, SHRINK_ALL_MS = 300000 };
enum { WORLDS = 24, PROCESSES = 2, KEPT_TIMES = 10, SHRINK_TRIES = 600, AGAIN = 12 };
/* Steps of a history that is small (random ones have up to 47), and how many that fail are made smaller. */
enum { SMALL = 12, FOUND_TRIES = 4 };

static const char *folder;
static uint64_t seed, rounds = 10000, planted;

/* -- many at a time -- */

/* Histories in order of their number: the next one into *h, false when there are no more. */
typedef bool next_fn(void *ctx, struct history *h);

struct slot {
	struct world *world;
	struct history history;
	bool busy;
};

struct batch {
	struct event_base *base;
	struct event *tick;
	struct slot slots[WORLDS];
	size_t n, busy;
	struct world_counts counts;
	uint64_t until;        /* no more questions after that; 0: any time */
	struct history failed; /* the first that did */
	char verdict[256];
};

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg; /* it only ends the wait */
}

static struct batch *batch_new(size_t n, enum plant plant, uint64_t limit_ms)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	const struct timeval ms = { 0, 1000 };

	b->base = event_base_new();
	b->tick = event_new(b->base, -1, EV_PERSIST, on_tick, NULL);
	event_add(b->tick, &ms);
	b->n = n;
	for (size_t i = 0; i < n; i++)
		b->slots[i].world = world_new(b->base, plant, limit_ms, &b->counts);
	return b;
}

static void batch_free(struct batch **b)
{
	for (size_t i = 0; i < (*b)->n; i++)
		world_free(&(*b)->slots[i].world);
	event_free((*b)->tick);
	event_base_free((*b)->base);
	free(*b);
	*b = NULL;
}

static void slot_step(struct batch *b, struct slot *s, next_fn *next, void *ctx)
{
	if (s->busy && world_step(s->world)) {
		s->busy = false;
		b->busy--;
		if (world_verdict(s->world) && !*b->verdict) {
			b->failed = s->history;
			(void)snprintf(b->verdict, sizeof(b->verdict), "%s", world_verdict(s->world));
		}
	}
	if (!s->busy && !*b->verdict && next(ctx, &s->history)) {
		s->busy = true;
		b->busy++;
		world_begin(s->world, &s->history);
	}
}

/* Until all are over, or one has failed. */
static void batch_run(struct batch *b, next_fn *next, void *ctx)
{
	*b->verdict = '\0';
	do {
		for (size_t i = 0; i < b->n; i++)
			slot_step(b, &b->slots[i], next, ctx);
		if (b->busy)
			event_base_loop(b->base, EVLOOP_ONCE);
	} while (b->busy && !*b->verdict);
	for (size_t i = 0; i < b->n; i++)
		b->slots[i].busy = false;
	b->busy = 0;
}

/* -- one of them, smaller and smaller -- */

struct again {
	struct batch *batch;
	const struct history *history;
	unsigned left;
};

static bool same_again(void *ctx, struct history *h)
{
	struct again *a = ctx;

	if (a->left == 0)
		return false;
	a->left--;
	*h = *a->history;
	return true;
}

/* Does it fail in one of a few times? When things arrive is not up to the test. */
static bool fails(void *ctx, const struct history *h)
{
	struct again a = { ctx, h, AGAIN };

	if (a.batch->until && clock_boot_ms() > a.batch->until)
		return false;
	batch_run(a.batch, same_again, &a);
	return *a.batch->verdict;
}

static void shrink_failed(struct history *h, enum plant plant, char verdict[256])
{
	struct batch *b = batch_new(AGAIN, plant, SHRINK_LIMIT_MS);

	b->until = clock_boot_ms() + SHRINK_ALL_MS;
	shrink(h, SHRINK_TRIES, fails, b);
	for (int i = 0; i < 20 && !fails(b, h); i++) {
	}
	if (*b->verdict)
		memcpy(verdict, b->verdict, 256);
	batch_free(&b);
}

/* -- random ones -- */

struct numbers {
	uint64_t at, step, end;
};

static bool next_random(void *ctx, struct history *h)
{
	struct numbers *n = ctx;

	if (n->at >= n->end)
		return false;
	history_make(h, seed + n->at * UINT64_C(0x100000001));
	n->at += n->step;
	return true;
}

static void report(struct batch *b, enum plant plant)
{
	printf("%s\n", b->verdict);
	printf("a history of %zu steps that fails:\n", b->failed.n);
	history_print(&b->failed, stdout);
	printf("made smaller:\n");
	(void)fflush(stdout);
	shrink_failed(&b->failed, plant, b->verdict);
	printf("--- tests/integration/informer/histories/NAME.txt\n# %s\n", b->verdict);
	history_print(&b->failed, stdout);
	printf("---\n");
	(void)fflush(stdout);
}

/* A process of its own: every PROCESSES-th history. */
static int run_share(uint64_t which)
{
	struct batch *b = batch_new(WORLDS, (enum plant)planted, LIMIT_MS);
	struct numbers numbers = { which, PROCESSES, rounds };
	int failed;

	batch_run(b, next_random, &numbers);
	failed = *b->verdict != '\0';
	if (failed)
		report(b, (enum plant)planted);
	printf("%llu histories, %llu steps: %llu events, %llu lists, %llu given up, %llu troubles, %llu bad "
	       "objects\n",
	       (unsigned long long)b->counts.histories, (unsigned long long)b->counts.steps,
	       (unsigned long long)b->counts.events, (unsigned long long)b->counts.lists,
	       (unsigned long long)b->counts.given_up, (unsigned long long)b->counts.troubles,
	       (unsigned long long)b->counts.bad_objects);
	/* The troubles troubled. */
	if (!failed &&
	    (b->counts.lists < b->counts.histories * 5 / 4 || b->counts.given_up < b->counts.histories / 50))
		failed = 2;
	batch_free(&b);
	(void)fflush(stdout);
	return failed;
}

TEST(random_histories)
{
	pid_t children[PROCESSES];
	int failed = 0;

	for (uint64_t i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(run_share(i));
	}
	for (uint64_t i = 0; i < PROCESSES; i++) {
		int status;

		ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
		failed |= status;
	}
	ck_assert_msg(failed == 0, "see above; again with SEED=%llu", (unsigned long long)seed);
}

/* -- kept ones -- */

static void play_kept(const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", folder, name);
	static struct history h;
	FILE *f = fopen(path, "re");
	int line;

	ck_assert_msg(f != NULL, "%s", path);
	ck_assert_msg(history_read(&h, f, &line), "%s:%d: no such step", path, line);
	(void)fclose(f);
	struct batch *b = batch_new(KEPT_TIMES, PLANT_NONE, LIMIT_MS);
	struct again a = { b, &h, KEPT_TIMES };

	batch_run(b, same_again, &a);
	ck_assert_msg(!*b->verdict, "%s: %s", name, b->verdict);
	batch_free(&b);
}

TEST(kept_histories)
{
	DIR *d = opendir(folder);
	unsigned n = 0;

	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));)
		if (strstr(e->d_name, ".txt")) {
			play_kept(e->d_name);
			n++;
		}
	closedir(d);
	ck_assert_uint_gt(n, 0);
}

/* -- does it find anything? -- */

/* The next random history that fails, made smaller. */
static void find_small(struct numbers *numbers, enum plant plant, struct history *ret, char verdict[256])
{
	struct batch *b = batch_new(WORLDS, plant, LIMIT_MS);

	batch_run(b, next_random, numbers);
	ck_assert_msg(*b->verdict, "fault %d is not found", (int)plant);
	*ret = b->failed;
	batch_free(&b);
	shrink_failed(ret, plant, verdict);
}

/* Each planted fault is found among some hundred histories, and what is left of the history that found it is
 * short, still fails, and does not without the fault. A history that fails only now and then, as things have
 * to arrive just so, cannot be made small: then another one. */
TEST_LOOP(planted_faults_are_found, PLANT_NONE + 1, PLANT__MAX)
{
	const enum plant plant = (enum plant)_i;
	struct numbers numbers = { 0, 1, 3000 };
	char verdict[256] = "";
	static struct history small;

	for (int i = 0; i == 0 || (i < FOUND_TRIES && small.n > SMALL); i++)
		find_small(&numbers, plant, &small, verdict);
	printf("fault %d: %s\n", _i, verdict);
	history_print(&small, stdout);
	ck_assert_uint_le(small.n, SMALL);
	struct batch *sound = batch_new(AGAIN, PLANT_NONE, LIMIT_MS);

	ck_assert(!fails(sound, &small));
	batch_free(&sound);
}

/* -- the shrinker and the text -- */

static bool three_steps(void *ctx, const struct history *h)
{
	size_t i = 0;
	uint16_t pod = 0;

	++*(unsigned *)ctx;
	for (size_t k = 0; k < h->n; k++) {
		const struct op op = h->ops[k];

		if (i == 0 && op.kind == OP_CREATE) {
			pod = op.arg;
			i = 1;
		} else if (i == 1 && op.kind == OP_COMPACT) {
			i = 2;
		} else if (i == 2 && op.kind == OP_DELETE && op.arg == pod) {
			return true;
		}
	}
	return false;
}

TEST(shrinks_to_what_is_needed)
{
	static struct history h;
	unsigned found = 0, questions = 0;

	for (uint64_t s = 1; s < 4000; s++) {
		history_make(&h, s);
		if (!three_steps(&questions, &h))
			continue;
		found++;
		shrink(&h, SHRINK_TRIES, three_steps, &questions);
		ck_assert_uint_eq(h.n, 3);
		ck_assert_int_eq(h.mode, MODE_WATCHLIST);
		ck_assert_uint_eq(h.ops[0].arg, 0);
		ck_assert_uint_eq(h.ops[2].arg, 0);
	}
	ck_assert_uint_gt(found, 20);
}

TEST(shrinking_ends)
{
	static struct history h;
	unsigned questions = 0;

	for (uint64_t s = 1; !three_steps(&questions, &h); s++)
		history_make(&h, s);
	questions = 0;
	shrink(&h, 5, three_steps, &questions);
	ck_assert_uint_le(questions, 5);
	ck_assert(three_steps(&questions, &h)); /* never loses the failure */
}

TEST(text_goes_both_ways)
{
	static struct history h, back;
	int line;

	for (uint64_t s = 1; s < 500; s++) {
		char text[8192];
		FILE *f = fmemopen(text, sizeof(text), "w+");

		history_make(&h, s);
		history_print(&h, f);
		rewind(f);
		ck_assert_msg(history_read(&back, f, &line), "line %d", line);
		(void)fclose(f);
		ck_assert_int_eq(back.mode, h.mode);
		ck_assert_uint_eq(back.n, h.n);
		ck_assert_mem_eq(back.ops, h.ops, h.n * sizeof(struct op));
	}
}

TEST(text_that_is_none)
{
	static const char *const wrong[] = { "dance",     "create", "create ns-0/p-4", "create ns-2/p-0",
					     "mode fast", "rest 3", "fail nothing",    "wait x" };
	static struct history h;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		FILE *f = fmemopen((void *)(uintptr_t)wrong[i], strlen(wrong[i]), "r");
		int line = 0;

		ck_assert_msg(!history_read(&h, f, &line), "%s", wrong[i]);
		ck_assert_int_eq(line, 1);
		(void)fclose(f);
	}
}

static int number_from(const char *name, uint64_t *ret)
{
	const char *text = getenv(name);

	return text ? str_to_u64(text, strlen(text), ret) : 0;
}

static void cases(__attribute__((unused)) Suite *suite, TCase *t)
{
	tcase_set_timeout(t, 600);
}

int main(int argc, char **argv)
{
	seed = (uint64_t)time(NULL);
	if (argc < 2 || argc > 3 || (argc == 3 && str_to_u64(argv[2], strlen(argv[2]), &rounds) < 0) ||
	    number_from("SEED", &seed) < 0 || number_from("HISTORIES", &rounds) < 0 ||
	    number_from("PLANT", &planted) < 0 || planted >= PLANT__MAX) {
		(void)fprintf(stderr, "usage: [SEED=n] [HISTORIES=n] [PLANT=n] %s FOLDER [HISTORIES]\n",
			      argv[0]);
		return 64;
	}
	folder = argv[1];
	printf("SEED=%llu HISTORIES=%llu\n", (unsigned long long)seed, (unsigned long long)rounds);
	(void)fflush(stdout);
	http_global_init();
	return suite_run("integration/informer", cases);
}
