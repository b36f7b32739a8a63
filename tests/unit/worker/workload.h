/* workload.h - a failing workload at the fake API server.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_WORKER_WORKLOAD_H
#define TESTS_UNIT_WORKER_WORKLOAD_H

#include "fake.h"

#define GET        "GET " POD_PATH
#define NS         "/namespaces/shop/"
#define RS         "GET /apis/apps/v1" NS "replicasets/web-2"
#define DEPLOY     "GET /apis/apps/v1" NS "deployments/web"
#define SCALE      "/apis/apps/v1" NS "deployments/web/scale"
#define PATCH_MARK "PATCH /apis/apps/v1" NS "deployments/web"
#define HPAS       "GET /apis/autoscaling/v2" NS "horizontalpodautoscalers"
#define KEDA       "GET /apis/keda.sh/v1alpha1" NS "scaledobjects"
#define RSES       "GET /apis/apps/v1" NS "replicasets"
#define PODS       "GET /api/v1" NS "pods"
#define PAGE1      "?limit=100&labelSelector=app%3Dweb"
#define NOTFOUND                                                                                             \
	"{'kind':'Status','status':'Failure','reason':'NotFound','message':'gone','details':{'name':'web'}," \
	"'code':404}"
#define DENIED "{'kind':'Status','status':'Failure','message':'no','code':403}"

#define OWNED(version, kind, name, uid)                                                                      \
	"'ownerReferences':[{'apiVersion':'v9','kind':'Other','name':'o','uid':'o'},{'apiVersion':'" version \
	"','kind':'" kind "','name':'" name "','uid':'" uid "','controller':true}]"
#define BY_RS      OWNED("apps/v1", "ReplicaSet", "web-2", "rs-2")
#define BY_DEPLOY  OWNED("apps/v1", "Deployment", "web", "dep-1")
#define BY_STS     OWNED("apps/v1", "StatefulSet", "web", "sts-1")
#define BY_FLEET   OWNED("example.com/v1", "Fleet", "web", "fleet-1")
#define BY_ROLLOUT OWNED("argoproj.io/v1alpha1", "Rollout", "web", "ro-1")

#define PULLING                                                                                              \
	"'phase':'Pending','containerStatuses':[{'name':'app','state':{'waiting':{'reason':'"                \
	"ImagePullBackOff','message':'Back-off pulling image: ErrImagePull: manifest unknown'}}}]"
#define READY "'phase':'Running','conditions':[{'type':'Ready','status':'True'}]"
#define STARTING                                                                                             \
	"'phase':'Pending','containerStatuses':[{'name':'app','state':{'waiting':{'reason':'"                \
	"ContainerCreating'}}}]"

#define WORKS_NOT_READY "'phase':'Running','containerStatuses':[{'name':'app','state':{'running':{}}}]"

/* A pod of a list. */
#define ITEM(name, uid, meta, status)                                                                        \
	"{'metadata':{'name':'" name "','namespace':'shop','uid':'" uid "','resourceVersion':'1',"           \
	"'creationTimestamp':'" LIVE "'," meta "},'spec':{},'status':{" status "}}"
#define OURS(meta) ITEM("web", "pod-1", meta, PULLING)

/* A ReplicaSet of a list. */
#define RSITEM(uid, revision, created, ready, owner)                                                         \
	"{'metadata':{'name':'x','uid':'" uid "','creationTimestamp':'" created                              \
	"','annotations':{'deployment.kubernetes.io/revision':'" revision "'}," owner                        \
	"},'status':{'readyReplicas':" ready "}}"

/* A kind that is known from discovery alone. */
#define FLEET "/apis/example.com/v1" NS "fleets/web"
#define DISCO "GET /apis/example.com/v1"
#define FLEETS(scale)                                                                                        \
	"{'kind':'APIResourceList','groupVersion':'example.com/"                                             \
	"v1','resources':[{'name':'fleets','kind':'Fleet',"                                                  \
	"'namespaced':true,'verbs':['get']}" scale "]}"
#define WITH_SCALE                                                                                           \
	",{'name':'fleets/"                                                                                  \
	"scale','kind':'Scale','group':'autoscaling','version':'v1','namespaced':true,'verbs':['get','"      \
	"patch']}"

struct fake_reply *on_scale(const char *path, const char *uid, const char *spec);
/* The workload as the server answers when replicas and mark are written at once. */
struct fake_reply *on_written(const char *patch, const char *uid);
void on_pods(const char *items);
/* Deployment web with three replicas, its newest ReplicaSet web-2, all of whose pods fail. */
void setup_deployment(void);
/* Then: its pod is Fleet web's, of five replicas, and the server knows these kinds. */
void with_fleet(const char *list);

#endif
