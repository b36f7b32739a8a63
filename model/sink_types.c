/* sink_types.c - see sink_types.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/sink_types.h"

#include "model/namespaces.h"

static const struct sink_type_desc rows[SINK_TYPE__MAX] = {
#define SINK_TYPE(ID, name, label, label_zh, schemes, hosts, path, secret, ...)                              \
	[SINK_##ID] = { name, label, schemes, hosts, path, SINK_SECRET_##secret, __VA_ARGS__ },
#include "model/sink_types.def"
#undef SINK_TYPE
};

const struct sink_type_desc *sink_type_desc(enum sink_type t)
{
	return &rows[t];
}

bool sink_type_has_host(enum sink_type t, const char *host)
{
	for (struct str rest = STR_C(rows[t].hosts); rest.n > 0;)
		if (str_glob(str_cut(&rest, ','), STR_C(host)))
			return true;
	return false;
}

const char *sink_type_also_called(const char *word)
{
	for (enum sink_type t = 0; t < SINK_TYPE__MAX; t++)
		for (struct str rest = STR_C(rows[t].also); rest.n > 0;)
			if (str_is_word(str_cut(&rest, ','), word))
				return rows[t].name;
	return NULL;
}

enum sink_type sink_type_of_host(const char *host)
{
	enum sink_type t = 0;

	while (t < SINK_TYPE__MAX && !sink_type_has_host(t, host))
		t++;
	return t;
}
