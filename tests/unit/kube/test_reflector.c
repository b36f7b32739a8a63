/* test_reflector.c - the reflector against a scripted API server: what its consumer sees. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "http/global.h"
#include "tests/suite.h"
#include "tests/unit/kube/consumer.h"
#include "tests/unit/kube/words.h"

static const struct reflector_config plain_config = { 0 };

/* -- cases -- */

static int serve_watchlist(struct server_conn *c, const char *request)
{
	server_sends(c, STREAM_HEAD);
	if (asks(request, "sendInitialEvents=true")) {
		send_words(c, "+a@3 +b@2 -b@4 .4 |5 ~a@6");
		usleep(1100000); /* not a very short one */
		end_chunks(c);
		return 1;
	}
	send_event(c, "DELETED", strstr(request, "resourceVersion=6&") ? "a" : "wrong", "7");
	server_drain(c);
	return 0;
}

TEST(wl04_wl05_wl08_wl10)
{
	const struct seen s = run(serve_watchlist, &plain_config, "-a ");
	ck_assert_str_eq(s.text, "list: +a +b -b sync: +a -a ");
	ck_assert_int_eq(s.date, 1795256568000);
}

static int serve_pages(struct server_conn *c, const char *request)
{
	static const char *const first[] = { "a", "b", NULL }, *const second[] = { "c", NULL };

	if (asks(request, "sendInitialEvents=true"))
		return answer_status(c, 422, "Invalid", "sendInitialEvents is forbidden");
	if (asks(request, "watch=true")) {
		return stream_words(c, "+d@12");
	}
	if (strstr(request, "continue=tok"))
		send_list(c, "shop", second, "11", "");
	else
		send_list(c, "shop", first, "11", "tok");
	return 1;
}

TEST(wl03_invalid_falls_back_to_pages)
{
	const struct seen s = run(serve_pages, &plain_config, "+d ");
	ck_assert_str_eq(s.text, "list: +a +b +c sync: +d "); /* nothing is wrong with such a server */
}

static int serve_error_event(struct server_conn *c, const char *request)
{
	server_sends(c, STREAM_HEAD);
	if (asks(request, "sendInitialEvents=true") && c->log->requests == 1) {
		send_words(c, "+a@3 |5");
		send_error_event(c, 410, "Expired");
	} else {
		send_words(c, "+z@9 |9");
	}
	server_drain(c);
	return 0;
}

TEST(re12_error_event_relists)
{
	const struct seen s = run(serve_error_event, &plain_config, "+z sync: ");
	ck_assert_str_eq(s.text, "list: +a sync: list: +z sync: ");
}

/* The connection ends inside a frame: what was whole counts, the rest comes again. */
static int serve_cut(struct server_conn *c, const char *request)
{
	struct wire w = event_of("MODIFIED", "half", "6", "Running");

	server_sends(c, STREAM_HEAD);
	if (asks(request, "sendInitialEvents=true")) {
		send_words(c, "|5");
		send_chunk(c, w.p, w.n);
		usleep(1100000);
		send_chunk(c, w.p, w.n / 2);
		wire_done(&w);
		return 0;
	}
	send_event(c, "ADDED", strstr(request, "resourceVersion=6&") ? "whole" : "wrong", "7");
	wire_done(&w);
	server_drain(c);
	return 0;
}

TEST(watch_cut_inside_a_frame)
{
	const struct seen s = run(serve_cut, &plain_config, "+whole ");
	ck_assert_str_eq(s.text, "list: sync: +half +whole ");
}

static int serve_bad_objects(struct server_conn *c, const char *request)
{
	static const uint8_t junk[] = { 0, 0, 0, 3, 0xff, 0xff, 0xff };
	struct wire w = { 0 }, other = { 0 }, broken = { 0 }, meta = { 0 };

	(void)request;
	server_sends(c, STREAM_HEAD);
	send_words(c, "+a@3");
	send_chunk(c, junk, sizeof(junk));
	wire_event(&w, "ADDED", "v1", "Service", &other);
	wire_field_str(&meta, 3, "shop");
	wire_field_str(&meta, 1, "bro\nken");
	wire_field_message(&broken, 1, &meta);
	wire_bytes(&broken, "\x12\x7f", 2);
	wire_event(&w, "MODIFIED", "v1", "Pod", &broken);
	send_chunk(c, w.p, w.n);
	send_event(c, "SURPRISE", "x", "4");
	send_words(c, "+b@4 |5");
	server_drain(c);
	return 0;
}

TEST(re02_bad_objects_do_not_harm_the_rest)
{
	const struct seen s = run(serve_bad_objects, &plain_config, "sync: ");
	ck_assert_str_eq(s.text, "list: +a bad bad bad bad +b sync: ");
}

/* A name with a line break and an escape sequence, and then a field that runs out of the object. */
static int serve_hostile_pod(struct server_conn *c, const char *request)
{
	struct wire w = { 0 }, pod = { 0 }, meta = { 0 };

	(void)request;
	server_sends(c, STREAM_HEAD);
	wire_field_str(&meta, 3, "shop");
	wire_field_str(&meta, 1, "bro\nken\x1b[2J");
	wire_field_message(&pod, 1, &meta);
	wire_bytes(&pod, "\x12\x7f", 2);
	wire_event(&w, "MODIFIED", "v1", "Pod", &pod);
	send_chunk(c, w.p, w.n);
	send_words(c, "+b@4 |5");
	server_drain(c);
	return 0;
}

TEST(a_hostile_object_is_named)
{
	const struct seen s = run(serve_hostile_pod, &plain_config, "sync: ");
	ck_assert_str_eq(s.text, "list: bad +b sync: ");
	ck_assert_str_eq(s.bad, "a pod that is not valid protobuf was skipped: shop/bro?ken?[2J");
}

/* Of a namespace: a name, a uid, labels, and a spec that no pod has. */
static int serve_namespaces(struct server_conn *c, const char *request)
{
	struct wire w = { 0 }, ns = { 0 }, meta = { 0 }, pair = { 0 };

	if (!asks(request, "GET /api/v1/namespaces?"))
		return answer_status(c, 404, "NotFound", "no");
	server_sends(c, STREAM_HEAD);
	wire_field_str(&meta, 1, "shop");
	wire_field_str(&meta, 5, "ns-1");
	wire_field_str(&meta, 6, "3");
	wire_field_str(&pair, 1, "team");
	wire_field_str(&pair, 2, "a");
	wire_field_message(&meta, 11, &pair);
	wire_field_message(&ns, 1, &meta);
	wire_field_bytes(&ns, 2,
			 "\x0a\x7f"
			 "kubernetes",
			 12);
	wire_event(&w, "ADDED", "v1", "Namespace", &ns);
	send_chunk(c, w.p, w.n);
	wire_done(&w);
	send_words(c, "+b@4 |5");
	server_drain(c);
	return 0;
}

TEST(namespaces_are_kept_in_step)
{
	const struct reflector_config config = { .what = REFLECT_NAMESPACES };
	const struct seen s = run(serve_namespaces, &config, "sync: ");

	ck_assert_str_eq(s.text, "list: +shop bad sync: "); /* a pod is none */
	ck_assert_ptr_nonnull(strstr(s.bad, "no Namespace"));
}

static int serve_forbidden_namespaces(struct server_conn *c, const char *request)
{
	(void)request;
	return answer_status(c, 403, "Forbidden", "namespaces is forbidden");
}

TEST(forbidden_namespaces)
{
	const struct reflector_config config = { .what = REFLECT_NAMESPACES };
	const struct seen s = run(serve_forbidden_namespaces, &config, "trouble ");

	ck_assert_int_eq(s.trouble_status, 403);
	ck_assert_int_eq(strncmp(s.trouble, "namespaces: the API server answered 403", 39), 0);
}

static int serve_json(struct server_conn *c, const char *request)
{
	(void)request;
	server_sends(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
	return 1;
}

TEST(json_is_refused)
{
	const struct seen s = run(serve_json, &plain_config, "trouble trouble ");
	ck_assert_str_eq(s.text, "trouble trouble ");
	ck_assert_ptr_nonnull(strstr(s.trouble, "application/json"));
	ck_assert_ptr_nonnull(strstr(s.trouble, "protobuf"));
}

static int serve_garbage_list(struct server_conn *c, const char *request)
{
	if (asks(request, "sendInitialEvents=true"))
		return answer_status(c, 422, "Invalid", "no");
	server_sends(c, STREAM_HEAD);
	send_chunk(c, "k8s", 4);
	send_chunk(c, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	end_chunks(c);
	return 1;
}

TEST(broken_list_keeps_the_old_state)
{
	const struct seen s = run(serve_garbage_list, &plain_config, "failed: ");
	ck_assert_str_eq(s.text, "list: trouble failed: ");
}

static int serve_namespaced(struct server_conn *c, const char *request)
{
	if (!strstr(request, "/namespaces/"))
		return answer_status(c, 403, "Forbidden", "pods is forbidden");
	server_sends(c, STREAM_HEAD);
	send_event(c, "ADDED", strstr(request, "/namespaces/one/") ? "p1" : "p2", "3");
	send_words(c, "|5");
	server_drain(c);
	return 0;
}

TEST(forbidden_for_all_namespaces)
{
	char one[] = "one", two[] = "two";
	char *names[] = { one, two };
	const struct reflector_config config = { .namespaces = names, .n_namespaces = 2 };
	static const char *const words[] = { "list:one ", "+p1 ", "sync:one ",
					     "list:two ", "+p2 ", "sync:two " };
	const struct seen s = run(serve_namespaced, &config, "healthy ");
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		ck_assert_msg(strstr(s.text, words[i]) != NULL, "%s: no %s", s.text, words[i]);
	ck_assert_ptr_null(strstr(s.text, "list: "));
	ck_assert_int_eq(strncmp(s.text, "narrowed ", 9), 0);
	ck_assert_ptr_nonnull(strstr(s.trouble, "pods of all namespaces: "));
	ck_assert_ptr_nonnull(strstr(s.trouble, "one by one"));
}

TEST(only_namespaces)
{
	char two[] = "two";
	char *names[] = { two };
	const struct reflector_config config = { .namespaces = names,
						 .n_namespaces = 1,
						 .only_namespaces = true };
	const struct seen s = run(serve_namespaced, &config, "sync:two ");
	ck_assert_str_eq(s.text, "list:two +p2 sync:two ");
}

/* Nothing to fall back to: it says what is missing and tries again. */
TEST(forbidden_everywhere)
{
	/* Once a round: the same text each time, so that it is news but once. */
	const struct seen s = run(serve_namespaced, &plain_config, "trouble trouble ");
	ck_assert_str_eq(s.text, "trouble trouble ");
	ck_assert_uint_eq(s.requests, 4);
	ck_assert_int_eq(s.trouble_status, 403);
	ck_assert_ptr_nonnull(strstr(s.trouble, "RBAC"));
	ck_assert_ptr_nonnull(strstr(s.trouble, "pods is forbidden"));
}

static int serve_unauthorized(struct server_conn *c, const char *request)
{
	if (c->log->requests == 1)
		return answer_status(c, 401, "Unauthorized", "Unauthorized");
	return serve_watchlist(c, request);
}

TEST(unauthorized_then_fine)
{
	const struct seen s = run(serve_unauthorized, &plain_config, "sync: healthy ");
	begins_with(s.text, "trouble list: +a +b -b sync: healthy ");
	ck_assert_int_eq(s.trouble_status, 401);
}

static int serve_retry_after(struct server_conn *c, const char *request)
{
	if (c->log->requests <= 2) {
		server_sends(c, "HTTP/1.1 429 T\r\nContent-Type: text/plain\r\nRetry-After: "
				"1\r\nContent-Length: 3\r\n\r\n"
				"no\n");
		return 1;
	}
	return serve_watchlist(c, request);
}

TEST(retry_after_is_obeyed)
{
	const struct seen s = run(serve_retry_after, &plain_config, "sync: healthy ");
	begins_with(s.text, "trouble trouble list: +a +b -b sync: healthy ");
}

/* Half-open: nobody hangs up, but the bookmarks stay away. */
static int serve_stalled(struct server_conn *c, const char *request)
{
	server_sends(c, STREAM_HEAD);
	if (asks(request, "sendInitialEvents=true")) {
		send_words(c, "|5 .6");
	} else {
		send_event(c, "ADDED", strstr(request, "resourceVersion=6&") ? "back" : "wrong", "7");
	}
	server_drain(c);
	return 0;
}

TEST(silence_is_death)
{
	const struct reflector_config config = { .stalled_ms = 1200 };
	const struct seen s = run(serve_stalled, &config, "+back ");
	ck_assert_str_eq(s.text, "list: sync: +back ");
}

static int serve_hanging(struct server_conn *c, const char *request)
{
	if (c->log->requests > 1)
		return serve_watchlist(c, request);
	server_drain(c); /* no answer at all */
	return 0;
}

TEST(no_answer_is_trouble)
{
	const struct reflector_config config = { .stalled_ms = 1500 };
	const struct seen s = run(serve_hanging, &config, "healthy ");
	begins_with(s.text, "trouble list: +a +b -b sync: healthy ");
	ck_assert_ptr_nonnull(strstr(s.trouble, "does not answer"));
}

/* RBAC is given back, or the server had just begun: soon, not after the longest wait, the stream of all
 * namespaces takes over and the others end, in trouble or not. */
static int serve_given_back(struct server_conn *c, const char *request)
{
	if (c->log->requests > 3)
		return serve_watchlist(c, request);
	return serve_namespaced(c, request);
}

TEST(all_namespaces_again)
{
	char one[] = "one";
	char *names[] = { one };
	const struct reflector_config config = { .namespaces = names,
						 .n_namespaces = 1,
						 .all_retry_ms = 32000 };
	const struct seen s = run(serve_given_back, &config, "sync: ");
	begins_with(s.text, "narrowed list:one +p1 sync:one healthy list: +a +b -b sync: ");
}

static int serve_given_back_to_all(struct server_conn *c, const char *request)
{
	if (strstr(request, "/namespaces/") || c->log->requests <= 4)
		return answer_status(c, 403, "Forbidden", "pods is forbidden");
	return serve_watchlist(c, request);
}

TEST(trouble_of_a_namespace_ends_with_its_stream)
{
	char one[] = "one";
	char *names[] = { one };
	const struct reflector_config config = { .namespaces = names,
						 .n_namespaces = 1,
						 .all_retry_ms = 32000 };
	const struct seen s = run(serve_given_back_to_all, &config, "healthy ");
	begins_with(s.text, "narrowed trouble list: +a +b -b sync: ");
	ck_assert_ptr_nonnull(strstr(s.text, "healthy "));
}

/* The old state stays while nobody answers. */
TEST(no_server)
{
	struct seen s = run(NULL, &plain_config, "trouble trouble ");

	ck_assert_str_eq(s.text, "trouble trouble ");
	ck_assert_ptr_nonnull(strstr(s.trouble, "no answer from the API server"));
	reflector_free(&s.reflector); /* again */
}

TEST_MAIN("kube/reflector")
{
	http_global_init();
	tcase_set_timeout(t, 30);
}
