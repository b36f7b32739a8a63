/* Resident memory falls, and nothing that was written is lost. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "tests/suite.h"

/* Relocated constants and written data: both must survive. */
static const char *const relocated[] = { "one", "two", "three" };
static char written[64] = "before";

/* A line of /proc/self/status: RssFile, RssAnon. */
static long status_kb(const char *name)
{
	const size_t n = strlen(name);
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "re");

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			kb = strtol(line + n + 1, NULL, 10);
	(void)fclose(f);
	ck_assert_int_gt(kb, 0);
	return kb;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

TEST(pages_of_code_are_let_go)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(numbers[0]), compare); /* maps code that nobody needs afterwards */
	const long before = status_kb("RssFile");

	ck_assert_uint_gt(memory_trim(), 100000);
	ck_assert_int_lt(status_kb("RssFile"), before);
}

TEST(what_was_written_stays)
{
	(void)snprintf(written, sizeof(written), "after");
	for (int i = 0; i < 3; i++)
		(void)memory_trim();
	ck_assert_str_eq(written, "after");
	ck_assert_str_eq(relocated[0], "one");
	ck_assert_str_eq(relocated[2], "three");
}

/* Each has a mapping of its own, which ends with it, as soon as the heap has no room of before. */
TEST(large_blocks_stand_apart)
{
	enum { SIZE = 100000, BLOCKS = 10, PAGE = 4096 };
	char *blocks[BLOCKS];
	unsigned char there[1];

	memory_large_blocks_apart();
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(SIZE);
	char *inside = (char *)(((uintptr_t)blocks[BLOCKS - 1] + PAGE) & ~(uintptr_t)(PAGE - 1));

	ck_assert_int_eq(mincore(inside, PAGE, there), 0);
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
#if !defined(__SANITIZE_ADDRESS__) /* whose heap is another one */
	ck_assert_int_lt(mincore(inside, PAGE, there), 0);
	ck_assert_int_eq(errno, ENOMEM);
#endif
}

TEST(free_heap_goes_back)
{
	enum { BLOCKS = 4000, SIZE = 4000 };
	static char *blocks[BLOCKS];

	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(SIZE);
		ck_assert_ptr_nonnull(blocks[i]);
		memset(blocks[i], 1, SIZE);
	}
	for (int i = 0; i < BLOCKS - 1; i++) /* the last one keeps the top of the heap where it is */
		free(blocks[i]);
	const long before = status_kb("RssAnon");

	(void)memory_trim();
#if !defined(__SANITIZE_ADDRESS__) /* whose heap is another one */
	ck_assert_int_lt(status_kb("RssAnon"), before - BLOCKS / 2 * SIZE / 1024);
#endif
	ck_assert_int_gt(before, 0);
	ck_assert_int_eq(blocks[BLOCKS - 1][SIZE - 1], 1);
	free(blocks[BLOCKS - 1]);
}

SUITE("base/memory");
