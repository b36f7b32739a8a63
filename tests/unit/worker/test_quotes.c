/* test_quotes.c - what others said is kept with an action: the end of a log, and what was said of each
 * container.
 */
// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "worker/steps/step.h"
#include "workload.h"

#define LOG_PATH "GET " POD_PATH "/log"
#define CRASHED(state)                                                                                       \
	"'phase':'Running','containerStatuses':[{'name':'app','restartCount':7,'state':" state               \
	",'lastState':{'terminated':{'exitCode':3,'reason':'Error','message':'no database'"                  \
	",'finishedAt':'" LIVE "'}}}]"
#define WAITS "{'waiting':{'reason':'CrashLoopBackOff'}}"
#define ENDED "{'terminated':{'exitCode':4,'reason':'Error'}}"

static void crashes(const char *status)
{
	char item[2000];

	fake.grant.duty = DUTY_CRASH_LOOP;
	fake.policy.duty[DUTY_CRASH_LOOP].log_lines = 2;
	on_pod("41", "," BY_RS, "", status);
	(void)snprintf(item, sizeof(item),
		       "{'metadata':{'name':'web','namespace':'shop','uid':'pod-1','resourceVersion':'1',"
		       "'creationTimestamp':'" LIVE "'," BY_RS "},'spec':{},'status':{%s}}",
		       status);
	on_pods(item);
}

static bool asked_for_log(const char *query)
{
	for (size_t i = 0; i < fake.n_log; i++)
		if (strncmp(fake.log[i], LOG_PATH, strlen(LOG_PATH)) == 0)
			return strstr(fake.log[i], query);
	return false;
}

TEST(the_end_of_the_log_is_kept)
{
	crashes(CRASHED(WAITS));
	on(LOG_PATH, 200, "starts\nconnects\n\x1b[31mno database\x1b[0m\n");
	go();
	RESULT(DONE, CRASH_LOOPING);
	ck_assert(asked_for_log("container=app&limitBytes=65536&tailLines=2&previous=true"));
	ck_assert_uint_eq(fake.n_quotes, 1);
	ck_assert_uint_eq(fake.quotes[0].id, fake.grant.id);
	ck_assert_uint_eq(fake.quotes[0].quote, QUOTE_LOG);
	ck_assert_str_eq(fake.quotes[0].pod, "web");
	ck_assert_str_eq(fake.quotes[0].container, "app");
	ck_assert_str_eq(fake.quotes[0].text, "connects\nno database");
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "exit code 3 (Error)"));
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "no database"));
}

/* It has just ended: the present run is the one that crashed. */
TEST(of_a_container_that_is_down_the_present_log)
{
	crashes(CRASHED(ENDED));
	on(LOG_PATH, 200, "no database\n");
	go();
	RESULT(DONE, CRASH_LOOPING);
	ck_assert(asked_for_log("tailLines=2") && !asked_for_log("previous"));
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "exit code 4 (Error)"));
}

/* Without the right, an answer, a log: the act is the same, and says so. */
TEST_LOOP(a_log_that_cannot_be_read_stops_nothing, 0, 4)
{
	static const long status[] = { 403, 400, 500, 0 };

	crashes(CRASHED(WAITS));
	if (status[_i])
		on(LOG_PATH, status[_i], DENIED);
	else
		on_failure(LOG_PATH, HTTP_TIMEOUT, true);
	go();
	RESULT(DONE, CRASH_LOOPING);
	ck_assert_uint_eq(fake.n_quotes, 0);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "the log of container app could not be read"));
}

TEST_LOOP(no_log_is_asked_for, 0, 4)
{
	crashes(CRASHED(WAITS));
	if (_i == 0)
		fake.policy.duty[DUTY_CRASH_LOOP].log_lines = 0;
	if (_i == 1)
		fake.dry_run = true;
	if (_i == 2)
		fake.policy.duty[DUTY_CRASH_LOOP].announce_ms = HOUR;
	if (_i == 3)
		fake.grant.observe = true;
	go();
	ck_assert(!asked_for_log(""));
	ck_assert_uint_eq(fake.n_quotes, 0);
}

/* A kubelet that takes its time: everything is read again, but the log. */
TEST(a_slow_log_is_read_once)
{
	crashes(CRASHED(WAITS));
	on(LOG_PATH, 200, "no database\n");
	fake.slowness_ms = 600;
	go();
	RESULT(DONE, CRASH_LOOPING);
	unsigned n = 0;

	for (size_t i = 0; i < fake.n_log; i++)
		n += strncmp(fake.log[i], LOG_PATH, strlen(LOG_PATH)) == 0;
	ck_assert_uint_eq(n, 1);
}

#define WAITING(name, image, message)                                                                        \
	"{'name':'" name "','image':'" image                                                                 \
	"','state':{'waiting':{'reason':'ErrImagePull','message':'" message "'}}}"

/* Of several that fail each is named, with its image and what was said of it. */
TEST(each_container_that_cannot_pull)
{
	static const char status[] = "'phase':'Pending','containerStatuses':[" WAITING(
		"app", "r.example.com/app:1",
		"manifest unknown") "," WAITING("side", "r.example.com/side:2",
						"manifest for side not found: manifest unknown") "]";
	char item[2000];

	on_pod("41", "," BY_RS, "", status);
	(void)snprintf(item, sizeof(item),
		       "{'metadata':{'name':'web','namespace':'shop','uid':'pod-1','resourceVersion':'1',"
		       "'creationTimestamp':'" LIVE "'," BY_RS "},'spec':{},'status':{%s}}",
		       status);
	on_pods(item);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_uint_eq(fake.n_quotes, 2);
	ck_assert_uint_eq(fake.quotes[1].quote, QUOTE_MESSAGE);
	ck_assert_str_eq(fake.quotes[1].container, "side");
	ck_assert_str_eq(fake.quotes[1].image, "r.example.com/side:2");
	ck_assert_str_eq(fake.quotes[1].text, "manifest for side not found: manifest unknown");
}

/* A message that facts would cut is kept whole, up to its own bound. */
TEST_LOOP(a_long_message, 0, 3)
{
	static const size_t lengths[] = { 300, 1500, 5000 };
	static char message[5001], body[8000];

	memset(message, 'm', lengths[_i]);
	message[lengths[_i]] = '\0';
	(void)snprintf(body, sizeof(body), "'phase':'Failed','reason':'Evicted','message':'%s'", message);
	fake.grant.duty = DUTY_EVICTED;
	fake.grant.action = ACTION_DELETE;
	on_pod("41", "", "", body);
	on("DELETE " POD_PATH, 200, "{'kind':'Status','status':'Success'}");
	go();
	RESULT(DONE, EVICTED);
	ck_assert_uint_eq(fake.n_quotes, _i > 0);
	if (_i == 0)
		return;
	ck_assert_uint_eq(strlen(fake.quotes[0].text), _i == 1 ? 1500 : 2048 + strlen("…"));
	ck_assert_str_eq(fake.quotes[0].container, "");
}

/* As the workload says it, else its namespace. */
TEST_LOOP(whom_it_concerns, 0, 3)
{
	static const char *const contacts[] = { "ou_web", "ou_shop", "" };
	static char *keys = (char *)"a8r.io/owner, example.com/contact";

	fake.contact_keys = &keys;
	crashes(CRASHED(WAITS));
	on(LOG_PATH, 200, "no database\n");
	if (_i < 2)
		on("GET " NAMESPACE_PATH, 200,
		   "{'kind':'Namespace','metadata':{'name':'shop','annotations':{'a8r.io/owner':' ou_shop "
		   "'}}}");
	if (_i == 0)
		on(DEPLOY, 200,
		   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'77','creationTimestamp':'" LIVE
		   "','annotations':{'example.com/contact':'ou_web'}},'spec':{'replicas':3}}");
	go();
	struct fact_value v;

	ck_assert_int_eq(facts_find(&fake.result.evidence, FACT_CONTACT, &v), *contacts[_i] != '\0');
	if (*contacts[_i])
		ck_assert(str_is(v.text, contacts[_i]));
}

/* Also of what could not be done. */
TEST(whom_a_failure_concerns)
{
	static char *keys = (char *)"a8r.io/owner";

	fake.contact_keys = &keys;
	crashes(CRASHED(WAITS));
	on("GET " NAMESPACE_PATH, 200,
	   "{'kind':'Namespace','metadata':{'name':'shop','annotations':{'a8r.io/owner':'ou_shop'}}}");
	on(DEPLOY, 403, "{'kind':'Status','code':403,'message':'no'}");
	go();
	struct fact_value v;

	ck_assert_str_eq(fake.result.reason, "Forbidden");
	ck_assert(facts_find(&fake.result.evidence, FACT_CONTACT, &v) && str_is(v.text, "ou_shop"));
}

static const struct {
	const char *log;
	int64_t lines;
	const char *last;
} logs[] = {
	{ "a\nb\nc\n", 2, "b\nc" },
	{ "a\nb\nc", 9, "a\nb\nc" },
	{ "a\n\n\nb\r\n\n\n", 3, "\n\nb" },
	{ "\x1b[1;31mred\x1b[0m\tand\x1b", 1, "red and" },
	{ "\x1b[", 1, NULL },
	{ "", 5, NULL },
	{ "\n\n", 5, NULL },
};

TEST_LOOP(last_lines, 0, ARRAY_SIZE(logs))
{
	char *last = last_log_lines(logs[_i].log, strlen(logs[_i].log), logs[_i].lines);

	if (logs[_i].last)
		ck_assert_str_eq(last, logs[_i].last);
	else
		ck_assert_ptr_null(last);
	free(last);
}

/* Lines are whole; of one that is too long alone the end is kept, cut between characters and marked. */
TEST(last_lines_of_a_long_log)
{
	static char log[3 * QUOTE_TEXT_MAX];

	memset(log, 'x', sizeof(log));
	memcpy(log + sizeof(log) - 5, "\nend\n", 5);
	char *last = last_log_lines(log, sizeof(log), 40);

	ck_assert_str_eq(last, "end");
	free(last);
	for (size_t i = 0; i + 3 <= sizeof(log); i += 3)
		memcpy(log + i, "中", 3);
	last = last_log_lines(log, sizeof(log), 40);
	ck_assert_uint_le(strlen(last), QUOTE_TEXT_MAX);
	ck_assert_uint_ge(strlen(last), QUOTE_TEXT_MAX - 8);
	ck_assert_int_eq(strncmp(last, "…中", 6), 0);
	free(last);
}

static void set_up(void)
{
	setup_deployment();
	fake.policy.duty[DUTY_CRASH_LOOP].enable = true;
	fake.policy.duty[DUTY_EVICTED].enable = true;
}

TEST_MAIN("worker/quotes")
{
	tcase_add_checked_fixture(t, set_up, fake_teardown);
}
