/* fuzz_msg.c - datagrams from a hostile peer. Property: what decodes, encodes to the same bytes, message by
 * message up to the first that is bad. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "ipc/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const enum phase phases[] = { PH_HELLO, PH_SETUP, PH_RUN };

	if (n < 2)
		return 0;
	const enum role from = (enum role)(p[0] % ROLE__MAX);
	const enum phase phase = phases[p[1] % 3];
	int used;

	p += 2;
	for (n -= 2; n > 0; n -= (size_t)used) {
		uint8_t again[IPC_FRAME_MAX];
		const char *field;
		struct msg m;

		used = msg_decode(from, ROLE_SUPERVISOR, phase, p, n, &m, &field);
		if (used < 0)
			return 0;
		if (used == 0 || (size_t)used > n || msg_encode(&m, again) != (size_t)used ||
		    memcmp(again, p, (size_t)used) != 0)
			abort();
		p += used;
	}
	return 0;
}
