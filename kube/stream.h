/* stream.h - one list/watch stream of a reflector: all namespaces, or one. It carries out what reflect_core
 * decides. Layer: kube, internal to the reflector. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_STREAM_H
#define KUBE_STREAM_H

#include <event2/event.h>
#include <sys/queue.h>

#include "kube/frame.h"
#include "kube/reflect_core.h"
#include "kube/reflector.h"
#include "kube/status.h"

#define STREAM_ERROR_BODY_MAX 4096

struct stream {
	TAILQ_ENTRY(stream) entry;
	struct reflector *owner;
	char *ns; /* "" = all */
	struct reflect_core core;
	struct http_request *request;
	struct event *timer;    /* the wait of a step */
	struct event *watchdog; /* no sign of life */
	/* the response in hand */
	long status;
	bool good; /* 200 and protobuf: the body is what was asked for */
	struct frame_splitter frames;
	struct list_parser list;
	char error_body[STREAM_ERROR_BODY_MAX];
	size_t error_len;
	uint64_t started_ms, last_byte_ms, told_alive_ms;
	uint32_t timeout_s;
	/* why the stream is to end, decided while its bytes arrive; text empty = nothing decided */
	enum core_event verdict;
	char verdict_text[256];
	/* towards the consumer */
	bool list_told, synced, in_trouble;
	bool bookmarks; /* this server sends them: their absence means something */
	bool parked;    /* forbidden cluster-wide: namespaces do the work */
};

struct reflector {
	struct event_base *base;
	struct http_client *client;
	struct reflector_ops ops;
	void *ctx;
	struct core_config core_config;
	uint64_t silent_ms, wide_retry_ms;
	struct str_list namespaces;
	TAILQ_HEAD(stream_list, stream) streams;
	struct stream *wide;  /* the cluster-wide one, NULL when only_namespaces */
	struct event *retire; /* the namespaces' streams are no longer needed */
	struct reflector_stats stats;
	struct pod_facts facts; /* of the object in hand */
};

struct stream *stream_new(struct reflector *r, const char *ns);
void stream_free(struct stream *s);

/* How a stream's answer is read: stream_data.c. */
int stream_take_item(void *stream, const uint8_t *p, size_t n);
int stream_take_frame(void *stream, const uint8_t *p, size_t n);
void stream_take_oversize(void *stream, uint64_t n);
void stream_feed(struct stream *s, enum core_event event, struct str rv, struct str token, int64_t retry_ms);
void stream_set_verdict(struct stream *s, enum core_event event, const char *text);
/* What an answer that is no stream means. */
enum core_event stream_judge_answer(struct stream *s, const struct http_result *r, char ret_text[static 256]);

/* reflector.c: the cluster-wide list is forbidden (true: that is news), or (again) complete. */
bool reflector_wide_forbidden(struct reflector *r);
void reflector_wide_synced(struct reflector *r);

#endif
