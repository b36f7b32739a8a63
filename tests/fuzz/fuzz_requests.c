/* fuzz_requests.c - any bytes as a request for health, and as the labels of a metric. Properties: what is
 * taken has a path and a status that is given; what is answered is text that may be shown, and not more than
 * the checks and the metrics that there are. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "reporter/web/health.h"
#include "reporter/web/metrics.h"
#include "reporter/web/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECKS "cluster-a", "cluster-b", "history"

static void require(int ok)
{
	if (!ok)
		abort();
}

/* Lines of text that may be shown. */
static void require_shown(const char *text, size_t n)
{
	for (size_t i = 0, k; i < n; i += k + 1) {
		const char *end = memchr(text + i, '\n', n - i);

		k = end ? (size_t)(end - text) - i : n - i;
		require(unicode_all_printable(text + i, k));
	}
}

static void ask(const struct web_request *r)
{
	static const char *const groups[] = { "healthz", "livez", "readyz" }, *const checks[] = { CHECKS };
	struct health_check v[ARRAY_SIZE(checks)];

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		v[i] = (struct health_check){ .ok = i != 1 };
		(void)snprintf(v[i].name, sizeof(v[i].name), "%s", checks[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		const size_t n = strlen(groups[i]);
		char *text = NULL;

		if (strncmp(r->path + 1, groups[i], n) != 0 || (r->path[n + 1] && r->path[n + 1] != '/'))
			continue;
		const int status = health_answer(v, ARRAY_SIZE(v), groups[i], r->path, r->query, &text);

		require(status == 200 || status == 404 || status == 500);
		require(text && strlen(text) < 400);
		require_shown(text, strlen(text));
		free(text);
	}
}

static void try_request(const char *text)
{
	_cleanup_free_ char *line = xstrdup(text);
	struct web_request r;
	const int refused = request_parse(line, &r);

	if (refused) {
		require(refused == 400 || refused == 405 || refused == 505);
		return;
	}
	require(r.path[0] == '/' && !strchr(r.path, '?') && !strchr(r.path, ' '));
	ask(&r);
}

static void try_labels(const char *a, const char *b)
{
	struct metrics *m = metrics_new();
	size_t n = 0;

	metrics_add(m, METRIC_REFUSALS, 1, METRIC_LABELS("prod", a, b));
	metrics_add(m, METRIC_REFUSALS, 2, METRIC_LABELS("prod", b, a));
	char *text = metrics_text(m, metrics_format(a), &n);

	require(n == strlen(text) && n < 1000 + 4 * (strlen(a) + strlen(b)));
	require_shown(text, n);
	free(text);
	metrics_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	const size_t n = strlen(text);

	try_request(text);
	try_labels(text, text + n / 2);
	return 0;
}
