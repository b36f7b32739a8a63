/* fuzz_pod_protobuf.c - any bytes as a Pod, a Status and a bookmark: an answer, never a crash, and strings
 * that lie inside the input. */
// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "kube/decode_protobuf.h"
#include "kube/decode_objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void inside(struct str s, const uint8_t *p, size_t n)
{
	const uint8_t *q = (const uint8_t *)s.p;

	if (s.n > 0 && (q < p || q + s.n > p + n))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct pod_facts f;
	struct status_facts status;
	struct bookmark mark;

	if (decode_pod_protobuf(p, n, &f) == 0) {
		const struct str all[] = { f.ns,        f.name,     f.uid,  f.rv,
					   f.owner.uid, f.revision, f.node, f.reason };

		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			inside(all[i], p, n);
		if (f.n_containers > POD_CONTAINERS_MAX)
			abort();
		for (uint32_t i = 0; i < f.n_containers; i++) {
			inside(f.containers[i].name, p, n);
			inside(f.containers[i].reason, p, n);
			inside(f.containers[i].last_reason, p, n);
		}
		for (uint32_t i = 0; i < f.n_finalizers && i < POD_FINALIZERS_MAX; i++)
			inside(f.finalizers[i], p, n);
	}
	if (decode_status(p, n, &status) == 0)
		inside(status.message, p, n);
	if (decode_bookmark(p, n, &mark) == 0)
		inside(mark.rv, p, n);
	return 0;
}
