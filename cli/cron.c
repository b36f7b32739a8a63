/* cron.c - `cron next`: the next times of a schedule, so that nobody has to guess what a line means. */
// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/str.h"
#include "cli/command.h"
#include "config/cron.h"
#include "config/zone.h"

struct options {
	const char *zone;
	int64_t from_ms;
	uint64_t count;
};

static int take_option(const struct command *self, struct options *o, int c)
{
	switch (c) {
	case 'f':
		return rfc3339_parse(optarg, strlen(optarg), &o->from_ms) < 0
			       ? command_misuse(self, "--from takes an RFC 3339 time")
			       : -1;
	case 'c':
		return str_to_u64(optarg, strlen(optarg), &o->count) < 0 || o->count < 1 || o->count > 100000
			       ? command_misuse(self, "--count takes a number from 1 to 100000")
			       : -1;
	case 'z':
		o->zone = optarg;
		return -1;
	case 'h':
		return command_help(self);
	default:
		return command_misuse(self, "unknown option");
	}
}

static int load_zone(const char *name, struct zone **ret)
{
	void *bytes = NULL;
	size_t n = 0;
	int r = zone_load(name, &bytes, &n);

	if (r == 0 && bytes)
		r = zone_parse(bytes, n, ret);
	free(bytes);
	if (r < 0)
		(void)fprintf(stderr, "ops-pod-cleaner cron: time zone '%s': %s\n", name, zone_error(r));
	return r;
}

/* Local time with its offset: "2026-11-21T09:00:00+08:00". */
static void print_time(int64_t ms, const struct zone *zone)
{
	int64_t until;
	const int32_t east = zone_offset(zone, ms / 1000, &until);
	const int32_t minutes = (east < 0 ? -east : east) / 60;
	char buf[RFC3339_MAX];

	rfc3339_format(ms + (int64_t)east * 1000, false, buf);
	if (east == 0)
		printf("%s\n", buf);
	else
		printf("%.*s%c%02d:%02d\n", (int)strlen(buf) - 1, buf, east < 0 ? '-' : '+', minutes / 60,
		       minutes % 60);
}

static int print_next(const struct options *o, const char *spec)
{
	struct cron cron;
	struct zone *zone = NULL;
	const char *err;
	size_t pos;

	if (cron_parse(spec, &cron, &pos, &err) < 0) {
		(void)fprintf(stderr, "%s\n%*s^ %s\n", spec, (int)pos, "", err);
		return EXIT_CODE_DATA;
	}
	if (load_zone(cron.zone[0] ? cron.zone : o->zone, &zone) < 0)
		return EXIT_CODE_DATA;
	int64_t at = o->from_ms;

	for (uint64_t i = 0; i < o->count; i++) {
		at = cron_next(&cron, zone, at);
		if (at == 0)
			break;
		print_time(at, zone);
	}
	zone_free(&zone);
	if (at == 0)
		(void)fprintf(stderr, "ops-pod-cleaner cron: no further time within five years\n");
	return EXIT_CODE_OK;
}

int command_cron(const struct command *self, int argc, char **argv)
{
	static const struct option longs[] = { { "from", required_argument, NULL, 'f' },
					       { "count", required_argument, NULL, 'c' },
					       { "timezone", required_argument, NULL, 'z' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	struct options o = { .zone = "UTC", .from_ms = clock_wall_ms(), .count = 5 };
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		const int code = take_option(self, &o, c);

		if (code >= 0)
			return code;
	}
	if (argc - optind != 2 || strcmp(argv[optind], "next") != 0)
		return command_misuse(self, "needs `next SPEC` (quote the schedule)");
	return print_next(&o, argv[optind + 1]);
}
