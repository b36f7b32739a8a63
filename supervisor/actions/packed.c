/* packed.c - see packed.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct packed {
	size_t n;
	uint8_t bytes[];
};

struct packed *packed_new(const struct msg *m)
{
	uint8_t buf[IPC_FRAME_MAX];
	const size_t n = msg_encode(m, buf);
	struct packed *p = xmalloc(sizeof(*p) + n);

	p->n = n;
	memcpy(p->bytes, buf, n);
	return p;
}

void packed_get(const struct packed *p, struct msg *ret)
{
	const char *field;

	if (msg_decode(ROLE_SUPERVISOR, ROLE_SUPERVISOR, PH_RUN, p->bytes, p->n, ret, &field) < 0)
		abort(); /* we have written it */
}

size_t packed_size(const struct packed *p)
{
	return p ? sizeof(*p) + p->n : 0;
}
