/* sink_types.c - see sink_types.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/sink_types.h"

static const struct sink_type_desc rows[SINK_TYPE__MAX] = {
#define SINK_TYPE(ID, name, label, schemes, hosts, path, secret)                                             \
	[SINK_##ID] = { name, label, schemes, hosts, path, SINK_SECRET_##secret },
#include "model/sink_types.def"
#undef SINK_TYPE
};

const struct sink_type_desc *sink_type_desc(enum sink_type t)
{
	return &rows[t];
}
