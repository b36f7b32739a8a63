/* last_log.c - what a container said before it crashed: the last lines of its log, which go with its pods.
 * They are read just before the write, once, as a slow kubelet must not keep the reads from being fresh. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "worker/action_end.h"

/* A kubelet keeps the beginning of what is longer: so much that the end of long lines is in it. */
#define LIMIT_BYTES "65536"

/* Where nothing is written the log stays, and the credential may be one that reads no logs. */
bool needs_log(const struct action *a)
{
	return !a->dry_run && !a->grant.observe && !a->log_asked && a->grant.action == ACTION_SCALE_DOWN &&
	       a->write != STEP_ANNOUNCE && action_policy(a)->log_lines > 0;
}

/* The run that ended last: of a container that waits for its next start, or runs again, the previous one
 * (kubernetes pkg/kubelet/kubelet_pods.go, validateContainerLogStatus). */
void ask_log(struct action *a, struct step_request *ret)
{
	const struct container_facts *c = &a->pod.containers[a->verdict.container];
	_cleanup_free_ char *name = xstrndup(c->name.p, c->name.n), *value = path_escape(name);
	_cleanup_free_ char *query = xasprintf(
		"container=%s&limitBytes=" LIMIT_BYTES "&tailLines=%" PRId64 "%s", value,
		action_policy(a)->log_lines, c->state == CONTAINER_TERMINATED ? "" : "&previous=true");

	a->log_asked = true;
	(void)snprintf(a->log_container, sizeof(a->log_container), "%s", name);
	ret->path = object_path(a, NULL, "log", query);
}

/* Behind "ESC [ ... m": p is at ESC. */
static const char *skip_colour(const char *p, const char *end)
{
	if (end - p < 2 || p[1] != '[')
		return p + 1;
	for (p += 2; p < end && (unsigned char)*p < 0x40; p++)
		;
	return p < end ? p + 1 : end;
}

static char *plain(const char *log, size_t n)
{
	const char *const end = log + n;
	char *text = xmalloc(n + 1), *to = text;

	for (const char *p = log; p < end;) {
		if (*p == '\x1b') {
			p = skip_colour(p, end);
			continue;
		}
		if (*p == '\t')
			*to++ = ' ';
		else if (*p != '\r' && *p)
			*to++ = *p;
		p++;
	}
	while (to > text && to[-1] == '\n')
		to--;
	*to = '\0';
	return text;
}

char *last_log_lines(const char *log, size_t n, int64_t lines)
{
	static const char cut[] = "…";
	_cleanup_free_ char *text = plain(log, n);
	const size_t len = strlen(text);
	const char *from = text + len, *line = from;

	while (lines > 0 && line > text) {
		for (line--; line > text && line[-1] != '\n'; line--)
			;
		if (text + len - line > (ptrdiff_t)QUOTE_TEXT_MAX)
			break;
		from = line;
		lines--;
	}
	if (from == text + len && len > 0) { /* the last line alone is longer */
		from = text + len - QUOTE_TEXT_MAX + sizeof(cut);
		while (((unsigned char)*from & 0xc0) == 0x80)
			from++;
		return xconcat(cut, from, NULL);
	}
	return *from ? xstrdup(from) : NULL;
}

enum step_then take_log(struct action *a, const struct step_reply *reply)
{
	if (reply->status == 200) {
		a->log = last_log_lines(reply->body, reply->body_len, action_policy(a)->log_lines);
		return STEP_NEXT;
	}
	facts_finding(action_evidence(a), TEXT_LOG_UNREAD);
	facts_name(action_evidence(a), FACT_CONTAINER, STR_C(a->log_container));
	if (reply->status > 0)
		facts_count(action_evidence(a), FACT_HTTP_STATUS, reply->status);
	return STEP_NEXT;
}
