/* reflect_core.c - see reflect_core.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/reflect_core.h"

#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/path.h"

#define DEFAULT_PAGE      500
#define PAGES_MAX         100000
#define WATCH_MIN_S       300
#define SHORT_STREAM_MS   1000
#define BACKOFF_RESET_MS  120000
#define RETRY_AFTER_TRIES 10

#define BACKOFF_BASE_MS 800

void reflect_core_init(struct reflect_core *c, const struct core_config *config)
{
	*c = (struct reflect_core){ .config = *config };
}

void reflect_core_done(struct reflect_core *c)
{
	free(c->token);
	free(c->query);
	*c = (struct reflect_core){ 0 };
}

/* A resourceVersion is opaque; one too long to be kept is as good as none. */
static void set_rv(char dst[static CORE_RV_MAX], struct str rv)
{
	const size_t n = rv.n < CORE_RV_MAX ? rv.n : 0;

	memcpy(dst, n ? rv.p : "", n);
	dst[n] = '\0';
}

static void set_token(struct reflect_core *c, struct str token)
{
	free(c->token);
	c->token = token.n ? xstrndup(token.p, token.n) : NULL;
}

static void set_query(struct reflect_core *c, struct core_step *ret, char *query)
{
	free(c->query);
	c->query = query;
	ret->query = query;
	ret->request = c->request;
}

/* -- requests -- */

static void open_stream(struct reflect_core *c, const struct core_input *in, struct core_step *ret,
			enum core_request request)
{
	const bool initial = request == CORE_WATCHLIST;
	const char *rv = initial && c->rv_refused ? "" : c->rv;
	_cleanup_free_ char *escaped = path_escape(rv);

	c->request = request;
	c->asked_none = *rv == '\0';
	c->unversioned = *rv == '\0' || strcmp(rv, "0") == 0;
	c->opened_ms = in->now_ms;
	c->events = 0;
	ret->timeout_s = WATCH_MIN_S + (uint32_t)(in->random * WATCH_MIN_S);
	set_query(c, ret,
		  xasprintf("allowWatchBookmarks=true%s%s%s&timeoutSeconds=%u&watch=true",
			    *rv ? "&resourceVersion=" : "", escaped,
			    initial ? "&resourceVersionMatch=NotOlderThan&sendInitialEvents=true" : "",
			    ret->timeout_s));
}

/* A limit beside a resourceVersion other than "0" means "exactly this one" to old servers, and beside "0" a
 * server with a watch cache ignores it: client-go leaves it out in the first case. */
static uint32_t page_limit(const struct reflect_core *c, const char *rv)
{
	const uint32_t size = c->config.page_size ? c->config.page_size : DEFAULT_PAGE;
	const bool exact = *rv && strcmp(rv, "0") != 0;

	if (c->full_list || (exact && !c->paginated && !c->config.page_size))
		return 0;
	return size;
}

static void open_page(struct reflect_core *c, struct core_step *ret)
{
	const char *rv = c->token || c->rv_refused ? "" : c->rv[0] ? c->rv : "0";
	const uint32_t limit = page_limit(c, rv);
	_cleanup_free_ char *token = path_escape(c->token ? c->token : "");
	_cleanup_free_ char *escaped = path_escape(rv);
	_cleanup_free_ char *limit_text = limit ? xasprintf("limit=%u", limit) : xstrdup("");

	c->request = CORE_LIST;
	if (!c->token) {
		c->asked_zero = strcmp(rv, "0") == 0;
		c->asked_none = *rv == '\0';
	}
	/* Beside "0" it is ignored where there is a watch cache. */
	ret->limit = strcmp(rv, "0") == 0 ? 0 : limit;
	set_query(c, ret,
		  xasprintf("%s%s%s%s%s%s%s", c->token ? "continue=" : "", token,
			    c->token && limit ? "&" : "", limit_text, (c->token || limit) && *rv ? "&" : "",
			    *rv ? "resourceVersion=" : "", escaped));
}

static void begin_list(struct reflect_core *c, struct core_step *ret, bool full)
{
	set_token(c, (struct str){ 0 });
	c->list_rv[0] = '\0';
	c->pages = 0;
	c->events = 0;
	c->full_list = full;
	open_page(c, ret);
}

static void begin_round(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	if (c->config.no_watchlist)
		begin_list(c, ret, false);
	else
		open_stream(c, in, ret, CORE_WATCHLIST);
}

/* -- waits -- */

static void wait_then(struct reflect_core *c, const struct core_input *in, struct core_step *ret,
		      enum core_request next)
{
	const uint64_t base = c->config.backoff_base_ms ? c->config.backoff_base_ms : BACKOFF_BASE_MS;
	const struct backoff_policy policy = { .base_ms = base, .cap_ms = base * 75 / 2, .jitter = 1.0 };

	if (in->now_ms - c->last_backoff_ms > BACKOFF_RESET_MS)
		c->failures = 0;
	c->last_backoff_ms = in->now_ms;
	if (c->failures < UINT16_MAX)
		c->failures++;
	c->request = CORE_NONE;
	c->next = next;
	ret->backoff = true;
	ret->wait_ms = backoff_delay_ms(&policy, c->failures, in->random);
}

static void resume(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	if (c->next == CORE_NONE)
		begin_round(c, in, ret);
	else if (c->next == CORE_LIST)
		open_page(c, ret);
	else
		open_stream(c, in, ret, c->next);
}

/* -- events, by the request they belong to -- */

/* What a list has brought stays. The version to go on from is older than that, and a list as of then would
 * lack what has come into being since: for a while it would be forgotten. So the next list asks for the
 * newest. */
static void lose_list(struct reflect_core *c, struct core_step *ret)
{
	ret->list_lost = true;
	c->rv_refused |= c->rv[0] && c->events > 0;
}

static void fail(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	if (c->request != CORE_WATCH)
		lose_list(c, ret);
	if (c->request == CORE_WATCHLIST && in->event != CORE_DENIED)
		begin_list(c, ret, false); /* for this round only */
	else
		wait_then(c, in, ret, CORE_NONE);
}

/* The resourceVersion asked for can not be had: ask for any. Who asked for any already has a broken server.
 */
static void refused_rv(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	if (c->request == CORE_WATCH || c->asked_none) {
		fail(c, in, ret);
		return;
	}
	ret->list_lost = true;
	c->rv_refused = true;
	if (c->request == CORE_WATCHLIST)
		open_stream(c, in, ret, CORE_WATCHLIST);
	else
		begin_list(c, ret, false);
}

static void expired(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	if (c->request == CORE_LIST && c->token) { /* of the continue token */
		lose_list(c, ret);
		begin_list(c, ret, true);
		return;
	}
	refused_rv(c, in, ret);
}

static void busy(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	if (c->request != CORE_WATCH)
		lose_list(c, ret);
	wait_then(c, in, ret, c->request == CORE_LIST ? CORE_NONE : c->request);
}

static void retry_after(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	if (in->retry_after_ms <= 0 || c->retries >= RETRY_AFTER_TRIES) {
		c->retries = 0;
		busy(c, in, ret);
		return;
	}
	c->retries++;
	c->next = c->request;
	c->request = CORE_NONE;
	ret->wait_ms = (uint64_t)in->retry_after_ms;
}

static void ended(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	const bool brief = in->now_ms - c->opened_ms < SHORT_STREAM_MS;
	const bool watchlist = c->request == CORE_WATCHLIST;

	if (c->request == CORE_LIST || (brief && c->events == 0)) { /* client-go's VeryShortWatchError */
		fail(c, in, ret);
		return;
	}
	/* A WatchList that breaks off costs the whole list each time: only its first repeat is free. */
	c->short_streams = brief || watchlist ? c->short_streams + 1 : 0;
	if (watchlist)
		lose_list(c, ret);
	if (c->short_streams > 1)
		wait_then(c, in, ret, c->request);
	else
		open_stream(c, in, ret, c->request);
}

/* Once it is the connection that died. Twice, or in the midst of a list, the server may be waiting for a
 * version that it will not have for long: from now on any is good enough. */
static void stalled(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	const bool watchlist = c->request == CORE_WATCHLIST;

	c->rv_refused |= watchlist;
	if (watchlist || c->stalled++ == 0) {
		ended(c, in, ret);
		return;
	}
	c->stalled = 0;
	c->rv_refused = true;
	fail(c, in, ret);
}

static void synced(struct reflect_core *c, struct str rv, struct core_step *ret)
{
	set_rv(c->rv, rv);
	c->rv_refused = false;
	c->retries = 0;
	c->short_streams = 0;
	ret->list_synced = true;
}

static void page(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	const bool same_token = c->token && str_is(in->token, c->token);

	c->retries = 0;
	c->pages++;
	if (c->pages == 1)
		set_rv(c->list_rv, in->rv);
	if (str_empty(in->token)) {
		c->paginated |= c->asked_zero && c->pages > 1;
		synced(c, STR_C(c->list_rv), ret);
		open_stream(c, in, ret, CORE_WATCH);
		return;
	}
	if (same_token || c->pages >= PAGES_MAX) {
		fail(c, in, ret);
		return;
	}
	set_token(c, in->token);
	open_page(c, ret);
}

/* The same stream goes on as a watch. */
static void initial_end(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	synced(c, in->rv, ret);
	c->request = CORE_WATCH;
	c->unversioned = false;
}

void reflect_core_step(struct reflect_core *c, const struct core_input *in, struct core_step *ret)
{
	static void (*const handlers[])(struct reflect_core *, const struct core_input *,
					struct core_step *) = {
		[CORE_SYNCED] = initial_end, [CORE_START] = resume,      [CORE_PAGE] = page,
		[CORE_ENDED] = ended,        [CORE_EXPIRED] = expired,   [CORE_TOO_LARGE] = refused_rv,
		[CORE_BUSY] = busy,          [CORE_RETRY] = retry_after, [CORE_DENIED] = fail,
		[CORE_FAILED] = fail,        [CORE_STALLED] = stalled,
	};

	*ret = (struct core_step){ 0 };
	handlers[in->event](c, in, ret);
}

void reflect_core_observe_rv(struct reflect_core *c, struct str rv, bool is_added)
{
	c->events++;
	c->retries = 0;
	c->stalled = 0;
	if (c->request != CORE_WATCH || (c->unversioned && is_added) || str_empty(rv))
		return;
	c->unversioned = false;
	set_rv(c->rv, rv);
}
