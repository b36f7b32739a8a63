/* fake.h - an API server that says what the test wrote down, and remembers what it was asked.  Layer: tests.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_WORKER_FAKE_H
#define TESTS_UNIT_WORKER_FAKE_H

#include <check.h>
#include <string.h>

#include "rules/judge.h"
#include "worker/action.h"

#define SEC  ((int64_t)1000)
#define HOUR (3600 * SEC)
#define NOW  INT64_C(1790000000000) /* 2026-09-21T14:13:20Z */
#define LIVE "2026-09-20T14:13:20Z" /* a day before */
#define BOOT UINT64_C(5000000)

struct fake_reply {
	char *request; /* "GET /api/v1/nodes/n": the path up to '?' or the end */
	int times;     /* 0 = always */
	long status;   /* 0 = failure */
	char *body;
	enum http_failure failure;
	bool sent;
	int64_t retry_after_ms, date_ms;
};

extern struct fake {
	struct policy policy;
	struct msg_grant grant;
	bool dry_run;
	bool grants_as_it_is; /* else it names what the pod says, known for long */
	struct owner_kinds *kinds;
	struct namespace_cache *namespaces; /* NULL = none */
	struct server_clock clock;
	struct windows *windows; /* NULL = none */
	char *const *contact_keys;
	struct fake_reply replies[64];
	size_t n_replies;
	char *log[64]; /* "METHOD path body" */
	size_t n_log;
	int64_t slowness_ms; /* each answer takes this long */
	unsigned credentials, unmarked, done;
	uint64_t pauses[16]; /* ms */
	size_t n_pauses;
	struct msg_result result;
	struct msg_quote quotes[QUOTES_MAX];
	size_t n_quotes;
	bool reported; /* and what */
	struct object_event event;
} fake;

void fake_setup(void);
/* The server is known to have no Evictions: a forced deletion does not ask. */
void without_evictions(void);
void fake_teardown(void);

/* JSON in which ' stands for ". Owned by the fake. The newest unspent reply to a request counts. */
struct fake_reply *on(const char *request, long status, const char *body, ...)
	__attribute__((format(printf, 3, 4)));
struct fake_reply *on_failure(const char *request, enum http_failure failure, bool sent);
void go(void);
/* Without a grant: fake_drain() lets it read. Then grant(), or give_up(). */
void go_prefetch(void);
void grant(void);
void give_up(void);
/* A reload: the action goes by these settings from now on. */
void settings_change(const struct policy *policy);
/* All answers that are due. */
void fake_drain(void);

#define POD_PATH       "/api/v1/namespaces/shop/pods/web"
#define NAMESPACE_PATH "/api/v1/namespaces/shop" /* without an answer written down: it is not marked */
/* A pod shop/web with uid pod-1: members of metadata (may be empty or start with a comma), spec, status. */
struct fake_reply *on_pod(const char *rv, const char *meta, const char *spec, const char *status);

void expect_requests(int line, const char *first, ...);
/* The requests sent, each as a prefix of "METHOD path body"; NULL-terminated. */
#define REQUESTS(...) expect_requests(__LINE__, __VA_ARGS__, NULL)
void expect_result(enum outcome outcome, enum reason reason, int line);
#define RESULT(outcome, reason) expect_result(OUTCOME_##outcome, REASON_##reason, __LINE__)
/* Gone: by somebody else, or perhaps by us when the grant says "verify first". */
#define RESULT_GONE(reason)                                                                                  \
	expect_result(fake.grant.verify_first ? OUTCOME_UNCONFIRMED : OUTCOME_GONE,                          \
		      fake.grant.verify_first ? REASON_PROBABLY_DONE : REASON_##reason, __LINE__)

#endif
