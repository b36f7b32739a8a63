/* configuration_text.h - what docs/configuration.md says around the rows of its tables, in each language. */
// SPDX-License-Identifier: Apache-2.0
#ifndef DOCS_GEN_CONFIGURATION_TEXT_H
#define DOCS_GEN_CONFIGURATION_TEXT_H

#include "model/actions.h"

struct configuration_text {
	const char *table_head;
	const char *below;
	const char *one_of;
	const char *stop;
	const char *secret;
	const char *fixed;
	const char *default_of;
	const char *default_is;
	const char *to, *at_least, *at_most;
	const char *top;
	const char *each_item;
	const char *schedules;
	const char *namespaces;
	const char *differences;
	const char *head;
	const char *override_keys;
	const char *overrides;
	const char *sinks;
};

extern const struct configuration_text configuration_texts[LANGUAGE__MAX];

#endif
