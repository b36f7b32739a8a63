/* name_list.c - see name_list.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/name_list.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/phrases.h"

void name_list_add(struct name_list *l, const char *name)
{
	if (l->n++ < l->max)
		xappend(&l->shown, ", ", name);
}

char *name_list_end(struct name_list *l, enum language language)
{
	_cleanup_free_ char *shown = l->shown ? l->shown : xstrdup("");

	l->shown = NULL;
	return l->n > l->max ? xasprintf(phrase(NEWS_AND_MORE, language), shown, l->n - l->max)
			     : TAKE_PTR(shown);
}
