/* sinks.c - see sinks.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/sinks.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "config/config.h"
#include "config/sink_files.h"
#include "config/table.h"
#include "config/url.h"
#include "loader/resolve.h"
#include "model/language.h"
#include "model/news.h"
#include "model/sink_types.h"

#define FILE_MS       300000u
#define NAME_MS       300000u
#define SINK_RETRY_MS 30000u

static bool is_original(const struct loader *l, const struct sink_settings *s)
{
	return s == l->config.settings.sinks && config_has_original_sink(&l->config);
}

/* Nothing is sent to an address without its secret, or with other trust than was asked for. file: that holds
 * it, NULL = none. */
static void add_problem(struct loader *l, struct sink_settings *s, const char *key, const char *file,
			const char *why)
{
	_cleanup_free_ char *of = is_original(l, s) ? xconcat("tooManyRestart.", key, NULL)
						    : xconcat("sinks[].", key, " (", s->name, ")", NULL);
	char problem[SENTENCE_MAX];

	(void)sentence_make(problem, SINK_PROBLEM, is_original(l, s) ? "tooManyRestart." : "", key,
			    file ? file : "", file ? ": " : "", why);
	if (!s->problem)
		s->problem = xstrndup(problem, unicode_cut(problem, strlen(problem), SINK_PROBLEM_MAX));
	diags_warn(&l->diags, ((struct place){ .file = file ? file : l->options->config, .key = of }),
		   SINK_WAITS, why);
	loader_refresh_within(l, SINK_RETRY_MS);
}

/* -- files -- */

static void read_file(struct loader *l, struct sink_settings *s, const struct sink_file *f)
{
	_cleanup_free_ char *path = sink_file_path(f, l->options->config, s);
	_cleanup_(diags_done) struct diags found = { 0 };

	if (!path)
		return;
	loader_refresh_within(l, FILE_MS);
	watches_add(&l->watches, path);
	if (sink_file_value(f)->flags & SETTING_SECRET)
		loader_check_secret(l, path);
	if (sink_file_read(f, path, s, &found) < 0)
		setting_clear(setting_find_member(settings_sink_table, offsetof(struct sink_settings, url)),
			      s);
	for (size_t i = 0; i < found.n; i++) {
		if (found.v[i].error)
			add_problem(l, s, is_original(l, s) ? f->of_original : f->of, path,
				    found.v[i].sentence);
		else
			(void)diags_put(&l->diags, false, (struct place){ .file = path, .key = s->name },
					found.v[i].sentence);
	}
}

/* -- the list -- */

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

/* The first of them. */
static void add_original(struct config *c)
{
	struct settings *s = &c->settings;
	struct sink_settings *last = config_append(c, "sinks"), one = *last;

	one.name = xstrdup(SINK_ORIGINAL_NAME);
	one.type = SINK_FEISHU;
	one.url = copy(c->api_url);
	one.url_file = copy(c->api_url_file);
	one.secret = copy(c->api_secret);
	one.secret_file = copy(c->api_secret_file);
	memmove(s->sinks + 1, s->sinks, (s->n_sinks - 1) * sizeof(*s->sinks));
	s->sinks[0] = one;
}

void loader_read_sinks(struct loader *l)
{
	struct config *c = &l->config;
	struct settings *s = &c->settings;
	uint64_t told = UINT64_C(1) << NEWS_REPORT;

	told |= c->tell_actions ? UINT64_C(1) << NEWS_ACTIONS : 0;
	told |= c->tell_attention ? UINT64_C(1) << NEWS_ATTENTION : 0;
	s->language = c->language < LANGUAGE__MAX ? c->language : language_of_text(s->msg_title);
	if (config_has_original_sink(c))
		add_original(c);
	for (size_t i = 0; i < s->n_sinks; i++) {
		struct sink_settings *sink = &s->sinks[i];

		sink->news &= told;
		if (sink->language >= LANGUAGE__MAX)
			sink->language = s->language;
		for (size_t k = 0; sink_file_at(k); k++)
			read_file(l, sink, sink_file_at(k));
	}
}

/* -- addresses -- */

/* Where to connect to. False when the name needs no resolver, or there is none. */
static bool needs_address(const struct sink_settings *s, struct url *ret)
{
	enum phrase why;

	if (!s->url || s->problem)
		return false;
	return (s->proxy ? url_parse_as(s->proxy, URL_PROXIES, ret, &why)
			 : url_parse_as(s->url, URL_SINKS, ret, &why)) == 0 &&
	       !ret->ip;
}

static const char *address_key(const struct loader *l, const struct sink_settings *s)
{
	return s->proxy ? "proxy" : is_original(l, s) ? "apiurl" : "url";
}

void loader_resolve_sinks(struct loader *l)
{
	struct settings *s = &l->config.settings;
	struct lookup lookups[SINKS_MAX] = { 0 };

	for (size_t i = 0; i < s->n_sinks; i++) {
		struct url u;

		if (needs_address(&s->sinks[i], &u))
			lookup_init(&lookups[i], u.host, u.port);
	}
	/* Some time is left to say what was not found. */
	loader_resolve_all(lookups, s->n_sinks, l->until_ms - l->limit_ms / 8);
	for (size_t i = 0; i < s->n_sinks; i++) {
		struct lookup *k = &lookups[i];

		if (k->address)
			loader_refresh_within(l, NAME_MS);
		else if (*k->host)
			add_problem(l, &s->sinks[i], address_key(l, &s->sinks[i]), NULL, k->why);
		s->sinks[i].address = k->address;
	}
}

void loader_no_sinks(struct loader *l, const char *why)
{
	struct settings *s = &l->config.settings;
	struct url u;

	for (size_t i = 0; i < s->n_sinks; i++)
		if (needs_address(&s->sinks[i], &u))
			add_problem(l, &s->sinks[i], address_key(l, &s->sinks[i]), NULL, why);
}
