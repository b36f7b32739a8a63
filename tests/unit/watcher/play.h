/* play.h - what a reflector says, written as a line of text, and what became of the cache, read back as one.
 *
 *   "+foo:1"         ADDED or MODIFIED foo at resourceVersion 1        "-foo:2"  DELETED
 *   "=foo:3 bar:4"   a list of these two, whole                        "<foo:3"  a list that breaks off
 *
 * Steps are separated by ";". The answer has one part a step, ended by "|": "-gone:RV", "~changed:RV" and
 * "+new:RV", each kind in the order of names.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_WATCHER_PLAY_H
#define TEST_WATCHER_PLAY_H

#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

#define PLAY_MAX 64

struct played {
	char name[32], rv[24];
};

static struct played played[PLAY_MAX]; /* the cache after the last step */
static size_t n_played;
static char played_text[2048];
static bool play_turns = true; /* judge after each step */

static inline int played_order(const void *a, const void *b)
{
	return strcmp(((const struct played *)a)->name, ((const struct played *)b)->name);
}

static inline size_t play_look(struct played *ret)
{
	static struct pod_facts p;
	struct store *s = controller_cluster(c)->store;
	size_t n = 0;

	for (uint32_t h = 0; (h = store_next(s, h)); n++) {
		ck_assert_uint_lt(n, PLAY_MAX);
		store_get(s, h, &p);
		(void)snprintf(ret[n].name, sizeof(ret[n].name), "%.*s", STR_ARG(p.name));
		(void)snprintf(ret[n].rv, sizeof(ret[n].rv), "%.*s", STR_ARG(p.rv));
	}
	qsort(ret, n, sizeof(*ret), played_order);
	return n;
}

static inline const struct played *played_find(const struct played *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, name) == 0)
			return &v[i];
	return NULL;
}

static inline void play_say(char kind, const struct played *p)
{
	const size_t n = strlen(played_text);
	const bool first = n == 0 || played_text[n - 1] == '|';
	const int k = snprintf(played_text + n, sizeof(played_text) - n, "%s%c%.31s:%.23s", first ? "" : " ",
			       kind, p->name, p->rv);

	ck_assert(k > 0 && (size_t)k < sizeof(played_text) - n - 1);
}

static inline void play_compare(void)
{
	struct played now[PLAY_MAX];
	const size_t n = play_look(now);

	for (size_t i = 0; i < n_played; i++)
		if (!played_find(now, n, played[i].name))
			play_say('-', &played[i]);
	for (int fresh = 0; fresh < 2; fresh++)
		for (size_t i = 0; i < n; i++) {
			const struct played *old = played_find(played, n_played, now[i].name);

			if (fresh ? !old : old && strcmp(old->rv, now[i].rv) != 0)
				play_say(fresh ? '+' : '~', &now[i]);
		}
	memcpy(played, now, sizeof(played));
	n_played = n;
	const size_t end = strlen(played_text);

	ck_assert_uint_lt(end, sizeof(played_text) - 2);
	memcpy(played_text + end, "|", 2);
}

/* An evicted pod of that name, with a uid made from it; text is NAME:RV. */
static inline void play_event(const char *text, bool deleted)
{
	char name[32] = "", rv[24] = "", uid[64];
	struct pod_facts p = pod_evicted();

	ck_assert_msg(sscanf(text, "%31[^:]:%23[0-9]", name, rv) == 2, "%s", text);
	(void)snprintf(uid, sizeof(uid), "0b8f0f3e-0000-4000-8000-0000%02x%02x%02x%02x", name[0], name[1],
		       name[1] ? name[2] : 0, (unsigned)strlen(name));
	p.name = STR_C(name);
	p.uid = STR_C(uid);
	p.rv = STR_C(rv);
	if (deleted)
		controller_delete(c, &p);
	else
		ck_assert_int_eq(controller_pod(c, &p), 0);
}

static inline void play_list(char *text, bool whole)
{
	char *rest = NULL;

	controller_list(c, STR_LIT(""));
	for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
		play_event(w, false);
		if (play_turns)
			run_all();
	}
	if (whole)
		controller_sync(c, STR_LIT(""));
	else
		controller_list_failed(c, STR_LIT(""));
	controller_alive(c);
}

/* Plays the steps; the answer is valid until the next call. */
static inline const char *play(const char *script)
{
	char *steps = strdup(script), *rest = NULL;

	n_played = play_look(played);
	played_text[0] = '\0';
	for (char *step = strtok_r(steps, ";", &rest); step; step = strtok_r(NULL, ";", &rest)) {
		if (*step == '=' || *step == '<')
			play_list(step + 1, *step == '=');
		else
			play_event(step + 1, *step == '-');
		if (play_turns)
			run_all();
		play_compare();
	}
	free(steps);
	return played_text;
}

/* "name:rv name:rv" of all nominations so far, in order. */
static inline const char *nominated(void)
{
	static char text[4096];

	text[0] = '\0';
	for (size_t i = 0, n = 0; i < n_sent; i++)
		if (sent[i].type == MSG_NOMINATE)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s:%s", n ? " " : "",
					      sent[i].u.nominate.name, sent[i].u.nominate.rv);
	return text;
}

#endif
