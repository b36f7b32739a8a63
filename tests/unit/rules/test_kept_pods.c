/* Pods that a real kubelet wrote (golden/pods), as JSON and as protobuf: both decoders read the same facts,
 * and those give the STATUS that the API server prints and the verdicts that golden/pods/verdicts.tsv tells.
 */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kube/cursor.h"
#include "kube/decode_json.h"
#include "kube/decode_protobuf.h"
#include "model/duties.h"
#include "rules/status.h"
#include "tests/same_facts.h"
#include "tests/suite.h"

#define PROTOBUF_MAX (1 << 16)
#define LATER        INT64_C(1796000000000) /* all of them have been so for days */

struct kept {
	json_t *json;
	uint8_t bytes[PROTOBUF_MAX];
	struct pod_facts by_json, by_protobuf;
};

/* Both encodings of one pod; the facts borrow from k. */
static void read_pod(const char *name, struct kept *k)
{
	char path[256];
	struct envelope envelope;

	(void)snprintf(path, sizeof(path), "%s.json", name);
	k->json = json_load_file(path, 0, NULL);
	ck_assert_msg(k->json, "%s: no such JSON", path);
	ck_assert_int_eq(decode_pod_json(k->json, &k->by_json), 0);
	(void)snprintf(path, sizeof(path), "%s.pb", name);
	FILE *f = fopen(path, "re");

	ck_assert_msg(f, "%s: no such file", path);
	const size_t n = fread(k->bytes, 1, sizeof(k->bytes), f);

	(void)fclose(f);
	ck_assert_uint_lt(n, sizeof(k->bytes));
	ck_assert_int_eq(envelope_open(k->bytes, n, &envelope), 0);
	ck_assert(str_is(envelope.kind, "Pod"));
	ck_assert_int_eq(decode_pod_protobuf(envelope.raw.p, (size_t)(envelope.raw.end - envelope.raw.p),
					     &k->by_protobuf),
			 0);
	same_facts(&k->by_json, &k->by_protobuf, false, name);
}

/* "deleteEvictedPod act Evicted; ...", of the duties that have something to say; "-": none has. */
static void tell(const struct pod_facts *p, char *out, size_t size)
{
	struct pod_context s = cache();
	struct verdict v;
	size_t n = 0;

	s.failing_since = LATER - HOURS - 1;
	(void)snprintf(out, size, "-");
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		judge_duty(d, p, &policy, &s, LATER, &v);
		if (v.kind != VERDICT_NONE)
			n += (size_t)snprintf(out + n, size - n, "%s%s %s %s", n ? "; " : "", duty_name(d),
					      verdict_kind_name(v.kind), reason_code(v.reason));
	}
}

static void as_configured(void)
{
	list_set(&policy.duty[DUTY_FINISHED].status,
		 "NodeShutdown,Terminated,Shutdown,NodeAffinity,NodeLost,OutOfcpu,OutOfmemory,OutOfpods,"
		 "OutOfephemeral-storage,UnexpectedAdmissionError,ContainerStatusUnknown,Preempting");
	list_set(&policy.duty[DUTY_IMAGE_PULL].causes, "permanent");
	policy.duty[DUTY_FINISHED].include_bare_pods = true;
	policy.duty[DUTY_CRASH_LOOP].counts = policy.duty[DUTY_RESTARTS].counts = 2;
}

static int files_in(const char *ending)
{
	struct dirent *entry;
	int n = 0;
	DIR *d = opendir(".");

	while ((entry = readdir(d)))
		n += strlen(entry->d_name) > strlen(ending) &&
		     strcmp(entry->d_name + strlen(entry->d_name) - strlen(ending), ending) == 0;
	(void)closedir(d);
	return n;
}

TEST(facts_status_and_verdicts)
{
	static struct kept k;
	char line[1024], status[STATUS_MAX], verdicts[512];
	int pods = 0, wrong = 0;

	as_configured();
	ck_assert_int_eq(chdir(GOLDEN_DIR), 0);
	FILE *f = fopen("verdicts.tsv", "re");

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		char *rest = line, *name = strsep(&rest, "\t"), *shown = strsep(&rest, "\t"),
		     *told = strsep(&rest, "\n");

		if (*line == '#')
			continue;
		ck_assert_ptr_nonnull(told);
		read_pod(name, &k);
		tell(&k.by_protobuf, verdicts, sizeof(verdicts));
		if (strcmp(status_of(&k.by_protobuf, status), shown) != 0 || strcmp(verdicts, told) != 0) {
			(void)fprintf(stderr, "%s: instead\n%s\t%s\t%s\n", name, name, status, verdicts);
			wrong++;
		}
		json_decref(k.json);
		pods++;
	}
	(void)fclose(f);
	ck_assert_msg(wrong == 0, "%d of %d pods are not judged as told", wrong, pods);
	ck_assert_int_eq(pods, files_in(".json"));
	ck_assert_int_eq(pods, files_in(".pb"));
}

POLICY_SUITE("rules/kept_pods");
