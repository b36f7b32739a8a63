/* sink_document.h - a document with everything in it, as sinks are shown it in tests.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_REPORTER_SINK_DOCUMENT_H
#define TESTS_UNIT_REPORTER_SINK_DOCUMENT_H

#include "config/settings.h"
#include "reporter/news/document.h"

/* Two sections; mentions, facts, a command, begin and end, marks of every chat in a text. */
static inline void sink_document(struct document *d, enum language l)
{
	const bool zh = l == LANGUAGE_ZH;

	document_init(d, NEWS_ACTIONS, l, 1764000000000);
	d->tone = TONE_BAD;
	d->id = (free(d->id), strdup("actions-17"));
	document_set(&d->title, zh ? "prod：3 个工作负载被缩容为 0" : "prod: 3 workloads scaled to 0");
	document_add(&d->lines,
		     zh ? "2025-11-24 16:00 之后一分钟内" : "within a minute after 2025-11-24 16:00");
	struct section *s = document_add_section(d, zh ? "缩容为 0" : "Scaled to 0");
	struct entry *e = section_add_entry(s, "default/web");

	entry_set_key(e, "prod/default/Deployment/web");
	e->begin_ms = 1763990000000;
	document_add(&e->lines, zh ? "副本数已由 3 缩为 0" : "scaled from 3 to 0");
	document_add(&e->lines, "ImagePullBackOff: <img>*_~`[x](http://y) & \"z\" #1 \\n");
	document_set(&e->command, "ops-pod-cleaner restore 17");
	document_add(&e->mentions, "alice@example.com");
	document_add(&e->mentions, "all");
	entry_add_fact(e, "namespace", "default");
	entry_add_fact(e, "workload", "web");
	entry_add_fact(e, "replicas", "3");
	e = section_add_entry(s, "default/api");
	entry_set_key(e, "prod/default/Deployment/api");
	e->is_over = true;
	e->begin_ms = 1763990000000;
	e->end_ms = 1764000000000;
	s->more = 4;
	s = document_add_section(d, "");
	e = section_add_entry(s, zh ? "34 个被驱逐的 Pod" : "34 evicted pods");
	document_add(&e->lines, "- default: 30, batch: 4");
	document_set(&d->footer, "ops-pod-cleaner");
}

/* A sink of that type. */
static inline struct sink_settings sink_of_type(uint64_t type, const char *url, const char *secret,
						enum language l)
{
	struct sink_settings s = { .name = (char *)"test",
				   .type = type,
				   .url = (char *)(uintptr_t)url,
				   .secret = (char *)(uintptr_t)secret,
				   .language = l,
				   .top = 20 };

	return s;
}

#endif
