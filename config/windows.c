/* windows.c - see windows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"

struct known {
	char *text;
	struct window window;
	bool valid, open;
	int64_t from, until; /* the answer holds from..until; until 0 = for ever */
};

struct windows {
	struct known *v;
	size_t n;
	struct zones *zones;
	bool broken;
};

struct windows *windows_new(void)
{
	return xcalloc(1, sizeof(struct windows));
}

static void forget(struct windows *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i].text);
	free(w->v);
	w->v = NULL;
	w->n = 0;
}

void windows_free(struct windows **w)
{
	if (!*w)
		return;
	forget(*w);
	zones_free(&(*w)->zones);
	free(*w);
	*w = NULL;
}

void windows_set_zones(struct windows *w, const void *zones, size_t n)
{
	forget(w);
	zones_free(&w->zones);
	w->broken = n && zones_parse(zones, n, &w->zones) < 0;
	if (w->broken)
		(void)log_error(0, "the time zones of the windows cannot be read: all windows are closed");
}

static struct known *find(struct windows *w, const char *text)
{

	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i].text, text) == 0)
			return &w->v[i];
	w->v = xreallocarray(w->v, w->n + 1, sizeof(*w->v));
	struct known *k = &w->v[w->n++];

	*k = (struct known){ .text = xstrdup(text), .from = INT64_MAX };
	k->valid = window_parse(text, &k->window, NULL) == 0;
	return k;
}

static void look(const struct windows *w, struct known *k, int64_t now)
{
	if (now >= k->from && (now < k->until || k->until == 0))
		return;
	k->open = window_open(&k->window, zones_find(w->zones, k->window.cron.zone), now, &k->until);
	k->from = now;
}

bool windows_are_open(struct windows *w, const struct str_list *texts, int64_t now, int64_t *ret_at)
{
	int64_t closes = 0, opens = 0;
	bool open = texts->n == 0;

	for (size_t i = 0; i < texts->n; i++) {
		struct known *k = find(w, texts->v[i]);

		if (!k->valid || w->broken)
			continue;
		look(w, k, now);
		open = open || k->open;
		if (k->open && k->until > closes)
			closes = k->until;
		else if (!k->open && k->until > 0 && (opens == 0 || k->until < opens))
			opens = k->until;
	}
	*ret_at = open ? closes : opens;
	return open;
}
