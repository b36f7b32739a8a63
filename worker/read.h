/* read.h - what the worker reads from the JSON of other objects than pods: owners, nodes, volume attachments,
 * scales, revisions. Everything may be missing or of another type; strings borrow from the tree.  Layer:
 * worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_READ_H
#define WORKER_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/annotations.h"
#include "model/pod.h"
#include "base/str.h"
#include "rules/judge.h"

/* The member at a path of keys (at most 4, NULL-terminated): NULL when any is missing. */
const json_t *read_at(const json_t *o, const char *const path[]);
#define READ_AT(o, ...) read_at(o, (const char *const[]){ __VA_ARGS__, NULL })
/* As text, empty when it is none. */
struct str read_text(const json_t *o, const char *const path[]);
#define READ_TEXT(o, ...) read_text(o, (const char *const[]){ __VA_ARGS__, NULL })
/* As a time, Unix ms; 0 when it is absent or garbage. */
int64_t read_time(const json_t *o, const char *const path[]);
#define READ_TIME(o, ...) read_time(o, (const char *const[]){ __VA_ARGS__, NULL })
/* What is accepted of an object of which only the metadata is read; an old server answers with all of it. */
#define READ_METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;q=0.9"
/* metadata.creationTimestamp, as READ_TIME. */
int64_t read_created(const json_t *o);
/* The first condition of that type among status.conditions; NULL when there is none. */
const json_t *read_condition(const json_t *o, const char *type);
/* Since when condition Available of a workload is False, Unix ms; 0 when it is not, or has no such condition.
 */
int64_t read_unavailable(const json_t *o);

/* The ownerReference with controller: true, borrowed from o; NULL when there is none. */
json_t *read_controller_ref(const json_t *o);
/* What an ownerReference says; its texts are borrowed from it. */
struct owner_facts read_owner(const json_t *ref);
/* Both in one: false when there is none. */
bool read_controller(const json_t *o, struct owner_facts *ret);

/* Condition Ready (no: anything but "True") and taint node.kubernetes.io/out-of-service of a Node. */
enum tri read_node_ready(const json_t *node);
enum tri read_node_out_of_service(const json_t *node);

/* Has the controller seen the newest spec (status.observedGeneration)? True when the object does not tell. */
bool read_observed(const json_t *o);
/* deployment.kubernetes.io/revision or rollout.argoproj.io/revision of a ReplicaSet, 0 when there is none. */
uint64_t read_revision(const json_t *rs);

struct scale_facts {
	struct str uid, rv, selector;
	int64_t replicas; /* absent means 0 */
};
/* An autoscaling/v1 Scale. False when uid, resourceVersion or kind is missing. */
bool read_scale(const json_t *o, struct scale_facts *ret);

#define TEMPLATE_HASH_MAX 17
/* Has somebody corrected a workload? Sixteen hex digits of what people correct in its spec.template: its
 * labels and annotations, and of its containers and volumes what decides what runs. Not the whole of it: an
 * API server of a later version fills new defaults into templates that nobody has touched. Empty when it has
 * no template. FNV-1a: it has to notice a change, not to resist anybody, for who can write a template can
 * write the replicas, too. */
void template_hash(const json_t *workload, char ret[static TEMPLATE_HASH_MAX]);

/* Labels of the pod template of a workload, into a pod that has none yet; borrowed. */
void read_template_labels(const json_t *workload, struct pod_facts *ret);

/* What a RESULT calls its target: "deployments.apps/shop/web", "pods/shop/web". Borrows from the text. */
struct object_name {
	struct str resource, group, ns, name; /* group is empty for core */
};
/* False when it is not such a text. */
bool read_object_name(const char *text, struct object_name *ret);

/* The annotations by which operators and this program speak to one another. */
void read_annotations(const json_t *o, struct annotations *ret);

/* Whom o concerns: the value of the first of these annotations that it has, keys separated by commas (NULL:
 * none). Empty: nobody is named. */
struct str read_contact(const json_t *o, const char *keys);

/* A Status with status "Failure", whatever the HTTP status was: its code, else 0. */
long read_failure(const json_t *o);

/* Does this body of a 404 say, as the API server does, that there is no object of some name? That of
 * something in between, or for a path that is not served, does not. */
bool read_is_absent(const char *body, size_t n);
/* Does it say, as the API server does, that no such resource is served? That is a Status as well, or Go's own
 * text (net/http: NotFound). */
bool read_is_unserved(const char *body, size_t n);

struct refusal {
	char message[256];     /* cut to size */
	int64_t retry_after_s; /* details.retryAfterSeconds, 0 absent; what is above INT32_MAX is that */
	bool by_rights; /* of a 403: the credential lacks the right, it is no admission plugin that objects */
};
/* Why a request is refused: what a Status says; of a body that is no JSON (the text/plain of API priority and
 * fairness) the text, but for a page of HTML. */
void read_refusal(const char *body, size_t n, struct refusal *ret);

#endif
