/* chart.c - see chart.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/chart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Units of a drawing: it is stretched to where it stands. */
#define SPARK_HEIGHT 40u
#define BAR_WIDTH    4u
#define DAY_WIDTH    20u
#define DAYS_HEIGHT  100u

static void open_svg(struct html *h, const char *class, const char *label, size_t width, unsigned height)
{
	html_open_class(h, "svg", class);
	html_attr_f(h, "viewBox", "0 0 %zu %u", width, height);
	html_attr(h, "preserveAspectRatio", "none");
	html_attr(h, "role", "img");
	html_element(h, "title", NULL, label);
}

static void put_rect(struct html *h, const char *class, size_t x, double y, size_t width, double height)
{
	html_open_class(h, "rect", class);
	html_attr_f(h, "x", "%zu", x);
	html_attr_f(h, "y", "%.2f", y);
	html_attr_f(h, "width", "%zu", width);
	html_attr_f(h, "height", "%.2f", height);
	html_close(h);
}

void chart_spark(struct html *h, const char *label, const uint32_t *v, size_t n)
{
	const size_t gather = n > CHART_BARS_MAX ? (n + CHART_BARS_MAX - 1) / CHART_BARS_MAX : 1,
		     bars = (n + gather - 1) / gather;
	uint64_t sums[CHART_BARS_MAX] = { 0 }, max = 1;
	_cleanup_free_ char *path = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&path, &size);

	if (!f)
		abort();
	for (size_t i = 0; i < n; i++) {
		sums[i / gather] += v[i];
		max = sums[i / gather] > max ? sums[i / gather] : max;
	}
	for (size_t i = 0; i < bars; i++)
		if (sums[i] > 0) /* what is there is seen, however small */
			(void)fprintf(f, "M%zu %uv-%.1fh%uV%uz", i * BAR_WIDTH, SPARK_HEIGHT - 1,
				      1.5 + (double)sums[i] * (SPARK_HEIGHT - 3) / (double)max, BAR_WIDTH - 1,
				      SPARK_HEIGHT - 1);
	(void)fclose(f);
	open_svg(h, "spark", label, bars ? bars * BAR_WIDTH : 1, SPARK_HEIGHT);
	put_rect(h, "base", 0, SPARK_HEIGHT - 1, bars * BAR_WIDTH, 1);
	html_open(h, "path");
	html_attr(h, "d", path);
	html_close(h);
	html_close(h);
}

void chart_stacked(struct html *h, const char *label, const uint32_t *v, size_t days, size_t kinds)
{
	uint64_t max = 1;
	char class[24];

	for (size_t d = 0; d < days; d++) {
		uint64_t sum = 0;

		for (size_t k = 0; k < kinds; k++)
			sum += v[d * kinds + k];
		max = sum > max ? sum : max;
	}
	open_svg(h, "days", label, days * DAY_WIDTH, DAYS_HEIGHT);
	put_rect(h, "grid", 0, DAYS_HEIGHT - 0.5, days * DAY_WIDTH, 0.5);
	for (size_t d = 0; d < days; d++) {
		double top = DAYS_HEIGHT - 0.5;

		for (size_t k = 0; k < kinds; k++) {
			const double height = (double)v[d * kinds + k] * (DAYS_HEIGHT - 2) / (double)max;

			(void)snprintf(class, sizeof(class), "d%zu", k);
			if (height > 0)
				put_rect(h, class, d * DAY_WIDTH + 2, top - height, DAY_WIDTH - 4, height);
			top -= height;
		}
	}
	html_close(h);
}

void chart_swatch(struct html *h, size_t kind)
{
	char class[24];

	(void)snprintf(class, sizeof(class), "d%zu", kind);
	html_open(h, "svg");
	html_attr(h, "viewBox", "0 0 1 1");
	html_attr(h, "aria-hidden", "true");
	put_rect(h, class, 0, 0, 1, 1);
	html_close(h);
}

unsigned chart_level(uint64_t v, uint64_t max)
{
	if (v == 0)
		return 0;
	return v > max / 2 ? 3 : v > max / 8 ? 2 : 1;
}
