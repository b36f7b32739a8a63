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

struct json_t;

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

/* Its tables: as many rows as there is room for, and how many there are. */
enum status_table {
	STATUS_TROUBLES,
	STATUS_PAUSES,
	STATUS_CLUSTERS,
	STATUS_DUE,
	STATUS_ACTIONS,
	STATUS_AT_ZERO,
	STATUS_REFUSALS,
	STATUS_SINKS,
	STATUS__MAX
};

/* Texts are borrowed. */
struct status_page {
	enum language language;
	const struct zone *zone; /* NULL = UTC */
	const char *version;
	const char *cluster_title; /* of the only one, where that is not its name; NULL = its name */
	int64_t now_ms;
	bool observe, ready;         /* ready: as /readyz says */
	bool no_history;             /* what it holds is not known */
	int64_t report_next_ms;      /* when the next one is due; 0 = there is none */
	int64_t report_delivered_ms; /* when the last one was delivered; 0 = never */
	bool has_windows;            /* a duty acts at certain times only */
	int64_t window_ms;           /* when the first window opens; 0 = one is open */
	uint32_t done_by_hour[24];   /* actions; the last is the hour that ends now */
	/* what the functions below have added */
	struct json_t *rows[STATUS__MAX];
	uint64_t n[STATUS__MAX];
	uint64_t due, blocked, done, at_zero; /* of all clusters */
};

/* What stands in the way: of the program, or of what should be done. */
struct page_trouble {
	const char *cluster, *object; /* "" = of none */
	const char *sentence, *remedy;
	const struct facts *detail; /* NULL: none */
	int64_t since_ms;           /* 0 = unknown */
	bool is_blind;
};
/* Each adds a row to its table, or counts it where there is no room; what is given is only read. */
void status_page_add_trouble(struct status_page *p, const struct page_trouble *t);
void status_page_add_pause(struct status_page *p, const struct msg_pause *m);
void status_page_add_cluster(struct status_page *p, const struct msg_ctl_tally_row *tally,
			     const struct msg_watch_stats *watch, bool is_paused);
void status_page_add_due(struct status_page *p, const char *cluster, const struct msg_due_row *m);
/* The newest first; alike: how many one after the other are like this one. */
void status_page_add_action(struct status_page *p, const struct msg_ctl_history_row *m, unsigned alike);
void status_page_add_at_zero(struct status_page *p, const struct msg_ctl_history_row *m);
void status_page_add_refusal(struct status_page *p, const struct msg_ctl_history_row *m);
/* delivered_ms: when it took a message last; 0 = never. */
void status_page_add_sink(struct status_page *p, const char *name, const char *type, uint64_t waiting,
			  int64_t delivered_ms, const struct facts *error);

/* The page, with all that was added, which is freed; the caller frees it. */
char *status_page_end(struct status_page *p, size_t *ret_size);

#endif
