/* Events on objects: what is reported, and how again, and that nothing waits for it. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>

#include "base/clock.h"
#include "tests/suite.h"
#include "worker/events.h"
#include "workload.h"
#include "tests/facts_en.h"

#define POST    "POST /api/v1" NS "events"
#define EVICTED "'phase':'Failed','reason':'Evicted'"
#define DELETE  "DELETE " POD_PATH
#define NO_RIGHT                                                                                             \
	"{'kind':'Status','status':'Failure','code':403,'message':'events is forbidden: User \\\"w\\\" "     \
	"cannot create resource'}"
#define SUCCESS "{'kind':'Status','apiVersion':'v1','status':'Success'}"

static struct events *events;
static unsigned denied;

static void on_denied(void *ctx, const struct facts *why)
{
	(void)ctx;
	ck_assert_ptr_nonnull(strstr(EN(*why), "cannot create"));
	denied++;
}

static const struct object_event one = { .api_version = "v1",
					 .kind = "Pod",
					 .ns = "shop",
					 .name = "web",
					 .uid = "pod-1",
					 .reason = "Evicted",
					 .message = "deleted: \"it\" was evicted" };

static void setup(void)
{
	setup_deployment();
	denied = 0;
	events = events_new(NULL, on_denied, NULL);
	on(POST, 201, "%s", "{}");
}

static void teardown(void)
{
	events_free(&events);
	fake_teardown();
}

static char *path_of(const struct object_event *event, const char *method)
{
	static char path[500];
	char name[EVENT_NAME_MAX];

	events_name(event, name);
	(void)snprintf(path, sizeof(path), "%s /api/v1" NS "events/%s", method, name);
	return path;
}

/* The JSON that was sent last. */
static json_t *body(void)
{
	const char *text = strchr(fake.log[fake.n_log - 1], '{');
	json_t *o = json_loads(text, 0, NULL);

	ck_assert_ptr_nonnull(o);
	return o;
}

static const char *text_of(json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

TEST(what_is_sent)
{
	events_add(events, &one);
	fake_drain();
	REQUESTS(POST " {");
	json_t *o = body(), *involved = json_object_get(o, "involvedObject");
	char name[EVENT_NAME_MAX];

	events_name(&one, name);
	ck_assert_str_eq(text_of(json_object_get(o, "metadata"), "name"), name);
	ck_assert_str_eq(text_of(json_object_get(o, "metadata"), "namespace"), "shop");
	ck_assert_str_eq(text_of(involved, "kind"), "Pod");
	ck_assert_str_eq(text_of(involved, "apiVersion"), "v1");
	ck_assert_str_eq(text_of(involved, "name"), "web");
	ck_assert_str_eq(text_of(involved, "namespace"), "shop");
	ck_assert_str_eq(text_of(involved, "uid"), "pod-1");
	ck_assert_str_eq(text_of(o, "reason"), "Evicted");
	ck_assert_str_eq(text_of(o, "message"), one.message);
	ck_assert_str_eq(text_of(o, "type"), "Normal");
	ck_assert_str_eq(text_of(o, "firstTimestamp"), "2026-09-21T14:13:20Z");
	ck_assert_str_eq(text_of(json_object_get(o, "source"), "component"), "ops-pod-cleaner");
	ck_assert_int_eq(json_integer_value(json_object_get(o, "count")), 1);
	json_decref(o);
}

/* One name for one object and reason; never longer than a name may be, never with a bad end before its hash.
 */
TEST(names)
{
	struct object_event a = one, b = one;
	char x[EVENT_NAME_MAX], y[EVENT_NAME_MAX];

	(void)snprintf(b.message, sizeof(b.message), "other words");
	events_name(&a, x);
	events_name(&b, y);
	ck_assert_str_eq(x, y);
	(void)snprintf(b.uid, sizeof(b.uid), "pod-2");
	events_name(&b, y);
	ck_assert_str_ne(x, y);
	b = one;
	(void)snprintf(b.reason, sizeof(b.reason), "Announced");
	events_name(&b, y);
	ck_assert_str_ne(x, y);
	memset(b.name, 'a', 253);
	b.name[235] = '.';
	b.name[234] = '-';
	events_name(&b, y);
	ck_assert_uint_eq(strlen(y), 234 + 17);
	ck_assert_int_eq(y[233], 'a');
	ck_assert_int_eq(y[234], '.');
}

TEST(reported_again)
{
	on(POST, 409, "{'kind':'Status','status':'Failure','reason':'AlreadyExists','code':409}");
	char get[500];

	(void)snprintf(get, sizeof(get), "%s", path_of(&one, "GET"));
	on(get, 200, "{'kind':'Event','count':4}");
	char patch[500];

	(void)snprintf(patch, sizeof(patch), "%s", path_of(&one, "PATCH"));
	on(patch, 200, "%s", "{}");
	events_add(events, &one);
	fake_drain();
	REQUESTS(POST, get, patch);
	json_t *o = body();

	ck_assert_int_eq(json_integer_value(json_object_get(o, "count")), 5);
	ck_assert_str_eq(text_of(o, "lastTimestamp"), "2026-09-21T14:13:20Z");
	ck_assert_str_eq(text_of(o, "message"), one.message);
	ck_assert_ptr_null(json_object_get(o, "firstTimestamp"));
	json_decref(o);
}

/* The same within five minutes is only counted; another reason is another Event. */
TEST(not_too_often)
{
	struct object_event other = one;

	(void)snprintf(other.reason, sizeof(other.reason), "Announced");
	for (int i = 0; i < 5; i++) {
		events_add(events, &one);
		fake_drain();
	}
	ck_assert_uint_eq(fake.n_log, 1);
	events_add(events, &other);
	fake_drain();
	ck_assert_uint_eq(fake.n_log, 2);
	clock_fake_advance(EVENTS_AGAIN_MS - 1);
	events_add(events, &one);
	fake_drain();
	ck_assert_uint_eq(fake.n_log, 2);
	clock_fake_advance(1);
	events_add(events, &one);
	fake_drain();
	ck_assert_uint_eq(fake.n_log, 3);
	json_t *o = body();

	ck_assert_int_eq(json_integer_value(json_object_get(o, "count")), 6);
	json_decref(o);
}

/* Many pods at once: the first ones are reported, and then five a second. */
static unsigned reported_of(unsigned first, unsigned count)
{
	const size_t before = fake.n_log;

	for (unsigned i = first; i < first + count; i++) {
		struct object_event e = one;

		(void)snprintf(e.uid, sizeof(e.uid), "pod-%u", i);
		events_add(events, &e);
		fake_drain();
	}
	return (unsigned)(fake.n_log - before);
}

TEST(never_a_flood)
{
	ck_assert_uint_eq(reported_of(0, 60), EVENTS_BURST);
	clock_fake_advance(EVENTS_PERIOD_MS - 1);
	ck_assert_uint_eq(reported_of(100, 1), 0);
	clock_fake_advance(1);
	ck_assert_uint_eq(reported_of(200, 2), 1);
	clock_fake_advance((uint64_t)EVENTS_PERIOD_MS * EVENTS_BURST * 2); /* saves no more than a burst */
	ck_assert_uint_eq(reported_of(300, 60), EVENTS_BURST);
}

TEST(one_after_the_other)
{
	struct object_event e = one;

	for (int i = 0; i < 40; i++) { /* more than are reported at once */
		(void)snprintf(e.uid, sizeof(e.uid), "pod-%d", i);
		events_add(events, &e);
	}
	fake_drain();
	ck_assert_uint_eq(fake.n_log, EVENTS_BURST);
}

TEST(not_allowed)
{
	struct object_event other = one;

	on(POST, 403, NO_RIGHT);
	(void)snprintf(other.uid, sizeof(other.uid), "pod-2");
	events_add(events, &one);
	events_add(events, &other);
	fake_drain();
	events_add(events, &other);
	fake_drain();
	ck_assert_uint_eq(fake.n_log, 1);
	ck_assert_uint_eq(denied, 1);
}

/* The API server answers 403 as well where no Event may come to be: its pods are just those that hang. */
TEST(a_namespace_that_is_terminating)
{
	struct object_event other = one;

	on(POST, 403,
	   "{'kind':'Status','status':'Failure','reason':'Forbidden','code':403,'message':'events is "
	   "forbidden: unable to create new content in namespace shop because it is being terminated'}");
	(void)snprintf(other.uid, sizeof(other.uid), "pod-2");
	events_add(events, &one);
	fake_drain();
	events_add(events, &other);
	fake_drain();
	ck_assert_uint_eq(fake.n_log, 2);
	ck_assert_uint_eq(denied, 0);
}

/* Whatever happens to one, the next is sent. */
TEST_LOOP(one_that_fails, 0, 4)
{
	struct object_event other = one;

	if (_i == 0)
		on_failure(POST, HTTP_TIMEOUT, true)->times = 1;
	else if (_i == 1)
		on(POST, 500, "%s", "")->times = 1;
	else if (_i == 2)
		on(POST, 404, NOTFOUND)->times = 1;
	else
		on(POST, 409, NOTFOUND)->times = 1;
	on(path_of(&one, "GET"), 404, NOTFOUND);
	(void)snprintf(other.uid, sizeof(other.uid), "pod-2");
	events_add(events, &one);
	events_add(events, &other);
	fake_drain();
	ck_assert_uint_eq(fake.n_log, _i == 3 ? 3 : 2);
	ck_assert_uint_eq(denied, 0);
}

TEST(freed_while_one_is_under_way)
{
	events_add(events, &one);
	events_free(&events);
	ck_assert_ptr_null(events);
}

/* -- which actions report -- */

TEST(a_workload_is_told)
{
	go();
	ck_assert(fake.reported);
	ck_assert_str_eq(fake.event.kind, "Deployment");
	ck_assert_str_eq(fake.event.api_version, "apps/v1");
	ck_assert_str_eq(fake.event.name, "web");
	ck_assert_str_eq(fake.event.uid, "dep-1");
	ck_assert_str_eq(fake.event.ns, "shop");
	ck_assert_str_eq(fake.event.reason, "ScaledToZero");
	ck_assert_msg(strncmp(fake.event.message,
			      "scaled from 3 to 0: all pods of the newest revision have f", 58) == 0,
		      "%s", fake.event.message);
	ck_assert_ptr_nonnull(strstr(fake.event.message, "; undo: ops-pod-cleaner restore 7"));
	ck_assert(fake.event.warning);
}

TEST(a_pod_is_told)
{
	fake.grant.duty = DUTY_EVICTED;
	fake.grant.action = ACTION_DELETE;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	ck_assert(fake.reported && !fake.event.warning);
	ck_assert_str_eq(fake.event.reason, "PodDeleted");
	ck_assert_str_eq(fake.event.kind, "Pod");
	ck_assert_str_eq(fake.event.api_version, "v1");
	ck_assert_str_eq(fake.event.name, "web");
	ck_assert_str_eq(fake.event.uid, "pod-1");
	ck_assert_str_eq(fake.event.message, "deleted: the kubelet evicted this pod; only its record is left "
					     "(phase Failed, reason Evicted)");
}

TEST(an_announcement_is_told)
{
	fake.policy.duty[DUTY_IMAGE_PULL].announce_ms = HOUR;
	(void)snprintf(fake.grant.reason, sizeof(fake.grant.reason), "CannotPullImage");
	on("PATCH /apis/apps/v1" NS "deployments/web", 200, "%s", "{}");
	go();
	RESULT(ANNOUNCED, ANNOUNCED);
	ck_assert(fake.reported && fake.event.warning);
	ck_assert_str_eq(fake.event.kind, "Deployment");
	ck_assert_str_eq(fake.event.reason, "WillScaleToZero");
	ck_assert_msg(strncmp(fake.event.message, "will be scaled to 0 after 2026-09-21T15:13:20Z: ", 48) ==
			      0,
		      "%s", fake.event.message);
	ck_assert_msg(strstr(fake.event.message, ": all pods of the newest revision have failed to pull") !=
			      NULL,
		      "%s", fake.event.message);
	ck_assert_msg(strstr(fake.event.message,
			     "; to refuse it: kubectl -n shop annotate deployments.apps web "
			     "ops-pod-cleaner.io/skip=errImagePull (") != NULL,
		      "%s", fake.event.message);
}

/* The owner of a pod is told of the pod, and asked there. */
TEST(an_announcement_on_a_pod_is_told)
{
	fake.grant.duty = DUTY_EVICTED;
	fake.grant.action = ACTION_DELETE;
	(void)snprintf(fake.grant.reason, sizeof(fake.grant.reason), "Evicted");
	fake.policy.duty[DUTY_EVICTED].announce_ms = HOUR;
	on_pod("41", "", "", EVICTED);
	on("PATCH /api/v1" NS "pods/web", 200, "%s", "{}");
	go();
	RESULT(ANNOUNCED, ANNOUNCED);
	ck_assert(fake.reported && !fake.event.warning);
	ck_assert_str_eq(fake.event.reason, "WillDeletePod");
	ck_assert_str_eq(fake.event.kind, "Pod");
	ck_assert_msg(strncmp(fake.event.message, "will be deleted after 2026-09-21T15:13:20Z: ", 44) == 0,
		      "%s", fake.event.message);
	ck_assert_msg(strstr(fake.event.message, ": the kubelet evicted this pod") != NULL &&
			      strstr(fake.event.message,
				     "; to refuse it: kubectl -n shop annotate pods web "
				     "ops-pod-cleaner.io/skip=deleteEvictedPod (") != NULL,
		      "%s", fake.event.message);
}

static void an_autoscaler_forbids_it(void)
{
	on(HPAS, 200,
	   "{'items':[{'metadata':{'name':'auto'},'spec':{'minReplicas':0,'scaleTargetRef':{'apiVersion':'"
	   "apps/v1',"
	   "'kind':'Deployment','name':'web'}}}]}");
}

TEST(what_an_operator_must_do_is_reported)
{
	an_autoscaler_forbids_it();
	go();
	RESULT(REFUSED, HAS_HPA);
	ck_assert(fake.reported && fake.event.warning);
	ck_assert_ptr_nonnull(strstr(fake.event.message, "nothing was done: "));
	ck_assert_ptr_nonnull(strstr(fake.event.message, "; to do: "));
}

TEST_LOOP(nothing_is_told, 0, 5)
{
	if (_i < 2) /* neither what would be done nor what would be refused */
		an_autoscaler_forbids_it();
	if (_i == 0)
		fake.dry_run = true;
	else if (_i == 1)
		fake.grant.observe = true;
	else if (_i == 2)
		on_pod("42", "," BY_RS, "", READY);
	else if (_i == 3)
		on(PATCH_MARK, 500, "%s", "");
	else
		on(GET, 404, NOTFOUND);
	go();
	ck_assert(!fake.reported);
}

TEST_MAIN("worker/events")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
