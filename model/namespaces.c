/* namespaces.c - see namespaces.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/namespaces.h"

#include <string.h>

static const struct str label_prefix = STR_LIT("label:");

static struct str without(struct str s, size_t n)
{
	return (struct str){ s.p + n, s.n - n };
}

struct namespace_item namespaces_item(struct str text)
{
	const bool except = text.n > 0 && text.p[0] == '!';
	struct namespace_item i = { .except = except, .text = without(text, except) };

	if (i.text.n > label_prefix.n && memcmp(i.text.p, label_prefix.p, label_prefix.n) == 0) {
		i.text = without(i.text, label_prefix.n);
		const char *eq = memchr(i.text.p, '=', i.text.n);
		const size_t key = eq ? (size_t)(eq - i.text.p) : i.text.n;

		i.kind = NAMESPACE_LABEL;
		i.value = without(i.text, key + (eq != NULL));
		i.text.n = key;
	} else if (i.text.n > 0 && memchr(i.text.p, '*', i.text.n)) {
		i.kind = NAMESPACE_PATTERN;
	}
	return i;
}

static enum tri tri_of(bool yes)
{
	return yes ? TRI_YES : TRI_NO;
}

static enum tri has_label(const struct namespace_labels *labels, const struct namespace_item *i)
{
	if (!labels)
		return TRI_UNKNOWN;
	for (size_t k = 0; k < labels->n; k++)
		if (str_eq(labels->v[k].key, i->text))
			return tri_of(str_glob(i->value, labels->v[k].value));
	return TRI_NO;
}

/* Lists are read for every pod: of most items the first characters tell that they do not match. */
static bool may_match(const char *item, struct str ns)
{
	for (size_t i = 0; item[i] && item[i] != '*'; i++)
		if (i >= ns.n || item[i] != ns.p[i])
			return false;
	return true;
}

/* Of the item behind its '!'. */
static enum tri item_matches(const char *item, struct str ns, const struct namespace_labels *labels)
{
	if (item[0] == 'l' && strncmp(item, label_prefix.p, label_prefix.n) == 0) {
		const struct namespace_item i = namespaces_item(STR_C(item));

		if (i.kind == NAMESPACE_LABEL)
			return has_label(labels, &i);
	}
	return tri_of(may_match(item, ns) && str_glob(STR_C(item), ns));
}

/* YES beats UNKNOWN, which beats NO. */
static enum tri either(enum tri a, enum tri b)
{
	if (a == TRI_YES || b == TRI_YES)
		return TRI_YES;
	return a == TRI_UNKNOWN || b == TRI_UNKNOWN ? TRI_UNKNOWN : TRI_NO;
}

bool namespaces_only_except(const struct str_list *l)
{
	for (size_t k = 0; k < l->n; k++)
		if (l->v[k][0] != '!')
			return false;
	return l->n > 0;
}

bool namespaces_select_more(const struct str_list *l)
{
	for (size_t k = 0; k < l->n; k++) {
		const struct namespace_item i = namespaces_item(STR_C(l->v[k]));

		if (!i.except && i.kind != NAMESPACE_NAME)
			return true;
	}
	return namespaces_only_except(l);
}

enum tri namespaces_match(const struct str_list *l, struct str ns, const struct namespace_labels *labels)
{
	enum tri meant = tri_of(namespaces_only_except(l)), excepted = TRI_NO;

	for (size_t k = 0; k < l->n; k++) {
		const bool except = l->v[k][0] == '!';
		enum tri *which = except ? &excepted : &meant;

		*which = either(*which, item_matches(l->v[k] + except, ns, labels));
	}
	if (meant == TRI_NO || excepted == TRI_YES)
		return TRI_NO;
	return excepted == TRI_UNKNOWN ? TRI_UNKNOWN : meant;
}

bool namespaces_name(const struct str_list *l, struct str ns)
{
	bool named = false;

	for (size_t k = 0; k < l->n; k++) {
		const char *item = l->v[k];

		if (item[0] != '!')
			named = named || (str_is(ns, item) && !strpbrk(item, "*:"));
		else if (item_matches(item + 1, ns, NULL) == TRI_YES)
			return false;
	}
	return named;
}

/* -- over a whole policy -- */

static bool asks_labels(const struct str_list *l)
{
	for (size_t k = 0; k < l->n; k++)
		if (namespaces_item(STR_C(l->v[k])).kind == NAMESPACE_LABEL)
			return true;
	return false;
}

bool policy_needs_namespaces(const struct policy *p)
{
	for (int d = 0; d < DUTY__MAX; d++)
		if (policy_enables(p, (enum duty)d) && asks_labels(&p->duty[d].namespaces))
			return true;
	for (size_t i = 0; i < p->n_overrides; i++)
		if (asks_labels(&p->overrides[i].namespaces))
			return true;
	return asks_labels(&p->exclude_namespaces) || asks_labels(&p->default_exclude_namespaces);
}

static bool list_names(const struct str_list *l, struct str_list *names)
{
	bool all = !namespaces_only_except(l);

	for (size_t k = 0; k < l->n; k++) {
		const struct namespace_item i = namespaces_item(STR_C(l->v[k]));

		if (i.except)
			continue;
		if (i.kind != NAMESPACE_NAME)
			all = false;
		else if (!str_list_has(names, i.text))
			str_list_add(names, i.text.p, i.text.n);
	}
	return all;
}

bool policy_list_namespaces(const struct policy *p, struct str_list *names)
{
	bool all = true;

	for (int d = 0; d < DUTY__MAX; d++)
		if (policy_enables(p, (enum duty)d) && !list_names(&p->duty[d].namespaces, names))
			all = false;
	return all;
}
