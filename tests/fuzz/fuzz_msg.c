/* fuzz_msg.c - frames from a hostile peer. Property: what decodes, encodes to the same bytes. */
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
	uint8_t again[IPC_FRAME_MAX];
	const char *field;
	struct msg m;

	if (msg_decode(from, ROLE_SUPERVISOR, phase, p + 2, n - 2, &m, &field) < 0)
		return 0;
	if (msg_encode(&m, again) != n - 2 || memcmp(again, p + 2, n - 2) != 0)
		abort();
	return 0;
}
