// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/auth.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

struct rule {
	struct rule *next;
	char *user, *verbs, *resource, *ns;
	bool allow, dynamic;
};

struct token {
	struct token *next;
	char *token, *user;
};

struct auth {
	struct token *tokens;
	struct rule *rules;
	bool required;
};

struct auth *auth_new(void)
{
	return util_alloc(sizeof(struct auth));
}

static void rule_free(struct rule *r)
{
	free(r->user);
	free(r->verbs);
	free(r->resource);
	free(r->ns);
	free(r);
}

static void token_free(struct token *t)
{
	free(t->token);
	free(t->user);
	free(t);
}

void auth_free(struct auth *a)
{
	while (a->rules) {
		struct rule *r = a->rules;

		a->rules = r->next;
		rule_free(r);
	}
	while (a->tokens) {
		struct token *t = a->tokens;

		a->tokens = t->next;
		token_free(t);
	}
	free(a);
}

static struct rule *add_rule(struct auth *a, const char *user, const char *verbs, const char *resource,
			     const char *ns)
{
	struct rule *r = util_alloc(sizeof(*r));

	r->user = util_strdup(user ? user : "*");
	r->verbs = util_strdup(verbs ? verbs : "*");
	r->resource = util_strdup(resource ? resource : "*");
	r->ns = util_strdup(ns ? ns : "*");
	r->next = a->rules;
	a->rules = r;
	return r;
}

void auth_deny(struct auth *a, const char *user, const char *verb, const char *resource, const char *ns)
{
	add_rule(a, user, verb, resource, ns)->dynamic = true;
}

void auth_undeny(struct auth *a, const char *user)
{
	struct rule **at = &a->rules;

	while (*at) {
		struct rule *r = *at;

		if (r->dynamic && (!user || !strcmp(r->user, user))) {
			*at = r->next;
			rule_free(r);
		} else {
			at = &r->next;
		}
	}
}

static bool parse_rule(struct auth *a, const char *user, char *text)
{
	bool allow = *text == '+';
	char *resource = strchr(text, '/'), *ns = strchr(text, '@');

	if (!resource || (ns && ns < resource))
		return false;
	*resource++ = '\0';
	if (ns)
		*ns++ = '\0';
	add_rule(a, user, text + allow, resource, ns)->allow = allow;
	return true;
}

bool auth_add(struct auth *a, const char *text)
{
	char *copy = util_strdup(text), *save = NULL, *user = strchr(copy, '='), *rule;
	struct token *t;
	bool ok = user != NULL && user != copy;

	if (ok) {
		*user++ = '\0';
		user = strtok_r(user, ":", &save);
		ok = user != NULL;
	}
	while (ok && (rule = strtok_r(NULL, ":", &save)))
		ok = parse_rule(a, user, rule);
	if (ok) {
		t = util_alloc(sizeof(*t));
		t->token = util_strdup(copy);
		t->user = util_strdup(user);
		t->next = a->tokens;
		a->tokens = t;
		a->required = true;
	}
	free(copy);
	return ok;
}

bool auth_revoke(struct auth *a, const char *token)
{
	for (struct token *t = a->tokens; t; t = t->next)
		if (util_streq(t->token, token)) {
			/* Calls under way borrow the user's name: only the token goes. */
			free(t->token);
			t->token = NULL;
			return true;
		}
	return false;
}

bool auth_check_token(struct auth *a, struct call *c)
{
	const char *given = c->http ? c->http->authorization : "";

	if (!a->required || c->internal) {
		c->user = "admin";
		return true;
	}
	if (!strncasecmp(given, "Bearer ", 7))
		for (struct token *t = a->tokens; t; t = t->next)
			if (util_streq(t->token, given + 7)) {
				c->user = t->user;
				return true;
			}
	call_answer_status(c, status_new(401, "Unauthorized", "Unauthorized"));
	return false;
}

static bool verb_listed(const char *verbs, const char *verb)
{
	size_t n = strlen(verb);

	if (!strcmp(verbs, "*"))
		return true;
	for (const char *p = verbs; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
		if (strcspn(p, ",") == n && !strncmp(p, verb, n))
			return true;
	return false;
}

static bool applies(const struct rule *r, const struct call *c, const char *resource)
{
	return (!strcmp(r->user, "*") || !strcmp(r->user, c->user)) && verb_listed(r->verbs, c->verb) &&
	       (!strcmp(r->resource, "*") || !strcmp(r->resource, resource)) &&
	       (!strcmp(r->ns, "*") || !strcmp(r->ns, c->ns));
}

bool auth_check_access(struct auth *a, struct call *c)
{
	bool listed = false, allowed = false, denied = false;
	char resource[160];

	if (c->internal)
		return true;
	snprintf(resource, sizeof(resource), "%s%s%s", c->resource, *c->sub ? "/" : "", c->sub);
	for (const struct rule *r = a->rules; r; r = r->next) {
		bool hit = applies(r, c, resource);

		if (r->allow) {
			listed |= !strcmp(r->user, c->user);
			allowed |= hit;
		} else {
			denied |= hit;
		}
	}
	if (!denied && (!listed || allowed))
		return true;
	call_answer_status(c, status_forbidden(c->kind, c->sub, c->name, c->user, c->verb, c->ns));
	return false;
}
