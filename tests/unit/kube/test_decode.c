/* test_decode.c - both pod decoders: against written vectors, against one another, and on broken bytes. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "kube/cursor.h"
#include "kube/decode_json.h"
#include "kube/decode_protobuf.h"
#include "kube/decode_objects.h"
#include "tests/apisim/podpb.h"
#include "tests/suite.h"
#include "tests/same_facts.h"
#include "tests/unit/kube/random_pod.h"

static uint8_t nibble(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static size_t unhex(const char *s, uint8_t *out)
{
	size_t n = 0;

	for (; *s; s++)
		if (*s != ' ') {
			out[n++] = (uint8_t)(nibble(s[0]) << 4 | nibble(s[1]));
			s++;
		}
	return n;
}

/* Has the generator reached every fact? Each may be absent. */
#define IS_SET_TEXT(v)                             ((v).n != 0)
#define IS_SET_BOOL(v)                             (v)
#define IS_SET_INT32(v)                            ((v) != 0)
#define IS_SET_TIME(v)                             ((v) != 0)
#define IS_SET_SECONDS(v)                          ((v) != -1)
#define REACHED(kind, member, packed, duties, doc) bool member;
static struct {
	struct {
		POD_FACTS(REACHED)
	} pod;
	struct {
		CONTAINER_FACTS(REACHED)
	} container;
} reached;
#define REACH_OF_POD(kind, member, packed, duties, doc) reached.pod.member |= IS_SET_##kind(f->member);
#define REACH_OF_CONTAINER(kind, member, packed, duties, doc)                                                \
	reached.container.member |= IS_SET_##kind(c->member);
#define MUST_OF_POD(kind, member, packed, duties, doc)       ck_assert_msg(reached.pod.member, #member);
#define MUST_OF_CONTAINER(kind, member, packed, duties, doc) ck_assert_msg(reached.container.member, #member);

static void reach(const struct pod_facts *f)
{
	POD_FACTS(REACH_OF_POD)
	for (uint32_t i = 0; i < f->n_containers; i++) {
		const struct container_facts *c = &f->containers[i];

		CONTAINER_FACTS(REACH_OF_CONTAINER)
	}
}

TEST(test_agree)
{
	static struct pod_facts a, b;
	bool many = false;

	for (uint64_t seed = 1; seed <= 5000; seed++) {
		struct dual pod = random_pod(seed);
		char what[32];

		/* Old bytes must not shine through. */
		memset(&a, 0xa5, sizeof(a));
		memset(&b, 0x5a, sizeof(b));
		ck_assert_int_eq(decode_pod_protobuf(pod.wire.p, pod.wire.n, &a), 0);
		ck_assert_int_eq(decode_pod_json(pod.json, &b), 0);
		(void)snprintf(what, sizeof(what), "seed %llu", (unsigned long long)seed);
		same_facts(&a, &b, false, what);
		reach(&a);
		many |= a.n_finalizers > POD_FINALIZERS_MAX;
		dual_done(&pod);
	}
	ck_assert(many);
	POD_FACTS(MUST_OF_POD)
	CONTAINER_FACTS(MUST_OF_CONTAINER)
}

/* Every prefix of a pod: an error or fewer facts, never a crash, never a read past the end. */
TEST(test_truncated)
{
	static struct pod_facts f;
	size_t refused = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct dual pod = random_pod(seed);

		for (size_t n = 0; n < pod.wire.n; n++) {
			uint8_t *exact = xmemdup(pod.wire.p, n);

			refused += decode_pod_protobuf(exact, n, &f) == -EBADMSG;
			free(exact);
		}
		dual_done(&pod);
	}
	ck_assert_uint_gt(refused, 1000);
}

TEST(test_mutated)
{
	static struct pod_facts f;
	uint64_t s = 7;

	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct dual pod = random_pod(seed);

		for (int i = 0; i < 4; i++)
			pod.wire.p[wire_random(&s) % pod.wire.n] = (uint8_t)wire_random(&s);
		const int r = decode_pod_protobuf(pod.wire.p, pod.wire.n, &f);

		ck_assert(r == 0 || r == -EBADMSG);
		dual_done(&pod);
	}
}

TEST(test_wrong_wire_types_count_as_absent)
{
	static struct pod_facts f;
	struct wire meta = { 0 }, pod = { 0 };

	wire_field_varint(&meta, 1, 7); /* name as a number */
	wire_field_str(&meta, 5, "u");
	wire_field_str(&meta, 10, "grace as text");
	wire_field_message(&pod, 1, &meta);
	wire_field_varint(&pod, 3, 1); /* status as a number */
	ck_assert_int_eq(decode_pod_protobuf(pod.p, pod.n, &f), 0);
	ck_assert(str_empty(f.name) && str_is(f.uid, "u"));
	ck_assert_int_eq(f.grace_s, -1);
	wire_done(&pod);
}

TEST(test_groups_are_skipped)
{
	static const uint8_t group[] = { 0x9b, 0x06, 0x9b, 0x06, 0x08, 0x01, 0x9c, 0x06, 0x9c, 0x06 };
	static struct pod_facts f;
	struct wire meta = { 0 }, pod = { 0 };

	wire_bytes(&pod, group, sizeof(group));
	wire_field_str(&meta, 1, "after");
	wire_field_message(&pod, 1, &meta);
	ck_assert_int_eq(decode_pod_protobuf(pod.p, pod.n, &f), 0);
	ck_assert(str_is(f.name, "after"));
	ck_assert_int_eq(decode_pod_protobuf(pod.p, 3, &f), -EBADMSG); /* never closed */
	wire_done(&pod);
}

TEST(test_varint_limits)
{
	static const uint8_t overlong[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
	};
	static const uint8_t minus_one[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };
	static const uint8_t field_zero[] = { 0x02, 0x00 };

	ck_assert_ptr_null(cursor_number(overlong, overlong + sizeof(overlong)).p);
	const struct cursor_number n = cursor_number(minus_one, minus_one + sizeof(minus_one));

	ck_assert_ptr_eq(n.p, minus_one + sizeof(minus_one));
	ck_assert_uint_eq(n.v, UINT64_MAX);
	struct cursor c = cursor_of(field_zero, sizeof(field_zero));

	ck_assert(!cursor_pass(&c, cursor_head(c)));
}

/* As the server writes them, as others may, and what is no time. */
TEST(test_times)
{
	static const struct {
		const char *time;
		int64_t ms;
		int r;
	} rows[] = {
		{ "08 80e0a9c806", 1762291712000, 0 },
		{ "08 80e0a9c806 1000", 1762291712000, 0 },
		{ "08 80e0a9c806 1001", 1762291712000, 0 },  /* nanos do not count */
		{ "10 00 08 80e0a9c806", 1762291712000, 0 }, /* the other order */
		{ "08 00 08 80e0a9c806", 1762291712000, 0 }, /* the last one counts */
		{ "08 80e0a9c806 0801", 1000, 0 },           /* so does this */
		{ "08 80e0a9c88600", 1762291712000, 0 },     /* longer than it needs to be */
		{ "08 ffffffff7f", 34359738367000, 0 },      /* the largest of five bytes */
		{ "08 8080808001", 268435456000, 0 },        /* the smallest */
		{ "08 7f", 127000, 0 },
		{ "08 80809203", 6586368000, 0 },
		{ "08 8092b8c398feffffff01", 0, 0 }, /* the year 1 is none */
		{ "08 80809280808010", 0, 0 },       /* beyond 9999 */
		{ "08 ffffffffffffffffff01", -1000, 0 },
		{ "", 0, 0 },
		{ "08 80e0a9c886", 0, -EBADMSG },
		{ "08 80e0a9c806 10", 0, -EBADMSG },
		{ "08 80e0a9c806 1080", 0, -EBADMSG },
		{ "08 80e0a9c806 02", 0, -EBADMSG },
		{ "08 80e0a9c806 0200", 0, -EBADMSG },
	};
	static struct pod_facts f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t b[64];
		const size_t n = unhex(rows[i].time, b + 4);

		b[0] = 0x0a;
		b[1] = (uint8_t)(n + 2);
		b[2] = 0x42;
		b[3] = (uint8_t)n;
		ck_assert_msg(decode_pod_protobuf(b, n + 4, &f) == rows[i].r, "%s", rows[i].time);
		ck_assert_msg(rows[i].r || f.created == rows[i].ms, "%s is %lld", rows[i].time,
			      (long long)f.created);
	}
}

/* Keys after values, types after statuses, lengths longer than they need to be: unusual, but the same pod. */
TEST(test_unusual_order_means_the_same)
{
	static struct pod_facts f;
	uint8_t b[256];
	const size_t n =
		unhex("0a 5d"
		      /* label: value, key */
		      "5a 18 12 03 616263 0a 11 706f642d74656d706c6174652d68617368"
		      /* annotation: value, key of ops-pod-cleaner.io/ignore */
		      "62 21 12 04 74727565 0a 19 6f70732d706f642d636c65616e65722e696f2f69676e6f7265"
		      /* annotation: its key's length takes two bytes */
		      "62 1e 0a 9b00 6b756265726e657465732e696f2f636f6e6669672e6d6972726f72"
		      /* condition: status before type; one that nobody asks for */
		      "1a 1c 12 0d 12 04 54727565 0a 05 5265616479 12 0b 0a 03 466f6f 12 04 54727565",
		      b);

	ck_assert_int_eq(decode_pod_protobuf(b, n, &f), 0);
	ck_assert(str_is(f.revision, "abc"));
	ck_assert(f.skip);
	ck_assert(f.mirror);
	ck_assert(f.ready);
	ck_assert_uint_eq(f.n_labels, 1);
}

/* Of what is asked for, nothing may be broken; every cut of it is. */
TEST(test_labels_and_conditions_truncated)
{
	static struct pod_facts f;
	uint8_t b[64], label[64] = { 0x0a, 0, 0x5a, 0 }, condition[64] = { 0x1a, 0, 0x12, 0 };
	const size_t n_label = unhex("0a 03 616263 12 03 646566", b);

	for (size_t n = 1; n < n_label; n++) {
		const bool whole = n == 5; /* a key alone is an entry */

		label[3] = (uint8_t)n;
		label[1] = (uint8_t)(n + 2);
		memcpy(label + 4, b, n);
		ck_assert_int_eq(decode_pod_protobuf(label, n + 4, &f), whole ? 0 : -EBADMSG);
	}
	const size_t n_condition = unhex("0a 05 5265616479 12 04 54727565", b);

	for (size_t n = 1; n < n_condition; n++) {
		const bool whole = n == 7;

		condition[3] = (uint8_t)n;
		condition[1] = (uint8_t)(n + 2);
		memcpy(condition + 4, b, n);
		ck_assert_int_eq(decode_pod_protobuf(condition, n + 4, &f), whole ? 0 : -EBADMSG);
	}
}

/* A JSON pod without what makes it one is refused; members of a wrong type count as absent. */
TEST(test_json_refused)
{
	static const char *const bad[] = { "[]",
					   "{}",
					   "{\"metadata\":{\"name\":\"a\"}}",
					   "{\"metadata\":{\"uid\":\"u\"}}",
					   "{\"metadata\":{\"name\":1,\"uid\":\"u\"}}",
					   "{\"metadata\":[1]}" };
	static struct pod_facts f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		json_t *o = json_loads(bad[i], 0, NULL);

		ck_assert_ptr_nonnull(o);
		ck_assert_int_eq(decode_pod_json(o, &f), -EBADMSG);
		json_decref(o);
	}
	json_t *o =
		json_loads("{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":[],\"deletionTimestamp\":"
			   "\"soon\",\"deletionGracePeriodSeconds\":\"9\"},\"spec\":7,\"status\":{"
			   "\"containerStatuses\":[{\"restartCount\":9999999999}],\"conditions\":{}}}",
			   0, NULL);

	ck_assert_int_eq(decode_pod_json(o, &f), 0);
	ck_assert_int_eq(f.deletion, 0);
	ck_assert_int_eq(f.grace_s, -1);
	ck_assert_uint_eq(f.n_containers, 1);
	ck_assert_int_eq(f.containers[0].restarts, 0);
	json_decref(o);
}

/* One pod written down with what each of its fields means: the list of fields itself may be wrong. */
static const char written[] =
	"{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"u-1\",\"resourceVersion\":"
	"\"41\","
	"\"creationTimestamp\":\"1970-01-01T00:00:01Z\",\"deletionTimestamp\":\"1970-01-01T00:00:"
	"02Z\","
	"\"deletionGracePeriodSeconds\":3,\"finalizers\":[\"a/"
	"b\"],\"labels\":{\"pod-template-hash\":\"r-1\"},"
	"\"ownerReferences\":[{\"apiVersion\":\"apps/"
	"v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-1\",\"uid\":\"o-1\","
	"\"controller\":true}]},\"spec\":{\"nodeName\":\"n-1\",\"priorityClassName\":\"high\","
	"\"initContainers\":[{\"name\":\"init\",\"restartPolicyRules\":[{\"action\":\"Restart\","
	"\"exitCodes\":{\"operator\":\"In\",\"values\":[9]}}]}],"
	"\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimTemplateName\":\"one-gpu\"}]},"
	"\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"startTime\":\"1970-01-01T00:00:"
	"04Z\",\"conditions\":["
	"{\"type\":\"Ready\",\"status\":\"False\",\"lastTransitionTime\":\"1970-01-01T00:00:05Z\"},"
	"{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"1970-01-01T00:00:"
	"06Z\"},"
	"{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"lastTransitionTime\":\"1970-01-01T00:"
	"00:07Z\"},{\"type\":\"AllContainersRestarting\",\"status\":\"True\"}],"
	"\"resourceClaimStatuses\":[{\"name\":\"gpu\",\"resourceClaimName\":\"web-gpu-x7k2p\"}],"
	"\"initContainerStatuses\":[{\"name\":\"init\",\"image\":\"i-1\",\"restartCount\":8,"
	"\"ready\":true,\"state\":"
	"{\"terminated\":{\"reason\":\"Error\",\"exitCode\":9,\"finishedAt\":\"1970-01-01T00:00:"
	"10Z\"}},\"lastState\":"
	"{\"terminated\":{\"reason\":\"OOMKilled\",\"exitCode\":11,\"finishedAt\":\"1970-01-01T00:00:"
	"12Z\"}}}],"
	"\"containerStatuses\":[{\"name\":\"app\",\"allocatedResourcesStatus\":[{\"name\":"
	"\"example.com/gpu\",\"resources\":[{\"resourceID\":\"GPU-0\",\"health\":\"Healthy\"},"
	"{\"resourceID\":\"GPU-1\",\"health\":\"Unhealthy\"}]}],\"started\":true,\"state\":{\"waiting\":{"
	"\"reason\":\"ErrImagePull\","
	"\"message\":\"no\"}}}]}}";
static const struct pod_facts meant = {
	.name = STR_LIT("web"),
	.ns = STR_LIT("shop"),
	.uid = STR_LIT("u-1"),
	.rv = STR_LIT("41"),
	.created = 1000,
	.deletion = 2000,
	.grace_s = 3,
	.revision = STR_LIT("r-1"),
	.node = STR_LIT("n-1"),
	.priority_class = STR_LIT("high"),
	.phase = STR_LIT("Failed"),
	.reason = STR_LIT("Evicted"),
	.start_time = 4000,
	.unready_since = 5000,
	.scheduled = true,
	.scheduled_at = 6000,
	.disruption_at = 7000,
	.claim = STR_LIT("web-gpu-x7k2p"),
	.restarting = true,
	.owner = { STR_LIT("apps/v1"), STR_LIT("ReplicaSet"), STR_LIT("web-1"), STR_LIT("o-1") },
	.n_labels = 1,
	.labels = { { STR_LIT("pod-template-hash"), STR_LIT("r-1") } },
	.n_finalizers = 1,
	.finalizers = { STR_LIT("a/b") },
	.n_containers = 2,
	.containers = { { .name = STR_LIT("app"),
			  .state = CONTAINER_WAITING,
			  .started = true,
			  .device = STR_LIT("GPU-1"),
			  .reason = STR_LIT("ErrImagePull"),
			  .message = STR_LIT("no") },
			{ .name = STR_LIT("init"),
			  .image = STR_LIT("i-1"),
			  .kind = CONTAINER_INIT,
			  .ready = true,
			  .restarts = 8,
			  .state = CONTAINER_TERMINATED,
			  .reason = STR_LIT("Error"),
			  .exit_code = 9,
			  .asked = true,
			  .finished_at = 10000,
			  .last_reason = STR_LIT("OOMKilled"),
			  .last_exit_code = 11,
			  .last_finished_at = 12000 } },
};

TEST(test_what_each_field_means)
{
	static struct pod_facts f;
	json_t *o = json_loads(written, 0, NULL);

	ck_assert_int_eq(decode_pod_json(o, &f), 0);
	same_facts(&f, &meant, false, "the written pod");
	json_decref(o);
}

/* By both decoders: the protobuf is that of the API server for tests. The texts of *ret are dead after. */
static void decode_both(const char *json, struct pod_facts *ret)
{
	static struct pod_facts by_protobuf;
	json_t *o = json_loads(json, 0, NULL);
	struct pb_buf b;

	ck_assert_ptr_nonnull(o);
	pb_init(&b, 64);
	podpb_message(&b, "Pod", o);
	ck_assert_int_eq(decode_pod_protobuf((const uint8_t *)b.data + b.at, pb_size(&b), &by_protobuf), 0);
	ck_assert_int_eq(decode_pod_json(o, ret), 0);
	same_facts(&by_protobuf, ret, false, json);
	pb_done(&b);
	json_decref(o);
}

/* Which restarts are asked for (KEP-5307): the rules of the container, and how it ended last. */
static const struct {
	const char *rules, *status;
	bool asked;
} restarts[] = {
#define RULE(op, values)                                                                                     \
	"{\"action\":\"Restart\",\"exitCodes\":{\"operator\":\"" op "\",\"values\":[" values "]}}"
#define ENDED(code) "\"state\":{\"terminated\":{\"exitCode\":" code "}}"
#define LOOPS(code)                                                                                          \
	"\"restartCount\":7,\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}},\"lastState\":{"       \
	"\"terminated\":{\"exitCode\":" code ",\"finishedAt\":\"2026-01-01T00:00:00Z\"}}"
	{ RULE("In", "42"), ENDED("42"), true },
	{ RULE("In", "42"), ENDED("43"), false },
	{ RULE("In", "1,42,3"), LOOPS("42"), true },
	{ RULE("In", "1,42,3"), LOOPS("2"), false },
	{ RULE("In", ""), LOOPS("42"), false },
	{ RULE("NotIn", "1"), LOOPS("42"), true },
	{ RULE("NotIn", "1"), LOOPS("1"), false },
	{ RULE("NotIn", ""), LOOPS("1"), true },
	{ RULE("In", "1") "," RULE("In", "42"), LOOPS("42"), true },
	{ RULE("In", "0"), ENDED("0"), true },
	{ "{\"action\":\"RestartAllContainers\",\"exitCodes\":{\"operator\":\"In\",\"values\":[42]}}",
	  LOOPS("42"), true },
	/* what is not understood may ask for it */
	{ RULE("Between", "1,3"), LOOPS("2"), true },
	{ "{\"action\":\"Restart\"}", LOOPS("2"), true },
	/* nor is it known how it ended */
	{ RULE("In", "42"), "\"restartCount\":7,\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}}",
	  true },
	{ "", LOOPS("42"), false },
	{ RULE("NotIn", "1"), "\"state\":{\"running\":{}}", false }, /* it never ended */
};

TEST_LOOP(test_restarts_that_are_asked_for, 0, sizeof(restarts) / sizeof(restarts[0]))
{
	static const char *const lists[][2] = { { "containers", "containerStatuses" },
						{ "initContainers", "initContainerStatuses" } };
	static struct pod_facts f;

	for (size_t i = 0; i < 2; i++) {
		char *json = xasprintf(
			"{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"spec\":{\"%s\":[{\"name\":\"other\","
			"\"restartPolicyRules\":[" RULE("NotIn", "") "]},{\"name\":\"app\","
								     "\"restartPolicyRules\":[%s]}]},"
								     "\"status\":{\"%s\":[{\"name\":"
								     "\"app\",%s}]}}",
			lists[i][0], restarts[_i].rules, lists[i][1], restarts[_i].status);

		decode_both(json, &f);
		ck_assert_msg(f.containers[0].asked == restarts[_i].asked, "%s", json);
		free(json);
	}
}

/* Of the spec two, of the status one: the other is unreported, wherever it is. Where nothing has ended it
 * matters to a pod that is being deleted. */
static const struct {
	const char *spec, *status;
	bool unreported;
	const char *meta;
} reports[] = {
#define NAMED(name)    "{\"name\":\"" name "\"}"
#define ENDED_AS(name) "{\"name\":\"" name "\"," ENDED("0") "}"
	{ "\"containers\":[" NAMED("c") "]", "\"containerStatuses\":[" ENDED_AS("c") "]", false, "" },
	{ "\"containers\":[" NAMED("c") "," NAMED("d") "]", "\"containerStatuses\":[" ENDED_AS("c") "]", true,
	  "" },
	{ "\"containers\":[" NAMED("c") "," NAMED("d") "]",
	  "\"containerStatuses\":[" ENDED_AS("c") "," ENDED_AS("d") "]", false, "" },
	{ "\"containers\":[" NAMED("c") "],\"initContainers\":[" NAMED("i") "]",
	  "\"containerStatuses\":[" ENDED_AS("c") "]", true, "" },
	{ "\"containers\":[" NAMED("c") "],\"initContainers\":[" NAMED("i") "]",
	  "\"containerStatuses\":[" ENDED_AS("c") "],\"initContainerStatuses\":[" ENDED_AS("i") "]", false,
	  "" },
#define WAITING                                                                                              \
	"\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":\"ContainerCreating\"}}}" \
	"]"
#define DELETED "\"deletionTimestamp\":\"2026-01-02T03:04:05Z\","
	{ "\"containers\":[" NAMED("c") "," NAMED("d") "]", WAITING, true, DELETED },
	{ "\"containers\":[" NAMED("c") "],\"initContainers\":[" NAMED("i") "]", WAITING, true, DELETED },
	{ "\"containers\":[" NAMED("c") "]", WAITING, false, DELETED },
	{ "\"containers\":[" NAMED("c") "," NAMED("d") "]", WAITING, false, "" },
};

TEST_LOOP(test_containers_without_a_status, 0, sizeof(reports) / sizeof(reports[0]))
{
	static struct pod_facts f;
	char *json =
		xasprintf("{\"metadata\":{%s\"name\":\"a\",\"uid\":\"u\"},\"spec\":{%s},\"status\":{%s}}",
			  reports[_i].meta, reports[_i].spec, reports[_i].status);

	decode_both(json, &f);
	ck_assert_msg(f.unreported == reports[_i].unreported, "%s", json);
	free(json);
}

/* As every reader of protobuf, also where many numbers stand in one field. */
TEST(test_packed_exit_codes)
{
	static struct pod_facts f;
	struct wire codes = { 0 }, rule = { 0 }, container = { 0 }, spec = { 0 }, ended = { 0 },
		    state = { 0 }, app = { 0 }, status = { 0 }, pod = { 0 };
	static const uint8_t packed[] = { 1, 0xac, 0x02, 42 };

	wire_field_str(&codes, 1, "In");
	wire_field_bytes(&codes, 2, packed, sizeof(packed));
	wire_field_message(&rule, 2, &codes);
	wire_field_str(&container, 1, "app");
	wire_field_message(&container, 25, &rule);
	wire_field_message(&spec, 2, &container);
	wire_field_varint(&ended, 1, 300);
	wire_field_message(&state, 3, &ended);
	wire_field_str(&app, 1, "app");
	wire_field_message(&app, 2, &state);
	wire_field_message(&status, 8, &app);
	wire_field_message(&pod, 2, &spec);
	wire_field_message(&pod, 3, &status);
	ck_assert_int_eq(decode_pod_protobuf(pod.p, pod.n, &f), 0);
	ck_assert(f.containers[0].asked);
	free(pod.p);
}

/* A claim by any of the three ways is one, with or without a name; its object's name goes first. */
static const struct {
	const char *spec, *status, *claim;
} claims[] = {
	{ "", "", "" },
	{ "\"resourceClaims\":[]", "\"resourceClaimStatuses\":[]", "" },
	{ "\"resourceClaims\":[{\"name\":\"gpu\"}]", "", "gpu" },
	{ "\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimName\":\"shared\"}]", "", "shared" },
	{ "\"resourceClaims\":[{\"name\":\"gpu\"},{\"name\":\"nic\",\"resourceClaimName\":\"net\"}]", "",
	  "net" },
	{ "\"resourceClaims\":[{\"name\":\"gpu\"}]",
	  "\"resourceClaimStatuses\":[{\"name\":\"gpu\",\"resourceClaimName\":\"web-gpu-x\"}]", "web-gpu-x" },
	{ "", "\"extendedResourceClaimStatus\":{\"resourceClaimName\":\"web-extended-y\"}",
	  "web-extended-y" },
	{ "", "\"extendedResourceClaimStatus\":{}", "?" },
	{ "\"resourceClaims\":[{}]", "", "?" },
};

TEST_LOOP(test_claims, 0, sizeof(claims) / sizeof(claims[0]))
{
	static struct pod_facts f;
	char *json = xasprintf("{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"spec\":{%s},\"status\":{%s}}",
			       claims[_i].spec, claims[_i].status);
	json_t *o = json_loads(json, 0, NULL);

	decode_both(json, &f);
	ck_assert_int_eq(decode_pod_json(o, &f), 0);
	ck_assert_msg(str_is(f.claim, claims[_i].claim), "%s: %.*s", json, STR_ARG(f.claim));
	json_decref(o);
	free(json);
}

TEST(test_event_added)
{
	static struct pod_facts f;
	struct watch_event e;
	uint8_t b[256];
	const size_t n = unhex("0a05 4144444544 1225 0a23 6b387300 0a09 0a027631 1203506f64 120e 0a0c 0a0161 "
			       "1a016e 2a0175 320137 1a00 2200",
			       b);

	ck_assert_uint_eq(n, 0x2e);
	ck_assert_int_eq(decode_watch_event(b, n, &e), 0);
	ck_assert_int_eq(e.type, WATCH_ADDED);
	ck_assert(str_is(e.object.kind, "Pod") && str_is(e.object.api_version, "v1"));
	ck_assert_int_eq(decode_pod_protobuf(e.object.raw.p, cursor_left(&e.object.raw), &f), 0);
	ck_assert(str_is(f.ns, "n") && str_is(f.name, "a") && str_is(f.uid, "u") && str_is(f.rv, "7"));
}

TEST(test_event_bookmark)
{
	struct watch_event e;
	struct bookmark mark;
	uint8_t b[256];
	const size_t n = unhex("0a08 424f4f4b4d41524b 1240 0a3e 6b387300 0a09 0a027631 1203506f64 1229 0a27 "
			       "32023432 6221 0a19 6b38732e696f2f696e697469616c2d6576656e74732d656e64 1204 "
			       "74727565 1a00 2200",
			       b);

	ck_assert_uint_eq(n, 0x4c);
	ck_assert_int_eq(decode_watch_event(b, n, &e), 0);
	ck_assert_int_eq(e.type, WATCH_BOOKMARK);
	ck_assert_int_eq(decode_bookmark(e.object.raw.p, cursor_left(&e.object.raw), &mark), 0);
	ck_assert(str_is(mark.rv, "42"));
	ck_assert(mark.initial_end);
}

TEST(test_event_error)
{
	struct watch_event e;
	struct status_facts s;
	uint8_t b[256];
	const size_t n =
		unhex("0a05 4552524f52 1252 0a50 6b387300 0a0c 0a027631 1206537461747573 1238 0a00 1207 "
		      "4661696c757265 1a1f 746f6f206f6c64207265736f757263652076657273696f6e3a2031202839 "
		      "29 22 07 45787069726564 309a03 1a00 2200",
		      b);

	ck_assert_uint_eq(n, 0x5b);
	ck_assert_int_eq(decode_watch_event(b, n, &e), 0);
	ck_assert_int_eq(e.type, WATCH_ERROR);
	ck_assert(str_is(e.object.kind, "Status"));
	ck_assert_int_eq(decode_status(e.object.raw.p, cursor_left(&e.object.raw), &s), 0);
	ck_assert_int_eq(s.code, 410);
	ck_assert(s.expired && !s.too_large_rv);
	ck_assert(str_is(s.message, "too old resource version: 1 (9)"));
}

static struct status_facts too_large(const char *cause_type, const char *cause_message, const char *message,
				     const char *reason)
{
	struct wire cause = { 0 }, details = { 0 }, status = { 0 };
	struct status_facts f;

	wire_field_str(&cause, 1, cause_type);
	wire_field_str(&cause, 2, cause_message);
	wire_field_message(&details, 4, &cause);
	wire_field_varint(&details, 5, 1);
	wire_field_str(&status, 3, message);
	wire_field_str(&status, 4, reason);
	wire_field_message(&status, 5, &details);
	wire_field_varint(&status, 6, 504);
	ck_assert_int_eq(decode_status(status.p, status.n, &f), 0);
	f.message = f.reason = (struct str){ 0 };
	wire_done(&status);
	return f;
}

TEST(test_too_large_dialects)
{
	ck_assert(too_large("ResourceVersionTooLarge", "", "", "Timeout").too_large_rv);
	ck_assert(too_large("", "Too large resource version", "", "Timeout").too_large_rv);
	ck_assert(too_large("", "", "Timeout: Too large resource version: 9, current: 5", "Timeout")
			  .too_large_rv);
	ck_assert(!too_large("", "", "Timeout: etcd is slow", "Timeout").too_large_rv);
	ck_assert(!too_large("", "", "", "Timeout").too_large_rv);
}

TEST_MAIN("kube/decode")
{
	tcase_set_timeout(t, 100);
}
