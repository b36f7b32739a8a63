/* R3: why an image can not be pulled, and which cause may lead to an act. The texts are those of kubelets,
 * containerd, CRI-O and registries. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/cause.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static const struct {
	enum pull_cause cause;
	const char *message;
} messages[] = {
	{ CAUSE_UNKNOWN, "" },
	{ CAUSE_UNKNOWN, "Back-off pulling image \"r.example.com/app:v1\"" },
	{ CAUSE_UNKNOWN, "something nobody has seen before" },
	/* no such image */
	{ CAUSE_PERMANENT,
	  "Back-off pulling image \"r.example.com/app:v1\": ErrImagePull: rpc error: code = "
	  "NotFound desc = failed to pull and unpack image \"r.example.com/app:v1\": failed to "
	  "resolve reference \"r.example.com/app:v1\": r.example.com/app:v1: not found" },
	{ CAUSE_PERMANENT, "rpc error: code = Unknown desc = reading manifest v1 in r.example.com/app: "
			   "manifest unknown: manifest unknown" },
	{ CAUSE_PERMANENT, "name unknown: The repository with name 'app' does not exist in the registry" },
	{ CAUSE_MISCONFIGURED,
	  "Failed to apply default image tag \"A:b:c\": couldn't parse image name \"A:b:c\": "
	  "invalid reference format" },
	{ CAUSE_PERMANENT, "no match for platform in manifest: not found" },
	{ CAUSE_AUTH, "Container image \"app:v1\" is not present with pull policy of Never" },
	/* no access */
	{ CAUSE_AUTH,
	  "failed to authorize: failed to fetch oauth token: unexpected status from GET request to "
	  "https://r.example.com/token: 401 Unauthorized" },
	{ CAUSE_AUTH, "pull access denied, repository does not exist or may require authorization: server "
		      "message: insufficient_scope: authorization failed" },
	{ CAUSE_AUTH, "unexpected status from HEAD request to https://r.example.com/v2/app/manifests/v1: 403 "
		      "Forbidden" },
	{ CAUSE_AUTH, "unable to retrieve auth token: invalid username/password: unauthorized" },
	/* the registry or the way to it */
	{ CAUSE_TRANSIENT, "toomanyrequests: You have reached your pull rate limit" },
	{ CAUSE_TRANSIENT, "unexpected status code https://r.example.com/v2/: 429 Too Many Requests" },
	{ CAUSE_TRANSIENT, "pull QPS exceeded" },
	{ CAUSE_MISCONFIGURED, "dial tcp: lookup r.example.com on 10.0.0.10:53: no such host" },
	{ CAUSE_TRANSIENT, "dial tcp 192.0.2.1:443: i/o timeout" },
	{ CAUSE_TRANSIENT, "dial tcp 192.0.2.1:443: connect: connection refused" },
	{ CAUSE_TRANSIENT,
	  "unexpected status from HEAD request to https://r.example.com/v2/app/manifests/v1: "
	  "503 Service Unavailable" },
	{ CAUSE_MISCONFIGURED, "tls: failed to verify certificate: x509: certificate has expired" },
	{ CAUSE_TRANSIENT, "context deadline exceeded" },
	{ CAUSE_NODE, "write /var/lib/containerd/x: no space left on device" },
	/* signs of two: the one that acts least */
	{ CAUSE_TRANSIENT, "failed to resolve reference: unexpected EOF: not found" },
	{ CAUSE_AUTH, "unauthorized: repository not found" },
	/* what is quoted is a name, and a number is only a status when it stands alone */
	{ CAUSE_PERMANENT,
	  "Back-off pulling image \"r.example.com/timeout:429\": ErrImagePull: manifest unknown" },
	{ CAUSE_PERMANENT,
	  "failed to resolve reference \"x\": r.example.com:4290/app@sha256:a429b: not found" },
	{ CAUSE_PERMANENT, "Failed to pull image \"timeout\": rpc error: manifest unknown" },
	/* names stand unquoted, too */
	{ CAUSE_PERMANENT, "failed to resolve reference \"x\": r.example.com/team/timeout:v1: not found" },
	{ CAUSE_PERMANENT, "failed to resolve reference \"x\": r.example.com/too-many-requests/"
			   "eof.timeout:denied: not found" },
	{ CAUSE_PERMANENT, "manifest for timeout:v1 not found: manifest unknown: manifest unknown" },
	{ CAUSE_AUTH, "Get https://r.example.com/v2/x509/timeout/manifests/v1: unauthorized" },
	/* what follows a quotation is read, and so is one that is cut off, or that holds an escaped quote */
	{ CAUSE_AUTH,
	  "failed to resolve reference \"docker.io/x\": pull access denied, repository does not exist" },
	{ CAUSE_PERMANENT, "failed to resolve \"a \\\" b\": manifest unknown" },
	{ CAUSE_PERMANENT, "server said \"manifest unknown" },
	{ CAUSE_AUTH, "denied: Permission \"artifactregistry.get\" denied on resource \"p\"" },
	/* a status is a number of its own */
	{ CAUSE_TRANSIENT, "unexpected status code 521" },
	{ CAUSE_UNKNOWN, "unexpected status code 5211" },
	{ CAUSE_TRANSIENT,
	  "unexpected status from HEAD request to https://r.example.com/v2/a/manifests/v1: 520 " },
	{ CAUSE_UNKNOWN,
	  "unexpected status from HEAD request to https://r.example.com:5200/v2/a/manifests/v1: 400" },
	/* "not found" is said of much else */
	{ CAUSE_UNKNOWN, "not found" },
	{ CAUSE_UNKNOWN, "lease 7: not found" },
	{ CAUSE_UNKNOWN, "unpack: plugin erofs not found: not found" },
	{ CAUSE_NODE, "failed to resolve reference \"x\": content digest sha256:a429b: not found" },
	{ CAUSE_MISCONFIGURED, "exec: \"docker-credential-x\": executable file not found in $PATH" },
	/* the parts of a sign stand in its order, each alone */
	{ CAUSE_UNKNOWN, "not found: content digest sha256:a429b" },
	{ CAUSE_UNKNOWN, "content digests sha256:a429b: not found" },
	{ CAUSE_UNKNOWN, "content digest sha256:a429b: not foundx" },
};

TEST_LOOP(messages_tell_the_cause, 0, sizeof(messages) / sizeof(messages[0]))
{
	const enum pull_cause got = cause_classify(STR_C(messages[_i].message));

	ck_assert_msg(got == messages[_i].cause, "%s: expected %s, got %s", messages[_i].message,
		      cause_name(messages[_i].cause), cause_name(got));
}

TEST(odd_messages)
{
	static char big[1 << 20];
	const char zero[] = "manifest\0unknown";

	memset(big, 'x', sizeof(big));
	ck_assert_int_eq(cause_classify((struct str){ big, sizeof(big) }), CAUSE_UNKNOWN);
	memset(big, '"', sizeof(big));
	ck_assert_int_eq(cause_classify((struct str){ big, sizeof(big) }), CAUSE_UNKNOWN);
	memset(big, 0xff, sizeof(big));
	ck_assert_int_eq(cause_classify((struct str){ big, sizeof(big) }), CAUSE_UNKNOWN);
	ck_assert_int_eq(cause_classify((struct str){ zero, sizeof(zero) - 1 }), CAUSE_PERMANENT);
	ck_assert_int_eq(cause_classify((struct str){ NULL, 0 }), CAUSE_UNKNOWN);
}

TEST(reasons_tell_it_without_a_message)
{
	struct container_facts c = { .reason = STR_LIT("InvalidImageName") };

	ck_assert_int_eq(cause_of(&c), CAUSE_MISCONFIGURED);
	c.reason = STR_LIT("ErrImageNeverPull");
	ck_assert_int_eq(cause_of(&c), CAUSE_AUTH);
	c.reason = STR_LIT("RegistryUnavailable");
	ck_assert_int_eq(cause_of(&c), CAUSE_TRANSIENT);
	c.reason = STR_LIT("ImagePullBackOff");
	ck_assert_int_eq(cause_of(&c), CAUSE_UNKNOWN);
	c.cause = CAUSE_AUTH;
	ck_assert_int_eq(cause_of(&c), CAUSE_AUTH);
	c.message = STR_LIT("manifest unknown");
	ck_assert_int_eq(cause_of(&c), CAUSE_PERMANENT);
	c.message = STR_LIT("");
	c.cause = (enum pull_cause)99;
	ck_assert_int_eq(cause_of(&c), CAUSE_UNKNOWN);
}

/* Every cause on both sides: listed it acts, not listed it refuses and says why. */
TEST(only_listed_causes_act)
{
	static const struct {
		const char *word, *message, *told;
		enum reason refused;
	} rows[] = {
		{ "permanent", "manifest unknown", "image not found", REASON_CAUSE_NOT_ENABLED },
		{ "auth", "401 Unauthorized", "registry denied access", REASON_CAUSE_AUTH },
		{ "misconfigured", "no such host", "misconfigured reference", REASON_CAUSE_MISCONFIGURED },
		{ "transient", "i/o timeout", "registry or network failure", REASON_CAUSE_TRANSIENT },
		{ "unknown", "who knows", "cause: unknown", REASON_CAUSE_UNKNOWN },
		/* no word of the setting */
		{ "node", "input/output error", "node failure", REASON_NODE_CANNOT_PULL },
	};
	const struct pod_context live = live_pull();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t listed = 0; listed < sizeof(rows) / sizeof(rows[0]); listed++) {
			struct pod_facts p = pod_pull_failing();
			struct verdict v;

			list_set(&policy.duty[DUTY_IMAGE_PULL].causes, rows[listed].word);
			p.containers[0].message = STR_C(rows[i].message);
			v = judge_one(DUTY_IMAGE_PULL, &p, live, NOW);
			if (i == listed && rows[i].refused != REASON_NODE_CANNOT_PULL) {
				EXPECT(v, ACT, CANNOT_PULL_IMAGE);
				continue;
			}
			expect(v, VERDICT_REFUSE, rows[i].refused, __LINE__);
			ck_assert_ptr_nonnull(strstr(EN(v.evidence), rows[i].message));
			ck_assert_ptr_nonnull(strstr(EN(v.evidence), rows[i].told));
			ck_assert_str_eq(v.rule, "R3");
		}
}

/* The cache does not always know; the worker, who reads the Events, does. */
TEST(unknown_passes_in_the_cache_only)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = cache();

	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "permanent");
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), ACT, CANNOT_PULL_IMAGE);
	s = live_pull();
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, CAUSE_UNKNOWN);
	s = cache();
	p.containers[0].cause = CAUSE_TRANSIENT;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, CAUSE_TRANSIENT);
}

/* A second container that can never be pulled condemns the pod, whatever hinders the first. */
TEST(the_container_that_may_act_counts)
{
	struct pod_facts p = pod_pull_failing();
	const struct pod_context s = live_pull();
	struct verdict v;

	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "permanent");
	p.n_containers = 2;
	p.containers[1] = p.containers[0];
	p.containers[0].message = STR_LIT("i/o timeout");
	p.containers[1].message = STR_LIT("manifest unknown");
	p.containers[1].name = STR_LIT("sidecar");
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), ACT, CANNOT_PULL_IMAGE);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "container sidecar"));
	p.containers[1].message = STR_LIT("i/o timeout");
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, CAUSE_TRANSIENT);
}

/* Others pulled from that host since it fails: it is not the registry. Only where what is misconfigured may
 * act. */
TEST(a_transient_cause_acts_while_others_pull)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();
	struct verdict v;

	p.containers[0].message = STR_LIT("i/o timeout");
	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "permanent,auth,misconfigured");
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, CAUSE_TRANSIENT);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "no other workload was seen to pull"));
	s.others_pulled_at = s.failing_since;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, CAUSE_TRANSIENT);
	s.others_pulled_at = s.failing_since + 1;
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), ACT, CANNOT_PULL_IMAGE);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "other workloads pulled from that host meanwhile"));
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW - 1), WAIT, WAITING_FOR_THRESHOLD);
	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "permanent,auth,unknown");
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, CAUSE_TRANSIENT);
	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "transient");
	s.others_pulled_at = 0;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), ACT, CANNOT_PULL_IMAGE);
}

/* A sick node is no fault of the workload while another node could have the image: whatever the settings say,
 * it acts only when several nodes cannot pull it, and then as for any transient cause. */
TEST(a_cause_of_the_node_acts_on_several_nodes_only)
{
	static const struct {
		const char *causes;
		uint32_t nodes;
		bool others_pull;
		enum reason reason;
	} rows[] = {
		{ "permanent,auth,misconfigured", 1, false, REASON_NODE_CANNOT_PULL },
		{ "permanent,auth,misconfigured", 1, true, REASON_NODE_CANNOT_PULL },
		{ "permanent,auth,misconfigured", 2, false, REASON_NODE_CANNOT_PULL },
		{ "permanent,auth,misconfigured", 2, true, REASON_CANNOT_PULL_IMAGE },
		{ "permanent,auth", 2, true, REASON_NODE_CANNOT_PULL },
		{ "transient", 0, false, REASON_NODE_CANNOT_PULL },
		{ "transient", 1, true, REASON_NODE_CANNOT_PULL },
		{ "transient", 2, false, REASON_CANNOT_PULL_IMAGE },
	};
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();
	struct verdict v;

	p.node = STR_LIT("node-7");
	p.containers[0].message = STR_LIT("write /var/lib/containerd/x: read-only file system");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		list_set(&policy.duty[DUTY_IMAGE_PULL].causes, rows[i].causes);
		s.failing_nodes = rows[i].nodes;
		s.others_pulled_at = rows[i].others_pull ? s.failing_since + 1 : 0;
		v = judge_one(DUTY_IMAGE_PULL, &p, s, NOW);
		ck_assert_msg(v.reason == rows[i].reason, "row %zu: %s", i, reason_code(v.reason));
		if (v.reason == REASON_NODE_CANNOT_PULL)
			ck_assert_ptr_nonnull(strstr(EN(v.evidence), "node-7"));
	}
	/* The cache counts no nodes: the worker does. */
	s = cache();
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), ACT, CANNOT_PULL_IMAGE);
	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "permanent");
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, NODE_CANNOT_PULL);
}

/* Other images of that registry are refused with the same secrets, too: the credential is at fault, for a
 * day. */
TEST(a_credential_that_lets_nothing_in)
{
	const int64_t day = 24 * HOUR;
	static const struct {
		enum tri others;
		const char *causes;
		enum reason reason;
	} rows[] = {
		{ TRI_NO, "auth", REASON_CANNOT_PULL_IMAGE },
		{ TRI_YES, "auth", REASON_CREDENTIAL_REFUSED },
		{ TRI_UNKNOWN, "auth", REASON_CREDENTIAL_REFUSED },
		{ TRI_YES, "permanent", REASON_CAUSE_AUTH },
	};
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();

	p.containers[0].message = STR_LIT("pull access denied");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		list_set(&policy.duty[DUTY_IMAGE_PULL].causes, rows[i].causes);
		s.others_refused = rows[i].others;
		ck_assert_int_eq(judge_one(DUTY_IMAGE_PULL, &p, s, NOW).reason, rows[i].reason);
	}
	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "auth");
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, s.failing_since + day), REFUSE, CREDENTIAL_REFUSED);
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, s.failing_since + day + 1), ACT, CANNOT_PULL_IMAGE);
	policy.duty[DUTY_IMAGE_PULL].hours_ms = 2 * day;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, s.failing_since + 2 * day + 1), ACT, CANNOT_PULL_IMAGE);
	policy.duty[DUTY_IMAGE_PULL].hours_ms = HOURS;
	/* The cache does not know: the worker asks. Another cause is no matter of the credential. */
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, cache(), NOW), ACT, CANNOT_PULL_IMAGE);
	p.containers[0].message = STR_LIT("manifest unknown");
	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "permanent");
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), ACT, CANNOT_PULL_IMAGE);
}

TEST(repositories_of_images)
{
	static const struct {
		const char *image, *repository;
	} rows[] = {
		{ "nginx", "nginx" },
		{ "nginx:1", "nginx" },
		{ "r.example.com:5000/a/b:v1", "r.example.com:5000/a/b" },
		{ "r.example.com:5000/a/b", "r.example.com:5000/a/b" },
		{ "r.example.com/a@sha256:00", "r.example.com/a" },
		{ "r.example.com/a:v1@sha256:00", "r.example.com/a" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(str_is(image_repository(STR_C(rows[i].image)), rows[i].repository), "%s",
			      rows[i].image);
}

/* Rows of golden/causes.tsv: class, runtime, registry, reason, message, source. */
static void each_seen(void (*fn)(void *ctx, char *const column[6]), void *ctx)
{
	FILE *f = fopen(CAUSES_TSV, "re");
	char *line = NULL, *column[6];
	size_t size = 0;

	ck_assert_ptr_nonnull(f);
	while (getline(&line, &size, f) > 0) {
		char *rest = line;

		for (size_t i = 0; i < 6; i++)
			column[i] = strsep(&rest, "\t");
		if (*line == '#' || strcmp(line, "class") == 0)
			continue;
		ck_assert_msg(column[5] && !rest && *column[5] != '\n', "%s: not six columns", line);
		fn(ctx, column);
	}
	free(line);
	(void)fclose(f);
}

struct tally {
	unsigned rows, wrong;
};

static void classify(void *ctx, char *const column[6])
{
	const struct container_facts c = { .reason = STR_C(column[3]), .message = STR_C(column[4]) };
	const char *got = cause_name(cause_of(&c));
	struct tally *t = ctx;

	t->rows++;
	t->wrong += strcmp(got, column[0]) != 0;
	if (strcmp(got, column[0]) != 0)
		(void)fprintf(stderr, "%s, not %s: %s\n", got, column[0], column[4]);
}

TEST(messages_that_were_seen)
{
	struct tally t = { 0 };

	each_seen(classify, &t);
	ck_assert_uint_ge(t.rows, 300);
	ck_assert_uint_eq(t.wrong, 0);
}

static const struct {
	const char *text, *source;
} signs[] = {
#define CAUSE(cause, text, source) { text, source },
#define CAUSE_REASON(cause, reason, source)
#include "rules/causes.def"
#undef CAUSE
#undef CAUSE_REASON
};

/* Do the parts of the sign stand in the message, in its order? */
static bool shows(const char *message, const char *sign)
{
	for (const char *part = sign; *part;) {
		const size_t n = strcspn(part, "*#");
		char word[128];

		(void)snprintf(word, sizeof(word), "%.*s", (int)n, part);
		if (!(message = strcasestr(message, word)))
			return false;
		message += n;
		part += n + strspn(part + n, "*#");
	}
	return true;
}

static void note_signs(void *ctx, char *const column[6])
{
	bool *seen = ctx;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		seen[i] = seen[i] || shows(column[4], signs[i].text);
}

/* A sign that no message shows is a guess. */
TEST(every_sign_was_seen)
{
	bool seen[sizeof(signs) / sizeof(signs[0])] = { false };

	each_seen(note_signs, seen);
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		ck_assert_msg(seen[i], "no message shows \"%s\"", signs[i].text);
		ck_assert_msg(*signs[i].source, "\"%s\" has no source", signs[i].text);
		for (const char *c = signs[i].text; *c; c++)
			ck_assert_msg(*c != '"' && *c == (char)tolower((unsigned char)*c), "%s: %s",
				      signs[i].text, c);
	}
}

TEST(waiting_comes_before_the_cause)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();

	p.containers[0].message = STR_LIT("i/o timeout");
	s.failing_since = NOW - HOURS;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), WAIT, WAITING_FOR_THRESHOLD);
}

TEST(hosts_of_images)
{
	static const struct {
		const char *image, *host;
	} rows[] = {
		{ "nginx", "docker.io" },
		{ "library/nginx:1", "docker.io" },
		{ "r.example.com/app:v1", "r.example.com" },
		{ "r.example.com:5000/a/b@sha256:00", "r.example.com:5000" },
		{ "localhost/app", "localhost" },
		{ "localhost:5000/app", "localhost:5000" },
		{ "app:v1.2", "docker.io" },
		{ "/app", "docker.io" },
		{ "sha256:0123456789abcdef", "" },
		{ "sha256", "docker.io" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(str_is(image_host(STR_C(rows[i].image)), rows[i].host), "%s", rows[i].image);
}

POLICY_SUITE("rules/cause");
