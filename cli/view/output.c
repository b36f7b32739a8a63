/* output.c - see output.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/view/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "config/diag.h"
#include "ipc/msg.h"
#include "text/facts_text.h"
#include "text/templates.h"
#include "model/duties.h"
#include "model/reasons.h"

/* jansson escapes C0 alone. Outside texts there is nothing but ASCII, so what is left to escape is in one. */
static void print_escaped(const char *s)
{
	for (size_t n = strlen(s), len; n > 0; s += len, n -= len) {
		char one[16];
		uint32_t c;

		len = unicode_take(s, n, &c);
		if (len > 0 && (c == '\n' || unicode_is_printable(c))) {
			(void)fwrite(s, 1, len, stdout);
			continue;
		}
		len = len ? len : 1;
		(void)str_escape_json(one, sizeof(one), s, len);
		(void)fputs(one, stdout);
	}
}

static bool json_expected;
static char first_complaint[1024];

void output_expect_json(bool expected)
{
	json_expected = expected;
}

void output_document(json_t *root)
{
	_cleanup_free_ char *text = json_dumps(root, JSON_INDENT(2));

	json_expected = false;
	print_escaped(text ? text : "null");
	(void)fputc('\n', stdout);
	json_decref(root);
}

void output_json(json_t *root)
{
	json_t *answer = json_pack("{s:s}", "apiVersion", OUTPUT_API_VERSION);

	if (json_is_object(root))
		(void)json_object_update(answer, root);
	else
		json_object_set(answer, "items", root);
	json_decref(root);
	output_document(answer);
}

void output_diags(const struct diags *d, bool errors)
{
	for (size_t i = 0; i < d->n; i++) {
		_cleanup_free_ char *text = diag_text(&d->v[i], language_of_environment());

		if (d->v[i].error || !errors)
			(void)fprintf(stderr, "%s\n", text);
	}
}

int output_flush(int code)
{
	if (json_expected && code != EXIT_CODE_OK)
		output_json(
			json_pack("{s:{s:i, s:s}}", "error", "exitCode", code, "message", first_complaint));
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	output_complain(NULL, TEXT(NOT_WRITTEN_OUT), strerrordesc_np(errno));
	return code == EXIT_CODE_OK ? EXIT_CODE_FAILURE : code;
}

void output_time(const struct table_view *v, int64_t ms, char ret[static RFC3339_MAX])
{
	const time_t s = (time_t)(ms / 1000);
	struct tm tm;

	if (!v->local || !localtime_r(&s, &tm) || strftime(ret, RFC3339_MAX, "%F %T", &tm) == 0)
		rfc3339_format(ms, false, ret);
}

static void format_time(const void *view, int64_t ms, char ret[static RFC3339_MAX])
{
	output_time(view, ms, ret);
}

char *output_facts(const struct facts *f, const struct table_view *v)
{
	return facts_render(f, &(const struct facts_view){ language_of_environment(), format_time, v });
}

void output_complain(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);

	va_end(ap);
	(void)fprintf(stderr, "ops-pod-cleaner%s%s: %s\n", command ? " " : "", command ? command : "", text);
	if (!first_complaint[0])
		(void)str_copy_printable(first_complaint, sizeof(first_complaint), text, strlen(text));
}

void output_complain_facts(const struct facts *f)
{
	const struct table_view view = table_view_of(stderr, false, json_expected);
	_cleanup_free_ char *text = output_facts(f, &view);

	output_complain(NULL, "%s", text);
}

const char *output_sentence(const char *code, enum language l)
{
	return reason_find(code)->text[l].sentence;
}

const char *output_remedy(const char *code, enum language l)
{
	return reason_find(code)->text[l].remedy;
}

const char *output_duties(int64_t d)
{
	return d < 0 ? TEXT(EVERY_DUTY) : duty_name((enum duty)d);
}

char *output_clusters(const char *name)
{
	return name[0] ? xasprintf(TEXT(THAT_CLUSTER), name) : xstrdup(TEXT(EVERY_CLUSTER));
}

void output_pause(const struct msg_pause *p, const struct table_view *v)
{
	_cleanup_free_ char *clusters = output_clusters(p->cluster_name);
	_cleanup_free_ char *why = output_facts(&p->why, v);
	char since[RFC3339_MAX], until[RFC3339_MAX];

	output_time(v, p->at, since);
	output_time(v, p->until, until);
	table_text(stdout, v, TEXT(STATUS_PAUSED), output_duties(p->duty), clusters, since, p->by,
		   p->until ? until : TEXT(UNTIL_RESUMED), *why ? TEXT(PAUSED_WHY) : "", why);
}

const char *output_action(uint64_t action)
{
	return action < ACTION__MAX ? action_desc((enum action_kind)action)->name : "?";
}

void output_duty(char *ret, size_t size, uint64_t duty, uint64_t action)
{
	const struct duty_desc *d = duty_desc((enum duty)duty);
	const bool own = action == d->action;

	(void)snprintf(ret, size, "%s%s%s", d->name, own ? "" : " ", own ? "" : output_action(action));
}

/* -- templates -- */

static void write_value(const void *escaped, FILE *f, struct str value, bool plain)
{
	for (size_t i = 0; i < value.n; i++)
		if (!plain && value.p[i] == '\'')
			(void)fputs("'\\''", f);
		else
			(void)fprintf(f, "%s%c", !plain && strchr(escaped, value.p[i]) ? "\\" : "",
				      value.p[i]);
}

static const struct mustache *find_template(const void *ctx, struct str name)
{
	(void)ctx;
	return template_find(name, LANGUAGE_EN);
}

char *output_filled(const char *name, const char *escaped, json_t *values)
{
	const struct mustache_target target = { .write = write_value, .find = find_template, .ctx = escaped };
	char *text = NULL;
	size_t n;

	if (mustache_render(find_template(NULL, STR_C(name)), values, &target, &text, &n) < 0)
		abort(); /* as large as the configuration, whose size is bounded */
	json_decref(values);
	return text;
}

void output_template(const char *name, const char *escaped, json_t *values)
{
	_cleanup_free_ char *text = output_filled(name, escaped, values);
	const size_t n = strlen(text);

	printf("%s%s", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
}
