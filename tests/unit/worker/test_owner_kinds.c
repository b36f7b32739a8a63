/* Which kinds are known, asked for, remembered, forgotten. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "worker/owner_kinds.h"

#define FLEETS                                                                                               \
	"{\"kind\":\"APIResourceList\",\"resources\":[{\"name\":\"fleets\",\"kind\":\"Fleet\","              \
	"\"namespaced\":true},{\"name\":\"fleets/scale\",\"kind\":\"Scale\",\"verbs\":[\"get\",\"patch\"]}," \
	"{\"name\":\"ships\",\"kind\":\"Ship\",\"namespaced\":false}]}"

static struct owner_kinds *kinds;
static struct kind_info info;

static void setup(void)
{
	kinds = owner_kinds_new();
}

static void teardown(void)
{
	owner_kinds_free(&kinds);
	ck_assert_ptr_null(kinds);
}

static enum owner_kinds_answer find(const char *api_version, const char *kind, uint64_t now)
{
	memset(&info, 0, sizeof(info));
	return owner_kinds_find(kinds, STR_C(api_version), STR_C(kind), now, &info);
}

static void learn(const char *kind, const char *body, uint64_t now)
{
	owner_kinds_learn(kinds, STR_LIT("example.com/v1"), STR_C(kind), body, strlen(body), now);
}

TEST(known_without_asking)
{
	static const struct {
		const char *api_version, *kind, *resource;
		bool scale;
	} rows[] = {
		{ "apps/v1", "Deployment", "deployments", true },
		{ "apps/v1", "StatefulSet", "statefulsets", true },
		{ "apps/v1", "ReplicaSet", "replicasets", true },
		{ "v1", "ReplicationController", "replicationcontrollers", true },
		{ "argoproj.io/v1alpha1", "Rollout", "rollouts", true },
		{ "apps/v1", "DaemonSet", "daemonsets", false },
		{ "batch/v1", "Job", "jobs", false },
		{ "batch/v1", "CronJob", "cronjobs", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(find(rows[i].api_version, rows[i].kind, 0), OWNER_KINDS_FOUND);
		ck_assert_str_eq(info.resource, rows[i].resource);
		ck_assert_int_eq(info.scale, rows[i].scale);
		ck_assert(info.builtin && info.namespaced);
	}
}

TEST(others_are_asked_for)
{
	ck_assert_int_eq(find("example.com/v1", "Fleet", 0), OWNER_KINDS_ASK);
	ck_assert_int_eq(find("apps/v2", "Deployment", 0), OWNER_KINDS_ASK);
	ck_assert_int_eq(find("example.com/v1", "Deployment", 0), OWNER_KINDS_ASK);
	learn("Fleet", FLEETS, 0);
	ck_assert_int_eq(find("example.com/v1", "Fleet", 0), OWNER_KINDS_FOUND);
	ck_assert_str_eq(info.resource, "fleets");
	ck_assert_str_eq(info.group, "example.com");
	ck_assert_str_eq(info.version, "v1");
	ck_assert(info.namespaced && info.scale && !info.builtin);
	ck_assert_int_eq(find("example.com/v1", "Ship", 0), OWNER_KINDS_ASK);
	learn("Ship", FLEETS, 0);
	ck_assert_int_eq(find("example.com/v1", "Ship", 0), OWNER_KINDS_FOUND);
	ck_assert(!info.namespaced && !info.scale);
}

TEST_LOOP(a_document_with_more_in_it, 0, 4)
{
	static const char apps[] =
		"{\"kind\":\"APIResourceList\",\"groupVersion\":\"apps/v1\",\"resources\":["
		"{\"name\":\"deployments\",\"namespaced\":true,\"kind\":\"Deployment\",\"verbs\":[\"get\"]},"
		"{\"name\":\"deployments/scale\",\"namespaced\":true,\"kind\":\"Scale\",\"group\":"
		"\"autoscaling\",\"version\":\"v1\",\"verbs\":[\"get\",\"patch\",\"update\"]},"
		"{\"name\":\"deployments/status\",\"namespaced\":true,\"kind\":\"Deployment\"},"
		"{\"name\":\"daemonsets/status\",\"kind\":\"DaemonSet\"},"
		"{\"name\":\"daemonsets\",\"namespaced\":true,\"kind\":\"DaemonSet\",\"verbs\":[\"get\"]},"
		"{\"name\":\"gizmos\",\"namespaced\":true,\"kind\":\"Gizmo\"},"
		"{\"name\":\"gizmos/scale\",\"kind\":\"Scale\",\"verbs\":[\"get\",7]},"
		"7,{\"name\":1,\"kind\":[]}]}";
	static const struct {
		const char *kind, *resource;
		bool scale;
	} rows[] = { { "Deployment", "deployments", true },
		     { "DaemonSet", "daemonsets", false },
		     { "Gizmo", "gizmos", false }, /* its scale cannot be patched */
		     { "Rollout", "", false } };

	learn(rows[_i].kind, apps, 0);
	ck_assert_int_eq(find("example.com/v1", rows[_i].kind, 0),
			 *rows[_i].resource ? OWNER_KINDS_FOUND : OWNER_KINDS_ABSENT);
	ck_assert_str_eq(info.resource, rows[_i].resource);
	ck_assert_int_eq(info.scale, rows[_i].scale);
	ck_assert_int_eq(info.namespaced, *rows[_i].resource != '\0');
}

TEST_LOOP(absence_is_remembered_too, 0, 5)
{
	static const char *const bodies[] = { "", "nonsense", FLEETS, "{}", "<html>" };

	learn("Whale", bodies[_i], 0);
	ck_assert_int_eq(find("example.com/v1", "Whale", 0), OWNER_KINDS_ABSENT);
}

TEST(answers_expire)
{
	learn("Fleet", FLEETS, 1000);
	ck_assert_int_eq(find("example.com/v1", "Fleet", 1000 + OWNER_KINDS_EXPIRY_MS - 1),
			 OWNER_KINDS_FOUND);
	ck_assert_int_eq(find("example.com/v1", "Fleet", 1000 + OWNER_KINDS_EXPIRY_MS), OWNER_KINDS_ASK);
	learn("Fleet", "", 5000000);
	ck_assert_int_eq(find("example.com/v1", "Fleet", 5000000), OWNER_KINDS_ABSENT);
}

TEST(memory_is_bounded)
{
	char kind[32];

	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(kind, sizeof(kind), "Kind%u", i);
		learn(kind, "", i);
	}
	ck_assert_int_eq(find("example.com/v1", "Kind999", 0), OWNER_KINDS_ABSENT);
	ck_assert_int_eq(find("example.com/v1", "Kind0", 0), OWNER_KINDS_ASK);
}

TEST(names_cannot_lead_elsewhere)
{
	static const char *const bad[] = {
		"",        "/",    "/v1",    "a/",    "a/b/c", "../v1",   "a?b/v1",
		"a%2f/v1", "A/v1", "a b/v1", "a/v1#", ".a/v1", "a/../v1", "a\n/v1"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(!owner_kinds_path(STR_C(bad[i])), "%s", bad[i]);
		ck_assert_int_eq(find(bad[i], "Kind", 0), OWNER_KINDS_ABSENT);
	}
	ck_assert_int_eq(find("example.com/v1", "", 0), OWNER_KINDS_ABSENT);
}

TEST(paths)
{
	char *path = owner_kinds_path(STR_LIT("v1"));

	ck_assert_str_eq(path, "/api/v1");
	free(path);
	path = owner_kinds_path(STR_LIT("example.com/v1beta1"));
	ck_assert_str_eq(path, "/apis/example.com/v1beta1");
	free(path);
}

TEST(by_resource)
{
	ck_assert(owner_kinds_resource(STR_LIT("apps"), STR_LIT("statefulsets"), &info));
	ck_assert_str_eq(info.kind, "StatefulSet");
	ck_assert(info.scale && info.builtin);
	ck_assert(owner_kinds_resource(STR_LIT("apps"), STR_LIT("daemonsets"), &info) && !info.scale);
	ck_assert(owner_kinds_resource(STR_LIT("example.com"), STR_LIT("fleets"), &info));
	ck_assert_str_eq(info.version, "");
	ck_assert_str_eq(info.resource, "fleets");
	ck_assert(info.scale && info.namespaced && !info.builtin);
	ck_assert(!owner_kinds_resource(STR_LIT(""), STR_LIT("pods"), &info));
	ck_assert(!owner_kinds_resource(STR_LIT("example.com/v1"), STR_LIT("fleets"), &info));
	ck_assert(!owner_kinds_resource(STR_LIT("example.com"), STR_LIT("../fleets"), &info));
}

TEST_MAIN("worker/owner_kinds")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
