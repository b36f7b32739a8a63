// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/token.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

static const char version[] = "meta.k8s.io/v1";

char *token_encode(int64_t rv, const char *after)
{
	json_t *doc = json_pack("{s:s, s:I, s:s}", "v", version, "rv", (json_int_t)rv, "start", after);
	char *text = json_dumps(doc, JSON_COMPACT), *token = util_base64url(text, strlen(text));

	free(text);
	json_decref(doc);
	return token;
}

bool token_decode(const char *token, int64_t *ret_rv, char **ret_after)
{
	size_t n = 0;
	char *text = util_base64url_decode(token, &n);
	json_t *doc = json_loadb(text, n, 0, NULL);
	const char *start = util_str(doc, "start");
	bool ok = util_streq(util_str(doc, "v"), version) && start &&
		  json_is_integer(json_object_get(doc, "rv"));

	if (ok) {
		*ret_rv = (int64_t)json_integer_value(json_object_get(doc, "rv"));
		*ret_after = util_strdup(start);
	}
	json_decref(doc);
	free(text);
	return ok;
}
