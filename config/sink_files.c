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
#include "config/certificates.h"
#include "config/config.h"
#include "config/file.h"
#include "config/sinks_validate.h"
#include "config/table.h"
#include "config/url.h"

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

static const struct place nowhere;

/* Find how editors and shells spoil a file of one line. */
static int check_line(const struct setting *row, struct str value, struct diags *d)
{
	const char first = value.n > 0 ? value.p[0] : '\0';

	if (value.n == 0)
		return diags_error(d, nowhere, FILE_EMPTY);
	if (value.n >= 2 && (memcmp(value.p, "\xff\xfe", 2) == 0 || memcmp(value.p, "\xfe\xff", 2) == 0))
		return diags_error(d, nowhere, VALUE_UTF16);
	if (value.n >= 3 && memcmp(value.p, "\xef\xbb\xbf", 3) == 0)
		return diags_error(d, nowhere, VALUE_BOM);
	if (memchr(value.p, '\n', value.n) || memchr(value.p, '\r', value.n))
		return diags_error(d, nowhere, VALUE_LINES);
	if (row->kind == SET_URL && (first == '"' || first == '\''))
		return diags_error(d, nowhere, VALUE_QUOTES);
	return 0;
}

static int take_line(const struct setting *row, struct sink_settings *s, struct str value, struct diags *d)
{
	const enum sink_type type = (enum sink_type)s->type;
	int r = check_line(row, value, d);

	if (r == 0)
		r = setting_assign(row, s, value.p, value.n, d, nowhere);
	if (r < 0)
		return -EBADMSG;
	if (row->kind == SET_URL)
		r = sink_check_address(type, s->url, d, nowhere);
	else
		sink_check_secret(type, s->secret, d, nowhere);
	if (r < 0)
		setting_clear(row, s);
	return r < 0 ? -EBADMSG : 0;
}

static int take_certificates(char **ret, struct str pem, struct diags *d)
{
	size_t damaged;

	*ret = xstrndup(pem.p, pem.n);
	if (certificates_keep_whole(*ret, &damaged) == 0)
		return diags_error(d, nowhere, NO_CERTIFICATE), -EBADMSG;
	if (damaged > 0)
		diags_warn(d, nowhere, CERTIFICATES_DAMAGED, damaged);
	return 0;
}

int sink_file_read(const struct sink_file *f, const char *path, struct sink_settings *s, struct diags *d)
{
	const struct setting *row = sink_file_value(f);
	const size_t cap = row->flags & SETTING_SECRET ? SECRET_MAX_BYTES : (size_t)row->max;
	char why[SENTENCE_MAX], *text = NULL;
	size_t n = 0;
	int r = file_read(path, cap, &text, &n, why);

	if (r < 0) {
		(void)diags_put(d, true, nowhere, why);
		return r;
	}
	const struct str value = str_trim((struct str){ text, n }, BLANKS);

	if (!(row->flags & SETTING_DERIVED))
		r = take_line(row, s, value, d);
	else if (value.n == 0)
		r = (diags_error(d, nowhere, FILE_EMPTY), -EBADMSG);
	else if (!file_is_pem(value.p, value.n))
		r = (diags_error(d, nowhere, NO_PEM), -EBADMSG);
	else
		r = take_certificates(setting_member(row, s), value, d);
	explicit_bzero(text, n);
	free(text);
	return r;
}

/* -- all of a configuration -- */

/* at: the file, and of which sink and key it is. */
static void check_one(struct place at, const struct sink_file *f, struct sink_settings *s, struct diags *d)
{
	_cleanup_(diags_done) struct diags found = { 0 };

	if (access(at.file, F_OK) < 0)
		return; /* config_validate() has said it, and where it is named */
	const int r = sink_file_read(f, at.file, s, &found);
	const bool closed = r == -EACCES || r == -EPERM;

	for (size_t i = 0; i < found.n; i++) {
		if (found.v[i].error && closed)
			diags_warn(d, at, VALUE_UNREAD, found.v[i].sentence);
		else
			(void)diags_put(d, found.v[i].error, at, found.v[i].sentence);
	}
	if (r < 0)
		return;
	file_tell_closed(at.file, at.key, d);
	if (sink_file_value(f)->flags & SETTING_SECRET)
		file_tell_exposed(at.file, d);
}

static void check_sink(const char *path, const struct sink_settings *sink, bool original, struct diags *d)
{
	struct sink_settings s = *sink; /* its texts but those that the files fill stay the sink's */

	for (const struct sink_file *f = files; f < files + ARRAY_SIZE(files); f++) {
		_cleanup_free_ char *file = sink_file_path(f, path, sink);
		_cleanup_free_ char *key = original
						   ? xconcat("tooManyRestart.", f->original, NULL)
						   : xconcat("sinks[].", f->key, " (", sink->name, ")", NULL);

		if (!file)
			continue;
		*(char **)setting_member(sink_file_value(f), &s) = NULL;
		check_one((struct place){ .file = file, .key = key }, f, &s, d);
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
