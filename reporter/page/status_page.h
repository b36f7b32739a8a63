/* status_page.h - the state of the program as one page of HTML, in the look of the report, which a browser
 * loads again by itself. It only reads. Layer: process (reporter), page.  Pure. Says nothing secret: it is
 * given no address of a sink, and no credential. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_STATUS_PAGE_H
#define REPORTER_PAGE_STATUS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/zone.h"
#include "ipc/msg.h"
#include "model/language.h"

/* The Content-Security-Policy of a page: nothing but text/templates/page/style.mustache, by its hash
 * (https://www.w3.org/TR/CSP3/#external-hash). tests/unit/reporter/test_page.c says the new one when the
 * stylesheet has changed. */
#define PAGE_POLICY                                                                                          \
	"default-src 'none'; style-src 'sha256-twXyLuAzrHF3kyie2j+HPs5pVCdwBPXw7ptOe4Uk6DQ='; "              \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* A browser loads the page again after so many seconds. */
#define LIVE_REFRESH_S 15
/* So many rows of each table at most; the rest is counted. */
#define LIVE_ROWS_MAX    100u
#define LIVE_ACTIONS_MAX 20u

/* What stands in the way: of the program, or of what should be done. Texts are borrowed. */
struct live_trouble {
	const char *cluster, *object; /* "" = of none */
	const char *sentence, *remedy;
	const struct facts *detail; /* NULL: none */
	int64_t since_ms;           /* 0 = unknown */
	bool is_blind;
};

struct live_cluster {
	const char *name;
	bool synced, leading, is_paused;
	uint64_t pods, due, blocked, done, at_zero; /* done: within 24 hours */
	const struct facts *problem, *blocked_by;   /* NULL: none */
};

/* Pods that stand so: duty, "due", "blocked", ... and why. */
struct live_due {
	const char *cluster, *duty, *verdict, *reason; /* reason: its code */
	uint64_t n;
	int64_t oldest_ms; /* 0 = unknown */
};

struct live_sink {
	const char *name, *type;
	uint64_t waiting;
	int64_t oldest_ms, delivered_ms; /* 0 = none, never */
	struct facts error;
};

struct live {
	enum language language;
	const struct zone *zone; /* NULL = UTC */
	const char *version;
	int64_t now_ms;
	bool observe, live, ready;   /* live, ready: as /livez and /readyz say */
	int64_t report_next_ms;      /* when the next one is due; 0 = there is none */
	bool has_windows;            /* a duty acts at certain times only */
	int64_t window_ms;           /* when the first window opens; 0 = one is open */
	uint32_t done_by_hour[24];   /* actions; the last is the hour that ends now */
	int64_t report_delivered_ms; /* when the last one was delivered; 0 = never */
	struct live_trouble *troubles;
	size_t n_troubles;
	struct msg_pause *pauses;
	size_t n_pauses;
	struct live_cluster *clusters;
	size_t n_clusters;
	const char *cluster_title; /* of the only one, where that is not its name; NULL = its name */
	struct live_due *due;
	size_t n_due;
	struct msg_ctl_history_row *actions, *refusals, *at_zero; /* the newest first */
	size_t n_actions, n_refusals, n_at_zero;
	unsigned
		*n_alike; /* of each of the actions: how many one after the other are like it; NULL: 1 each */
	struct live_sink *sinks;
	size_t n_sinks;
};

/* The page; the caller frees it. */
char *page_status(const struct live *l, size_t *ret_size);

#endif
