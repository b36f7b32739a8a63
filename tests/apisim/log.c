// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/log.h"
#include "tests/apisim/text.h"
#include "tests/apisim/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY_MAX = 4096 };

struct log {
	int fd;              /* -1: nothing is written */
	struct text waiting; /* whole lines */
};

struct log *log_new(const char *path)
{
	struct log *log = util_alloc(sizeof(*log));

	log->fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	if (path && log->fd < 0)
		util_die(74, "--request-log %s: %s", path, strerror(errno));
	return log;
}

void log_free(struct log *log)
{
	log_flush(log);
	if (log->fd >= 0)
		close(log->fd);
	text_done(&log->waiting);
	free(log);
}

void log_flush(struct log *log)
{
	size_t done = 0;

	while (done < log->waiting.size) {
		const ssize_t n = write(log->fd, log->waiting.data + done, log->waiting.size - done);

		if (n < 0 && errno != EINTR)
			util_die(74, "--request-log: %s", strerror(errno));
		done += n > 0 ? (size_t)n : 0;
	}
	log->waiting.size = 0;
}

/* The name of the next member: a text with its comma and its colon. */
#define NEXT(name) ",\"" name "\":"

static void add_text(struct text *t, const char *name, const char *value)
{
	text_string(t, name);
	text_quoted(t, value, strlen(value));
}

static void add_json(struct text *t, const char *name, const json_t *value)
{
	text_string(t, name);
	if (value)
		text_json(t, value);
	else
		text_string(t, "null");
}

static void add_version(struct text *t, const char *name, uint64_t rv)
{
	text_string(t, name);
	if (!rv) {
		text_string(t, "null");
		return;
	}
	text_add(t, "\"", 1);
	text_number(t, (int64_t)rv);
	text_add(t, "\"", 1);
}

static void add_body(struct text *t, const json_t *body)
{
	const size_t start = t->size, value = start + strlen(NEXT("body"));

	if (!body)
		return;
	add_json(t, NEXT("body"), body);
	if (t->size - value <= BODY_MAX)
		return;
	t->size = start;
	text_string(t, NEXT("bodyTruncated") "true");
}

/* The object as a write found it, in so far as rules are judged by it. */
static void add_before(struct text *t, const struct call *c)
{
	static const struct {
		const char *name, *path;
	} facts[] = {
		{ NEXT("phase"), "status.phase" },
		{ NEXT("reason"), "status.reason" },
		{ NEXT("deletionTimestamp"), "metadata.deletionTimestamp" },
		{ NEXT("deletionGracePeriodSeconds"), "metadata.deletionGracePeriodSeconds" },
		{ NEXT("finalizers"), "metadata.finalizers" },
		{ NEXT("nodeName"), "spec.nodeName" },
		{ NEXT("ownerReferences"), "metadata.ownerReferences" },
	};
	const char *scale = !strcmp(c->sub, "scale") ? c->kind->replicas : "spec.replicas";
	json_t *tree = object_tree(c->before), *replicas = object_at(tree, scale), *ready = NULL, *value;
	const size_t start = t->size;
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if ((value = object_at(tree, facts[i].path)))
			add_json(t, facts[i].name, value);
	if (replicas)
		add_json(t, NEXT("replicas"), replicas);
	json_array_foreach (object_at(tree, "status.conditions"), i, value) {
		if (util_streq(util_str(value, "type"), "Ready"))
			ready = json_object_get(value, "status");
	}
	if (ready)
		add_json(t, NEXT("ready"), ready);
	if (t->size == start)
		text_add(t, "{", 1);
	else
		t->data[start] = '{';
	text_add(t, "}", 1);
	json_decref(tree);
}

static void add_write(struct text *t, const struct call *c)
{
	text_string(t, c->dry_run ? NEXT("dryRun") "true" : NEXT("dryRun") "false");
	add_json(t, NEXT("preconditions"), json_object_get(c->body, "preconditions"));
	add_json(t, NEXT("gracePeriodSeconds"), json_object_get(c->body, "gracePeriodSeconds"));
	add_body(t, c->body);
	if (*c->uid)
		add_text(t, NEXT("objectUid"), c->uid);
	else
		add_json(t, NEXT("objectUid"), NULL);
	add_version(t, NEXT("objectRvBefore"), c->rv_before);
	add_version(t, NEXT("objectRvAfter"), c->rv_after);
	text_string(t, NEXT("objectBefore"));
	if (c->before)
		add_before(t, c);
	else
		text_string(t, "null");
	if (c->answer) {
		struct blob *b = object_text(c->answer);

		text_string(t, NEXT("answer"));
		text_add(t, b->data, b->size);
		blob_unref(b);
	}
}

void log_call(struct log *log, const struct call *c, const char *stage)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{ NEXT("user"), c->user },         { NEXT("agent"), c->agent },
		{ NEXT("method"), c->method },     { NEXT("path"), c->path },
		{ NEXT("query"), c->query_text },  { NEXT("group"), c->group },
		{ NEXT("resource"), c->resource }, { NEXT("subresource"), c->sub },
		{ NEXT("namespace"), c->ns },      { NEXT("name"), c->name },
	};
	struct text *t = &log->waiting;

	if (log->fd < 0)
		return;
	text_string(t, "{\"ts\":");
	text_seconds(t, c->at);
	text_string(t, NEXT("tsEnd"));
	text_seconds(t, util_now());
	add_text(t, NEXT("verb"), c->verb);
	text_string(t, NEXT("status"));
	text_number(t, c->code);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		add_text(t, texts[i].name, texts[i].value);
	if (c->internal)
		text_string(t, NEXT("internal") "true");
	if (stage)
		add_text(t, NEXT("stage"), stage);
	if (strcmp(c->method, "GET") != 0)
		add_write(t, c);
	else if (*c->uid)
		add_text(t, NEXT("objectUid"), c->uid);
	text_string(t, "}\n");
}
