/* process.c - see process.h. A child from its start to its end: HELLO, first SETTINGS, on_start, sandbox,
 * READY, loop, DRAIN, end. */
// SPDX-License-Identifier: Apache-2.0
#include "process/process.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "config/blob.h"
#include "ipc/channel.h"
#include "ipc/timer.h"
#include "process/sandbox_ports.h"
#include "text/facts_text.h"
#include "base/memory.h"

#if defined(OPC_PROBES)
int probe_run(const char *name, int64_t arg);                          /* tests/probe/probe.h */
int evil_obey(struct process *p, enum role role, const char *command); /* tests/evil/evil.h */
bool evil_receives(const struct msg *m);
const struct msg *evil_sends(const struct msg *m, struct msg *buf);
#endif

/* A heartbeat wakes the supervisor: all children send theirs at the same instants, so that three hundred wake
 * it once; of an idle watcher nothing else wakes anybody. Two may be lost before it takes a child for hung
 * (STALLED_MS in supervisor/children/child.c). */
#define HEARTBEAT_MS 8000
/* Heartbeats until the memory of the start is given back, and then between two such acts. */
#define TRIM_FIRST 1
#define TRIM_EVERY 38
/* Private memory of a process at most; idle each has below 2 MiB. A watcher has its cache besides, which
 * takes 102 bytes a pod, and twice as much while it is listed anew. */
#define DATA_MAX  (UINT64_C(256) << 20)
#define POD_BYTES 512
/* Beside the database, at most: its log of what is to be written into it. */
#define FILE_SLACK (UINT64_C(64) << 20)

struct process {
	const struct process_spec *spec;
	struct event_base *base;
	struct channel *channel;
	struct timer *heartbeat;
	void *ctx;
	int statm_fd; /* opened before the sandbox, read for READY and heartbeats */
	uint64_t cluster, number, instance, generation, prepared;
	struct settings next;          /* of the prepared generation, until it is in force */
	struct sandbox_params sandbox; /* what this process was given */
	struct sandbox_params wanted;  /* what the prepared generation needs */
	char *writable_dir;
	bool running, draining;
	uint64_t beats, beat_due_ms;
	int code;
};

struct event_base *process_base(struct process *p)
{
	return p->base;
}

void *process_ctx(struct process *p)
{
	return p->ctx;
}

void process_set_ctx(struct process *p, void *ctx)
{
	p->ctx = ctx;
}

uint64_t process_cluster(const struct process *p)
{
	return p->cluster;
}

uint64_t process_instance(const struct process *p)
{
	return p->instance;
}

uint64_t process_generation(const struct process *p)
{
	return p->generation;
}

int process_send(struct process *p, const struct msg *m)
{
#if defined(OPC_PROBES)
	struct msg other;

	m = evil_sends(m, &other);
	if (!m)
		return 0;
#endif
	return channel_send(p->channel, m, -1);
}

void process_read_waiting(struct process *p)
{
	channel_read_waiting(p->channel);
}

void process_say_trouble(struct process *p, enum trouble kind, const struct facts *particulars)
{
	struct msg m = { .type = MSG_TROUBLE, .u.trouble.trouble = kind };

	if (particulars)
		facts_set(&m.u.trouble.particulars, particulars);
	(void)process_send(p, &m);
}

void process_exit(struct process *p, int code)
{
	p->code = code;
	(void)event_base_loopbreak(p->base);
}

void process_drained(struct process *p, uint64_t left)
{
	const struct msg m = { .type = MSG_DRAINED, .u.drained.left = left };

	(void)process_send(p, &m);
	(void)channel_flush(p->channel, 1000);
	process_exit(p, EXIT_CODE_OK);
}

/* -- settings -- */

/* Where a role connects to. */
static void allow_ports(const struct settings *s, struct sandbox_params *p)
{
	const struct cluster_settings *c = &s->cluster;
	const char *url = c->proxy && *c->proxy ? c->proxy : c->address ? c->address : c->server;

	if (url)
		sandbox_allow_port(p, sandbox_port_of(url));
	for (size_t i = 0; i < s->n_sinks; i++) {
		const struct sink_settings *k = &s->sinks[i];

		if (k->url)
			sandbox_allow_port(p, sandbox_port_of(k->proxy ? k->proxy : k->url));
	}
}

static void sandbox_from_settings(struct process *p, const struct settings *s, struct sandbox_params *ret)
{
	*ret = (struct sandbox_params){ .role = p->spec->role,
					.mode = (enum sandbox_mode)s->sandbox,
					.data_bytes = DATA_MAX + s->max_pods * POD_BYTES };
	if (p->spec->role == ROLE_REPORTER) {
		if (!p->writable_dir && s->state_dir)
			p->writable_dir = xstrdup(s->state_dir);
		ret->writable_dir = p->writable_dir;
		ret->file_bytes = (s->history_megabytes << 20) + FILE_SLACK;
	}
	allow_ports(s, ret);
}

/* 0, or negative errno and why. */
static int prepare_settings(struct process *p, int fd, struct facts *ret_why)
{
	_cleanup_(settings_done) struct settings s = { 0 };
	char unread[SETTINGS_ERROR_MAX];
	enum text why = TEXT__MAX;
	int r = settings_read_blob(fd, &s, unread);

	facts_clear(ret_why);
	if (r < 0) {
		facts_finding(ret_why, TEXT_SETTINGS_UNUSABLE);
		facts_quoted(ret_why, FACT_SYSTEM, STR_C(unread));
		return r;
	}
	r = p->spec->check_settings(&s, &why);
	if (r < 0) {
		facts_finding(ret_why, why < TEXT__MAX ? why : TEXT_SETTINGS_REFUSED);
		return r;
	}
	sandbox_from_settings(p, &s, &p->wanted);
	settings_done(&p->next);
	p->next = s;
	settings_init(&s);
	return 0;
}

/* r: of the last step. */
static int accept_sandbox(struct process *p, int r, const char *text)
{
	if (r == 0 && sandbox_is_weak(text) && p->sandbox.mode != SANDBOX_OFF)
		return log_warn(0,
				"the sandbox is weaker than it could be: this kernel lacks a layer; see "
				"docs/threat-model.md",
				kv_s("sandbox", text));
	if (r == 0)
		return 0;
	process_exit(p, EXIT_CODE_CONFIG);
	return log_error(r,
			 "sandbox: require, but this kernel lacks a layer; use sandbox: auto to run without "
			 "it",
			 kv_s("missing", text));
}

static int confine(struct process *p, char ret_text[static 256])
{
	bool is_later = false;
	int r;

	p->sandbox = p->wanted;
	r = sandbox_enter(&p->sandbox, ret_text);
	if (r == 0 && p->spec->on_confined) {
		r = p->spec->on_confined(p);
		if (r < 0)
			return r;
		is_later = r > 0;
		r = 0;
	}
	if (r == 0 && !is_later)
		r = sandbox_seal(&p->sandbox, ret_text);
	return accept_sandbox(p, r, ret_text);
}

int process_seal(struct process *p)
{
	char text[256] = "";
	const int r = sandbox_seal(&p->sandbox, text);

	return accept_sandbox(p, r, text);
}

static uint64_t resident_kb(const struct process *p)
{
	uint64_t mapped, resident;

	(void)memory_read(p->statm_fd, &mapped, &resident);
	return resident / 1024;
}

static int start(struct process *p)
{
	struct msg ready = { .type = MSG_READY, .u.ready.generation = p->generation };
	int r = p->spec->on_start(p, &p->next);

	settings_done(&p->next);
	if (r == 0)
		r = confine(p, ready.u.ready.sandbox);
	if (r < 0)
		return r;
	channel_set_phase(p->channel, PH_RUN);
	p->running = true;
	ready.u.ready.rss_kb = resident_kb(p);
	(void)process_send(p, &ready);
	(void)channel_flush(p->channel, 0); /* what on_ready does may take long */
	if (p->spec->on_ready)
		p->spec->on_ready(p);
	return 0;
}

static void on_first_settings(struct process *p, const struct msg_settings *m, int fd)
{
	struct facts why;
	char name[32];

	p->cluster = m->cluster;
	p->instance = m->instance;
	p->number = m->number;
	p->generation = m->generation;
	if (p->spec->role != ROLE_WORKER) /* one a cluster, whose name stands in every line */
		(void)snprintf(name, sizeof(name), "%s", role_name(p->spec->role));
	else
		(void)snprintf(name, sizeof(name), "%s/%u", role_name(p->spec->role), (unsigned)p->number);
	log_init(name);
	int r = prepare_settings(p, fd, &why);

	if (r < 0) {
		_cleanup_free_ char *text = facts_render(&why, NULL);

		(void)log_error(r, "settings not usable", kv_s("detail", text));
		/* Only what the role itself refuses is wrong for good. */
		process_exit(p, r == -EINVAL ? EXIT_CODE_CONFIG : EXIT_CODE_RESOURCE);
		return;
	}
	log_set_cluster(p->next.cluster.name);
	log_configure((enum log_level)p->next.log_level, (enum log_format)p->next.log_format);
	r = start(p);
	if (r < 0 && p->code == EXIT_CODE_OK) {
		(void)log_error(r, "start failed");
		process_exit(p, r == -EWOULDBLOCK ? EXIT_CODE_TEMPORARY : EXIT_CODE_RESOURCE);
	}
}

static void on_next_settings(struct process *p, const struct msg_settings *m, int fd)
{
	struct msg ack = { .type = MSG_SETTINGS_ACK, .u.settings_ack.generation = m->generation };
	const int r = prepare_settings(p, fd, &ack.u.settings_ack.error);

	ack.u.settings_ack.ok = r == 0;
	if (r == 0)
		p->prepared = m->generation;
	(void)process_send(p, &ack);
}

static void on_commit(struct process *p, uint64_t generation)
{
	if (generation != p->prepared)
		return;
	p->generation = generation;
	p->prepared = 0;
	/* A sandbox only tightens: another port needs another process. */
	if (!sandbox_has_ports(&p->sandbox, &p->wanted) && p->sandbox.mode != SANDBOX_OFF) {
		log_info("another port is needed: starting again with the new settings");
		process_exit(p, EXIT_CODE_OK);
		return;
	}
	log_configure((enum log_level)p->next.log_level, (enum log_format)p->next.log_format);
	p->spec->on_commit(p, &p->next);
	settings_done(&p->next);
}

/* -- channel -- */

#if defined(OPC_PROBES)
static void on_probe(struct process *p, const struct msg_ctl_probe *probe)
{
	const int r = strcmp(probe->probe, "evil") == 0 ? evil_obey(p, p->spec->role, probe->text)
							: probe_run(probe->probe, probe->arg);
	const struct msg row = { .type = MSG_CTL_PROBE_ROW,
				 .u.ctl_probe_row = { .conn = probe->conn, .result = r } };

	(void)process_send(p, &row);
}
#endif

void process_drain(struct process *p)
{
	if (p->draining)
		return;
	p->draining = true;
	if (p->running)
		p->spec->on_drain(p);
	else
		process_drained(p, 0);
}

static void on_channel_msg(void *ctx, struct channel *c, const struct msg *m, int fd)
{
	struct process *p = ctx;

	(void)c;
#if defined(OPC_PROBES)
	if (evil_receives(m)) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
#endif
	switch (m->type) {
	case MSG_SETTINGS:
		if (p->running)
			on_next_settings(p, &m->u.settings, fd);
		else
			on_first_settings(p, &m->u.settings, fd);
		break;
	case MSG_SETTINGS_COMMIT:
		on_commit(p, m->u.settings_commit.generation);
		break;
	case MSG_LOG_LEVEL:
		log_override_level((enum log_level)m->u.log_level.level, m->u.log_level.until_ms);
		break;
	case MSG_DRAIN:
		process_drain(p);
		break;
#if defined(OPC_PROBES)
	case MSG_CTL_PROBE:
		on_probe(p, &m->u.ctl_probe);
		break;
#endif
	default:
		p->spec->on_msg(p, m);
	}
	if (fd >= 0)
		(void)close(fd);
}

static void on_channel_close(void *ctx, struct channel *c, int err, const struct facts *why)
{
	_cleanup_free_ char *text = facts_render(why, NULL);
	struct process *p = ctx;

	(void)c;
	if (err == -EBADMSG || err == -EPERM)
		(void)log_error(err, "supervisor broke the protocol", kv_s("detail", text));
	process_exit(p, EXIT_CODE_ORPHAN);
}

static void on_channel_drain(void *ctx, struct channel *c)
{
	struct process *p = ctx;

	(void)c;
	if (p->spec->on_room)
		p->spec->on_room(p);
}

static const struct channel_ops channel_ops = { on_channel_msg, on_channel_close, on_channel_drain };

/* -- heartbeat -- */

static void trim(struct process *p)
{
	if (p->spec->on_trim)
		p->spec->on_trim(p);
	(void)memory_trim();
}

/* At a multiple of the interval, of the clock that all processes of a machine share: half an interval from
 * now or more, so that a timer that runs a moment early makes no second heartbeat of one. */
static void schedule_heartbeat(struct process *p, uint64_t now)
{
	p->beat_due_ms = ((now + HEARTBEAT_MS / 2) / HEARTBEAT_MS + 1) * HEARTBEAT_MS;
	timer_set(p->heartbeat, p->beat_due_ms - now);
}

static void on_heartbeat(void *ctx)
{
	struct process *p = ctx;
	const uint64_t now = clock_boot_ms();
	struct msg m = { .type = MSG_HEARTBEAT };

	m.u.heartbeat.progress = ++p->beats;
	m.u.heartbeat.rss_kb = resident_kb(p);
	/* How late this timer runs is how long some callback kept the loop. */
	m.u.heartbeat.longest_ms = now > p->beat_due_ms ? now - p->beat_due_ms : 0;
	schedule_heartbeat(p, now);
	if (p->running)
		(void)process_send(p, &m);
	if (p->running && p->beats % TRIM_EVERY == TRIM_FIRST)
		trim(p);
}

/* -- start and end -- */

static void say_hello(struct process *p)
{
	struct msg m = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = (uint64_t)getpid() } };

	msg_text(&m, hello.build, OPC_BUILD_ID);
	(void)process_send(p, &m);
}

struct process *process_begin(struct event_base *base, int fd, const struct process_spec *spec)
{
	struct process *p = xcalloc(1, sizeof(*p));

	*p = (struct process){ .spec = spec, .base = base, .cluster = CLUSTERS_MAX };
	p->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	p->channel = channel_new(base, fd, spec->role, ROLE_SUPERVISOR, &channel_ops, p);
	channel_set_phase(p->channel, PH_SETUP);
	p->heartbeat = timer_new(base, on_heartbeat, p);
	schedule_heartbeat(p, clock_boot_ms());
	say_hello(p);
	return p;
}

int process_end(struct process **pp)
{
	struct process *p = *pp;
	const int code = p->code;

	p->spec->on_done(p);
	timer_free(&p->heartbeat);
	channel_free(&p->channel);
	if (p->statm_fd >= 0)
		(void)close(p->statm_fd);
	settings_done(&p->next);
	free(p->writable_dir);
	free(p);
	*pp = NULL;
	return code;
}
