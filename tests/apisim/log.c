// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/log.h"
#include "tests/apisim/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 4096, BUFFER = 1 << 18 };

struct log {
	FILE *file;
	bool dirty;
};

struct log *log_new(const char *path)
{
	struct log *log = util_alloc(sizeof(*log));

	if (path) {
		log->file = fopen(path, "ae");
		if (!log->file)
			util_die(74, "--request-log %s: %s", path, strerror(errno));
		setvbuf(log->file, NULL, _IOFBF, BUFFER);
	}
	return log;
}

void log_free(struct log *log)
{
	if (log->file)
		fclose(log->file);
	free(log);
}

void log_flush(struct log *log)
{
	if (log->file && log->dirty)
		fflush(log->file);
	log->dirty = false;
}

static void set_body(json_t *line, const json_t *body)
{
	if (!body)
		return;
	if (json_dumpb(body, NULL, 0, JSON_COMPACT) <= BODY_MAX)
		json_object_set(line, "body", (json_t *)(uintptr_t)body);
	else
		json_object_set_new(line, "bodyTruncated", json_true());
}

static json_t *rv_text(uint64_t rv)
{
	char text[24];

	if (!rv)
		return json_null();
	snprintf(text, sizeof(text), "%llu", (unsigned long long)rv);
	return json_string(text);
}

static json_t *or_null(json_t *v)
{
	return v ? json_incref(v) : json_null();
}

static bool is_write(const struct call *c)
{
	return strcmp(c->method, "GET") != 0;
}

static void set_write(json_t *line, const struct call *c)
{
	json_object_set_new(line, "dryRun", json_boolean(c->dry_run));
	json_object_set_new(line, "preconditions", or_null(json_object_get(c->body, "preconditions")));
	json_object_set_new(line, "gracePeriodSeconds",
			    or_null(json_object_get(c->body, "gracePeriodSeconds")));
	set_body(line, c->body);
	json_object_set_new(line, "objectUid", *c->uid ? json_string(c->uid) : json_null());
	json_object_set_new(line, "objectRvBefore", rv_text(c->rv_before));
	json_object_set_new(line, "objectRvAfter", rv_text(c->rv_after));
	json_object_set_new(line, "objectBefore", or_null(c->before));
	if (c->answer)
		json_object_set(line, "answer", c->answer);
}

void log_call(struct log *log, const struct call *c, const char *stage)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "user", c->user },         { "agent", c->agent },      { "method", c->method },
		{ "path", c->path },         { "query", c->query_text }, { "group", c->group },
		{ "resource", c->resource }, { "subresource", c->sub },  { "namespace", c->ns },
		{ "name", c->name },
	};
	json_t *line;

	if (!log->file)
		return;
	line = json_pack("{s:f, s:f, s:s, s:i}", "ts", c->at, "tsEnd", util_now(), "verb", c->verb, "status",
			 c->code);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		json_object_set_new(line, texts[i].name, json_string(texts[i].value));
	if (c->internal)
		json_object_set_new(line, "internal", json_true());
	if (stage)
		json_object_set_new(line, "stage", json_string(stage));
	if (is_write(c))
		set_write(line, c);
	json_dumpf(line, log->file, JSON_COMPACT | JSON_REAL_PRECISION(17));
	fputc('\n', log->file);
	json_decref(line);
	log->dirty = true;
}
