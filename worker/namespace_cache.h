/* namespace_cache.h - namespaces as they were read a moment ago: many deletions in one namespace read it once
 * a second, not once each. Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_NAMESPACE_CACHE_H
#define WORKER_NAMESPACE_CACHE_H

#include <jansson.h>
#include <stdint.h>

/* How old what it returns may be, in ms of boot time. Below ACTION_FRESH_MS: a write is based on no older
 * reads than without the cache. */
#define NAMESPACE_CACHE_MS 1000

struct namespace_cache;
struct namespace_cache *namespace_cache_new(void);
void namespace_cache_free(struct namespace_cache **c);

/* Keep the Namespace `name` as it was asked for at boot time `asked_at`, ms. Takes a reference of its own;
 * the oldest entry makes room. */
void namespace_cache_put(struct namespace_cache *c, const char *name, json_t *json, uint64_t asked_at);
/* The Namespace `name`, borrowed until the next put; NULL when there is none, or it is too old at boot time
 * `now`. *ret_asked_at: when it was asked for. */
json_t *namespace_cache_find(const struct namespace_cache *c, const char *name, uint64_t now,
			     uint64_t *ret_asked_at);

#endif
