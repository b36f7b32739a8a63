/* admission_suspend.c - see admission_suspend.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/admission_suspend.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "model/annotations.h"

/* A worker's clock may be so much ahead of the server's, and both count whole seconds. */
#define SLACK_MS 5000

static void put_halts(FILE *f, int64_t after_ms)
{
	(void)after_ms;
	(void)fputs("variables.what in variables.suspends && object.spec.?suspend.orValue(false) &&\n"
		    "!oldObject.spec.?suspend.orValue(false)",
		    f);
}

static void put_resumes(FILE *f, int64_t after_ms)
{
	(void)after_ms;
	(void)fputs("variables.what in variables.suspends && oldObject.spec.?suspend.orValue(false) &&\n"
		    "!object.spec.?suspend.orValue(false)",
		    f);
}

/* The only clock that a policy has: the server notes in managedFields when it takes what is written, and
 * nobody else can give an owner to a field that this very write changes (structured-merge-diff, Update). */
static void put_written_at(FILE *f, int64_t after_ms)
{
	(void)after_ms;
	(void)fputs("object.metadata.?managedFields.orValue([]).filter(f, "
		    "f[?'fieldsV1'][?'f:spec'][?'f:suspend'].hasValue()).map(f, timestamp(f.time))",
		    f);
}

static void put_since(FILE *f, const char *time, int64_t after_ms)
{
	const int64_t ms = after_ms > SLACK_MS ? after_ms - SLACK_MS : 0;

	(void)fprintf(f,
		      "variables.written_at.size() > 0 &&\n variables.written_at.all(t, t - timestamp(%s) >= "
		      "duration('%" PRId64 "s'))",
		      time, ms / 1000);
}

static void put_marked(FILE *f, int64_t after_ms)
{
	const char *action = annotations_mark_key(MARK_ACTION);

	(void)after_ms;
	(void)fprintf(f,
		      "!variables.halts ||\n"
		      "('%s' in variables.after && '%s' in variables.after && '%s' in variables.after &&\n"
		      " variables.before[?'%s'] != variables.after[?'%s'])",
		      annotations_mark_key(MARK_BY), action, annotations_mark_key(MARK_UNDO), action, action);
}

static void put_job(FILE *f, int64_t after_ms)
{
	(void)fputs("!variables.halts || variables.what != 'UPDATE batch/jobs' ||\n"
		    "(oldObject.?status.?active.orValue(0) > 0 && "
		    "oldObject.?status.?startTime.hasValue() &&\n ",
		    f);
	put_since(f, "oldObject.status.startTime", after_ms);
	(void)fputs(")", f);
}

static void put_cron_job(FILE *f, int64_t after_ms)
{
	(void)fputs("!variables.halts || variables.what != 'UPDATE batch/cronjobs' ||\n"
		    "(oldObject.?status.?active.orValue([]).size() > 0 && "
		    "oldObject.?status.?lastScheduleTime.hasValue() &&\n"
		    " (!oldObject.?status.?lastSuccessfulTime.hasValue() ||\n"
		    "  timestamp(oldObject.status.lastSuccessfulTime) < "
		    "timestamp(oldObject.status.lastScheduleTime)) &&\n ",
		    f);
	put_since(f,
		  "oldObject.?status.?lastSuccessfulTime.orValue(oldObject.metadata.?creationTimestamp."
		  "orValue(''))",
		  after_ms);
	(void)fputs(")", f);
}

static void put_resumed(FILE *f, int64_t after_ms)
{
	(void)after_ms;
	(void)fprintf(f,
		      "!variables.resumes ||\n"
		      "(variables.before[?'%s'].orValue('') == 'ops-pod-cleaner' && variables.unmarked &&\n"
		      " authorizer.requestResource.check('restore').allowed())",
		      annotations_mark_key(MARK_BY));
}

const struct suspension_text *suspension_variable(size_t i)
{
	static const struct suspension_text variables[] = {
		{ "halts", put_halts },
		{ "resumes", put_resumes },
		{ "written_at", put_written_at },
	};

	return i < ARRAY_SIZE(variables) ? &variables[i] : NULL;
}

const struct suspension_text *suspension_demand(size_t i)
{
	static const struct suspension_text demands[] = {
		{ "a suspension notes by which action it was made, and how to undo it", put_marked },
		{ "a Job is suspended that has run for hours, with pods of which none is Ready", put_job },
		{ "a CronJob is suspended that has an active Job and no success since it was last scheduled, "
		  "nor for "
		  "hours",
		  put_cron_job },
		{ "a Job is resumed only by the mark that comes off, with the right to restore",
		  put_resumed },
	};

	return i < ARRAY_SIZE(demands) ? &demands[i] : NULL;
}
