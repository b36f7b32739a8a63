/* namespaces.h - what a list of namespaces in the configuration means. An item is a name, a pattern in which
 * '*' stands for any characters, also none ("team-*"), or "label:KEY=VALUE" for the namespaces with such a
 * label
 * ("label:KEY=*": with any value); '!' in front of it excepts what it selects. An exception beats every other
 * item, wherever it stands; exceptions alone mean all others. Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_NAMESPACES_H
#define MODEL_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "model/policy.h"
#include "model/reasons.h"

struct label {
	struct str key, value;
};

/* All labels of one namespace, as the API server tells them. */
struct namespace_labels {
	const struct label *v;
	size_t n;
};

enum namespace_item_kind { NAMESPACE_NAME, NAMESPACE_PATTERN, NAMESPACE_LABEL };

/* One item, taken apart; borrows from its text. Any text is one: syntax is checked by config/value.c. */
struct namespace_item {
	enum namespace_item_kind kind;
	bool except;
	struct str text;  /* the name or the pattern; of a label: its key */
	struct str value; /* of a label: the pattern of its value */
};
struct namespace_item namespaces_item(struct str text);

/* Is ns one of those that the list means? labels NULL: not known; then UNKNOWN where they would decide. An
 * empty list means none. */
enum tri namespaces_match(const struct str_list *l, struct str ns, const struct namespace_labels *labels);
/* Does the list name ns itself, and not except it by its name or a pattern? */
bool namespaces_name(const struct str_list *l, struct str ns);
/* Are they exceptions alone, so that all others are meant? */
bool namespaces_only_except(const struct str_list *l);
/* Does it mean others than those that it names: by a pattern, a label or "*", or as exceptions alone? */
bool namespaces_select_more(const struct str_list *l);

/* Does anything that is in force ask for labels of namespaces? Then whoever judges has to know them. */
bool policy_needs_namespaces(const struct policy *p);
/* Adds the names that the lists of the enabled duties hold, each once. False: a pattern, a label or an
 * exception makes a duty work in others, too, so that they are not all. */
bool policy_list_namespaces(const struct policy *p, struct str_list *names);

#endif
