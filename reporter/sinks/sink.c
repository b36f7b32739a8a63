/* sink.c - see sink.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/sink.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "model/sentence.h"
#include "text/facts_text.h"
#include "text/texts.h"

static const struct sink_ops *const rows[SINK_TYPE__MAX] = {
	[SINK_FEISHU] = &sink_feishu,   [SINK_DINGTALK] = &sink_dingtalk,
	[SINK_WECOM] = &sink_wecom,     [SINK_SLACK] = &sink_slack,
	[SINK_TEAMS] = &sink_teams,     [SINK_ALERTMANAGER] = &sink_alertmanager,
	[SINK_WEBHOOK] = &sink_webhook, [SINK_EMAIL] = &sink_email,
};

const struct sink_ops *sink_ops_of(uint64_t type)
{
	return type < SINK_TYPE__MAX ? rows[type] : NULL;
}

unsigned sink_forms(const struct sink_ops *ops)
{
	return ops->form[1].template ? 2 : 1;
}

int64_t sink_remind_ms(const struct sink_settings *s, uint64_t remind_ms)
{
	const struct sink_ops *ops = sink_ops_of(s->type);
	const int64_t again = ops ? ops->again_ms : 0, remind = (int64_t)remind_ms;

	return again > 0 && (remind == 0 || again < remind) ? again : remind;
}

/* -- what fits -- */

#define FIRST_TRY 16u /* entries */

/* From all there is (for machines), by what people read, down to what fits everywhere. A title names what its
 * entry is about, behind the names of a cluster and a namespace: of fewer entries that say it a reader has
 * more than of many that do not. The last ones may not say it: they are for what has no room otherwise. */
static const struct {
	size_t title_max, text_max, lines_max, sections_max;
	bool is_last_resort;
} levels[] = {
	{ SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, false },
	{ 600, 600, 12, 40, false },
	{ 300, 300, 8, 40, false },
	{ 200, 150, 5, 20, false },
	{ 200, 80, 2, 8, false },
	{ 40, 40, 1, 2, true },
	{ 20, 20, 0, 0, true },
};

static size_t count_entries(const struct document *doc, size_t sections)
{
	size_t n = 0;

	for (size_t i = 0; i < sections; i++)
		n += doc->sections[i].n;
	return n;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many are shown when no section shows more than cap. */
static size_t count_capped(const struct document *doc, size_t sections, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < sections; i++)
		n += smaller(doc->sections[i].n, cap);
	return n;
}

/* k entries, as if they were taken away one by one from the end of the section that shows most. */
static void share_out(const struct document *doc, size_t sections, size_t k, size_t *shown)
{
	size_t low = 0, high = k;

	while (low < high) { /* the largest cap that is not too many */
		const size_t middle = low + (high - low + 1) / 2;

		if (count_capped(doc, sections, middle) <= k)
			low = middle;
		else
			high = middle - 1;
	}
	size_t left = k - count_capped(doc, sections, low);

	for (size_t i = 0; i < sections; i++) {
		shown[i] = smaller(doc->sections[i].n, low);
		if (left > 0 && doc->sections[i].n > low) {
			shown[i]++;
			left--;
		}
	}
}

/* A number of entries that was tried, and the bytes that it takes. */
struct attempt {
	size_t k, bytes;
};

/* Returns the body with k entries, of any size. */
static char *render_shown(const struct sink_ops *ops, struct sink_view *v, size_t k, size_t *shown)
{
	share_out(v->doc, v->part.sections, k, shown);
	v->part.shown = shown;
	return ops->render ? ops->render(v) : card_render(v);
}

/* The number of entries, of least to most, with which so many bytes are reached if each takes as many as
 * those between the two attempts. */
static size_t expect(struct attempt a, struct attempt b, size_t bytes, size_t least, size_t most)
{
	const double each = ((double)b.bytes - (double)a.bytes) / ((double)b.k - (double)a.k);
	const double k = (double)b.k + ((double)bytes - (double)b.bytes) / each;

	return k >= (double)most ? most : k > (double)least ? (size_t)k : least; /* not a number: least */
}

/* As many entries as fit at this level, if they are more than `beaten` (or that is 0); *ret_k says how many.
 * NULL when not even none do. The number is guessed from the sizes of the last two, and at times halved:
 * entries are of many sizes. All of a large document's 20,000 entries are never made: a guess at most
 * doubles. */
static char *fill(const struct sink_ops *ops, struct sink_view *v, size_t beaten, size_t *shown,
		  size_t *ret_k)
{
	const size_t all = count_entries(v->doc, v->part.sections);
	size_t low = 0, high = all + 1; /* with best, low fits; high does not */
	struct attempt last = { 0 }, now = { .k = smaller(all, beaten > 0 ? beaten + 1 : FIRST_TRY) };
	char *best = NULL;

	for (unsigned n = 1;; n++) {
		char *body = render_shown(ops, v, now.k, shown);

		now.bytes = body ? strlen(body) : SIZE_MAX; /* a string of it is too long */
		if (now.bytes <= ops->size_max) {
			free(best);
			best = body;
			low = now.k;
		} else {
			free(body);
			high = now.k;
		}
		if (best ? high - low <= 1 : high == 0 || beaten > 0)
			break;
		const size_t most = smaller(high - 1, 2 * low + FIRST_TRY);
		const bool halve = n % 4 == 0 || last.bytes == SIZE_MAX || now.bytes == SIZE_MAX;
		const size_t k = !best   ? 0
				 : halve ? low + (most - low + 1) / 2
					 : expect(last, now, ops->size_max, low + 1, most);

		last = now;
		now.k = k;
	}
	*ret_k = low;
	return best;
}

/* The first level that shows all, else the one that shows most. */
static char *render_best(const struct sink_ops *ops, const struct sink_settings *s,
			 const struct document *doc, unsigned form, int64_t now_ms, uint64_t *ret_left_out)
{
	_cleanup_free_ size_t *shown = xcalloc(doc->n_sections + 1, sizeof(*shown));
	const size_t all = count_entries(doc, doc->n_sections);
	size_t most = 0;
	char *best = NULL;

	for (size_t i = ops->whole ? 0 : 1; i < ARRAY_SIZE(levels) && !(best && most == all); i++) {
		if (levels[i].is_last_resort && most > 0)
			break;
		struct sink_view v = {
			.sink = s,
			.doc = doc,
			.form = form,
			.now_ms = now_ms,
			.part = { .sections = smaller(doc->n_sections, levels[i].sections_max),
				  .title_max = levels[i].title_max,
				  .text_max = levels[i].text_max,
				  .lines_max = levels[i].lines_max },
		};
		size_t k = 0;
		char *body = fill(ops, &v, most, shown, &k);

		if (body && (!best || k > most)) {
			free(best);
			best = TAKE_PTR(body);
			most = k;
		}
		free(body);
	}
	if (!best)
		abort(); /* its file breaks the promise of render() */
	*ret_left_out = all - most;
	return best;
}

/* -- the request -- */

size_t sink_base_length(const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *host = scheme ? scheme + 3 : url;

	return (size_t)(host - url) + strcspn(host, "/?#");
}

void sink_compose(const struct sink_settings *s, const struct document *doc, unsigned form, int64_t now_ms,
		  struct sink_request *ret, uint64_t *ret_left_out)
{
	const struct sink_ops *ops = sink_ops_of(s->type);
	const char *url = s->url ? s->url : "", *path = url + sink_base_length(url);

	*ret = (struct sink_request){
		.path = xasprintf("%s%.*s", *path == '/' ? "" : "/", (int)strcspn(path, "#"), path),
		.body = render_best(ops, s, doc, form, now_ms, ret_left_out),
	};
	if (ops->request)
		ops->request(s, doc, now_ms, ret);
}

void sink_request_done(struct sink_request *rq)
{
	free(rq->path);
	free(rq->body);
	str_list_done(&rq->headers);
	*rq = (struct sink_request){ 0 };
}

/* -- answers -- */

/* Of a server's words. */
#define ANSWER_MAX 160u
/* Shorter parts of an address are words of its service. */
#define SECRET_MIN 8u

/* Does the text hold a part of the path or of its query that may be what is secret about it? */
static bool holds_secret(const char *text, const char *path)
{
	size_t n;

	for (const char *p = path; *p; p += n + (p[n] != '\0')) {
		n = strcspn(p, "/?&=#");
		if (n >= SECRET_MIN && memmem(text, strlen(text), p, n))
			return true;
	}
	return false;
}

/* Does it hold the password of a mail server, of "PASSWORD" or "USER:PASSWORD", or what a bot signs with? */
static bool holds_password(const char *text, const char *secret)
{
	const char *colon = strchr(secret, ':'), *behind = colon ? colon + 1 : "";

	return (*secret && strstr(text, secret)) || (*behind && strstr(text, behind));
}

/* What a library or the server says goes to the log, to status and to the page; neither the address nor what
 * was logged in with must. A server may say the key of its address alone; a library never does, and a host
 * may be named like a path. */
static bool hide(struct facts *f, const char *s, const struct sink_settings *sink, bool by_server)
{
	const char *url = sink->url ? sink->url : "", *path = url + sink_base_length(url);

	if ((path[0] && path[1] && strstr(s, path)) || (by_server && holds_secret(s, path)))
		*f = facts_of(TEXT_HIDDEN_ADDRESS);
	else if (holds_password(s, sink->secret ? sink->secret : ""))
		*f = facts_of(TEXT_HIDDEN_SECRET);
	else
		return false;
	return true;
}

/* The server's own words. */
static void quote(struct facts *f, const char *s, const struct sink_settings *sink, bool by_server)
{
	if (!hide(f, s, sink, by_server))
		facts_quoted(f, FACT_ANSWER, (struct str){ s, unicode_cut(s, strlen(s), ANSWER_MAX) });
}

/* -- what a status says, where the sink says nothing of its own -- */

static const struct sink_code statuses[] = {
	{ 401, SINK_REFUSED, SINK_BAD_SECRET },
	{ 403, SINK_REFUSED, SINK_FORBIDDEN },
	{ 404, SINK_REFUSED, SINK_BAD_ADDRESS },
	{ 405, SINK_REFUSED, SINK_BAD_ADDRESS },
	{ 407, SINK_REFUSED, SINK_PROXY },
	{ 408, SINK_AGAIN, SINK_BROKEN },
	{ 410, SINK_REFUSED, SINK_BAD_ADDRESS },
	{ 413, SINK_REFUSED, SINK_TOO_LARGE },
	{ 425, SINK_AGAIN, SINK_BROKEN },
	{ 429, SINK_AGAIN, SINK_TOO_OFTEN },
	/* A gateway that gave up waiting does not know what became of the message. */
	{ 504, SINK_UNKNOWN, SINK_BROKEN },
	{ 0 },
};

void sink_apply_code(const struct sink_code *codes, int64_t code, const char *text, struct sink_answer *ret)
{
	while (codes->code != 0 && (codes->code != code || (codes->word && !strstr(text, codes->word))))
		codes++;
	if (codes->code == 0)
		return;
	ret->verdict = codes->verdict;
	ret->cause = codes->cause;
	ret->other_form = codes->other_form;
	if (codes->retry_after_ms > ret->retry_after_ms)
		ret->retry_after_ms = codes->retry_after_ms;
}

void sink_judge_status(long status, struct sink_answer *ret)
{
	ret->verdict = status >= 500 ? SINK_AGAIN : SINK_REFUSED;
	ret->cause = status >= 500 ? SINK_BROKEN : status < 400 ? SINK_BAD_ADDRESS : SINK_OTHER;
	sink_apply_code(statuses, status, "", ret);
}

/* What is no fault of the message: no other one would be taken either. */
static const bool shut_by[] = {
	[SINK_BAD_SECRET] = true, [SINK_BAD_ADDRESS] = true, [SINK_NO_KEYWORD] = true,
	[SINK_FORBIDDEN] = true,  [SINK_PROXY] = true,       [SINK_OTHER] = false,
};

/* A request in clear is forwarded: the proxy answers itself where the sink does not (RFC 9110 7.6), and
 * nobody can tell a refusal of the one from one of the other. */
static bool is_forwarded(const struct sink_settings *s)
{
	return s->proxy && strncasecmp(s->proxy, "http:", 5) == 0 && s->url &&
	       strncasecmp(s->url, "http:", 5) == 0;
}

static void say_status(const struct sink_settings *s, long status, struct facts *ret)
{
	*ret = facts_of(status == 407     ? TEXT_SINK_STATUS_OF_PROXY
			: is_forwarded(s) ? TEXT_SINK_STATUS_OF_EITHER
					  : TEXT_SINK_STATUS);
	facts_count(ret, FACT_HTTP_STATUS, status);
}

static void say_no_answer(uint64_t type, struct facts *ret)
{
	*ret = facts_of(TEXT_NOT_ITS_ANSWER);
	facts_sentence(ret, FACT_SINK_TYPE, WORD((enum phrase)(PHRASE_DIAG_SINK_FEISHU + type)));
}

/* False: it has no such code. */
static bool read_code(const json_t *root, const struct sink_keys *keys, const struct sink_code *codes,
		      struct sink_answer *ret, char **ret_text)
{
	const json_t *code = json_object_get(root, keys->code);
	const char *text = json_string_value(json_object_get(root, keys->text));

	if (!json_is_integer(code))
		return false;
	ret->code = (int64_t)json_integer_value(code);
	ret->verdict = ret->code == 0 ? SINK_ACCEPTED : SINK_REFUSED;
	ret->cause = ret->code == 0 ? SINK_NO_CAUSE : SINK_OTHER;
	*ret_text = xstrdup(text ? text : "");
	sink_apply_code(codes, ret->code, *ret_text, ret);
	return true;
}

static bool read_codes(const struct sink_ops *ops, const struct http_result *r, struct sink_answer *ret,
		       char **ret_text)
{
	json_t *root = r->body_len > 0 ? json_loadb(r->body, r->body_len, 0, NULL) : NULL;
	bool understood = false;

	for (size_t i = 0; !understood && i < SINK_KEYS_MAX && ops->keys[i].code; i++)
		understood = read_code(root, &ops->keys[i], ops->codes, ret, ret_text);
	json_decref(root);
	return understood;
}

/* What it says itself. */
static bool read_answer(const struct sink_ops *ops, const struct http_result *r, struct sink_answer *ret,
			char **ret_text)
{
	if (ops->interpret)
		return ops->interpret(r, ret, ret_text);
	return ops->codes ? read_codes(ops, r, ret, ret_text) : sink_read_status(r, ret, ret_text);
}

static void interpret_response(const struct sink_settings *s, const struct http_result *r,
			       struct sink_answer *ret)
{
	const bool good = r->status >= 200 && r->status < 300;
	const bool is_mail = sink_ops_of(s->type)->is_mail; /* its path is the name that EHLO says */
	_cleanup_free_ char *text = NULL;
	const bool understood = read_answer(sink_ops_of(s->type), r, ret, &text);

	if (understood && (good || ret->verdict == SINK_AGAIN)) {
		ret->not_all = ret->verdict == SINK_ACCEPTED && !facts_empty(&r->why);
		facts_add(&ret->why, &r->why);
		quote(&ret->why, text ? text : "", s, !is_mail);
		return;
	}
	if (good) {
		ret->verdict = SINK_REFUSED;
		ret->cause = SINK_BAD_ADDRESS;
	} else if (!understood || ret->verdict == SINK_ACCEPTED || ret->cause == SINK_OTHER ||
		   r->status >= 500 || r->status == 429) {
		sink_judge_status(r->status, ret);
	}
	if (text)
		quote(&ret->why, text, s, !is_mail);
	else if (good)
		say_no_answer(s->type, &ret->why);
	else
		say_status(s, r->status, &ret->why);
}

/* A refusal lasts until somebody changes the proxy or its rules; what it cannot do now it may do later. */
static enum sink_verdict judge_proxy(long status)
{
	return status >= 400 && status < 500 && status != 408 && status != 429 ? SINK_BLOCKED : SINK_AGAIN;
}

void sink_interpret(const struct sink_settings *s, const struct http_result *r, struct sink_answer *ret)
{
	*ret = (struct sink_answer){ .code = -1, .retry_after_ms = r->retry_after_ms };
	if (r->failure == HTTP_OK) {
		interpret_response(s, r, ret);
		if (ret->verdict == SINK_REFUSED && shut_by[ret->cause])
			ret->verdict = SINK_BLOCKED;
		return;
	}
	_cleanup_free_ char *why = facts_render(&r->why, NULL);
	/* An answer that is too large is an answer: the message arrived, what became of it is not known. */
	const bool arrived = r->failure == HTTP_TOO_LARGE || r->failure == HTTP_ABORTED;

	ret->verdict = arrived || (r->sent && r->failure != HTTP_CONNECT) ? SINK_UNKNOWN : SINK_AGAIN;
	ret->cause = SINK_UNREACHABLE;
	if (r->way.at_proxy) {
		ret->verdict = judge_proxy(r->way.proxy_status);
		ret->cause = SINK_PROXY;
	}
	if (!hide(&ret->why, why, s, false))
		facts_add(&ret->why, &r->why);
}

/* A login page, or a proxy's, answers everything with 200. */
static bool is_page(const struct http_result *r)
{
	return strncasecmp(r->content_type ? r->content_type : "", "text/html", 9) == 0;
}

bool sink_read_status(const struct http_result *r, struct sink_answer *ret, char **ret_text)
{
	(void)ret_text;
	if (r->status < 200 || r->status >= 300 || is_page(r))
		return false;
	ret->verdict = SINK_ACCEPTED;
	return true;
}

/* -- signatures -- */

static unsigned hmac(const char *key, const char *message, unsigned char mac[static EVP_MAX_MD_SIZE])
{
	unsigned n = 0;

	if (!HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)message, strlen(message), mac,
		  &n))
		abort();
	return n;
}

void sink_hmac_base64(const char *key, const char *message, char ret[static SINK_BASE64_MAX])
{
	unsigned char mac[EVP_MAX_MD_SIZE];

	(void)EVP_EncodeBlock((unsigned char *)ret, mac, (int)hmac(key, message, mac));
}

void sink_hmac_hex(const char *key, const char *message, char ret[static SINK_HEX_MAX])
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	const unsigned n = hmac(key, message, mac);

	for (unsigned i = 0; i < n; i++)
		(void)snprintf(ret + (size_t)2 * i, 3, "%02x", mac[i]);
}

/* -- how often -- */

/* Until the message `back` messages ago is `window` old. */
static uint64_t window_wait(const struct sink_limit *l, size_t back, uint64_t window, uint64_t now)
{
	if (back == 0 || l->n < back)
		return 0;
	const uint64_t then = l->sent_ms[(l->next + SINK_PER_MINUTE_MAX - back) % SINK_PER_MINUTE_MAX];

	return now >= then + window ? 0 : then + window - now;
}

uint64_t sink_limit_wait(const struct sink_limit *l, unsigned per_second, unsigned per_minute,
			 uint64_t now_ms)
{
	const uint64_t second = window_wait(l, per_second, 1000, now_ms);
	const uint64_t minute = window_wait(l, per_minute, 60000, now_ms);

	return second > minute ? second : minute;
}

void sink_limit_sent(struct sink_limit *l, uint64_t now_ms)
{
	l->sent_ms[l->next] = now_ms;
	l->next = (l->next + 1) % SINK_PER_MINUTE_MAX;
	if (l->n < SINK_PER_MINUTE_MAX)
		l->n++;
}
