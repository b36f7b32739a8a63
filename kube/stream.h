/* stream.h - one list/watch stream of a reflector: all namespaces, or one. It carries out what reflect_core
 * decides. Layer: kube, internal to the reflector. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_STREAM_H
#define KUBE_STREAM_H

#include "kube/stream_body.h"

struct stream;

/* Others who do the stream's work while its list is forbidden (403). */
struct stream_fallback {
	bool (*begin)(void *ctx); /* true: that is news */
	void (*end)(void *ctx);   /* its list is complete; called from within the stream */
	void *ctx;
	uint64_t retry_ms; /* it asks again that often */
};

/* Begins as soon as the loop runs. env and fallback (NULL = none) are borrowed and outlive it. in_trouble:
 * what it is to do is already reported as trouble. Not to be freed from within the calls to the consumer. */
struct stream *stream_new(struct stream_env *env, const char *ns, const struct stream_fallback *fallback,
			  bool in_trouble);
void stream_free(struct stream **s);
/* Has a list been complete? */
bool stream_is_synced(const struct stream *s);

#endif
