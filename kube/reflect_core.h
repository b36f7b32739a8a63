/* reflect_core.h - what a reflector does next: client-go's ListAndWatch (tools/cache/reflector.go) as a pure
 * state machine, state x event -> step. It knows no network, no clock and no objects. Layer: kube.
 *
 * Taken over: WatchList first, falling back to a paged list for the round; resourceVersion of lists ("" when
 * the last one was refused as expired or too large, else the last one, "0" at first); `limit` left out when a
 * resourceVersion would make the server ignore or mistake it; an expired continue token falls back to one
 * full list; 429 and refused connections wait and go on, other errors begin a new round after the backoff;
 * a watch that ends is opened again from the last resourceVersion, one that ended at once with nothing is an
 * error; backoff 0.8 s x 2 up to 30 s, jitter 1, begun anew after 2 quiet minutes; Retry-After obeyed at most
 * ten times in a row.
 * Beyond client-go: a server restored from a backup waits without a word until it reaches the version that a
 * watch begins at (kubernetes/kubernetes#107457); a second stream in a row that stalls is followed by a
 * list of any version.
 * Different on purpose: whatever client-go would repeat at once without end (a refusal of resourceVersion "",
 * streams that end within a second again and again, a continue token that comes back) waits for the backoff.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_REFLECT_CORE_H
#define KUBE_REFLECT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum core_request {
	CORE_NONE,
	CORE_WATCHLIST, /* a watch that begins with all objects */
	CORE_LIST,      /* one page */
	CORE_WATCH,
};

enum core_event {
	CORE_START,     /* at first, and when the wait of a step is over */
	CORE_PAGE,      /* a page of a list arrived whole: rv, token */
	CORE_SYNCED,    /* the bookmark that ends a WatchList's initial objects: rv */
	CORE_ENDED,     /* a stream ended without an error from the server (also inside a frame) */
	CORE_EXPIRED,   /* 410, as answer or as ERROR event */
	CORE_TOO_LARGE, /* resourceVersion is ahead of the server */
	CORE_BUSY,      /* 429, or no connection: ask the same again later */
	CORE_RETRY,     /* 429 or 5xx with Retry-After: retry_after_ms */
	CORE_DENIED,    /* 401: no other request would fare better */
	CORE_FAILED,    /* anything else */
	CORE_STALLED,   /* nothing came for so long that the stream was cut off on this side */
};

struct core_input {
	enum core_event event;
	uint64_t now_ms;
	double random; /* [0,1) */
	struct str rv, token;
	int64_t retry_after_ms;
};

/* Do this: tell the consumer, wait, make the request. */
struct core_step {
	bool list_lost;            /* the list in hand is given up */
	bool list_synced;          /* the list in hand is complete */
	bool backoff;              /* the wait is a backoff: something is wrong */
	uint64_t wait_ms;          /* not 0: feed CORE_START when it is over; no request now */
	enum core_request request; /* to be made at once; CORE_NONE: wait, or the stream in hand goes on */
	uint32_t limit;            /* of a page, when the server has to keep to it; 0 = it need not */
	uint32_t timeout_s;        /* watches: the server ends them then */
	const char *query;         /* owned by the core, valid until the next call */
};

struct core_config {
	bool no_watchlist;
	uint32_t page_size; /* 0 = 500, and client-go's rules of when to leave it out; else always used */
	uint32_t backoff_base_ms; /* 0 = 800; the cap is 37.5 times as long */
};

#define CORE_RV_MAX 128

struct reflect_core {
	struct core_config config;
	char rv[CORE_RV_MAX]; /* last known; "" = none */
	bool rv_refused;      /* expired, too large, or older than what is known: the next list asks for "" */
	bool unversioned;     /* the stream began at "" or "0": rv stands still until a non-ADDED event */
	bool paginated;       /* the server pages although asked for "0": it has no watch cache */
	/* in hand */
	enum core_request request;
	enum core_request next; /* after a wait; CORE_NONE: a new round */
	bool full_list, asked_zero, asked_none;
	char *token;
	char list_rv[CORE_RV_MAX]; /* of the list's first page */
	uint64_t pages;
	/* the running stream, or all pages of a list */
	uint64_t opened_ms, events;
	unsigned short_streams; /* in a row */
	unsigned stalled;       /* watches in a row that never spoke */
	/* waits */
	uint64_t last_backoff_ms;
	unsigned failures; /* since the backoff began anew */
	unsigned retries;  /* by Retry-After, in a row */
	char *query;
};

void reflect_core_init(struct reflect_core *c, const struct core_config *config);
void reflect_core_done(struct reflect_core *c);
void reflect_core_step(struct reflect_core *c, const struct core_input *in, struct core_step *ret);
/* An object or bookmark of the running stream or list was taken: its resourceVersion; is_added for ADDED and
 * for what a list holds. */
void reflect_core_observe_rv(struct reflect_core *c, struct str rv, bool is_added);
/* Server and proxies are told how long a watch lasts; later than this it is dead. */
#define CORE_WATCH_GRACE_S 5

#endif
