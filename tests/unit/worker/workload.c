/* workload.c - see workload.h. */
// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <stdio.h>

struct fake_reply *on_scale(const char *path, const char *uid, const char *spec)
{
	char request[200];

	(void)snprintf(request, sizeof(request), "GET %s", path);
	return on(request, 200,
		  "{'kind':'Scale','apiVersion':'autoscaling/"
		  "v1','metadata':{'name':'web','namespace':'shop','uid':'%s',"
		  "'resourceVersion':'77'},'spec':{%s},'status':{'replicas':3,'selector':'app=web'}}",
		  uid, spec);
}

struct fake_reply *on_written(const char *patch, const char *uid)
{
	return on(patch, 200,
		  "{'metadata':{'name':'web','uid':'%s','resourceVersion':'78','annotations':{"
		  "'ops-pod-cleaner.io/scaled-down-action':'7'}},'spec':{'replicas':0}}",
		  uid);
}

void on_pods(const char *items)
{
	on(PODS, 200, "{'kind':'PodList','metadata':{},'items':[%s]}", items);
}

void setup_deployment(void)
{
	fake_setup();
	fake.grant.duty = DUTY_IMAGE_PULL;
	fake.grant.action = ACTION_SCALE_DOWN;
	fake.grant.since = NOW - HOUR - 1;
	on_pod("41", "," BY_RS, "", PULLING);
	on(RS, 200,
	   "{'metadata':{'name':'web-2','uid':'rs-2','creationTimestamp':'" LIVE "'," BY_DEPLOY "}}");
	on(DEPLOY, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','creationTimestamp':'" LIVE "','generation':4},"
	   "'status':{'observedGeneration':4}}");
	on(HPAS, 200, "{'items':[]}");
	on("GET /version", 200, "{'major':'1','minor':'34','gitVersion':'v1.34.1'}");
	on(KEDA, 404, NOTFOUND);
	on_scale(SCALE, "dep-1", "'replicas':3");
	on(RSES, 200,
	   "{'items':[" RSITEM("rs-1", "1", LIVE, "0", BY_DEPLOY) "," RSITEM("rs-2", "2", LIVE, "0",
									     BY_DEPLOY) "]}");
	on_pods(OURS(BY_RS) "," ITEM("web-b", "pod-2", BY_RS, PULLING));
	on_written(PATCH_MARK, "dep-1");
	on("PATCH " SCALE, 200,
	   "{'kind':'Scale','metadata':{'name':'web','uid':'dep-1','resourceVersion':'78'},'spec':{}}");
}

void with_fleet(const char *list)
{
	on_pod("41", "," BY_FLEET, "", PULLING);
	on(DISCO, 200, "%s", list);
	on("GET " FLEET, 200, "{'metadata':{'uid':'fleet-1'}}");
	on_scale(FLEET "/scale", "fleet-1", "'replicas':5");
	on_pods(OURS(BY_FLEET));
	on("PATCH " FLEET, 200, "%s", "{}");
	on("PATCH " FLEET "/scale", 200,
	   "{'kind':'Scale','metadata':{'uid':'fleet-1','resourceVersion':'78'}}");
}
