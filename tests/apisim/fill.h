/* A cluster full of realistic pods, made quickly: pods of one ReplicaSet share a template, in JSON and
 * encoded, into which the values of each are written at known places. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_FILL_H
#define APISIM_FILL_H

#include "tests/apisim/object.h"
#include "tests/apisim/store.h"

struct fill_options {
	uint64_t pods, seed, namespaces, nodes;
	uint64_t evicted, terminating, crashloop; /* pods */
	uint64_t pullfail;                        /* Deployments none of whose pods can pull */
};

/* Puts namespaces, nodes, Deployments, ReplicaSets and pods into the store, without events. Once a process.
 */
void fill_store(struct store *store, const struct fill_options *opt);
void fill_done(void);

/* Of a filled object (obj->group set): */
json_t *fill_tree(const struct obj *o);
struct blob *fill_pb(const struct obj *o);
struct blob *fill_json(const struct obj *o);
const json_t *fill_labels(const struct obj *o);
const char *fill_field(const struct obj *o, const char *path, char out[256]);
const char *fill_uid(const struct obj *o, char out[64]);

#endif
