/* sinks_validate.c - see sinks_validate.h. No message repeats an address: it may be a secret. */
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

#define ERROR(k, m, ...) diags_error((k)->d, (k)->path, (m)->line, (m)->column, __VA_ARGS__)
#define WARN(k, m, ...)  diags_warn((k)->d, (k)->path, (m)->line, (m)->column, __VA_ARGS__)
#define KEY(k, member)   key_position(k, offsetof(struct sink_settings, member))

/* "a Feishu bot" */
static const char *label(const struct check *k, const struct sink_type_desc *t)
{
	return diags_said(k->d, t->label);
}

static bool is_written(const struct check *k, size_t off)
{
	const struct setting *row = setting_find_member(settings_sink_table, off);

	return k->positions->sink_key[k->i][row - settings_sink_table].line > 0;
}

/* Where the key of that member stands, or its item. */
static const struct position *key_position(const struct check *k, size_t off)
{
	const struct setting *row = setting_find_member(settings_sink_table, off);

	return is_written(k, off) ? &k->positions->sink_key[k->i][row - settings_sink_table]
				  : &k->positions->sink[k->i];
}

/* The next of "a,b,c"; false behind the last one. */
static bool next_item(const char **list, struct str *ret)
{
	const size_t n = strcspn(*list, ",");

	*ret = (struct str){ *list, n };
	*list += n + ((*list)[n] == ',');
	return n > 0;
}

/* -- the address -- */

static bool has_scheme(const struct sink_type_desc *t, const char *url)
{
	const char *list = t->schemes;
	struct str one;

	while (next_item(&list, &one))
		if (url_scheme_is(url, one.p, one.n))
			return true;
	return false;
}

/* key: as the operator wrote it. */
static bool is_of_another(const struct check *k, const struct position *at, const char *key,
			  enum sink_type type, const struct url *u)
{
	const enum sink_type of_host = sink_type_of_host(u->host);

	if (of_host == SINK_TYPE__MAX || of_host == type)
		return false;
	ERROR(k, at, "%s: %s is the host of %s, not of %s: write %stype: %s", key, u->host,
	      label(k, sink_type_desc(of_host)), label(k, sink_type_desc(type)),
	      k->s ? "" : diags_said(k->d, "it in an item of sinks, with "), sink_type_desc(of_host)->name);
	return true;
}

/* The address is one of its owner's. */
static void check_own_address(const struct check *k, const struct url *u)
{
	const struct sink_type_desc *t = sink_type_desc((enum sink_type)k->s->type);

	if (strncmp(u->path, t->path, strlen(t->path)) != 0)
		WARN(k, KEY(k, url),
		     "sinks[].url: the path of the address of %s begins with %s: copy all of it", label(k, t),
		     t->path);
	else if (*t->query && !url_has_parameter(u, t->query))
		ERROR(k, KEY(k, url), "sinks[].url: the address of %s holds %s=...: copy all of it",
		      label(k, t), t->query);
}

/* Nobody else serves a type without hosts, so it often stands in the same cluster. */
static void check_plain(const struct check *k, const struct url *u)
{
	const bool own = !*sink_type_desc((enum sink_type)k->s->type)->hosts;

	if (!url_scheme_is(k->s->url, "http", 4) || (own && url_is_inside(u)))
		return;
	WARN(k, KEY(k, url),
	     own ? "sinks[].url: http sends the messages unencrypted; write https, or for a Service of the "
		   "same cluster http://NAME.NAMESPACE.svc"
		 : "sinks[].url: http sends the address and the messages unencrypted; write https");
}

static void check_address(const struct check *k)
{
	const struct sink_type_desc *t = sink_type_desc((enum sink_type)k->s->type);
	const struct position *at = KEY(k, url);
	struct url u;
	const char *why;

	if (!k->s->url || url_parse_as(k->s->url, URL_SINKS, &u, &why) < 0)
		return;
	if (!has_scheme(t, k->s->url)) {
		ERROR(k, at, "sinks[].url: the address of %s begins with %.*s://", label(k, t),
		      (int)strcspn(t->schemes, ","), t->schemes);
		return;
	}
	if (is_of_another(k, at, "sinks[].url", (enum sink_type)k->s->type, &u) || url_is_loopback(&u))
		return;
	check_plain(k, &u);
	if (*t->hosts && !sink_type_has_host((enum sink_type)k->s->type, u.host))
		WARN(k, at,
		     "sinks[].url: %s is not where %s is (%s): right if it is a server of your own that "
		     "stands in between",
		     u.host, label(k, t), t->hosts);
	else
		check_own_address(k, &u);
}

/* -- what a type needs -- */

static void check_secret(const struct check *k)
{
	const struct sink_type_desc *t = sink_type_desc((enum sink_type)k->s->type);
	const bool given = k->s->secret || k->s->secret_file;

	if (given && t->secret == SINK_SECRET_NONE)
		WARN(k, k->s->secret ? KEY(k, secret) : KEY(k, secret_file),
		     "sinks[].secret is not used by %s: remove it", label(k, t));
	else if (!given && t->secret == SINK_SECRET_SHOULD)
		WARN(k, KEY(k, type),
		     "sink \"%s\" is unsigned: switch the signature of %s on, and write its secret or "
		     "secretFile; without one it takes only what holds its keyword or comes from its "
		     "addresses",
		     k->s->name, label(k, t));
	else if (k->s->secret && strncmp(k->s->secret, t->secret_begin, strlen(t->secret_begin)) != 0)
		WARN(k, KEY(k, secret), "sinks[].secret: the secret of %s begins with %s: copy all of it",
		     label(k, t), t->secret_begin);
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
		WARN(k, KEY(k, mentions), "sinks[].mention is not used by %s: remove it", label(k, t));
		return;
	}
	for (size_t i = 0; i < l->n; i++)
		if (!is_mention(t, l->v[i]))
			WARN(k, KEY(k, mentions),
			     "sinks[].mention: %s knows nobody as \"%s\": write for example %s", label(k, t),
			     l->v[i], t->mention_like);
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
		ERROR(k, KEY(k, from), "%s: \"%s\" is no mail address: write for example %s", "sinks[].from",
		      k->s->from, "cleaner@example.com");
	for (size_t i = 0; i < k->s->to.n; i++)
		if (!is_mail_address(k->s->to.v[i]))
			ERROR(k, KEY(k, to), "%s: \"%s\" is no mail address: write for example %s",
			      "sinks[].to", k->s->to.v[i], "sre@example.com");
}

static void check_mail_user(const struct check *k)
{
	const char *authority = k->s->url ? strstr(k->s->url, "://") : NULL;

	if (!authority || k->s->secret || k->s->secret_file)
		return;
	authority += 3;
	if (memchr(authority, '@', strcspn(authority, "/?#")))
		WARN(k, KEY(k, url),
		     "sinks[].url: the user of the mail server has no password: write secretFile or secret, "
		     "or remove the user");
}

static void check_mail(const struct check *k)
{
	const bool mail = k->s->type == SINK_EMAIL;
	struct url u;
	const char *why;

	if (!mail && (k->s->from || k->s->to.n > 0))
		WARN(k, k->s->from ? KEY(k, from) : KEY(k, to), "sinks[].from and to are for email alone");
	if (!mail)
		return;
	check_mail_addresses(k);
	check_mail_user(k);
	if (!k->s->from || k->s->to.n == 0)
		ERROR(k, KEY(k, type), "sink \"%s\": email needs %s: write %s", k->s->name,
		      diags_said(k->d, k->s->from   ? "a reader"
				       : k->s->to.n ? "a sender"
						    : "a sender and a reader"),
		      k->s->from   ? "to: [sre@example.com]"
		      : k->s->to.n ? "from: cleaner@example.com"
				   : diags_said(k->d, "from: cleaner@example.com and to: [sre@example.com]"));
	if (k->s->url && url_scheme_is(k->s->url, "smtp", 4) &&
	    url_parse_as(k->s->url, URL_SINKS, &u, &why) == 0)
		WARN(k, KEY(k, url),
		     url_is_loopback(&u)
			     ? "sinks[].url: smtp to this host itself is not encrypted unless it offers "
			       "STARTTLS"
			     : "sinks[].url: smtp needs a server that offers STARTTLS, else nothing is sent; "
			       "smtps:// is encrypted from the first byte on");
}

/* -- files, and keys that exclude each other -- */

static void check_file(const struct check *k, size_t off)
{
	const struct setting *row = setting_find_member(settings_sink_table, off);

	file_tell_missing(k->path, key_position(k, off), row->path,
			  *(char *const *)setting_member_const(row, k->s), k->d);
}

static void check_given(const struct check *k)
{
	const struct sink_settings *s = k->s;
	struct url u;
	const char *why;

	if (!s->name && !is_written(k, offsetof(struct sink_settings, name)))
		ERROR(k, &k->positions->sink[k->i], "a sink without a name: write name: ...");
	if (!is_written(k, offsetof(struct sink_settings, type))) {
		const enum sink_type of_host = s->url && url_parse_as(s->url, URL_SINKS, &u, &why) == 0
						       ? sink_type_of_host(u.host)
						       : SINK_TYPE__MAX;

		ERROR(k, &k->positions->sink[k->i], "a sink without a type: write type: %s",
		      of_host < SINK_TYPE__MAX ? sink_type_desc(of_host)->name : "...");
	}
	if (s->url && s->url_file)
		ERROR(k, KEY(k, url_file), "sinks[].url and urlFile are both given: keep one");
	if (s->secret && s->secret_file)
		ERROR(k, KEY(k, secret_file), "sinks[].secret and secretFile are both given: keep one");
	if (!is_written(k, offsetof(struct sink_settings, url)) && !s->url_file)
		ERROR(k, &k->positions->sink[k->i],
		      "a sink without an address: write urlFile, a file that holds it, or url");
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
			ERROR(k, KEY(k, name), "two sinks are called \"%s\"", k->s->name);
	if (strcmp(k->s->name, SINK_ORIGINAL_NAME) == 0 && config_has_original_sink(k->c))
		ERROR(k, KEY(k, name),
		      "two sinks are called \"%s\": tooManyRestart.apiurl is one of them; give this one "
		      "another "
		      "name, or remove apiurl",
		      k->s->name);
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
			WARN(k, KEY(k, url),
			     "sinks \"%s\" and \"%s\" have one address, which is told the same news twice: "
			     "remove one, or give them different tell, namespaces, duties or clusters",
			     name_of(other), name_of(k->s));
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
		WARN(k, KEY(k, news), "sink \"%s\" is told nothing: write tell: [actions, attention, report]",
		     name_of(k->s));
	else if (!(k->s->news & told_at_all(k->c)))
		WARN(k, KEY(k, news),
		     "sink \"%s\" is told nothing: tell.actions or tell.attention, at the top, is false",
		     name_of(k->s));
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
		if (!any)
			WARN(k, KEY(k, clusters), "sinks[].clusters: there is no cluster \"%s\"%s", l->v[i],
			     c->n_clusters ? ""
					   : diags_said(k->d, "; without `clusters` it is called default"));
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
			WARN(k, KEY(k, namespaces), "sinks[].namespaces: no duty works in \"%s\"", l->v[i]);
	}
}

static void check_duties(const struct check *k)
{
	const struct str_list *l = &k->s->duties;

	for (size_t i = 0; i < l->n; i++) {
		const int d = duty_parse(STR_C(l->v[i]));

		if (d >= 0 && !policy_enables(&k->c->settings.policy, (enum duty)d))
			WARN(k, KEY(k, duties), "sinks[].duties: %s is not enabled", l->v[i]);
	}
}

/* -- all of them -- */

static void check_one(const struct check *k)
{
	check_given(k);
	check_name(k);
	if (is_written(k, offsetof(struct sink_settings, type))) {
		check_address(k);
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
	const struct setting *row = settings_find("tooManyRestart.apiurl");
	struct url u;
	const char *why;

	if (k->c->api_url && url_parse(k->c->api_url, &u, &why) == 0)
		(void)is_of_another(k, &k->positions->row[row - settings_table], row->path, SINK_FEISHU, &u);
}

/* Somebody has to hear it. */
static void check_report(const struct check *k)
{
	const struct config *c = k->c;
	const struct setting *row = settings_find("tooManyRestart.enable");
	bool told = config_has_original_sink(c);

	for (size_t i = 0; i < c->settings.n_sinks; i++)
		told = told || c->settings.sinks[i].news >> NEWS_REPORT & 1;
	if (policy_enables(&c->settings.policy, DUTY_RESTARTS) && !told)
		ERROR(k, &k->positions->row[row - settings_table],
		      "tooManyRestart is enabled but has no apiurl, and no sink is told the report: write "
		      "the "
		      "address of the bot, an item of sinks, or enable: false");
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
