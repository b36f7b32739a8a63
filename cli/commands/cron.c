/* cron.c - `cron next`: the next times of a schedule, so that nobody has to guess what a line means. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "cli/commands/command.h"
#include "cli/local/config_told.h"
#include "cli/view/output.h"
#include "config/zone_file.h"

static int load_zone(const char *name, struct zone **ret)
{
	void *bytes = NULL;
	size_t n = 0;
	int r = zone_load(name, &bytes, &n);

	if (r == 0 && bytes)
		r = zone_parse(bytes, n, ret);
	free(bytes);
	if (r < 0) {
		char why[SENTENCE_MAX];
		_cleanup_free_ char *text = sentence_text(zone_error(why, r), language_of_environment());

		output_complain("cron", TEXT(CRON_ZONE), name, text);
	}
	return r;
}

static int print_next(const struct options *o, const char *spec)
{
	struct cron cron;
	struct zone *zone = NULL;
	struct schedule_error err;

	if (cron_parse(spec, &cron, &err) < 0) {
		_cleanup_free_ char *text = sentence_text(err.why, language_of_environment());

		(void)fprintf(stderr, "%s\n%*s^ %s\n", spec, (int)err.pos, "", text);
		return EXIT_CODE_DATA;
	}
	if (load_zone(cron.zone[0] ? cron.zone : o->zone ? o->zone : "Local", &zone) < 0)
		return EXIT_CODE_DATA;
	const int64_t wanted = o->count ? o->count : 5;
	json_auto_t *times = schedule_times(&cron, zone, o->now_ms ? o->now_ms : clock_wall_ms(), wanted);
	const json_t *time;
	size_t i;

	zone_free(&zone);
	if (o->output == OUTPUT_JSON)
		output_json(json_incref(times));
	else
		json_array_foreach (times, i, time)
			printf("%s\n", json_string_value(time));
	if ((int64_t)json_array_size(times) < wanted)
		output_complain("cron", "%s", TEXT(CRON_NO_MORE));
	return EXIT_CODE_OK;
}

int command_cron(const struct options *o)
{
	if (o->n_args != 2 || strcmp(o->args[0], "next") != 0)
		return command_misuse(o, "%s", TEXT(CRON_NEEDS));
	return print_next(o, o->args[1]);
}
