/* fuzz_json_project.c - the first byte chooses what is wanted; then an answer of an API server. jansson reads
 * it, too: what it refuses is refused, and of what it accepts every member that is wanted is the same, and
 * the same are missing. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "worker/json_project.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const json_t *picked, const json_t *whole, const struct json_projection *what);

static void same_members(const json_t *picked, const json_t *whole, const struct json_projection *what)
{
	for (; what->key; what++) {
		const json_t *a = json_object_get(picked, what->key), *b = json_object_get(whole, what->key);

		if (!a != !b)
			abort();
		if (a)
			same(a, b, what->below);
	}
}

static void same(const json_t *picked, const json_t *whole, const struct json_projection *what)
{
	if (json_typeof(picked) != json_typeof(whole) || json_array_size(picked) != json_array_size(whole) ||
	    (!what && !json_equal(picked, whole)))
		abort();
	if (what && json_is_object(whole))
		same_members(picked, whole, what);
	for (size_t i = 0; what && i < json_array_size(whole); i++)
		same(json_array_get(picked, i), json_array_get(whole, i), what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct json_projection *const wanted[] = { project_pod, project_pods, project_status };

	if (size == 0)
		return 0;
	const struct json_projection *what = wanted[data[0] % ARRAY_SIZE(wanted)];
	const char *text = (const char *)data + 1;
	json_error_t error;
	json_t *whole = json_loadb(text, size - 1, 0, &error);
	json_t *picked = json_project_loadb(text, size - 1, what, &error);

	if (!whole != !picked)
		abort();
	if (whole)
		same(picked, whole, what);
	json_decref(whole);
	json_decref(picked);
	return 0;
}
