/* mail.c - see mail.h. */
// SPDX-License-Identifier: Apache-2.0
#include "http/mail.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "http/endpoint.h"
#include "http/global.h"
#include "http/sockets.h"

#define CONNECT_MS 60000L
/* A reply; the one to the end of the mail, for which a server may look through it, and which RFC 5321
 * 4.5.3.2.6 gives ten minutes. */
#define REPLY_MS       ((uint64_t)2 * 60 * 1000)
#define TAKE_MS        ((uint64_t)10 * 60 * 1000)
#define LINE_MAX_BYTES 1024

enum step { STEP_CONNECT, STEP_FROM, STEP_TO, STEP_DATA, STEP_MESSAGE };

struct mail {
	struct event_base *base;
	struct endpoint *endpoint;
	struct sockets sockets;
	CURLM *multi;
	CURL *easy;
	CURLU *url;          /* easy only borrows it */
	struct event *timer; /* libcurl's, then the reply's */
	struct event *begun; /* ends a mail that cannot begin */
	struct event *readable, *writable;
	char curl_error[CURL_ERROR_SIZE];
	char reply[256];     /* the last one */
	char refusal[256];   /* of the first recipient that was refused; sooner, of one that is put off */
	long refusal_status; /* 0: none was refused */
	bool wait_for_all;
	void (*on_done)(void *ctx, const struct mail_result *r);
	void *ctx;
	char *from, *message; /* message: as it goes over the wire, with its end */
	struct str_list to;
	size_t message_len, next_to, taken_to;
	enum step step;
	char *out; /* the command that is being sent */
	size_t out_len, out_at;
	char line[LINE_MAX_BYTES];
	size_t line_len;
	bool sent;
};

/* -- the end -- */

static void free_event(struct event *e)
{
	if (e)
		event_free(e);
}

/* Before the socket is closed nobody waits for it any more; libcurl sets its timer to the end. */
static void mail_free(struct mail *m)
{
	free_event(m->readable);
	free_event(m->writable);
	if (m->easy && m->multi)
		(void)curl_multi_remove_handle(m->multi, m->easy);
	curl_easy_cleanup(m->easy);
	if (m->multi)
		(void)curl_multi_cleanup(m->multi);
	free_event(m->timer);
	free_event(m->begun);
	curl_url_cleanup(m->url);
	endpoint_unref(&m->endpoint);
	str_list_done(&m->to);
	free(m->from);
	free(m->message);
	free(m->out);
	free(m);
}

static bool is_put_off(const struct mail *m)
{
	return m->refusal_status >= 400 && m->refusal_status < 500;
}

static void finish_with(struct mail *m, struct http_way way, enum http_failure failure, long status,
			const char *reply, const struct facts *why)
{
	struct mail_result r = { .failure = failure,
				 .status = status,
				 .sent = m->sent,
				 .refused = failure == HTTP_OK && status < 300 ? m->to.n - m->taken_to : 0,
				 .put_off = is_put_off(m),
				 .way = way };
	void (*const on_done)(void *ctx, const struct mail_result *r) = m->on_done;
	void *const ctx = m->ctx;

	(void)str_copy_printable(r.reply, sizeof(r.reply), reply, strlen(reply));
	if (why)
		facts_set(&r.why, why);
	mail_free(m);
	on_done(ctx, &r);
}

/* By libcurl's words. */
static void finish_on(struct mail *m, struct http_way way, enum http_failure failure, long status,
		      const char *words)
{
	struct facts why = { 0 };

	endpoint_transport(&way, CURLE_OK, words, &why); /* no mail has a certificate of ours */
	finish_with(m, way, failure, status, "", &why);
}

/* By our own judgement. */
static void finish(struct mail *m, enum http_failure failure, long status, enum text problem)
{
	struct facts why = { 0 };

	facts_text(&why, FACT_PROBLEM, problem);
	finish_with(m, (struct http_way){ 0 }, failure, status, "", &why);
}

/* -- what is sent -- */

static void send_rest(struct mail *m)
{
	while (m->out_at < m->out_len) {
		size_t n = 0;
		const CURLcode code = curl_easy_send(m->easy, m->out + m->out_at, m->out_len - m->out_at, &n);

		if (code == CURLE_AGAIN) {
			(void)event_add(m->writable, NULL);
			return;
		}
		if (code != CURLE_OK) /* reading says why */
			return;
		m->out_at += n;
	}
	m->sent = m->sent || m->step == STEP_MESSAGE;
}

/* data is the mail's from now on. */
static void send_data(struct mail *m, enum step step, char *data, size_t n, uint64_t reply_ms)
{
	free(m->out);
	m->out = data;
	m->out_len = n;
	m->out_at = 0;
	m->step = step;
	(void)evtimer_add(m->timer, CLOCK_TIMEVAL(reply_ms));
	send_rest(m);
}

static void send_command(struct mail *m, enum step step, const char *verb, const char *address)
{
	char *line = xconcat(verb, address, *address ? ">\r\n" : "\r\n", NULL);

	send_data(m, step, line, strlen(line), REPLY_MS);
}

/* A courtesy: nobody waits for what it does. */
static void say_goodbye(struct mail *m)
{
	size_t n;

	if (m->out_at == m->out_len)
		(void)curl_easy_send(m->easy, "QUIT\r\n", 6, &n);
}

/* -- what is said -- */

static void end_by_reply(struct mail *m, long status, const char *reply)
{
	say_goodbye(m);
	finish_with(m, (struct http_way){ 0 }, HTTP_OK, status, reply, NULL);
}

/* Who is put off may be taken later, whatever is said of the others: that reply counts most. */
static void note_refusal(struct mail *m, long status)
{
	if (m->refusal_status && (is_put_off(m) || status >= 500))
		return;
	m->refusal_status = status;
	memcpy(m->refusal, m->reply, sizeof(m->refusal));
}

/* True: m is gone. */
static bool on_to(struct mail *m, long status)
{
	if (status < 300)
		m->taken_to++;
	else
		note_refusal(m, status < 400 ? 500 : status);
	if (m->next_to < m->to.n) {
		send_command(m, STEP_TO, "RCPT TO:<", m->to.v[m->next_to++]);
	} else if (m->taken_to == 0 || (m->wait_for_all && is_put_off(m))) {
		end_by_reply(m, m->refusal_status, m->refusal);
		return true;
	} else {
		send_command(m, STEP_DATA, "DATA", "");
	}
	return false;
}

/* The end of the reply to the last command. True: m is gone. */
static bool on_reply(struct mail *m, long status)
{
	const bool is_good = m->step == STEP_DATA ? status == 354 : status >= 200 && status < 300;

	/* 421: the server goes away, whatever was asked (RFC 5321 3.8). */
	if (status == 421 || (!is_good && m->step != STEP_TO)) {
		end_by_reply(m, status < 400 ? 500 : status, m->reply);
		return true;
	}
	switch (m->step) {
	case STEP_FROM:
		send_command(m, STEP_TO, "RCPT TO:<", m->to.v[m->next_to++]);
		return false;
	case STEP_TO:
		return on_to(m, status);
	case STEP_DATA:
		send_data(m, STEP_MESSAGE, TAKE_PTR(m->message), m->message_len, TAKE_MS);
		return false;
	default:
		end_by_reply(m, status, m->taken_to < m->to.n ? m->refusal : m->reply);
		return true;
	}
}

/* "250-first", "250 last". True: m is gone. */
static bool on_line(struct mail *m)
{
	struct str line = str_trim((struct str){ m->line, m->line_len }, "\r\n");
	uint64_t status = 0;

	if (line.n < 3 || str_to_u64(line.p, 3, &status) < 0 || status < 100) {
		finish(m, HTTP_BROKEN, 0, TEXT_NO_SMTP);
		return true;
	}
	if (line.n > 3 && line.p[3] == '-')
		return false;
	(void)str_copy_printable(m->reply, sizeof(m->reply), line.p, line.n);
	return on_reply(m, (long)status);
}

/* True: m is gone. */
static bool take(struct mail *m, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (m->line_len < sizeof(m->line))
			m->line[m->line_len++] = p[i]; /* what is longer is cut */
		if (p[i] != '\n')
			continue;
		if (on_line(m))
			return true;
		m->line_len = 0;
	}
	return false;
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
	struct mail *m = ctx;
	char data[2048];
	size_t n = 0;
	CURLcode code;

	(void)fd;
	(void)what;
	while ((code = curl_easy_recv(m->easy, data, sizeof(data), &n)) == CURLE_OK && n > 0)
		if (take(m, data, n))
			return;
	if (code != CURLE_AGAIN)
		finish(m, HTTP_BROKEN, 0, TEXT_MAIL_CUT);
}

static void on_writable(evutil_socket_t fd, short what, void *ctx)
{
	(void)fd;
	(void)what;
	send_rest(ctx);
}

/* -- the connection -- */

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct mail *m = ctx;

	(void)str_copy_printable(m->reply, sizeof(m->reply), p,
				 str_trim((struct str){ p, size * n }, "\r\n").n);
	return size * n;
}

static void on_connected(struct mail *m)
{
	curl_socket_t fd = -1;

	(void)curl_easy_getinfo(m->easy, CURLINFO_ACTIVESOCKET, &fd);
	if (fd < 0) {
		finish(m, HTTP_CONNECT, 0, TEXT_MAIL_LOST);
		return;
	}
	m->readable = event_new(m->base, fd, EV_READ | EV_PERSIST, on_readable, m);
	m->writable = event_new(m->base, fd, EV_WRITE, on_writable, m);
	(void)event_add(m->readable, NULL);
	send_command(m, STEP_FROM, "MAIL FROM:<", m->from);
}

/* The server refused the login, or anything before it: its reply says more than libcurl. */
static void on_not_connected(struct mail *m, CURLcode code)
{
	const char *words = m->curl_error[0] ? m->curl_error : curl_easy_strerror(code);
	const struct http_way way = endpoint_way(m->endpoint, m->easy, code);
	long status = 0;

	(void)curl_easy_getinfo(m->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_USE_SSL_FAILED)
		finish(m, HTTP_OK, 530, TEXT_MAIL_NO_TLS);
	else if (status >= 400)
		finish_with(m, way, HTTP_OK, status, m->reply, NULL);
	else if (code == CURLE_LOGIN_DENIED)
		finish_on(m, way, HTTP_OK, 535, words);
	else
		finish_on(m, way, HTTP_CONNECT, 0, words);
}

static void drive(void *ctx, curl_socket_t fd, int events)
{
	struct mail *m = ctx;
	const CURLMsg *msg;
	int n;

	(void)curl_multi_socket_action(m->multi, fd, events, &n);
	if (m->sockets.lost)
		sockets_nudge(m->easy);
	m->sockets.lost = false;
	while ((msg = curl_multi_info_read(m->multi, &n))) {
		if (msg->msg != CURLMSG_DONE)
			continue;
		if (msg->data.result == CURLE_OK)
			on_connected(m);
		else
			on_not_connected(m, msg->data.result);
		return;
	}
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	struct mail *m = ctx;

	(void)fd;
	(void)what;
	if (m->step == STEP_CONNECT)
		drive(m, CURL_SOCKET_TIMEOUT, 0);
	else
		finish(m, HTTP_TIMEOUT, 0, TEXT_MAIL_SLOW);
}

static int set_timer(CURLM *multi, long ms, void *ctx)
{
	struct mail *m = ctx;

	(void)multi;
	if (m->step != STEP_CONNECT)
		return 0; /* it is the reply's */
	if (ms < 0)
		evtimer_del(m->timer);
	else
		evtimer_add(m->timer, CLOCK_TIMEVAL((uint64_t)ms));
	return 0;
}

static bool is_answered(CURL *easy)
{
	(void)easy;
	return false; /* a socket is libcurl's until it is connected */
}

static bool set_server(CURL *easy, struct mail *m)
{
	struct endpoint *e = m->endpoint;
	bool ok = endpoint_set_trust(e, easy) && endpoint_set_proxy(e, easy);

	SET(CURLOPT_USE_SSL, (long)(e->is_near ? CURLUSESSL_TRY : CURLUSESSL_ALL));
	SET(CURLOPT_HTTPPROXYTUNNEL, 1L);
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_CONNECT_TO, e->connect_to);
	SET(CURLOPT_RESOLVE, e->resolve);
	if (e->username) {
		SET(CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN"); /* others would open files */
		SET(CURLOPT_USERNAME, e->username);
		SET(CURLOPT_PASSWORD, e->password);
	}
	return ok;
}

static bool set_easy(CURL *easy, struct mail *m)
{
	bool ok;

	m->url = curl_url_dup(m->endpoint->origin);
	ok = curl_url_set(m->url, CURLUPART_PATH, *m->endpoint->prefix ? m->endpoint->prefix : "/localhost",
			  0) == CURLUE_OK;
	SET(CURLOPT_CURLU, m->url);
	SET(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	SET(CURLOPT_CONNECT_ONLY, 1L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TIMEOUT_MS, CONNECT_MS);
	SET(CURLOPT_DNS_CACHE_TIMEOUT, -1L); /* there are only addresses in it */
	SET(CURLOPT_CLOSESOCKETFUNCTION, sockets_close);
	SET(CURLOPT_CLOSESOCKETDATA, &m->sockets);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, m);
	SET(CURLOPT_ERRORBUFFER, m->curl_error);
	return set_server(easy, m) && ok;
}

/* -- the interface -- */

/* Lines that begin with a dot get another one, and a dot alone ends it (RFC 5321 4.5.2). */
static void set_message(struct mail *m, const char *p, size_t n)
{
	size_t w = 0;

	m->message = xmalloc(2 * n + 6);
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '.' && (i == 0 || p[i - 1] == '\n'))
			m->message[w++] = '.';
		m->message[w++] = p[i];
	}
	if (n < 2 || memcmp(p + n - 2, "\r\n", 2) != 0) {
		memcpy(m->message + w, "\r\n", 2);
		w += 2;
	}
	memcpy(m->message + w, ".\r\n", 3);
	m->message_len = w + 3;
}

static bool is_address(const char *s)
{
	size_t at = 0;

	for (const char *c = s; *c; c++) {
		if (*c <= 0x20 || *c == 0x7f || *c == '<' || *c == '>')
			return false;
		at += *c == '@';
	}
	return at == 1;
}

/* Why these addresses cannot be written to; TEXT__MAX: they can. */
static enum text judge_addresses(const struct mail *m)
{
	for (size_t i = 0; i < m->to.n; i++)
		if (!is_address(m->to.v[i]))
			return TEXT_MAIL_RECIPIENT;
	if (m->to.n == 0)
		return TEXT_MAIL_NO_RECIPIENT;
	return is_address(m->from) ? TEXT__MAX : TEXT_MAIL_SENDER;
}

/* Why it cannot begin; TEXT__MAX: it has. */
static enum text begin(struct mail *m)
{
	const enum text wrong = judge_addresses(m);

	if (wrong < TEXT__MAX)
		return wrong;
	m->easy = curl_easy_init();
	m->multi = curl_multi_init();
	if (!m->easy || !m->multi)
		abort();
	(void)curl_multi_setopt(m->multi, CURLMOPT_SOCKETFUNCTION, sockets_watch);
	(void)curl_multi_setopt(m->multi, CURLMOPT_SOCKETDATA, &m->sockets);
	(void)curl_multi_setopt(m->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	(void)curl_multi_setopt(m->multi, CURLMOPT_TIMERDATA, m);
	return set_easy(m->easy, m) && curl_multi_add_handle(m->multi, m->easy) == CURLM_OK ? TEXT__MAX
											    : TEXT_MAIL_UNFIT;
}

static void on_begun(evutil_socket_t fd, short what, void *ctx)
{
	struct mail *m = ctx;

	(void)fd;
	(void)what;
	if (m->endpoint->problem) {
		finish_with(m, (struct http_way){ 0 }, HTTP_CONNECT, 0, "", m->endpoint->problem);
		return;
	}
	const enum text problem = begin(m);

	if (problem < TEXT__MAX)
		finish(m, HTTP_CONNECT, 0, problem);
}

struct mail *mail_start(struct event_base *base, const struct http_endpoint *e, const struct mail_call *call)
{
	struct mail *m = xcalloc(1, sizeof(*m));

	http_global_init();
	*m = (struct mail){
		.base = base, .wait_for_all = call->wait_for_all, .on_done = call->on_done, .ctx = call->ctx
	};
	m->sockets = (struct sockets){ .base = base, .drive = drive, .ctx = m, .is_answered = is_answered };
	m->endpoint = endpoint_new_mail(e);
	m->from = xstrdup(call->from);
	for (size_t i = 0; i < call->n_to; i++)
		str_list_add(&m->to, call->to[i], strlen(call->to[i]));
	set_message(m, call->message, call->len);
	m->timer = evtimer_new(base, on_timer, m);
	m->begun = event_new(base, -1, 0, on_begun, m);
	event_active(m->begun, EV_TIMEOUT, 0); /* on_done must not come before we return */
	return m;
}

void mail_cancel(struct mail **m)
{
	if (*m)
		mail_free(*m);
	*m = NULL;
}
