/* The objects of a filled cluster: texts with places for values. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_FILL_TEXT_H
#define APISIM_FILL_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum fill_text {
	FILL_RUNNING,
	FILL_EVICTED,
	FILL_TERMINATING,
	FILL_CRASHLOOP,
	FILL_PULLFAIL,
	FILL_POD_STATES,
	FILL_DEPLOYMENT = FILL_POD_STATES,
	FILL_REPLICA_SET,
	FILL_TEXTS,
};

/* The text as a JSON tree, made once; borrowed, until fill_text_done. */
json_t *fill_text_tree(enum fill_text which);
void fill_text_done(void);

/* Finds the value of a word (n bytes); NULL when there is none of that name. out is room for it. */
typedef const char *(*fill_word_fn)(const void *arg, const char *word, size_t n, char out[256]);

/* A tree with values in place of $words$; shares what has none. The result is the caller's. */
json_t *fill_text_expand(json_t *tree, fill_word_fn value, const void *arg);

/* The text of one string with its words replaced; out holds 512 bytes. */
const char *fill_text_string(const char *text, fill_word_fn value, const void *arg, char out[512]);

/* Whole objects; the caller's. out_of_service: not ready, with the taint that says its pods are gone. */
json_t *fill_text_namespace(uint64_t i);
json_t *fill_text_node(unsigned index, bool out_of_service, int64_t now);

/* "worker-00012"; out holds 24 bytes. */
void fill_node_name(unsigned index, char *out);

#endif
