/* sink_files.c - see sink_files.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/sink_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "config/config.h"
#include "config/file.h"
#include "config/table.h"
#include "config/url.h"
#include "model/sink_types.h"

#define SECRET_MAX_BYTES 4096u
#define BLANKS           " \t\r\n"

static const struct sink_file files[] = {
	{ "urlFile", "apiurlFile", "url", "apiurl", offsetof(struct sink_settings, url),
	  offsetof(struct sink_settings, url_file) },
	{ "secretFile", "secretFile", "secret", "secret", offsetof(struct sink_settings, secret),
	  offsetof(struct sink_settings, secret_file) },
	{ "caFile", NULL, "ca", NULL, offsetof(struct sink_settings, ca_pem),
	  offsetof(struct sink_settings, ca_file) },
};

const struct sink_file *sink_file_at(size_t i)
{
	return i < ARRAY_SIZE(files) ? &files[i] : NULL;
}

const struct setting *sink_file_value(const struct sink_file *f)
{
	return setting_find_member(settings_sink_table, f->value);
}

char *sink_file_path(const struct sink_file *f, const char *config, const struct sink_settings *s)
{
	const char *file = *(char *const *)(const void *)((const char *)s + f->file);

	return file ? file_beside(config, file) : NULL;
}

/* -- what one holds -- */

/* Why it is refused, in the language of its reader. */
struct refusal {
	str_translate_fn *translate;
	char *text;
};

#define SAID(e, en)       str_translate((e)->translate, en)
#define FAIL(e, fmt, ...) str_fail((e)->text, SETTING_ERROR_MAX, -EBADMSG, SAID(e, fmt), ##__VA_ARGS__)

/* As a value in the configuration, whose scheme, host and parameter are those of its type. */
static int check_url(const struct sink_settings *s, const struct refusal *e)
{
	const struct sink_type_desc *t = sink_type_desc((enum sink_type)s->type);
	const char *why;
	struct url u;

	if (url_parse_as(s->url, URL_SINKS, &u, &why) < 0)
		return FAIL(e, "%s", SAID(e, why));
	const enum sink_type of = sink_type_of_host(u.host);

	if (of < SINK_TYPE__MAX && of != s->type)
		return FAIL(e, "%s is the host of %s, not of %s", u.host, SAID(e, sink_type_desc(of)->label),
			    SAID(e, t->label));
	if (url_scheme_is(s->url, "smtp", 4) + url_scheme_is(s->url, "smtps", 5) != (s->type == SINK_EMAIL))
		return FAIL(e, "the address of %s begins with %.*s://", SAID(e, t->label),
			    (int)strcspn(t->schemes, ","), t->schemes);
	if (of == SINK_TYPE__MAX)
		return 0;
	if (strncmp(u.path, t->path, strlen(t->path)) != 0)
		(void)FAIL(e, "the path of the address of %s begins with %s: copy all of it",
			   SAID(e, t->label), t->path);
	else if (*t->query && !url_has_parameter(&u, t->query))
		return FAIL(e, "the address of %s holds %s=...: copy all of it", SAID(e, t->label), t->query);
	return 0;
}

/* Only a warning, as in the configuration. */
static void check_secret(const struct sink_settings *s, const struct refusal *e)
{
	const struct sink_type_desc *t = sink_type_desc((enum sink_type)s->type);

	if (strncmp(s->secret, t->secret_begin, strlen(t->secret_begin)) != 0)
		(void)FAIL(e, "the secret of %s begins with %s: copy all of it", SAID(e, t->label),
			   t->secret_begin);
}

/* How editors and shells spoil a file of one line. */
static int check_line(const struct setting *row, struct str value, const struct refusal *e)
{
	const char first = value.n > 0 ? value.p[0] : '\0';

	if (value.n == 0)
		return FAIL(e, "the file is empty");
	if (value.n >= 2 && (memcmp(value.p, "\xff\xfe", 2) == 0 || memcmp(value.p, "\xfe\xff", 2) == 0))
		return FAIL(e, "the file is UTF-16: save it as UTF-8");
	if (value.n >= 3 && memcmp(value.p, "\xef\xbb\xbf", 3) == 0)
		return FAIL(e, "the file begins with a byte order mark: save it as UTF-8 without one");
	if (memchr(value.p, '\n', value.n) || memchr(value.p, '\r', value.n))
		return FAIL(e, "the file holds more than one line: leave the value alone in it");
	if (row->kind == SET_URL && (first == '"' || first == '\''))
		return FAIL(e, "the value stands in quotes: in a file it has none");
	return 0;
}

static int take_line(const struct setting *row, struct sink_settings *s, struct str value,
		     const struct refusal *e)
{
	int r = check_line(row, value, e);

	if (r < 0)
		return r;
	r = setting_assign(row, s, value.p, value.n, e->translate, e->text);
	if (r < 0)
		return -EBADMSG;
	if (row->kind == SET_URL)
		r = check_url(s, e);
	else
		check_secret(s, e);
	if (r < 0)
		setting_clear(row, s);
	return r;
}

int sink_file_read(const struct sink_file *f, const char *path, struct sink_settings *s,
		   str_translate_fn *translate, char ret_text[static SETTING_ERROR_MAX])
{
	const struct setting *row = sink_file_value(f);
	const struct refusal e = { translate, ret_text };
	const size_t cap = row->flags & SETTING_SECRET ? SECRET_MAX_BYTES : (size_t)row->max;
	char *text = NULL;
	size_t n = 0;

	ret_text[0] = '\0';
	int r = file_read(path, cap, &text, &n, translate, ret_text);

	if (r < 0)
		return r;
	const struct str value = str_trim((struct str){ text, n }, BLANKS);

	if (!(row->flags & SETTING_DERIVED))
		r = take_line(row, s, value, &e);
	else if (value.n == 0)
		r = FAIL(&e, "the file is empty");
	else if (!file_is_pem(value.p, value.n))
		r = FAIL(&e, "the file is not PEM (-----BEGIN ...)");
	else
		*(char **)setting_member(row, s) = xstrndup(value.p, value.n);
	explicit_bzero(text, n);
	free(text);
	return r;
}

/* -- all of a configuration -- */

/* One key of one sink. */
struct place {
	const char *path; /* of the file */
	char *what;       /* "sink "a": urlFile", owned */
	struct diags *d;
};

static void check_one(const struct place *p, const struct sink_file *f, struct sink_settings *s)
{
	char text[SETTING_ERROR_MAX];
	int r;

	if (access(p->path, F_OK) < 0)
		return; /* config_validate() has said it, and where it is named */
	r = sink_file_read(f, p->path, s, p->d->translate, text);
	if (r == -EACCES || r == -EPERM)
		diags_warn(p->d, p->path, 0, 0, "%s: %s: check it as the user who runs the service", p->what,
			   text);
	else if (r < 0)
		(void)diags_error(p->d, p->path, 0, 0, "%s: %s", p->what, text);
	if (r < 0)
		return;
	if (*text)
		diags_warn(p->d, p->path, 0, 0, "%s: %s", p->what, text);
	file_tell_closed(p->path, p->what, p->d);
	if (sink_file_value(f)->flags & SETTING_SECRET)
		file_tell_exposed(p->path, p->d);
}

static void check_sink(const char *path, const struct sink_settings *sink, bool original, struct diags *d)
{
	struct sink_settings s = *sink; /* its texts but those that the files fill stay the sink's */

	for (const struct sink_file *f = files; f < files + ARRAY_SIZE(files); f++) {
		_cleanup_free_ char *at = sink_file_path(f, path, sink);
		struct place p = { .path = at, .d = d };

		if (!at)
			continue;
		*(char **)setting_member(sink_file_value(f), &s) = NULL;
		p.what = original ? xasprintf("tooManyRestart.%s", f->original)
				  : xasprintf(diags_said(d, "sink \"%s\": %s"), sink->name, f->key);
		check_one(&p, f, &s);
		free(p.what);
		setting_clear(sink_file_value(f), &s);
	}
}

int config_check_sink_files(const char *path, const struct config *c, struct diags *d)
{
	const size_t before = d->errors;
	const struct sink_settings original = { .type = SINK_FEISHU,
						.url_file = c->api_url_file,
						.secret_file = c->api_secret_file };

	if (config_has_original_sink(c))
		check_sink(path, &original, true, d);
	for (size_t i = 0; i < c->settings.n_sinks; i++)
		check_sink(path, &c->settings.sinks[i], false, d);
	return d->errors > before ? -EINVAL : 0;
}
