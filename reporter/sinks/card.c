/* card.c - a document in the form of a chat: what its template is given, and what comes out. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/sink.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "text/templates.h"

/* What a card is made with. */
struct card {
	const struct sink_view *view;
	const struct sink_ops *ops;
	enum escape escape;
	json_t *everyone, *has;
	json_t *linked; /* the entry with links that was found last */
	size_t n_linked;
};

/* -- names -- */

bool card_is_name(const char *s, const char *also)
{
	const char *c = s;

	while (isascii((unsigned char)*c) && (isalnum((unsigned char)*c) || (*c && strchr(also, *c))))
		c++;
	return c > s && !*c;
}

bool card_is_mail(const char *s)
{
	const char *at = strchr(s, '@');

	return at && at > s && at[1] && !strchr(at + 1, '@') && card_is_name(s, ".-_+@");
}

/* Names that were cut are no names any more. */
static json_t *who_value(struct card *c, const char *who, bool trusted)
{
	const size_t n = strlen(who), max = c->view->part.text_max;
	const char *kind = c->ops->mention && n <= max ? c->ops->mention(who, trusted) : NULL;
	json_t *value = json_pack("{s:s%}", kind ? kind : "name", who, unicode_cut(who, n, max));

	if (!kind)
		return value;
	(void)json_object_set_new(c->has, kind, json_true());
	(void)json_array_append(c->everyone, value);
	return value;
}

static json_t *mentions_value(struct card *c, const struct str_list *l, bool trusted)
{
	if (l->n == 0 || c->view->part.lines_max == 0)
		return json_null();
	json_t *each = json_array();

	for (size_t i = 0; i < l->n && i < c->view->part.lines_max; i++)
		(void)json_array_append_new(each, who_value(c, l->v[i], trusted));
	return json_pack("{s:o}", "each", each);
}

/* -- parts -- */

/* A line that is to be copied is whole and as it is, or not there. In code no mark may end it. */
static void set_command(const struct card *c, json_t *entry)
{
	const char *command = json_string_value(json_object_get(entry, "command"));

	if (!command)
		return;
	if (!strpbrk(command, "`<>&") && c->ops->has_code)
		(void)json_object_set_new(entry, "code", json_string(command));
	else if (escape_keeps(c->escape, command))
		(void)json_object_set_new(entry, "no_code", json_string(command));
}

static bool has_items(const json_t *of, const char *key)
{
	return json_array_size(json_object_get(of, key)) > 0;
}

static bool is_shown(const json_t *section)
{
	return json_string_length(json_object_get(section, "title")) > 0 || has_items(section, "entries") ||
	       json_integer_value(json_object_get(section, "more")) > 0;
}

static void set_section(struct card *c, json_t *section, const struct section *s, bool rule)
{
	json_t *entry;
	size_t k;

	(void)json_object_set_new(section, "rule", json_boolean(rule));
	json_array_foreach (json_object_get(section, "entries"), k, entry) {
		set_command(c, entry);
		const bool linked = json_object_size(json_object_get(entry, "links")) > 0;

		(void)json_object_set_new(entry, "linked", json_boolean(linked));
		c->linked = linked ? entry : c->linked;
		c->n_linked += linked;
		(void)json_object_set_new(entry, "mentions",
					  mentions_value(c, &s->entries[k].mentions, false));
	}
}

/* Of several nobody could tell which is whose: those stay with their entries. */
static void set_buttons(struct card *c, json_t *o)
{
	if (!c->ops->has_buttons || c->n_linked != 1)
		return;
	(void)json_object_set(o, "buttons", json_object_get(c->linked, "links"));
	(void)json_object_set_new(c->linked, "linked", json_false());
}

json_t *card_value(const struct sink_view *v)
{
	const struct document *d = v->doc;
	const struct sink_ops *ops = sink_ops_of(v->sink->type);
	json_t *o = document_value(d, &v->part), *shown = json_array(), *section, *mentions;
	struct card c = { v, ops, ops->form[v->form].escape, json_array(), json_object(), NULL, 0 };
	size_t i;

	mentions = d->tone == TONE_BAD || d->tone == TONE_WARNING
			   ? mentions_value(&c, &v->sink->mentions, true)
			   : json_null();
	const bool head = has_items(o, "lines") || json_is_object(mentions);

	json_array_foreach (json_object_get(o, "sections"), i, section) {
		set_section(&c, section, &d->sections[i], head || json_array_size(shown) > 0);
		if (is_shown(section))
			(void)json_array_append(shown, section);
	}
	set_buttons(&c, o);
	(void)json_object_set_new(o, "sections", shown);
	(void)json_object_set_new(o, "is",
				  json_pack("{s:b}", json_string_value(json_object_get(o, "tone")), 1));
	(void)json_object_set_new(o, "head", json_boolean(head));
	(void)json_object_set_new(o, "mentions", mentions);
	(void)json_object_set_new(o, "everyone", c.everyone);
	(void)json_object_set_new(o, "has", c.has);
	return o;
}

static bool has_longer(const json_t *v, size_t max)
{
	const char *key;
	json_t *member;
	bool ret = json_string_length(v) > max;
	size_t i;

	json_array_foreach (v, i, member)
		ret = ret || has_longer(member, max);
	json_object_foreach ((json_t *)(uintptr_t)v, key, member)
		ret = ret || has_longer(member, max);
	return ret;
}

/* Does it keep to the limits of the sink? */
static bool finish(const struct sink_ops *ops, json_t *body)
{
	return (!ops->finish || ops->finish(body)) &&
	       (!ops->string_max || !has_longer(body, ops->string_max));
}

char *card_render(const struct sink_view *v)
{
	const struct sink_ops *ops = sink_ops_of(v->sink->type);
	const struct sink_form *form = &ops->form[v->form];
	const struct template_target target = { v->doc->language, form->escape, true };
	json_t *data = card_value(v);
	json_t *body =
		template_render_json(template_find(STR_C(form->template), target.language), &target, data);
	char *ret = body && finish(ops, body) ? json_dumps(body, JSON_COMPACT) : NULL;

	json_decref(body);
	json_decref(data);
	return ret;
}
