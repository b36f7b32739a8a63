/* protocol.c - prints docs/protocol.md from the tables. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "ipc/msg.h"

/* What only test builds know stands at the end and is left out. */
#if defined(OPC_PROBES)
#define END MSG_CTL_PROBE
#else
#define END MSG__MAX
#endif

static void print_set(unsigned set)
{
	const char *sep = "";

	for (int r = 0; r < ROLE__MAX; r++) {
		if (!(set & 1u << r))
			continue;
		printf("%s%s", sep, role_name((enum role)r));
		sep = ", ";
	}
}

static void print_range(const struct msg_field *f)
{
	if (f->kind == KIND_BOOL)
		printf("| ");
	else if (f->kind == KIND_I64)
		printf("| %" PRId64 " to %" PRId64 " ", f->min, (int64_t)f->max);
	else if (f->kind == KIND_U64)
		printf("| %" PRId64 " to %" PRIu64 " ", f->min, f->max);
	else
		printf("| %" PRId64 " to %" PRIu64 " bytes ", f->min, f->max);
}

int main(void)
{
	static const char *const kinds[] = {
		[KIND_U64] = "u64",     [KIND_I64] = "i64",   [KIND_BOOL] = "bool", [KIND_STR] = "text",
		[KIND_LINES] = "lines", [KIND_NAME] = "name", [KIND_UID] = "uid",   [KIND_FACTS] = "facts",
	};
	static const char *const phases[] = { "",    "hello",      "setup",      "hello, setup",
					      "run", "hello, run", "setup, run", "all" };

	printf("# Messages between the processes\n\n"
	       "Generated from `ipc/messages.def`; do not edit. A message is one msgpack array\n"
	       "`[type, field...]`. A `SOCK_SEQPACKET` datagram holds one or more messages, one behind the\n"
	       "other, in at most %u bytes: as much as one run of the event loop sends. A message with a\n"
	       "descriptor travels alone. A message of an unknown type, from a role or in a phase that the\n"
	       "table does not allow, with another number of fields, another type, a value out of range or "
	       "a\n"
	       "character outside its set, and a byte that belongs to no message, end the peer that sent "
	       "it;\n"
	       "the messages before it count. Protocol version %u.\n\n",
	       IPC_FRAME_MAX, IPC_PROTO);
	for (int t = 0; t < END; t++) {
		const struct msg_desc *d = msg_desc((enum msg_type)t);

		printf("## %d %s\n\n%s. From ", t, d->name, d->doc);
		print_set(d->from);
		printf(" to ");
		print_set(d->to);
		printf("; phase: %s.\n\n| field | kind | range | meaning |\n|---|---|---|---|\n",
		       phases[d->phases & 7]);
		for (size_t i = 0; i < d->n; i++) {
			printf("| %s | %s ", d->fields[i].name, kinds[d->fields[i].kind]);
			print_range(&d->fields[i]);
			printf("| %s |\n", d->fields[i].doc);
		}
		printf("\n");
	}
	return 0;
}
