/* cache.c - what a pod costs without a network: bytes in the cache; time to decode, put, put again, change,
 * sweep, judge. Pods come as a list brings them, events as they like.
 *     bench_cache [PODS]                 a table
 *     bench_cache --instructions PODS    decodes and puts so many pods and says nothing: for callgrind
 *     bench_cache --decode PODS          only decodes them */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/pods.h"
#include "kube/decode_protobuf.h"
#include "rules/judge.h"
#include "watcher/cache/store.h"

#define BATCH       16u /* pods that are timed together: what one read of a socket brings */
#define DECODED_MAX 50000u
#define EVENTS_MAX  100000u
#define MARKS       (MARK_LIVE | MARK_READY | MARK_WORKS(0))

static uint8_t bytes[BATCH][POD_BYTES_MAX];
static size_t size[BATCH];
static struct pod_facts facts;

/* Our own time only: others may be using this machine. */
static double seconds(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void on_removed(void *ctx, uint32_t h)
{
	(void)ctx;
	(void)h;
}

static void on_tally(void *ctx, uint32_t group)
{
	(void)ctx;
	(void)group;
}

static size_t resident_kb(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		(void)fclose(f);
	return pages * 4;
}

/* Decodes the first n of the batch, and puts them when there is a store. Callgrind counts what happens in
 * here:
 * --toggle-collect=take. */
static __attribute__((noinline, used)) void take(struct store *s, uint32_t n)
{
	enum store_change change;
	uint32_t h;

	for (uint32_t k = 0; k < n; k++) {
		if (decode_pod_protobuf(bytes[k], size[k], &facts) < 0)
			abort();
		if (s && store_put(s, &facts, MARKS, &h, &change) < 0)
			abort();
	}
}

/* A list of pods 0 to n - 1; seconds a pod. */
static double list(struct store *s, uint32_t pods)
{
	double spent = 0;

	for (uint32_t i = 0, n; i < pods; i += n) {
		n = pods - i < BATCH ? pods - i : BATCH;
		for (uint32_t k = 0; k < n; k++)
			size[k] = pods_write(i + k, i + k, 0, bytes[k]);
		const double before = seconds();

		take(s, n);
		spent += seconds() - before;
	}
	return spent / pods;
}

/* Containers restart here and there. */
static double events(struct store *s, uint32_t pods)
{
	const uint32_t n = pods < EVENTS_MAX ? pods : EVENTS_MAX;
	double spent = 0;

	for (uint32_t i = 0; i < n; i += BATCH) {
		for (uint32_t k = 0; k < BATCH; k++) {
			const uint32_t which = (uint32_t)((uint64_t)(i + k) * 2654435761u % pods);

			size[k] = pods_write(which, pods + i + k, 1 + (i + k) % 100, bytes[k]);
		}
		const double before = seconds();

		take(s, BATCH);
		spent += seconds() - before;
	}
	return spent / n;
}

static double judge_all(struct store *s, uint32_t pods)
{
	struct policy policy = { 0 };
	struct pod_context around = { .stage = STAGE_CACHE };
	struct verdict v;

	for (int d = 0; d < DUTY__MAX; d++) {
		policy.duty[d].enable = true;
		str_list_add(&policy.duty[d].namespaces, "*", 1);
		str_list_add(&policy.duty[d].status, "ImagePullBackOff", 16);
	}
	const double before = seconds();

	for (uint32_t h = 0; (h = store_next(s, h));) {
		store_get(s, h, &facts);
		judge_pod(&facts, &policy, &around, 1770000000000, &v);
	}
	const double spent = seconds() - before;

	for (int d = 0; d < DUTY__MAX; d++) {
		str_list_done(&policy.duty[d].namespaces);
		str_list_done(&policy.duty[d].status);
	}
	return spent / pods;
}

static void row(const char *what, double value)
{
	printf("%-28s %12.0f\n", what, value);
}

/* 0, or 1 when a relist lost a pod. */
static int table(struct store *s, uint32_t pods)
{
	const double decode = list(NULL, pods < DECODED_MAX ? pods : DECODED_MAX);
	const size_t before = resident_kb();
	const double both = list(s, pods), put = both - decode;
	const size_t after = resident_kb(), counted = store_bytes(s);
	const struct store_sizes sizes = store_sizes(s);
	const uint32_t number = store_list_begin(s);
	const double again = list(s, pods) - decode, t = seconds();
	const size_t swept = store_sweep(s, number, STR_LIT(""));
	const double sweep = (seconds() - t) / pods, event = events(s, pods) - decode;

	row("pods", (double)store_count(s));
	row("of them its record", (double)sizes.pods / pods);
	row("its handle", (double)sizes.handles / pods);
	row("its place in the index", (double)sizes.index / pods);
	row("texts", (double)sizes.texts / pods);
	row("its owner", (double)sizes.groups / pods);
	printf("%-28s %12.1f\n", "bytes a pod, as counted", (double)counted / pods);
	printf("%-28s %12.1f\n", "bytes a pod, resident", (double)(after - before) * 1024 / pods);
	printf("%-28s %12.1f\n", "after events, resident", (double)(resident_kb() - before) * 1024 / pods);
	row("decode, ns a pod", decode * 1e9);
	row("put, ns a pod", put * 1e9);
	row("decode and put, ns a pod", both * 1e9);
	row("relist, ns a pod", again * 1e9);
	row("change, ns an event", event * 1e9);
	row("sweep, ns a pod", sweep * 1e9);
	row("unpack and judge, ns a pod", judge_all(s, pods) * 1e9);
	return swept != 0 || store_count(s) != pods;
}

int main(int argc, char **argv)
{
	static const struct store_ops ops = { on_removed, on_tally };
	const bool decode = argc == 3 && strcmp(argv[1], "--decode") == 0;
	const bool quiet = decode || (argc == 3 && strcmp(argv[1], "--instructions") == 0);
	const char *number = argc == 1 ? "150000" : argv[argc - 1];
	uint64_t pods = 0;

	if ((argc > 2 && !quiet) || str_to_u64(number, strlen(number), &pods) < 0 || pods == 0 ||
	    pods > 10000000) {
		(void)fprintf(stderr, "usage: bench_cache [--instructions|--decode] [PODS], 1 to 10000000\n");
		return 64;
	}
	struct store *s = store_new(&ops, NULL);
	int r = 0;

	pods_init();
	if (quiet)
		(void)list(decode ? NULL : s, (uint32_t)pods);
	else
		r = table(s, (uint32_t)pods);
	store_free(&s);
	return r;
}
