/* forward.c - see forward.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/forward.h"

#include <string.h>

enum role forward_to(enum msg_type type)
{
	const unsigned to = msg_desc(type)->to;
	unsigned role = 0;

	if (to & R_SUPERVISOR)
		return ROLE_SUPERVISOR;
	while (role < ROLE__MAX && to != 1u << role)
		role++;
	return (enum role)role;
}

static const struct msg_field *find_field(enum msg_type type, enum field_kind kind, const char *name)
{
	const struct msg_desc *d = msg_desc(type);

	for (size_t i = 0; i < d->n; i++)
		if (d->fields[i].kind == kind && strcmp(d->fields[i].name, name) == 0)
			return &d->fields[i];
	return NULL;
}

bool forward_get(const struct msg *m, const char *name, uint64_t *ret)
{
	const struct msg_field *f = find_field(m->type, KIND_U64, name);

	if (f)
		memcpy(ret, (const char *)&m->u + f->off, sizeof(*ret));
	return f != NULL;
}

void forward_set(struct msg *m, const char *name, uint64_t value)
{
	const struct msg_field *f = find_field(m->type, KIND_U64, name);

	if (f)
		memcpy((char *)&m->u + f->off, &value, sizeof(value));
}

const char *forward_cluster_name(const struct msg *m)
{
	const struct msg_field *f = find_field(m->type, KIND_NAME, "cluster_name");

	return f ? (const char *)&m->u + f->off : "";
}
