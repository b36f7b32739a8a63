/* intern.h - strings that repeat, each held once, counted, and named by a 4-byte id.
 * Layer: watcher.  Threads: none.  Owns: copies of the strings.  Ids are small and reused after the last
 * reference goes; id 0 is the empty string and costs nothing. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_INTERN_H
#define WATCHER_CACHE_INTERN_H

#include "base/str.h"

struct intern;

/* Longer strings are cut: nothing Kubernetes names is longer. */
#define INTERN_LEN_MAX 512u

struct intern *intern_new(void);
void intern_free(struct intern **t);

/* Id of s with one reference more; to be given back with intern_unref. */
uint32_t intern_ref(struct intern *t, struct str s);
void intern_unref(struct intern *t, uint32_t id);
/* Id of s, which is held with one reference in all: taken now unless somebody holds it. */
uint32_t intern_once(struct intern *t, struct str s);
/* Id of s when somebody holds it, else 0; no reference is taken. */
uint32_t intern_find(const struct intern *t, struct str s);
/* How many references are held to s. */
uint32_t intern_count(const struct intern *t, struct str s);
/* intern_ref() of s comes soon: memory is fetched meanwhile. For strings that come at random. */
void intern_expect(const struct intern *t, struct str s);
/* The string, valid until the next intern_unref: whatever it releases, the others may be moved together. */
struct str intern_str(const struct intern *t, uint32_t id);

size_t intern_bytes(const struct intern *t);

#endif
