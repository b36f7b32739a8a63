/* support.h - what the reporter's tests share: a directory of their own, messages, one main.  Layer: tests.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_REPORTER_SUPPORT_H
#define TESTS_UNIT_REPORTER_SUPPORT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "ipc/msg.h"
#include "reporter/history/db.h"
#include "tests/facts_en.h"

static inline int test_open(const char *dir, uint64_t max_bytes, struct db **ret, struct facts *ret_why)
{
	int r = db_claim(dir, ret, ret_why);

	if (r == 0)
		r = db_open(*ret, max_bytes, ret_why);
	if (r < 0)
		db_close(ret);
	return r;
}

static inline struct db *test_db_open(const char *dir)
{
	struct facts why = { 0 };
	struct db *db = NULL;
	const int r = test_open(dir, 0, &db, &why);

	ck_assert_msg(r == 0, "db_open: %d %s", r, EN(why));
	return db;
}

static inline void test_names(struct str_list *l, const char *a, const char *b)
{
	*l = (struct str_list){ 0 };
	str_list_add(l, a, strlen(a));
	if (b)
		str_list_add(l, b, strlen(b));
}

#define test_set(m, member, s) msg_set(m, member, s, strlen(s))

static inline struct msg test_row(uint64_t cluster, uint64_t digest, const char *ns, const char *workload,
				  const char *pod, uint64_t restarts)
{
	struct msg m = { .type = MSG_DIGEST_ROW };

	m.u.digest_row.cluster = cluster;
	m.u.digest_row.digest = digest;
	m.u.digest_row.restarts = restarts;
	m.u.digest_row.exit_code = 137;
	m.u.digest_row.created = 1000;
	test_set(&m, digest_row.ns, ns);
	test_set(&m, digest_row.kind, "Deployment");
	test_set(&m, digest_row.workload, workload);
	test_set(&m, digest_row.pod, pod);
	test_set(&m, digest_row.container, "app");
	test_set(&m, digest_row.reason, "CrashLoopBackOff");
	return m;
}

#endif
