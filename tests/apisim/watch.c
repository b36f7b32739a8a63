// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/watch.h"
#include "tests/apisim/log.h"
#include "tests/apisim/podpb.h"
#include "tests/apisim/selector.h"
#include "tests/apisim/text.h"
#include "tests/apisim/util.h"
#include "tests/apisim/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct watch {
	struct stream st;
	struct watches *all;
	LIST_ENTRY(watch) of_all;
	struct call *call; /* for its line in the log when it ends */
	const struct kind *kind;
	char *ns;
	struct selector *selector;
	struct snapshot initial;
	size_t at;
	bool protobuf, bookmarks;
	bool initial_bookmark; /* owed after the initial events */
	bool lagging_allowed;  /* until it is level: what it begins with is no backlog */
	unsigned bookmarks_due;
	uint64_t behind; /* the bookmarks due name a version so much older */
	uint64_t repeat; /* so many of the last events are told again */
	size_t giant;
	uint64_t cursor; /* the last event it has been told of */
	struct event *bookmark_timer, *timeout_timer;
	bool closing;
	json_t *error;
};

struct watches {
	struct sim *sim;
	LIST_HEAD(, watch) list;
	size_t count;
	struct event *pause_timer;
	bool paused;
};

static void add_object(struct watch *w, struct evbuffer *out, const char *type, struct obj *o)
{
	struct blob *b;

	if (w->protobuf) {
		blob_add_frame(out, object_pb(o), type, o->kind->kind);
		return;
	}
	b = object_text(o);
	evbuffer_add_printf(out, "{\"type\":\"%s\",\"object\":", type);
	blob_add(out, b, 0);
	evbuffer_add(out, "}\n", 2);
	blob_unref(b);
}

/* An object that is in no store: a bookmark, a Status. Both are borrowed. */
static void add_document(struct watch *w, struct evbuffer *out, const char *type, const char *kind,
			 const json_t *doc)
{
	struct pb_buf b;
	char head[PODPB_FRAME_MAX];

	if (!w->protobuf) {
		struct text t = { 0 };

		text_json(&t, doc);
		evbuffer_add_printf(out, "{\"type\":\"%s\",\"object\":", type);
		evbuffer_add(out, t.data, t.size);
		evbuffer_add(out, "}\n", 2);
		text_done(&t);
		return;
	}
	pb_init(&b, 512);
	if (!strcmp(kind, "Status"))
		podpb_status(&b, doc);
	else
		podpb_message(&b, kind, doc);
	evbuffer_add(out, head, podpb_frame(head, type, kind, pb_size(&b)));
	evbuffer_add(out, b.data + b.at, pb_size(&b));
	evbuffer_add(out, PODPB_TAIL, PODPB_TAIL_SIZE);
	pb_done(&b);
}

static void add_bookmark(struct watch *w, struct evbuffer *out, bool initial_end)
{
	uint64_t behind = initial_end || w->behind >= w->cursor ? 0 : w->behind;
	char api[96], rv[21];
	json_t *doc, *meta = json_pack("{s:s, s:n}", "resourceVersion", util_number(w->cursor - behind, rv),
				       "creationTimestamp");

	if (initial_end)
		json_object_set_new(meta, "annotations",
				    json_pack("{s:s}", "k8s.io/initial-events-end", "true"));
	doc = json_pack("{s:s, s:s, s:o}", "kind", w->kind->kind, "apiVersion",
			kinds_api_version(w->kind, api), "metadata", meta);
	if (w->kind == kinds_pods()) {
		json_object_set_new(doc, "spec", json_pack("{s:n}", "containers"));
		json_object_set_new(doc, "status", json_object());
	}
	add_document(w, out, "BOOKMARK", w->kind->kind, doc);
	json_decref(doc);
}

/* One frame far beyond any limit: its length, and filler in place of the object. */
static void add_giant(struct watch *w, struct evbuffer *out)
{
	size_t n = w->giant;
	char head[4] = { (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };
	char *filler = util_alloc(n);

	memset(filler, 'x', n);
	if (w->protobuf)
		evbuffer_add(out, head, 4);
	else
		evbuffer_add_printf(out, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"");
	evbuffer_add(out, filler, n);
	if (!w->protobuf)
		evbuffer_add_printf(out, "\"}}}\n");
	free(filler);
	w->giant = 0;
}

/* What a change is to a watch with a selector: an object that enters the selection was added, one that leaves
 * it was deleted and is shown as it was (k8s.io/apiserver storage/cacher convertToWatchEvent). */
static void add_change(struct watch *w, struct evbuffer *out, const struct change *ch)
{
	bool now, before;

	if (ch->obj->kind != w->kind || (*w->ns && strcmp(ch->obj->ns, w->ns) != 0))
		return;
	now = ch->type != CHANGE_DELETED && selector_match(w->selector, ch->obj);
	before = ch->prev && selector_match(w->selector, ch->prev);
	if (now) {
		add_object(w, out, before ? "MODIFIED" : "ADDED", ch->obj);
	} else if (before) {
		struct obj *left = ch->type == CHANGE_DELETED
					   ? object_ref(ch->obj)
					   : object_new(w->kind, object_tree(ch->prev), ch->obj->rv);

		add_object(w, out, "DELETED", left);
		object_unref(left);
	}
}

/* The last events once more, as far as they are kept. */
static void add_repeated(struct watch *w, struct evbuffer *out)
{
	uint64_t n = w->repeat < w->cursor ? w->repeat : w->cursor;

	for (uint64_t rv = w->cursor - n + 1; rv <= w->cursor; rv++) {
		const struct change *ch = store_change(w->all->sim->store, rv);

		if (ch)
			add_change(w, out, ch);
	}
	w->repeat = 0;
}

/* Events up to the newest. False: the client is too far behind. */
static bool add_changes(struct watch *w, struct evbuffer *out, size_t room)
{
	struct store *s = w->all->sim->store;
	uint64_t newest = store_rv(s);

	if (w->cursor < newest && (w->cursor < store_floor(s) ||
				   (!w->lagging_allowed && newest - w->cursor > w->all->sim->opt->backlog)))
		return false;
	while (w->cursor < newest && evbuffer_get_length(out) < room) {
		const struct change *ch = store_change(s, ++w->cursor);

		if (ch)
			add_change(w, out, ch);
	}
	if (w->cursor >= newest)
		w->lagging_allowed = false;
	return true;
}

static enum stream_state watch_fill(struct stream *st, struct evbuffer *out, size_t room)
{
	struct watch *w = (struct watch *)st;

	if (w->all->paused && !w->closing)
		return STREAM_IDLE;
	for (; w->at < w->initial.count; w->at++) {
		if (evbuffer_get_length(out) >= room)
			return STREAM_MORE;
		add_object(w, out, "ADDED", w->initial.items[w->at]);
	}
	if (w->initial_bookmark)
		add_bookmark(w, out, true);
	w->initial_bookmark = false;
	if (w->at)
		store_snapshot_done(&w->initial);
	w->at = 0;
	if (w->error)
		add_document(w, out, "ERROR", "Status", w->error);
	if (w->error || w->closing)
		return STREAM_END;
	if (w->giant)
		add_giant(w, out);
	if (w->repeat)
		add_repeated(w, out);
	if (!add_changes(w, out, room))
		return STREAM_END;
	for (; w->bookmarks_due && evbuffer_get_length(out) < room; w->bookmarks_due--)
		add_bookmark(w, out, false);
	if (w->bookmarks_due || w->cursor < store_rv(w->all->sim->store))
		return STREAM_MORE;
	return STREAM_IDLE;
}

static void watch_free(struct stream *st)
{
	struct watch *w = (struct watch *)st;

	log_call(w->all->sim->log, w->call, "end");
	LIST_REMOVE(w, of_all);
	w->all->count--;
	event_free(w->bookmark_timer);
	event_free(w->timeout_timer);
	store_snapshot_done(&w->initial);
	selector_free(w->selector);
	json_decref(w->error);
	free(w->ns);
	w->call->stream = NULL;
	call_free(w->call);
	free(w);
}

static void on_bookmark(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;

	(void)fd, (void)what;
	if (w->cursor > store_rv(w->all->sim->store))
		return; /* a watch from a version to come hears nothing before (cacher/cache_watcher.go) */
	w->bookmarks_due = 1;
	w->behind = 0;
	http_wake(&w->st);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;

	(void)fd, (void)what;
	w->closing = true;
	http_wake(&w->st);
}

static struct timeval milliseconds(uint64_t ms)
{
	return (struct timeval){ .tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000) };
}

static struct watch *watch_new(struct call *c)
{
	struct watches *all = c->sim->watches;
	struct watch *w = util_alloc(sizeof(*w));
	const char *seconds = call_query(c, "timeoutSeconds");
	int64_t timeout = 0;
	struct timeval period = milliseconds(c->sim->opt->bookmark_ms), limit;

	w->st = (struct stream){ .fill = watch_fill, .free = watch_free };
	w->all = all;
	w->call = c;
	c->kept = true;
	w->kind = c->kind;
	w->ns = util_strdup(c->ns);
	w->protobuf = c->protobuf;
	w->bookmarks = call_query_true(c, "allowWatchBookmarks");
	LIST_INSERT_HEAD(&all->list, w, of_all);
	all->count++;
	w->bookmark_timer = event_new(c->sim->base, -1, EV_PERSIST, on_bookmark, w);
	w->timeout_timer = event_new(c->sim->base, -1, 0, on_timeout, w);
	if (w->bookmarks)
		event_add(w->bookmark_timer, &period);
	if (!util_parse_int(seconds, &timeout) || timeout <= 0)
		timeout = 1800 + (int64_t)(util_random() % 1800);
	limit = milliseconds((uint64_t)timeout * 1000);
	event_add(w->timeout_timer, &limit);
	return w;
}

/* Whether the watch begins with what there is; the status to refuse with, or NULL. */
static json_t *ask_initial(struct call *c, const char *rv, bool *ret_initial, bool *ret_bookmark)
{
	const char *send = call_query(c, "sendInitialEvents"), *match = call_query(c, "resourceVersionMatch");
	bool fresh = !*rv || !strcmp(rv, "0");

	if (!send && match)
		return status_list_options("resourceVersionMatch",
					   "Forbidden: resourceVersionMatch is forbidden for watch unless "
					   "sendInitialEvents is provided");
	if (send && c->sim->opt->no_watchlist)
		return status_list_options("sendInitialEvents",
					   "Forbidden: sendInitialEvents is forbidden for watch unless the "
					   "WatchList feature gate is enabled");
	if (send && !util_streq(match, "NotOlderThan"))
		return status_list_options(
			"resourceVersionMatch",
			"Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
	*ret_initial = send ? call_query_true(c, "sendInitialEvents") : fresh;
	*ret_bookmark =
		*ret_initial && call_query_true(c, "allowWatchBookmarks") && !c->sim->opt->no_watchlist;
	return NULL;
}

static void watch_begin(struct watch *w, uint64_t rv, bool initial, bool bookmark)
{
	struct store *s = w->all->sim->store;

	w->cursor = rv ? rv : store_rv(s);
	w->lagging_allowed = true;
	if (initial) {
		store_snapshot(s, w->kind, *w->ns ? w->ns : NULL, 0, NULL, 0,
			       w->selector ? selector_match : NULL, w->selector, &w->initial);
		w->cursor = store_rv(s);
		w->initial_bookmark = bookmark;
	} else if (w->cursor < store_floor(s)) {
		w->error = status_expired("too old resource version: %llu (%llu)", (unsigned long long)rv,
					  (unsigned long long)store_floor(s));
	}
}

void verb_watch(struct call *c)
{
	const char *rv = call_query(c, "resourceVersion");
	struct selector *selector = NULL;
	bool initial = false, bookmark = false;
	char why[256];
	int64_t n = 0;
	json_t *error;
	struct watch *w;

	rv = rv ? rv : "";
	error = ask_initial(c, rv, &initial, &bookmark);
	if (!error && *rv && (!util_parse_int(rv, &n) || n < 0))
		error = status_new(500, NULL,
				   "resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing "
				   "\"%s\": invalid syntax",
				   rv, rv);
	if (!error && initial && (uint64_t)n > store_rv(c->sim->store))
		error = status_too_large((unsigned long long)n, store_rv(c->sim->store));
	if (!error && selector_new(c->kind, call_query(c, "labelSelector"), call_query(c, "fieldSelector"),
				   why, &selector) < 0)
		error = status_bad_request("%s", why);
	if (error) {
		call_answer_status(c, error);
		return;
	}
	w = watch_new(c);
	w->selector = selector;
	watch_begin(w, (uint64_t)n, initial, bookmark);
	call_answer_stream(c, c->protobuf ? TYPE_PROTOBUF ";stream=watch" : TYPE_JSON, -1, &w->st);
}

struct watches *watches_new(struct sim *sim)
{
	struct watches *w = util_alloc(sizeof(*w));

	w->sim = sim;
	return w;
}

void watches_free(struct watches *w)
{
	if (w->pause_timer)
		event_free(w->pause_timer);
	free(w);
}

void watches_wake(struct watches *all)
{
	struct watch *w, *next;

	for (w = LIST_FIRST(&all->list); w; w = next) {
		next = LIST_NEXT(w, of_all);
		http_wake(&w->st);
	}
}

void watches_close(struct watches *all, json_t *error)
{
	struct watch *w;

	LIST_FOREACH (w, &all->list, of_all) {
		w->closing = true;
		json_decref(w->error);
		w->error = error ? json_incref(error) : NULL;
	}
	watches_wake(all);
}

static void on_unpause(evutil_socket_t fd, short what, void *arg)
{
	struct watches *all = arg;

	(void)fd, (void)what;
	all->paused = false;
	watches_wake(all);
}

void watches_pause(struct watches *all, unsigned ms)
{
	struct timeval tv = milliseconds(ms);

	if (!all->pause_timer)
		all->pause_timer = event_new(all->sim->base, -1, 0, on_unpause, all);
	all->paused = true;
	event_add(all->pause_timer, &tv);
}

void watches_bookmark(struct watches *all, unsigned count, uint64_t behind)
{
	struct watch *w;

	LIST_FOREACH (w, &all->list, of_all) {
		if (w->bookmarks)
			w->bookmarks_due += count;
		w->behind = behind;
	}
	watches_wake(all);
}

void watches_repeat(struct watches *all, uint64_t count)
{
	struct watch *w;

	LIST_FOREACH (w, &all->list, of_all)
		w->repeat = count;
	watches_wake(all);
}

void watches_giant(struct watches *all, size_t bytes)
{
	struct watch *w;

	LIST_FOREACH (w, &all->list, of_all)
		w->giant = bytes;
	watches_wake(all);
}

size_t watches_count(const struct watches *w)
{
	return w->count;
}
