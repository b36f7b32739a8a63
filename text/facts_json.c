/* facts_json.c - see facts_json.h. */
// SPDX-License-Identifier: Apache-2.0
#include "text/facts_json.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "model/sentence.h"

static json_t *sentence_json(struct str packed)
{
	_cleanup_free_ char *sentence = xstrndup(packed.p, packed.n);
	_cleanup_free_ char *text = sentence_text(sentence, LANGUAGE_EN);

	return json_string(text);
}

static json_t *value_json(const struct fact_value *v)
{
	char text[RFC3339_MAX];
	struct facts about;

	switch (fact_kind(v->key)) {
	case FACT_KIND_TIME:
		rfc3339_format(v->number, false, text);
		return json_string(text);
	case FACT_KIND_DURATION:
		return v->number % 1000 ? json_real((double)v->number / 1000)
					: json_integer(v->number / 1000);
	case FACT_KIND_COUNT:
		return json_integer(v->number);
	case FACT_KIND_SENTENCE:
		return sentence_json(v->text);
	case FACT_KIND_FACTS:
		fact_facts(v, &about);
		return facts_json(&about);
	case FACT_KIND_NAME:
	case FACT_KIND_TEXT:
	case FACT_KIND_QUOTED:
		break;
	}
	return json_stringn(v->text.p, v->text.n);
}

json_t *facts_json(const struct facts *f)
{
	json_t *root = json_object();
	struct fact_value v;

	for (size_t at = 0; facts_next(f, &at, &v);) {
		const char *key = fact_key(v.key);
		json_t *list = json_object_get(root, key);

		if (!fact_is_list(v.key)) {
			json_object_set_new(root, key, value_json(&v));
			continue;
		}
		if (!list)
			json_object_set_new(root, key, list = json_array());
		json_array_append_new(list, value_json(&v));
	}
	return root;
}
