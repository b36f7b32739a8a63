/* chart.c - see chart.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/chart.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

static uint64_t chart_sum(const struct chart *c, size_t bar, size_t kind)
{
	uint64_t sum = 0;

	for (size_t i = bar * c->gather; i < (bar + 1) * c->gather; i++)
		sum += c->v[i * c->kinds + kind];
	return sum;
}

/* The height of the highest bar in the units of v; 1 where all are empty. */
static uint64_t chart_highest(const struct chart *c)
{
	uint64_t max = 1;

	for (size_t bar = 0; bar < c->bars; bar++) {
		uint64_t sum = 0;

		for (size_t kind = 0; kind < c->kinds; kind++)
			sum += chart_sum(c, bar, kind);
		max = sum > max ? sum : max;
	}
	return max;
}

/* The bars of one kind as a path of SVG; bottom: where each begins, moved up by its height. */
static json_t *chart_path(const struct chart *c, size_t kind, double scale, double *bottom)
{
	char *path = NULL;
	size_t size;
	FILE *f = open_memstream(&path, &size);

	if (!f)
		abort();
	for (size_t bar = 0; bar < c->bars; bar++) {
		const uint64_t sum = chart_sum(c, bar, kind);
		const double height = c->least + (double)sum * scale;

		if (sum == 0)
			continue;
		(void)fprintf(f, "M%zu %.1fv-%.1fh%uv%.1fz", bar * c->width + c->gap / 2, bottom[bar], height,
			      c->width - c->gap, height);
		bottom[bar] -= height;
	}
	(void)fclose(f);
	json_t *value = json_string(path);

	free(path);
	return value;
}

json_t *chart_value(const struct chart *c)
{
	const double scale = (c->height - 2 - c->least) / (double)chart_highest(c);
	_cleanup_free_ double *bottom = xcalloc(c->bars + 1, sizeof(*bottom));
	json_t *bars = json_array();

	for (size_t bar = 0; bar < c->bars; bar++)
		bottom[bar] = c->height - 1;
	for (size_t kind = 0; kind < c->kinds; kind++) {
		uint64_t sum = 0;

		for (size_t bar = 0; bar < c->bars; bar++)
			sum += chart_sum(c, bar, kind);
		if (sum > 0)
			(void)json_array_append_new(
				bars, json_pack("{s:I, s:I, s:o}", "kind", (json_int_t)kind, "sum",
						(json_int_t)sum, "path", chart_path(c, kind, scale, bottom)));
	}
	return json_pack("{s:I, s:I, s:o}", "width", (json_int_t)(c->bars * c->width), "most",
			 (json_int_t)chart_highest(c), "bars", bars);
}
