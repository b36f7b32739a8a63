// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/auth.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

struct auth {
	json_t *tokens; /* token -> user */
	json_t *users;  /* all there ever were: calls under way borrow the names */
	json_t *rules;  /* as a body of /_sim/deny; "verb" may be several, with "allow" or "dynamic" */
};

struct auth *auth_new(void)
{
	struct auth *a = util_alloc(sizeof(*a));

	*a = (struct auth){ json_object(), json_array(), json_array() };
	return a;
}

void auth_free(struct auth *a)
{
	json_decref(a->tokens);
	json_decref(a->users);
	json_decref(a->rules);
	free(a);
}

void auth_deny(struct auth *a, json_t *rule)
{
	json_object_set_new(rule, "dynamic", json_true());
	json_array_append(a->rules, rule);
}

void auth_undeny(struct auth *a, const char *user)
{
	for (size_t i = json_array_size(a->rules); i-- > 0;) {
		const json_t *r = json_array_get(a->rules, i);

		if (json_object_get(r, "dynamic") && (!user || util_streq(util_str(r, "user"), user)))
			json_array_remove(a->rules, i);
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
	json_array_append_new(a->rules,
			      json_pack("{s:s, s:s, s:s, s:s*, s:b}", "user", user, "verb", text + allow,
					"resource", resource, "namespace", ns, "allow", allow));
	return true;
}

bool auth_add(struct auth *a, const char *text)
{
	char *copy = util_strdup(text), *save = NULL, *user = strchr(copy, '='), *rule;
	bool ok = user != NULL && user != copy;

	if (ok) {
		*user++ = '\0';
		user = strtok_r(user, ":", &save);
		ok = user != NULL;
	}
	while (ok && (rule = strtok_r(NULL, ":", &save)))
		ok = parse_rule(a, user, rule);
	if (ok) {
		json_object_set_new(a->tokens, copy, json_string(user));
		json_array_append(a->users, json_object_get(a->tokens, copy));
	}
	free(copy);
	return ok;
}

bool auth_revoke(struct auth *a, const char *token)
{
	return json_object_del(a->tokens, token) == 0;
}

bool auth_check_token(struct auth *a, struct call *c)
{
	const char *given = c->http ? c->http->authorization : "";
	const char *user = strncasecmp(given, "Bearer ", 7) ? NULL : util_str(a->tokens, given + 7);

	if (!json_array_size(a->users) || c->internal)
		user = "admin";
	if (user)
		c->user = user;
	else
		call_answer_status(c, status_new(401, "Unauthorized", "Unauthorized"));
	return user != NULL;
}

static bool verb_listed(const json_t *rule, const char *verb)
{
	const char *verbs = util_str(rule, "verb");
	size_t n = strlen(verb);

	if (util_fits(rule, "verb", verb))
		return true;
	for (const char *p = verbs; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
		if (strcspn(p, ",") == n && !strncmp(p, verb, n))
			return true;
	return false;
}

static bool allows(const struct auth *a, const char *user, const char *verb, const char *resource,
		   const char *ns)
{
	bool listed = false, allowed = false, denied = false;
	json_t *r;
	size_t i;

	json_array_foreach (a->rules, i, r) {
		bool hit = util_fits(r, "user", user) && verb_listed(r, verb) &&
			   util_fits(r, "resource", resource) && util_fits(r, "namespace", ns);

		if (json_is_true(json_object_get(r, "allow"))) {
			listed |= util_streq(util_str(r, "user"), user);
			allowed |= hit;
		} else {
			denied |= hit;
		}
	}
	return !denied && (!listed || allowed);
}

static const char *attribute(const json_t *review, const char *key)
{
	const char *text =
		util_str(json_object_get(json_object_get(review, "spec"), "resourceAttributes"), key);

	return text ? text : "";
}

json_t *auth_review(const struct auth *a, const struct call *c, const json_t *review)
{
	const char *sub = attribute(review, "subresource");
	char resource[160];

	snprintf(resource, sizeof(resource), "%s%s%s", attribute(review, "resource"), *sub ? "/" : "", sub);
	return json_pack(
		"{s:s, s:s, s:{}, s:{s:b}}", "kind", "SelfSubjectAccessReview", "apiVersion",
		"authorization.k8s.io/v1", "metadata", "status", "allowed",
		allows(a, c->user, attribute(review, "verb"), resource, attribute(review, "namespace")));
}

bool auth_check_access(struct auth *a, struct call *c)
{
	char resource[160];

	if (c->internal)
		return true;
	snprintf(resource, sizeof(resource), "%s%s%s", c->resource, *c->sub ? "/" : "", c->sub);
	if (allows(a, c->user, c->verb, resource, c->ns))
		return true;
	call_answer_status(c, status_forbidden(c->kind, c->sub, c->name, c->user, c->verb, c->ns));
	return false;
}
