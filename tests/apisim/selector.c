// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/selector.h"
#include "tests/apisim/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum op { IN, NOT_IN, EXISTS, MISSING };

struct term {
	char *key;
	enum op op;
	bool field;
	char **values;
	size_t count;
};

struct selector {
	struct term *terms;
	size_t count;
};

static struct term *add_term(struct selector *s, const char *key, size_t len, enum op op, bool field)
{
	struct term *t;

	s->terms = util_realloc(s->terms, (s->count + 1) * sizeof(*s->terms));
	t = &s->terms[s->count++];
	*t = (struct term){ .key = util_strndup(key, len), .op = op, .field = field };
	return t;
}

static void add_value(struct term *t, const char *v, size_t len)
{
	t->values = util_realloc(t->values, (t->count + 1) * sizeof(*t->values));
	t->values[t->count++] = util_strndup(v, len);
}

void selector_free(struct selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		for (size_t j = 0; j < s->terms[i].count; j++)
			free(s->terms[i].values[j]);
		free(s->terms[i].values);
		free(s->terms[i].key);
	}
	free(s->terms);
	free(s);
}

static const char *blanks(const char *p)
{
	return p + strspn(p, " \t");
}

static size_t word(const char *p)
{
	size_t n = 0;

	while (p[n] && !strchr("=!,() \t", p[n]))
		n++;
	return n;
}

/* "(a, b)" after in or notin; NULL when it is none. */
static const char *parse_set(struct term *t, const char *p)
{
	p = blanks(p);
	if (*p != '(')
		return NULL;
	do {
		size_t n;

		p = blanks(p + 1);
		n = word(p);
		add_value(t, p, n);
		p = blanks(p + n);
	} while (*p == ',');
	return *p == ')' ? p + 1 : NULL;
}

/* One requirement; NULL when it is none. */
static const char *parse_label(struct selector *s, const char *p)
{
	bool negated;
	size_t key, op;
	const char *start;

	p = blanks(p);
	negated = *p == '!';
	p = blanks(p + negated);
	start = p;
	key = word(p);
	if (!key)
		return NULL;
	p = blanks(p + key);
	if (!*p || *p == ',') {
		add_term(s, start, key, negated ? MISSING : EXISTS, false);
		return p;
	}
	if (negated)
		return NULL;
	op = word(p);
	if (op == 2 && !strncmp(p, "in", 2))
		return parse_set(add_term(s, start, key, IN, false), p + 2);
	if (op == 5 && !strncmp(p, "notin", 5))
		return parse_set(add_term(s, start, key, NOT_IN, false), p + 5);
	op = strspn(p, "=!");
	if (!op || op > 2 || (op == 1 && *p == '!') || (op == 2 && p[1] != '='))
		return NULL;
	struct term *t = add_term(s, start, key, *p == '!' ? NOT_IN : IN, false);

	p = blanks(p + op);
	op = word(p);
	add_value(t, p, op);
	return p + op;
}

static int parse_labels(struct selector *s, const char *text, char why[256])
{
	const char *p = text;

	while (*(p = blanks(p))) {
		p = parse_label(s, p);
		if (p)
			p = blanks(p);
		if (!p || (*p && *p != ',') || (*p == ',' && !*blanks(p + 1))) {
			snprintf(why, 256, "unable to parse requirement: %.180s", text);
			return -EINVAL;
		}
		p += *p == ',';
	}
	return 0;
}

static bool field_supported(const struct kind *kind, const char *field)
{
	static const char *const pod_fields[] = {
		"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",      "spec.serviceAccountName",
		"status.phase",  "status.podIP",       "status.nominatedNodeName"
	};

	if (!strcmp(field, "metadata.name") || (kind->namespaced && !strcmp(field, "metadata.namespace")))
		return true;
	if (kind != kinds_pods())
		return !strcmp(kind->plural, "events");
	for (size_t i = 0; i < sizeof(pod_fields) / sizeof(pod_fields[0]); i++)
		if (!strcmp(field, pod_fields[i]))
			return true;
	return false;
}

static int parse_fields(struct selector *s, const struct kind *kind, const char *text, char why[256])
{
	const char *p = text;

	while (*p) {
		size_t n = strcspn(p, ","), key = strcspn(p, "=!"), op;
		struct term *t;

		if (key >= n || (p[key] == '!' && p[key + 1] != '=')) {
			snprintf(why, 256, "invalid selector: '%.100s'; can't understand '%.*s'", text,
				 (int)(n > 100 ? 100 : n), p);
			return -EINVAL;
		}
		op = p[key] == '!' || p[key + 1] == '=' ? 2 : 1;
		t = add_term(s, p, key, p[key] == '!' ? NOT_IN : IN, true);
		add_value(t, p + key + op, n - key - op);
		if (!field_supported(kind, t->key)) {
			snprintf(why, 256, "field label not supported: %.200s", t->key);
			return -EINVAL;
		}
		p += n + (p[n] == ',');
	}
	return 0;
}

int selector_new(const struct kind *kind, const char *labels, const char *fields, char why[256],
		 struct selector **ret)
{
	struct selector *s = util_alloc(sizeof(*s));
	int rc = labels ? parse_labels(s, labels, why) : 0;

	if (!rc && fields)
		rc = parse_fields(s, kind, fields, why);
	if (rc || !s->count) {
		selector_free(s);
		s = NULL;
	}
	*ret = s;
	return rc;
}

static bool term_match(const struct term *t, const char *value)
{
	if (t->op == EXISTS || t->op == MISSING)
		return (value != NULL) == (t->op == EXISTS);
	for (size_t i = 0; value && i < t->count; i++)
		if (!strcmp(value, t->values[i]))
			return t->op == IN;
	return t->op == NOT_IN;
}

bool selector_match_labels(const struct selector *s, const json_t *labels)
{
	for (size_t i = 0; s && i < s->count; i++)
		if (!s->terms[i].field && !term_match(&s->terms[i], util_str(labels, s->terms[i].key)))
			return false;
	return true;
}

bool selector_match(const void *selector, const struct obj *o)
{
	const struct selector *s = selector;
	char buf[256];

	if (!s)
		return true;
	for (size_t i = 0; i < s->count; i++)
		if (s->terms[i].field && !term_match(&s->terms[i], object_field(o, s->terms[i].key, buf)))
			return false;
	return selector_match_labels(s, object_labels(o));
}
