/* sinks_validate.c - see sinks_validate.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/sinks_validate.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/file.h"
#include "config/table.h"
#include "config/url.h"
#include "model/namespaces.h"
#include "model/news.h"
#include "model/sink_types.h"

struct check {
	const char *path;
	const struct config *c;
	const struct positions *positions;
	struct diags *d;
	const struct sink_settings *s; /* the i-th */
	size_t i;
};

#define ERROR(k, ...)  diags_error((k)->d, __VA_ARGS__)
#define WARN(k, ...)   diags_warn((k)->d, __VA_ARGS__)
#define KEY(k, member) place_of_member(k, offsetof(struct sink_settings, member))

/* "a Feishu bot" */
#define LABEL(type) WORD((enum phrase)(PHRASE_DIAG_SINK_FEISHU + (type)))

static const struct place *position_of(const struct check *k, size_t off)
{
	const struct setting *row = setting_find_member(settings_sink_table, off);

	return &k->positions->sink[k->i].key[row - settings_sink_table];
}

static bool is_written(const struct check *k, size_t off)
{
	return position_of(k, off)->line > 0;
}

/* Where the key of that member stands, or its item. */
static struct place place_of_member(const struct check *k, size_t off)
{
	const struct place *p = is_written(k, off) ? position_of(k, off) : &k->positions->sink[k->i].item;

	return (struct place){ k->path, p->line, p->column,
			       setting_find_member(settings_sink_table, off)->path };
}

/* Where the item stands. */
static struct place place_of_item(const struct check *k, const char *key)
{
	const struct place *p = &k->positions->sink[k->i].item;

	return (struct place){ k->path, p->line, p->column, key };
}

/* -- the address -- */

static bool has_scheme(const struct sink_type_desc *t, const char *url)
{
	for (struct str rest = STR_C(t->schemes), one; rest.n > 0;) {
		one = str_cut(&rest, ',');
		if (url_scheme_is(url, one.p, one.n))
			return true;
	}
	return false;
}

/* The address is one of its owner's. */
static int check_own_address(enum sink_type type, const struct url *u, struct diags *d, struct place at)
{
	const struct sink_type_desc *t = sink_type_desc(type);

	if (strncmp(u->path, t->path, strlen(t->path)) != 0)
		diags_warn(d, at, SINK_PATH, LABEL(type), t->path);
	else if (*t->query && !url_has_parameter(u, t->query))
		return diags_error(d, at, SINK_QUERY, LABEL(type), t->query);
	return 0;
}

int sink_check_address(enum sink_type type, const char *url, struct diags *d, struct place at)
{
	const struct sink_type_desc *t = sink_type_desc(type);
	enum sink_type of_host;
	enum phrase why;
	struct url u;

	if (url_parse_as(url, URL_SINKS, &u, &why) < 0)
		return 0; /* reported where it was read */
	if (!has_scheme(t, url))
		return diags_error(d, at, SINK_SCHEME, LABEL(type), (int)strcspn(t->schemes, ","),
				   t->schemes);
	of_host = sink_type_of_host(u.host);
	if (of_host != SINK_TYPE__MAX && of_host != type)
		return diags_error(d, at, SINK_OTHER_HOST, u.host, LABEL(of_host), LABEL(type),
				   sink_type_desc(of_host)->name);
	if (url_is_loopback(&u))
		return 0;
	/* Nobody else serves a type without hosts, so it often stands in the same cluster. */
	if (url_scheme_is(url, "http", 4) && *t->hosts)
		diags_warn(d, at, SINK_HTTP);
	else if (url_scheme_is(url, "http", 4) && !url_is_inside(&u))
		diags_warn(d, at, SINK_HTTP_OWN);
	if (!*t->hosts || sink_type_has_host(type, u.host))
		return check_own_address(type, &u, d, at);
	diags_warn(d, at, SINK_ELSEWHERE, u.host, LABEL(type), t->hosts);
	return 0;
}

void sink_check_secret(enum sink_type type, const char *secret, struct diags *d, struct place at)
{
	const struct sink_type_desc *t = sink_type_desc(type);

	if (strncmp(secret, t->secret_begin, strlen(t->secret_begin)) != 0)
		diags_warn(d, at, SINK_SECRET_BEGIN, LABEL(type), t->secret_begin);
}

/* -- what a type needs -- */

static void check_secret(const struct check *k)
{
	const enum sink_type type = (enum sink_type)k->s->type;
	const bool given = k->s->secret || k->s->secret_file;

	if (given && sink_type_desc(type)->secret == SINK_SECRET_NONE)
		WARN(k, k->s->secret ? KEY(k, secret) : KEY(k, secret_file), SINK_UNUSED, LABEL(type));
	else if (!given && sink_type_desc(type)->secret == SINK_SECRET_SHOULD)
		WARN(k, KEY(k, type), SINK_UNSIGNED, LABEL(type));
	else if (k->s->secret)
		sink_check_secret(type, k->s->secret, k->d, KEY(k, secret));
}

/* -- who is mentioned -- */

static bool is_mention(const struct sink_type_desc *t, const char *who)
{
	_cleanup_free_ char *whole = xasprintf("^(%s)$", t->mention);
	regex_t re;

	if (regcomp(&re, whole, REG_EXTENDED | REG_NOSUB) != 0)
		abort(); /* a mistake in the table */
	const bool is = regexec(&re, who, 0, NULL, 0) == 0;
	regfree(&re);
	return is;
}

static void check_mentions(const struct check *k)
{
	const struct sink_type_desc *t = sink_type_desc((enum sink_type)k->s->type);
	const struct str_list *l = &k->s->mentions;

	if (l->n > 0 && !*t->mention) {
		WARN(k, KEY(k, mentions), SINK_UNUSED, LABEL(k->s->type));
		return;
	}
	for (size_t i = 0; i < l->n; i++)
		if (!is_mention(t, l->v[i]))
			WARN(k, KEY(k, mentions), SINK_MENTION, LABEL(k->s->type), l->v[i], t->mention_like);
}

/* -- mail -- */

/* As http/mail.c takes one: "name@host". */
static bool is_mail_address(const char *s)
{
	size_t at = 0;

	for (const char *c = s; *c; c++) {
		if ((unsigned char)*c <= 0x20 || *c == 0x7f || *c == '<' || *c == '>')
			return false;
		at += *c == '@';
	}
	return at == 1;
}

static void check_mail_addresses(const struct check *k)
{
	if (k->s->from && !is_mail_address(k->s->from))
		ERROR(k, KEY(k, from), MAIL_ADDRESS, k->s->from, "cleaner@example.com");
	for (size_t i = 0; i < k->s->to.n; i++)
		if (!is_mail_address(k->s->to.v[i]))
			ERROR(k, KEY(k, to), MAIL_ADDRESS, k->s->to.v[i], "sre@example.com");
}

static void check_mail_user(const struct check *k)
{
	const char *authority = k->s->url ? strstr(k->s->url, "://") : NULL;

	if (!authority || k->s->secret || k->s->secret_file)
		return;
	authority += 3;
	if (memchr(authority, '@', strcspn(authority, "/?#")))
		WARN(k, KEY(k, url), MAIL_USER);
}

static void check_mail(const struct check *k)
{
	const bool mail = k->s->type == SINK_EMAIL;
	enum phrase why;
	struct url u;

	if (!mail && (k->s->from || k->s->to.n > 0))
		WARN(k, k->s->from ? KEY(k, from) : KEY(k, to), SINK_UNUSED, LABEL(k->s->type));
	if (!mail)
		return;
	check_mail_addresses(k);
	check_mail_user(k);
	if (!k->s->from)
		ERROR(k, place_of_item(k, "sinks[].from"), MISSING, "cleaner@example.com");
	if (k->s->to.n == 0)
		ERROR(k, place_of_item(k, "sinks[].to"), MISSING, "[sre@example.com]");
	if (!k->s->url || !url_scheme_is(k->s->url, "smtp", 4) ||
	    url_parse_as(k->s->url, URL_SINKS, &u, &why) < 0)
		return;
	if (url_is_loopback(&u))
		WARN(k, KEY(k, url), MAIL_PLAIN_HERE);
	else
		WARN(k, KEY(k, url), MAIL_PLAIN);
}

/* -- files, and keys that exclude each other -- */

static void check_file(const struct check *k, size_t off)
{
	const struct setting *row = setting_find_member(settings_sink_table, off);

	file_tell_missing(place_of_member(k, off), *(char *const *)setting_member_const(row, k->s), k->d);
}

static void check_given(const struct check *k)
{
	const struct sink_settings *s = k->s;
	enum phrase why;
	struct url u;

	if (!s->name && !is_written(k, offsetof(struct sink_settings, name)))
		ERROR(k, place_of_item(k, "sinks[].name"), MISSING, "...");
	if (!is_written(k, offsetof(struct sink_settings, type))) {
		const enum sink_type of_host = s->url && url_parse_as(s->url, URL_SINKS, &u, &why) == 0
						       ? sink_type_of_host(u.host)
						       : SINK_TYPE__MAX;

		ERROR(k, place_of_item(k, "sinks[].type"), MISSING,
		      of_host < SINK_TYPE__MAX ? sink_type_desc(of_host)->name : "...");
	}
	if (s->url && s->url_file)
		ERROR(k, KEY(k, url_file), BOTH_GIVEN, "url");
	if (s->secret && s->secret_file)
		ERROR(k, KEY(k, secret_file), BOTH_GIVEN, "secret");
	if (!is_written(k, offsetof(struct sink_settings, url)) && !s->url_file)
		ERROR(k, place_of_item(k, NULL), SINK_NO_ADDRESS);
}

/* -- who is told what -- */

static const char *name_of(const struct sink_settings *s)
{
	return s->name ? s->name : "";
}

static void check_name(const struct check *k)
{
	if (!k->s->name)
		return;
	for (size_t j = 0; j < k->i; j++)
		if (strcmp(k->s->name, name_of(&k->c->settings.sinks[j])) == 0)
			ERROR(k, KEY(k, name), CALLED_TWICE, k->s->name);
	if (strcmp(k->s->name, SINK_ORIGINAL_NAME) == 0 && config_has_original_sink(k->c))
		ERROR(k, KEY(k, name), SINK_ORIGINAL, k->s->name);
}

/* Is there something that both lists let through? An empty one lets all through; patterns are not compared.
 */
static bool may_meet(const struct str_list *a, const struct str_list *b)
{
	bool meet = a->n == 0 || b->n == 0;

	for (size_t i = 0; i < a->n; i++)
		meet = meet || str_list_has(b, STR_C(a->v[i]));
	return meet;
}

static bool are_told_the_same(const struct sink_settings *a, const struct sink_settings *b)
{
	return (a->news & b->news) && may_meet(&a->clusters, &b->clusters) &&
	       may_meet(&a->namespaces, &b->namespaces) && may_meet(&a->duties, &b->duties) &&
	       may_meet(&a->to, &b->to);
}

static void check_twice(const struct check *k)
{
	for (size_t j = 0; k->s->url && j < k->i; j++) {
		const struct sink_settings *other = &k->c->settings.sinks[j];

		if (other->url && strcmp(k->s->url, other->url) == 0 && are_told_the_same(k->s, other))
			WARN(k, KEY(k, url), SINK_TWICE, name_of(other));
	}
}

static uint64_t told_at_all(const struct config *c)
{
	return UINT64_C(1) << NEWS_REPORT | (uint64_t)c->tell_actions << NEWS_ACTIONS |
	       (uint64_t)c->tell_attention << NEWS_ATTENTION;
}

static void check_told(const struct check *k)
{
	if (k->s->news == 0)
		WARN(k, KEY(k, news), SINK_TOLD_NOTHING);
	else if (!(k->s->news & told_at_all(k->c)))
		WARN(k, KEY(k, news), SINK_TELL_OFF);
}

static void check_clusters(const struct check *k)
{
	const struct config *c = k->c;
	const struct str_list *l = &k->s->clusters;

	for (size_t i = 0; i < l->n; i++) {
		bool any = c->n_clusters == 0 && str_glob(STR_C(l->v[i]), STR_LIT("default"));

		for (size_t j = 0; j < c->n_clusters; j++)
			any = any ||
			      (c->clusters[j].name && str_glob(STR_C(l->v[i]), STR_C(c->clusters[j].name)));
		if (!any && c->n_clusters)
			WARN(k, KEY(k, clusters), SINK_NO_CLUSTER, l->v[i]);
		else if (!any)
			WARN(k, KEY(k, clusters), SINK_DEFAULT, l->v[i]);
	}
}

/* May a duty work where the item of a sink says? Two patterns may. */
static bool duty_may_work(const struct duty_policy *p, struct str item)
{
	if (!memchr(item.p, '*', item.n))
		return namespaces_match(&p->namespaces, item, NULL) != TRI_NO;
	for (size_t i = 0; i < p->namespaces.n; i++) {
		const struct namespace_item of = namespaces_item(STR_C(p->namespaces.v[i]));

		if (of.except || of.kind != NAMESPACE_NAME || str_glob(item, of.text))
			return true;
	}
	return false;
}

static void check_namespaces(const struct check *k)
{
	const struct policy *p = &k->c->settings.policy;
	const struct str_list *l = &k->s->namespaces;

	for (size_t i = 0; i < l->n; i++) {
		bool any = l->v[i][0] == '!';

		for (enum duty d = 0; d < DUTY__MAX; d++)
			any = any || (policy_enables(p, d) && duty_may_work(&p->duty[d], STR_C(l->v[i])));
		if (!any)
			WARN(k, KEY(k, namespaces), SINK_NAMESPACES, l->v[i]);
	}
}

static void check_duties(const struct check *k)
{
	const struct str_list *l = &k->s->duties;

	for (size_t i = 0; i < l->n; i++) {
		const int d = duty_parse(STR_C(l->v[i]));

		if (d >= 0 && !policy_enables(&k->c->settings.policy, (enum duty)d))
			WARN(k, KEY(k, duties), SINK_DUTIES, l->v[i]);
	}
}

/* -- all of them -- */

static void check_one(const struct check *k)
{
	check_given(k);
	check_name(k);
	if (is_written(k, offsetof(struct sink_settings, type))) {
		if (k->s->url)
			(void)sink_check_address((enum sink_type)k->s->type, k->s->url, k->d, KEY(k, url));
		check_secret(k);
		check_mentions(k);
		check_mail(k);
	}
	check_file(k, offsetof(struct sink_settings, url_file));
	check_file(k, offsetof(struct sink_settings, secret_file));
	check_file(k, offsetof(struct sink_settings, ca_file));
	check_twice(k);
	check_told(k);
	check_clusters(k);
	check_namespaces(k);
	check_duties(k);
}

/* The one of tooManyRestart, as far as more than its syntax is wrong. */
static void check_original(const struct check *k)
{
	enum phrase why;
	struct url u;

	if (!k->c->api_url || url_parse(k->c->api_url, &u, &why) < 0)
		return;
	const enum sink_type of = sink_type_of_host(u.host);

	if (of < SINK_TYPE__MAX && of != SINK_FEISHU)
		ERROR(k, positions_of(k->positions, k->path, "tooManyRestart.apiurl"), SINK_ITEM, u.host,
		      LABEL(of), LABEL(SINK_FEISHU), sink_type_desc(of)->name);
}

/* Somebody has to get the report. */
static void check_report(const struct check *k)
{
	const struct config *c = k->c;
	bool told = config_has_original_sink(c);

	for (size_t i = 0; i < c->settings.n_sinks; i++)
		told = told || c->settings.sinks[i].news >> NEWS_REPORT & 1;
	if (policy_enables(&c->settings.policy, DUTY_RESTARTS) && !told)
		ERROR(k, positions_of(k->positions, k->path, "tooManyRestart.enable"), NO_READER);
}

void config_validate_sinks(const char *path, const struct config *c, const struct positions *positions,
			   struct diags *d)
{
	struct check k = { .path = path, .c = c, .positions = positions, .d = d };

	check_original(&k);
	check_report(&k);
	for (k.i = 0; k.i < c->settings.n_sinks; k.i++) {
		k.s = &c->settings.sinks[k.i];
		check_one(&k);
	}
}
