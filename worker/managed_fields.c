/* managed_fields.c - see managed_fields.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/managed_fields.h"

#include "worker/read.h"

/* "f:replicas", or what somebody wrote through /scale: nothing else of spec can be written there. */
static const char *replicas_field(const json_t *entries)
{
	const json_t *entry;
	size_t i;

	json_array_foreach (entries, i, entry) {
		json_t *spec = json_object_get(json_object_get(entry, "fieldsV1"), "f:spec");
		const char *field = json_object_iter_key(json_object_iter(spec));

		if (field && str_is(READ_TEXT(entry, "subresource"), "scale"))
			return field;
	}
	return "f:replicas";
}

static struct managed_fields_writer writer_of(const json_t *entry)
{
	return (struct managed_fields_writer){ .manager = READ_TEXT(entry, "manager"),
					       .operation = READ_TEXT(entry, "operation"),
					       .subresource = READ_TEXT(entry, "subresource"),
					       .at = READ_TIME(entry, "time") };
}

bool managed_fields_replicas(const json_t *o, struct managed_fields_writer *ret)
{
	const json_t *entries = READ_AT(o, "metadata", "managedFields"), *entry;
	const char *field = replicas_field(entries);
	bool found = false;
	size_t i;

	json_array_foreach (entries, i, entry) {
		const struct managed_fields_writer w = writer_of(entry);

		if (!json_object_get(READ_AT(entry, "fieldsV1", "f:spec"), field))
			continue;
		if (found && (w.at < ret->at || (w.at == ret->at && managed_fields_is_us(&w))))
			continue;
		*ret = w;
		found = true;
	}
	return found;
}

bool managed_fields_zero_by_scale(const json_t *o)
{
	const json_t *entries = READ_AT(o, "metadata", "managedFields");
	struct managed_fields_writer w;

	return json_array_size(entries) > 0 && !managed_fields_replicas(o, &w);
}

bool managed_fields_is_us(const struct managed_fields_writer *w)
{
	return str_is(w->manager, MANAGED_US) && !str_is(w->operation, "Apply");
}

void managed_fields_facts(const struct managed_fields_writer *w, struct facts *f)
{
	facts_finding(f, TEXT_REPLICAS_SET_BY);
	facts_quoted(f, FACT_MANAGER, w->manager);
	facts_name(f, FACT_OPERATION, w->operation);
	facts_name(f, FACT_SUBRESOURCE, w->subresource);
	facts_time(f, FACT_MANAGED_AT, w->at);
}
