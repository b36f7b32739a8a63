/* Each right that the workers get has a step that makes use of it, in the configuration for which it is
 * printed; and no step asks for more than is printed. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "model/rights.h"
#include "tests/suite.h"
#include "worker/events.h"
#include "worker/inspection.h"
#include "worker/marks.h"
#include "workload.h"

#define BATCH   "/apis/batch/v1" NS
#define EVICTED "'phase':'Failed','reason':'Evicted'"
#define STUCK   ",'deletionTimestamp':'2026-09-21T13:13:19Z','deletionGracePeriodSeconds':30"
#define UNSAID                                                                                               \
	"'phase':'Pending','containerStatuses':[{'name':'app','state':{'waiting':{'reason':'ErrImagePull'}}" \
	"}]"
#define ENDED    "'phase':'Running','containerStatuses':[{'name':'a','state':{'terminated':{'exitCode':0}}}]"
#define CLAIMED  "'nodeName':'n1','volumes':[{'name':'data','persistentVolumeClaim':{'claimName':'data-web'}}]"
#define WHO      "'metadata':{'name':'web','uid':'top','resourceVersion':'77','creationTimestamp':'" LIVE "'"
#define CONFLICT "{'kind':'Status','status':'Failure','code':409}"

/* What was asked of the server: in a configuration that needs these, with this verb. */
static struct use {
	unsigned needs;
	char verb[16], group[64], resource[96];
} uses[400];
static size_t n_uses;

/* "GET /apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME/SUBRESOURCE?..."; false: no object. */
static bool read_use(const char *line, struct use *ret)
{
	char text[400], method[16] = "", *rest = text, *part[8] = { NULL }, *version;
	size_t n = 0;

	(void)snprintf(text, sizeof(text), "%s", line);
	(void)sscanf(text, "%15s", method);
	rest = strchr(text, '/') + 1;
	rest[strcspn(rest, " ?")] = '\0';
	for (char *p; n < 8 && (p = strsep(&rest, "/"));)
		part[n++] = p;
	const bool core = strcmp(part[0], "api") == 0;
	size_t at = core ? 2 : 3;

	version = part[core ? 1 : 2];
	if (!version || !part[at])
		return false;
	if (strcmp(part[at], "namespaces") == 0 && part[at + 1] && part[at + 2])
		at += 2;
	const char *name = part[at + 1], *sub = name ? part[at + 2] : NULL;

	(void)snprintf(ret->group, sizeof(ret->group), "%s", core ? "" : part[1]);
	(void)snprintf(ret->resource, sizeof(ret->resource), "%s%s%s", part[at], sub ? "/" : "",
		       sub ? sub : "");
	(void)snprintf(ret->verb, sizeof(ret->verb), "%s",
		       strcmp(method, "GET") == 0      ? (name ? "get" : "list")
		       : strcmp(method, "PATCH") == 0  ? "patch"
		       : strcmp(method, "DELETE") == 0 ? "delete"
						       : "create");
	return true;
}

static void note(unsigned needs)
{
	for (size_t i = 0; i < fake.n_log; i++) {
		ck_assert_uint_lt(n_uses, 400);
		uses[n_uses].needs = needs;
		n_uses += read_use(fake.log[i], &uses[n_uses]);
	}
	fake_teardown();
}

static void act(unsigned needs)
{
	go();
	note(needs);
}

/* -- what a configuration does -- */

/* How the worker knows the kinds of kinds.def: group, version, kind, resource, scale. */
static const struct {
	const char *group, *version, *kind, *resource;
	bool namespaced, scale, suspends;
} kinds[] = {
#define NO   false
#define JOB  true
#define CRON true
#define KIND(group, version, kind, resource, namespaced, scale, suspend)                                     \
	{ group, version, kind, resource, namespaced, scale, suspend },
#include "model/kinds.def"
#undef KIND
};

/* Sets the path of an object of that kind, and the metadata of a pod that it controls. */
static void path_of(size_t k, char path[static 200], char meta[static 300])
{
	const bool core = !*kinds[k].group;

	(void)snprintf(path, 200, "/%s%s%s/%s" NS "%s/web", core ? "api" : "apis", core ? "" : "/",
		       kinds[k].group, kinds[k].version, kinds[k].resource);
	(void)snprintf(
		meta, 300,
		"'labels':{'controller-revision-hash':'r-1'},'ownerReferences':[{'apiVersion':'%s%s%s',"
		"'kind':'%s','name':'web','uid':'top','controller':true}]",
		kinds[k].group, core ? "" : "/", kinds[k].version, kinds[k].kind);
}

static void on_method(const char *method, const char *path, long status, const char *body)
{
	char request[300];

	(void)snprintf(request, sizeof(request), "%s %s", method, path);
	on(request, status, "%s", body);
}

static void delete_pods(void)
{
	for (int announces = 0; announces < 2; announces++) {
		fake_setup();
		fake.policy.duty[DUTY_EVICTED].announce_ms = announces * HOUR;
		fake.grant.duty = DUTY_EVICTED;
		on_pod("41", "", "", EVICTED);
		on("DELETE " POD_PATH, 200, "{'kind':'Status','status':'Success'}");
		on("PATCH " POD_PATH, 200, "{'kind':'Pod'}");
		act(announces ? NEED_ANNOUNCES | NEED_DELETES : NEED_DELETES);
	}
	fake_setup();
	fake.grant.duty = DUTY_TERMINATING;
	fake.grant.action = ACTION_FORCE_DELETE;
	on_pod("41", STUCK, CLAIMED, ENDED);
	on("GET /apis/lifecycle.k8s.io", 200, "{'preferredVersion':{'version':'v1alpha1'}}");
	on("GET /apis/lifecycle.k8s.io/v1alpha1" NS "evictions", 200, "{'items':[]}");
	on("GET /api/v1/nodes/n1", 200,
	   "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
	on("GET /apis/storage.k8s.io/v1/volumeattachments", 200,
	   "{'items':[{'spec':{'nodeName':'n1','source':{'persistentVolumeName':'pv-9'}}}]}");
	on("GET /api/v1" NS "persistentvolumeclaims/data-web", 200, "{'spec':{'volumeName':'pv-1'}}");
	on("DELETE " POD_PATH, 200, "{'kind':'Status','status':'Success'}");
	act(NEED_FORCES | NEED_DELETES);
}

/* Its owners may have marked the workload, or the namespace. */
static void delete_owned(void)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		char path[200], meta[300], with[301];

		fake_setup();
		fake.policy.duty[DUTY_EVICTED].include_jobs = kinds[k].suspends;
		path_of(k, path, meta);
		(void)snprintf(with, sizeof(with), ",%s", meta);
		on("GET " NAMESPACE_PATH, 200, "{'kind':'Namespace','metadata':{'name':'shop'}}");
		on_pod("41", with, "", EVICTED);
		on_method("GET", path, 200, "{'metadata':{'uid':'top'}}");
		on("DELETE " POD_PATH, 200, "{'kind':'Status','status':'Success'}");
		if (kinds[k].namespaced)
			act(kinds[k].suspends ? NEED_JOB_PODS | NEED_DELETES : NEED_DELETES);
		else
			fake_teardown();
	}
}

/* Pods of a Job and of a Deployment that wait for them. */
static void say_who_waits(void)
{
	for (int job = 0; job < 2; job++) {
		fake_setup();
		without_evictions();
		fake.grant.duty = DUTY_TERMINATING;
		fake.grant.action = ACTION_FORCE_DELETE;
		on_pod("41", job ? STUCK "," OWNED("batch/v1", "Job", "web", "job-1") : STUCK "," BY_RS, "",
		       "'phase':'Running'");
		on("GET " BATCH "jobs/web", 200, "{'metadata':{'uid':'job-1'}}");
		on(RS, 200, "{'metadata':{'uid':'rs-2'," BY_DEPLOY "}}");
		on(DEPLOY, 200, "{'metadata':{'uid':'dep-1'}}");
		on("DELETE " POD_PATH, 200, "{'kind':'Status','status':'Success'}");
		act(NEED_JOB_PODS | NEED_FORCES | NEED_DELETES);
	}
}

/* The Event of what was done, and again. */
static void write_events(void)
{
	const struct object_event event = {
		.api_version = "v1", .kind = "Pod", .ns = "shop", .name = "web", .uid = "pod-1", .reason = "X"
	};
	char name[EVENT_NAME_MAX], path[400];

	fake_setup();
	struct events *events = events_new(NULL, NULL, NULL);

	events_name(&event, name);
	(void)snprintf(path, sizeof(path), "/api/v1" NS "events/%s", name);
	on("POST /api/v1" NS "events", 409, CONFLICT);
	for (int i = 0; i < 2; i++) {
		char request[420];

		(void)snprintf(request, sizeof(request), "%s %s", i ? "PATCH" : "GET", path);
		on(request, 200, "{'metadata':{'name':'x'},'count':1}");
	}
	events_add(events, &event);
	fake_drain();
	events_free(&events);
	note(0);
}

/* A workload whose pods fail, one after the other: written at once, by its scale, announced. */
static void scale_one(size_t k, int how)
{
	char path[200], meta[300], scale[220], pods[900];

	setup_deployment();
	on("GET " NAMESPACE_PATH, 200, "{'kind':'Namespace','metadata':{'name':'shop'}}");
	fake.policy.duty[DUTY_IMAGE_PULL].announce_ms = how == 2 ? HOUR : 0;
	path_of(k, path, meta);
	(void)snprintf(scale, sizeof(scale), "%s/scale", path);
	(void)snprintf(pods, sizeof(pods),
		       "{'metadata':{'name':'web','namespace':'shop','uid':'pod-1','resourceVersion':'1',"
		       "'creationTimestamp':'" LIVE "',%s},'spec':{},'status':{" UNSAID "}}",
		       meta);
	(void)memmove(meta + 1, meta, strlen(meta) + 1 < 299 ? strlen(meta) + 1 : 0);
	meta[0] = ',';
	on_pod("41", meta, "", UNSAID);
	on("GET /api/v1" NS "events", 200,
	   "{'items':[{'involvedObject':{'uid':'pod-1','fieldPath':'spec.containers{app}'},'reason':'Failed',"
	   "'lastTimestamp':'2026-09-21T14:00:00Z','message':'Failed to pull image \\'x\\': manifest "
	   "unknown'}]}");
	on_method("GET", path, 200, "{" WHO "},'spec':{}}");
	on(KEDA, 200, "{'items':[]}");
	on_scale(scale, "top", "'replicas':3");
	on_pods(pods);
	on_method("PATCH", path, how == 1 ? 403 : 200,
		  how == 1 ? "{'kind':'Status','message':'x is forbidden: User \\'u\\' cannot patch "
			     "it','code':403}"
			   : "{" WHO "},'spec':{'replicas':0}}");
	on_method("PATCH", scale, 200,
		  "{'kind':'Scale','metadata':{'uid':'top','resourceVersion':'6'},'spec':{'replicas':0}}");
	act(how == 2 ? NEED_ANNOUNCES | NEED_SCALES : NEED_SCALES);
}

static void scale_workloads(void)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (int how = 0; kinds[k].scale && how < 3; how++)
			scale_one(k, how);
	setup_deployment();
	act(NEED_SCALES);
}

#define LOOPING                                                                                              \
	"'phase':'Running','containerStatuses':[{'name':'app','restartCount':7,'state':{'waiting':{'reason'" \
	":'CrashLoopBackOff'}}}]"

static void keep_a_log(void)
{
	setup_deployment();
	fake.grant.duty = DUTY_CRASH_LOOP;
	fake.policy.duty[DUTY_CRASH_LOOP].log_lines = 40;
	on("GET " NAMESPACE_PATH, 200, "{'kind':'Namespace','metadata':{'name':'shop'}}");
	on_pod("41", "," BY_RS, "", LOOPING);
	on_pods(ITEM("web", "pod-1", BY_RS, LOOPING));
	on("GET " POD_PATH "/log", 200, "no database");
	act(NEED_LOGS | NEED_SCALES);
}

/* A DaemonSet, and a Job of a CronJob, have Ready pods beside a Fleet whose scale has no selector. */
static void scale_without_selector(void)
{
	setup_deployment();
	with_fleet(FLEETS(WITH_SCALE));
	on("GET " FLEET "/scale", 200,
	   "{'kind':'Scale','metadata':{'uid':'fleet-1','resourceVersion':'1'},'spec':{'replicas':5}}");
	on_pods(OURS(BY_FLEET) "," ITEM("a", "a", OWNED("apps/v1", "DaemonSet", "agent", "ds-1"),
					READY) "," ITEM("b", "b",
							OWNED("batch/v1", "Job", "night-1", "job-1"), READY));
	on("GET /apis/apps/v1" NS "daemonsets/agent", 200, "{'metadata':{'uid':'ds-1'}}");
	on("GET " BATCH "jobs/night-1", 200, "{'metadata':{'uid':'job-1',%s}}",
	   OWNED("batch/v1", "CronJob", "night", "cron-1"));
	on("GET " BATCH "cronjobs/night", 200, "{'metadata':{'uid':'cron-1'}}");
	act(NEED_KINDS | NEED_SCALES);
}

static void suspend_jobs(bool cron_jobs)
{
	fake_setup();
	fake.grant.duty = DUTY_IMAGE_PULL;
	fake.grant.action = ACTION_SCALE_DOWN;
	fake.grant.since = NOW - HOUR - 1;
	fake.policy.duty[DUTY_IMAGE_PULL].suspend_jobs = true;
	fake.policy.duty[DUTY_IMAGE_PULL].suspend_cron_jobs = cron_jobs;
	on_pod("41", "," OWNED("batch/v1", "Job", "web", "job-1"), "", PULLING);
	on("GET " BATCH "jobs/web", 200,
	   "{'metadata':{'name':'web','uid':'job-1','resourceVersion':'51','creationTimestamp':'" LIVE
	   "',%s},"
	   "'spec':{'selector':{'matchLabels':{'job':'web'}}}}",
	   OWNED("batch/v1", "CronJob", "web", "cron-1"));
	on("GET " BATCH "cronjobs/web", 200,
	   "{'metadata':{'name':'web','uid':'cron-1','resourceVersion':'61','creationTimestamp':'2026-09-"
	   "01T00:00:00Z'},"
	   "'spec':{'suspend':false},'status':{'active':[{'name':'web'}],'lastScheduleTime':'" LIVE "'}}");
	on_pods(OURS(OWNED("batch/v1", "Job", "web", "job-1")));
	on("PATCH " BATCH "jobs/web", 200, "{'metadata':{'uid':'job-1'},'spec':{'suspend':true}}");
	on("PATCH " BATCH "cronjobs/web", 200, "{'metadata':{'uid':'cron-1'},'spec':{'suspend':true}}");
	act(NEED_SUSPENDS | NEED_SCALES | (cron_jobs ? NEED_SUSPENDS_CRON : 0u));
}

static void ignore_answer(void *ctx, const struct msg *m)
{
	(void)ctx;
	(void)m;
}

static void report(void)
{
	const struct msg_inspect question = { .ns = "shop", .pod = "web", .container = "app" };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		char path[200], meta[300];

		fake_setup();
		struct inspections *inspections = inspections_new(NULL, ignore_answer, NULL);

		if (kinds[k].namespaced) {
			path_of(k, path, meta);
			on(GET, 200, "{'metadata':{'uid':'pod-1',%s}}", meta);
			on_method("GET", path, 200, "{'metadata':{'uid':'top'}}");
			on("GET /apis/apps/v1" NS "controllerrevisions/r-1", 404, NOTFOUND);
			on("GET /apis/apps/v1" NS "controllerrevisions/web-r-1", 404, NOTFOUND);
			inspections_ask(inspections, &question, &fake.policy, "team");
			fake_drain();
		}
		inspections_free(&inspections);
		note(NEED_REPORTS);
	}
}

/* Of a namespace, or a cluster: what bears a mark? */
static void look_for_marks(void)
{
	const struct msg_ctl_marked question = { .conn = 7 };

	fake_setup();
	struct marks *marks = marks_new(NULL, ignore_answer, NULL);

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		char path[200];

		(void)snprintf(path, sizeof(path), "/%s%s%s/%s/%s", *kinds[k].group ? "apis" : "api",
			       *kinds[k].group ? "/" : "", kinds[k].group, kinds[k].version,
			       kinds[k].resource);
		on_method("GET", path, 200, "{'items':[]}");
	}
	marks_ask(marks, &question);
	fake_drain();
	marks_free(&marks);
	note(NEED_SCALES);
}

static void setup(void)
{
	n_uses = 0;
	look_for_marks();
	delete_pods();
	delete_owned();
	say_who_waits();
	write_events();
	scale_workloads();
	keep_a_log();
	scale_without_selector();
	suspend_jobs(false);
	suspend_jobs(true);
	report();
}

/* -- both ways -- */

/* A configuration that needs one thing needs what goes with it. */
static unsigned with_what_it_implies(unsigned need)
{
	return need | (need & NEED_FORCES ? NEED_DELETES : 0u) |
	       (need & NEED_JOB_PODS ? NEED_FORCES | NEED_DELETES : 0u) |
	       (need & (NEED_SUSPENDS | NEED_SUSPENDS_CRON | NEED_KINDS | NEED_LOGS) ? NEED_SCALES : 0u) |
	       (need & NEED_SUSPENDS_CRON ? NEED_SUSPENDS : 0u) |
	       (need & NEED_ANNOUNCES ? NEED_SCALES | NEED_DELETES : 0u);
}

static bool is_used(const char *verb, const char *group, const char *resource, unsigned need)
{
	for (size_t i = 0; i < n_uses; i++)
		if (strcmp(uses[i].verb, verb) == 0 && strcmp(uses[i].group, group) == 0 &&
		    strcmp(uses[i].resource, resource) == 0 &&
		    (uses[i].needs & ~with_what_it_implies(need)) == 0)
			return true;
	return false;
}

static void expect_used(const struct right_desc *r, const char *group, const char *resource)
{
	/* A right that is always printed is made use of by those who delete alone, and by those who scale
	 * alone. */
	const unsigned needs = r->needs == NEED_ALWAYS ? NEED_DELETES | NEED_SCALES : r->needs;
	char verbs[100], *rest = verbs;

	(void)snprintf(verbs, sizeof(verbs), "%s", r->verbs);
	for (char *verb; (verb = strsep(&rest, ","));) {
		verb += *verb == ' ';
		for (unsigned need = 1; need <= needs; need <<= 1)
			ck_assert_msg(!(needs & need) || is_used(verb, group, resource, need),
				      "%s %s %s is printed for need %u, and no step makes use of it", verb,
				      group, resource, need);
	}
}

/* Not so: a verb of the admission policy, which Kubernetes does not know, and the rights of the watcher. */
static bool is_of_a_step(const struct right_desc *r)
{
	return role_of(r->role)->account != ACCOUNT_READER && r->role != ROLE_OF_NAMESPACES &&
	       strcmp(r->verbs, "restore") != 0;
}

TEST(each_right_has_a_step_that_makes_use_of_it)
{
	const struct right_desc *r;
	const struct kind_desc *k;

	for (size_t i = 0; (r = right_at(i)); i++) {
		if (is_of_a_step(r) && r->set == SET_ONE)
			expect_used(r, r->group, r->resources);
		for (size_t n = 0; is_of_a_step(r) && r->set != SET_ONE && (k = kind_at(n)); n++) {
			char resource[100];

			(void)snprintf(resource, sizeof(resource), "%s%s", k->resource, r->resources);
			if (right_is_for(r->set, k))
				expect_used(r, k->group, resource);
		}
	}
}

static bool allows(const struct right_desc *r, const struct use *u)
{
	const struct kind_desc *k;
	char resource[100];

	if ((r->needs != NEED_ALWAYS && !(r->needs & u->needs)) || !strstr(r->verbs, u->verb))
		return false;
	if (r->set == SET_ONE)
		return strcmp(r->group, u->group) == 0 && strcmp(r->resources, u->resource) == 0;
	for (size_t n = 0; (k = kind_at(n)); n++) {
		(void)snprintf(resource, sizeof(resource), "%s%s", k->resource, r->resources);
		if (right_is_for(r->set, k) && strcmp(k->group, u->group) == 0 &&
		    strcmp(resource, u->resource) == 0)
			return true;
	}
	return false;
}

/* Fleets are of --kinds, whose rights are made like those of the kinds that are known. */
TEST(no_step_asks_for_more_than_is_printed)
{
	ck_assert_uint_gt(n_uses, 100);
	for (size_t i = 0; i < n_uses; i++) {
		const struct right_desc *r;
		bool allowed = strcmp(uses[i].group, "example.com") == 0;

		for (size_t n = 0; !allowed && (r = right_at(n)); n++)
			allowed = allows(r, &uses[i]);
		ck_assert_msg(allowed, "%s %s %s is asked for with needs %u, and not printed", uses[i].verb,
			      uses[i].group, uses[i].resource, uses[i].needs);
	}
}

TEST_MAIN("worker/rights")
{
	tcase_add_checked_fixture(t, setup, NULL);
}
