/* links.c - see links.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/news/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/url_template.h"

/* A fact that is empty is none: the link of another namespace would be shown. */
static const char *value_of(const void *ctx, struct str key)
{
	const struct entry *e = ctx;

	for (size_t i = 0; i < e->n_facts; i++)
		if (str_eq(key, STR_C(e->facts[i].key)) && e->facts[i].value[0])
			return e->facts[i].value;
	return NULL;
}

static void add_one(struct entry *e, const char *key, const char *template)
{
	_cleanup_free_ char *url = template ? url_template_fill(template, value_of, e) : NULL;

	entry_add_link(e, key, url);
}

void links_add(struct document *d, const struct link_settings *links)
{
	for (size_t i = 0; links && i < d->n_sections; i++) {
		for (size_t k = 0; k < d->sections[i].n; k++) {
			struct entry *e = &d->sections[i].entries[k];

			if (e->is_over)
				continue;
			add_one(e, "page", links->page);
			add_one(e, "runbook", links->runbook);
		}
	}
}
