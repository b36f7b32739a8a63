/* options.c - see options.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
#include "model/duties.h"
#include "model/actions.h"

static int parse_time(const char *s, int64_t *ret)
{
	return rfc3339_parse(s, strlen(s), ret);
}

/* A time, or so long before now. Nothing happened before 1970, and 0 is an option that was not given. */
static int parse_when(const char *s, int64_t *ret)
{
	int64_t span_ns;

	if (parse_time(s, ret) < 0) {
		if (duration_parse(s, strlen(s), &span_ns, NULL) < 0 || span_ns < 0)
			return -EINVAL;
		*ret = clock_wall_ago(span_ns / 1000000);
	} else if (*ret < 1) {
		*ret = 1;
	}
	return 0;
}

static int parse_span(const char *s, int64_t *ret)
{
	int64_t span_ns;

	if (duration_parse(s, strlen(s), &span_ns, NULL) < 0 || span_ns < 1000000)
		return -EINVAL;
	*ret = span_ns / 1000000;
	return 0;
}

static int parse_count(const char *s, int64_t *ret)
{
	return str_to_i64(s, strlen(s), ret) < 0 || *ret < 1 || *ret > 100000 ? -EINVAL : 0;
}

static int parse_duty(const char *s, int64_t *ret)
{
	const int d = duty_parse(STR_C(s));

	if (d < 0 || !duty_acts((enum duty)d))
		return -EINVAL;
	*ret = d;
	return 0;
}

/* Those that act, in the order in which they are judged. */
static const char *acting_duty(int i)
{
	for (size_t place = 0; place < DUTY__MAX; place++)
		if (duty_acts(duty_at(place)) && i-- == 0)
			return duty_name(duty_at(place));
	return NULL;
}

static const char *outcome_at(int i)
{
	return i <= OUTCOME__MAX ? outcome_name((enum outcome)i) : NULL; /* the last one is "open" */
}

enum kind {
	KIND_FLAG,
	KIND_TIME,
	KIND_WHEN,
	KIND_SPAN,
	KIND_COUNT,
	KIND_DUTY,
	KIND_OUTCOME,
	KIND_BY,
	KIND_OUTPUT,
	KIND_FORM,
	KIND_TEXT,
	KIND_NAME,
	KIND_NAMES,
	KIND_REASON
};

/* What may be written: what parse() takes, a name (without parse, the value is its index), or any text that
 * is not too long. */
static const struct kind_row {
	enum phrase takes;
	int (*parse)(const char *s, int64_t *ret);
	const char *(*at)(int i); /* the i-th name; NULL behind the last */
	const char *names[6];     /* the same, where they stand here */
	size_t min, max;          /* bytes */
} kinds[] = {
	[KIND_TIME] = { PHRASE_OPTION_TIME, .parse = parse_time },
	[KIND_WHEN] = { PHRASE_OPTION_WHEN, .parse = parse_when },
	[KIND_SPAN] = { PHRASE_OPTION_SPAN, .parse = parse_span },
	[KIND_COUNT] = { PHRASE_OPTION_COUNT, .parse = parse_count },
	[KIND_DUTY] = { .parse = parse_duty, .at = acting_duty },
	[KIND_OUTCOME] = { .at = outcome_at },
	[KIND_BY] = { .names = { "duty", "namespace", "node", "cluster", "reason" } },
	[KIND_OUTPUT] = { .names = { "table", "wide", "json" } },
	/* As enum report_form; what a sink is sent has no name, it is what stands there without one. */
	[KIND_FORM] = { .names = { "text", "json", "html" } },
	[KIND_TEXT] = { PHRASE_OPTION_TEXT, .max = 4096 },
	[KIND_NAME] = { PHRASE_OPTION_NAME, .min = 1, .max = 63 },
	[KIND_NAMES] = { PHRASE_OPTION_NAME, .min = 1, .max = 63 },
	[KIND_REASON] = { PHRASE_OPTION_REASON, .max = 200 },
};

static const struct row {
	struct option_desc desc;
	enum kind kind;
	size_t off; /* in struct options: const char * for texts, else int64_t */
} rows[] = {
#define O(ID, KIND, member, name, letter, argument)                                                          \
	{ { name, argument, letter }, KIND_##KIND, offsetof(struct options, member) },
#include "cli/options.def"
#undef O
};

static const char *name_at(const struct kind_row *k, int i)
{
	return k->at ? k->at(i) : k->names[i];
}

static int find_name(const struct kind_row *k, const char *name, int64_t *ret)
{
	const char *at;

	for (int i = 0; (at = name_at(k, i)); i++)
		if (strcmp(at, name) == 0) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

/* "table, wide or json" */
static void list_names(const struct kind_row *k, enum language l, char ret[static OPTIONS_TEXT_MAX])
{
	const char *at;
	size_t n = 0;

	ret[0] = '\0';
	for (int i = 0; (at = name_at(k, i)) && n < OPTIONS_TEXT_MAX; i++)
		n += (size_t)snprintf(ret + n, OPTIONS_TEXT_MAX - n, "%s%s",
				      i == 0              ? ""
				      : name_at(k, i + 1) ? ", "
							  : phrase(OPTION_OR, l),
				      at);
}

static int add_name(struct option_names *names, const char *value)
{
	if (names->n == OPTION_NAMES_MAX)
		return -E2BIG;
	names->v[names->n++] = value;
	return 0;
}

char *option_names_join(const struct option_names *names, const char *between)
{
	char *text = NULL;

	for (size_t i = 0; i < names->n; i++)
		xappend(&text, between, names->v[i]);
	return text;
}

bool option_names_take(const struct option_names *n, const char *name)
{
	for (size_t i = 0; i < n->n; i++)
		if (strcmp(n->v[i], name) == 0)
			return true;
	return n->n == 0;
}

static int take_option(const struct row *row, const char *value, struct options *ret, char *reterr)
{
	const enum language l = language_of_environment();
	const struct kind_row *k = &kinds[row->kind];
	void *member = (char *)ret + row->off;
	char names[OPTIONS_TEXT_MAX];
	int r = 0;

	if (!row->desc.argument) {
		*(int64_t *)member = 1;
	} else if (k->max && (strlen(value) < k->min || strlen(value) > k->max)) {
		r = -EINVAL;
	} else if (row->kind == KIND_NAMES) {
		r = add_name(member, value);
	} else if (k->max) {
		*(const char **)member = value;
	} else {
		r = k->parse ? k->parse(value, member) : find_name(k, value, member);
	}
	if (r == 0)
		return 0;
	if (r == -E2BIG)
		return str_fail(reterr, OPTIONS_TEXT_MAX, -EINVAL, phrase(OPTION_TOO_OFTEN, l),
				row->desc.name, OPTION_NAMES_MAX);
	list_names(k, l, names);
	return str_fail(reterr, OPTIONS_TEXT_MAX, -EINVAL, phrase(OPTION_TAKES, l), row->desc.name,
			names[0] ? names : phrase_text(k->takes, l));
}

/* What getopt_long answers for an option. */
static int code_of(const struct row *row)
{
	return row->desc.letter ? row->desc.letter : 256 + (int)(row - rows);
}

static const struct row *find_option(const struct option_use *uses, int code)
{
	for (; uses->help; uses++)
		if (code_of(&rows[uses->id]) == code)
			return &rows[uses->id];
	return NULL;
}

/* The option in the words of getopt_long. */
static void declare(const struct option_use *uses, struct option *longs, char *letters)
{
	*letters++ = ':'; /* a missing argument is told apart, and nothing is printed */
	*letters++ = 'h';
	*longs++ = (struct option){ "help", no_argument, NULL, 'h' };
	for (; uses->help; uses++) {
		const struct row *row = &rows[uses->id];

		*longs++ =
			(struct option){ row->desc.name, row->desc.argument ? required_argument : no_argument,
					 NULL, code_of(row) };
		if (row->desc.letter)
			*letters++ = row->desc.letter;
		if (row->desc.letter && row->desc.argument)
			*letters++ = ':';
	}
	*longs = (struct option){ 0 };
	*letters = '\0';
}

int options_parse(const struct option_use uses[static OPTIONS_MAX], size_t max_args, bool one_dash, int argc,
		  char **argv, struct options *ret, char reterr[static OPTIONS_TEXT_MAX])
{
	struct option longs[OPTIONS_MAX + 2];
	char letters[2 * OPTIONS_MAX + 3];
	int c, r = 0;

	*ret = (struct options){ .duty = -1, .outcome = -1, .by = -1, .form = -1 };
	declare(uses, longs, letters);
	while (r == 0 &&
	       (c = (one_dash ? getopt_long_only : getopt_long)(argc, argv, letters, longs, NULL)) != -1) {
		const struct row *row = find_option(uses, c);

		if (c == 'h')
			return 1;
		if (row)
			r = take_option(row, optarg, ret, reterr);
		else
			r = str_fail(reterr, OPTIONS_TEXT_MAX, -EINVAL,
				     c == ':' ? TEXT(OPTION_LACKS) : TEXT(OPTION_UNKNOWN), argv[optind - 1]);
	}
	if (r < 0)
		return r;
	ret->args = argv + optind;
	ret->n_args = (size_t)(argc - optind);
	return ret->n_args > max_args ? str_fail(reterr, OPTIONS_TEXT_MAX, -EINVAL, TEXT(OPTION_UNEXPECTED),
						 ret->args[max_args])
				      : 0;
}

const struct option_desc *option_desc(enum option_id id)
{
	return &rows[id].desc;
}

const char *option_value_at(enum option_id id, int i)
{
	return name_at(&kinds[rows[id].kind], i);
}

#define HELP_LEFT  25 /* columns of the option itself */
#define HELP_WIDTH 80

void options_help(const struct option_use *use, FILE *out)
{
	const struct row *row = &rows[use->id];
	const struct kind_row *k = &kinds[row->kind];
	char letter[8] = "", left[64], names[OPTIONS_TEXT_MAX];

	if (row->desc.letter)
		(void)snprintf(letter, sizeof(letter), "-%c, ", row->desc.letter);
	list_names(k, LANGUAGE_EN, names); /* as the manual page */
	(void)snprintf(left, sizeof(left), "%s--%s %s", letter, row->desc.name,
		       row->desc.argument ? row->desc.argument : "");
	const size_t n = (size_t)fprintf(out, "  %-22s ", left);
	const bool beyond = n > HELP_LEFT;
	struct table_flow f = { out, HELP_WIDTH, HELP_LEFT, n, beyond, beyond };

	table_words(&f, use->help);
	table_words(&f, names);
	(void)fputc('\n', out);
}

struct table_view options_view(const struct options *o)
{
	struct table_view v = table_view_of(stdout, o->output == OUTPUT_WIDE, o->utc);

	if (o->terminal && v.width == 0)
		v = (struct table_view){
			.width = (size_t)o->terminal, .wide = v.wide, .color = true, .local = !o->utc
		};
	return v;
}
