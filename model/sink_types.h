/* sink_types.h - the kinds of places that news is sent to, from model/sink_types.def, which says what the
 * columns mean.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_SINK_TYPES_H
#define MODEL_SINK_TYPES_H

#include <stdbool.h>

enum sink_type {
#define SINK_TYPE(ID, ...) SINK_##ID,
#include "model/sink_types.def"
#undef SINK_TYPE
	SINK_TYPE__MAX
};

enum sink_secret { SINK_SECRET_NONE, SINK_SECRET_MAY, SINK_SECRET_SHOULD };

struct sink_type_desc {
	const char *name, *label, *schemes, *hosts, *path;
	enum sink_secret secret;
	const char *query, *secret_begin, *mention, *mention_like, *also;
};

/* Its row. t is below SINK_TYPE__MAX. */
const struct sink_type_desc *sink_type_desc(enum sink_type t);

/* Does its owner serve it at that host? */
bool sink_type_has_host(enum sink_type t, const char *host);
/* The name of the type that people also call so ("lark"), in any case; NULL when they call none so. */
const char *sink_type_also_called(const char *word);
/* The type that is served there; SINK_TYPE__MAX when none is. */
enum sink_type sink_type_of_host(const char *host);

#endif
