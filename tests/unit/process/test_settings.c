/* test_settings.c - generations of settings in a child: what the sandbox was closed for stays so, and nothing
 * is used before all have prepared it. The channel and the sandbox are played here, the loop is real. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/xalloc.h"
#include "config/blob.h"
#include "config/config.h"
#include "ipc/channel.h"
#include "process/process.h"
#include "process/sandbox.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

static const struct channel_ops *ops;
static void *ops_ctx;
static void (*script)(void);
static struct sandbox_params closed[4];
static size_t n_closed, n_commits;
static struct msg said[16];
static size_t n_said;
static char server[64]; /* that the process uses */

/* -- what is played -- */

static void on_end_of_channel(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	ops->on_close(ops_ctx, NULL, 0, &(const struct facts){ 0 });
}

/* What comes behind it, a process that has ended does not see. */
static void on_run(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	script();
	(void)event_base_once(arg, -1, EV_TIMEOUT, on_end_of_channel, NULL, &(struct timeval){ 0 });
}

struct channel *channel_new(struct event_base *base, int fd, enum role self, enum role peer,
			    const struct channel_ops *o, void *ctx)
{
	(void)fd;
	(void)self;
	(void)peer;
	ops = o;
	ops_ctx = ctx;
	(void)event_base_once(base, -1, EV_TIMEOUT, on_run, base, &(struct timeval){ 0 });
	return (struct channel *)&said;
}

void channel_free(struct channel **c)
{
	*c = NULL;
}

void channel_set_phase(struct channel *c, enum phase phase)
{
	(void)c;
	(void)phase;
}

int channel_send(struct channel *c, const struct msg *m, int fd)
{
	(void)c;
	(void)fd;
	ck_assert_uint_lt(n_said, 16);
	said[n_said++] = *m;
	return 0;
}

void channel_read_waiting(struct channel *c)
{
	(void)c;
}

int channel_flush(struct channel *c, int timeout_ms)
{
	(void)c;
	(void)timeout_ms;
	return 0;
}

int sandbox_enter(const struct sandbox_params *params, char ret_text[static 256])
{
	strcpy(ret_text, "played");
	closed[n_closed++] = *params;
	return 0;
}

int sandbox_seal(const struct sandbox_params *params, char text[static 256])
{
	(void)params;
	(void)text;
	return 0;
}

/* -- the process -- */

static void take(const struct settings *s)
{
	strcpy(server, s->cluster.server ? s->cluster.server : "");
}

static int check_settings(const struct settings *s, enum text *ret_why)
{
	*ret_why = TEXT_NO_API_SERVER;
	return s->cluster.server && strstr(s->cluster.server, "refused") ? -1 : 0;
}

static int on_start(struct process *p, struct settings *s)
{
	(void)p;
	take(s);
	return 0;
}

static void on_commit(struct process *p, struct settings *s)
{
	(void)p;
	n_commits++;
	take(s);
}

static void on_msg(struct process *p, const struct msg *m)
{
	(void)p;
	(void)m;
}

static void on_end(struct process *p)
{
	(void)p;
}

static enum role of_role = ROLE_WORKER;

static int runs(void (*what)(void))
{
	const struct process_spec spec = { .role = of_role,
					   .check_settings = check_settings,
					   .on_start = on_start,
					   .on_commit = on_commit,
					   .on_msg = on_msg,
					   .on_drain = on_end,
					   .on_done = on_end };

	script = what;
	struct event_base *base = event_base_new();
	struct process *p = process_begin(base, -1, &spec);

	(void)event_base_dispatch(base);
	const int code = process_end(&p);

	event_base_free(base);
	return code;
}

/* -- steps -- */

static void hears_settings(uint64_t generation, const char *url, enum sandbox_mode mode)
{
	const struct msg m = { .type = MSG_SETTINGS, .u.settings.generation = generation };
	struct config c;
	struct settings *s = &c.settings;

	config_init(&c);
	s->cluster.server = xstrdup(url);
	s->sandbox = mode;
	const int fd = settings_write_blob(s, ROLE_WORKER);

	config_done(&c);
	ck_assert_int_ge(fd, 0);
	ops->on_msg(ops_ctx, NULL, &m, fd);
	ck_assert_msg(fcntl(fd, F_GETFD) < 0, "settings stay open, one more at each reload");
}

static void hears_commit(uint64_t generation)
{
	const struct msg m = { .type = MSG_SETTINGS_COMMIT, .u.settings_commit.generation = generation };

	ops->on_msg(ops_ctx, NULL, &m, -1);
}

/* -- cases -- */

static void another_host(void)
{
	hears_settings(1, "https://127.0.0.1:6443", SANDBOX_AUTO);
	hears_settings(2, "https://127.0.0.2:6443", SANDBOX_AUTO);
	ck_assert_uint_eq(n_commits, 0);
	ck_assert_str_eq(server, "https://127.0.0.1:6443");
	hears_commit(2);
}

TEST(another_host_on_the_same_port_is_taken)
{
	ck_assert_int_eq(runs(another_host), EXIT_CODE_ORPHAN); /* it went on until its channel ended */
	ck_assert_uint_eq(n_commits, 1);
	ck_assert_str_eq(server, "https://127.0.0.2:6443");
	ck_assert_uint_eq(n_closed, 1);
	ck_assert_uint_eq(closed[0].ports[0], 6443);
}

static void another_port(void)
{
	hears_settings(1, "https://127.0.0.1:6443", SANDBOX_AUTO);
	hears_settings(2, "https://127.0.0.1:6444", SANDBOX_AUTO);
	hears_commit(2);
}

/* A sandbox only tightens, so the new port gets a new process with a sandbox of its own. */
TEST(another_port_needs_another_process)
{
	ck_assert_int_eq(runs(another_port), EXIT_CODE_OK); /* started again at once */
	ck_assert_uint_eq(n_commits, 0);
	ck_assert_uint_eq(n_closed, 1);
}

static void another_port_without(void)
{
	hears_settings(1, "https://127.0.0.1:6443", SANDBOX_OFF);
	hears_settings(2, "https://127.0.0.1:6444", SANDBOX_OFF);
	hears_commit(2);
}

TEST(without_a_sandbox_another_port_is_just_used)
{
	ck_assert_int_eq(runs(another_port_without), EXIT_CODE_ORPHAN);
	ck_assert_str_eq(server, "https://127.0.0.1:6444");
}

static void what_was_not_prepared(void)
{
	hears_settings(1, "https://127.0.0.1:6443", SANDBOX_AUTO);
	hears_settings(2, "https://refused:6443", SANDBOX_AUTO);
	hears_commit(2);
	hears_settings(3, "https://127.0.0.3:6443", SANDBOX_AUTO);
	hears_commit(4);
}

TEST(what_was_refused_or_not_prepared_is_not_used)
{
	ck_assert_int_eq(runs(what_was_not_prepared), EXIT_CODE_ORPHAN);
	ck_assert_uint_eq(n_commits, 0);
	ck_assert_str_eq(server, "https://127.0.0.1:6443");
	/* HELLO, READY, the refusal, the other's yes */
	ck_assert_uint_eq(n_said, 4);
	ck_assert(!said[2].u.settings_ack.ok);
	ck_assert_str_eq(EN(said[2].u.settings_ack.error), "the settings name no API server");
	ck_assert(said[3].u.settings_ack.ok);
}

/* -- a reporter, which connects to each of its sinks -- */

static void hears_sinks(uint64_t generation, const char *const (*urls)[2], size_t n)
{
	const struct msg m = { .type = MSG_SETTINGS, .u.settings.generation = generation };
	struct config c;

	config_init(&c);
	for (size_t i = 0; i < n; i++) {
		struct sink_settings *s = config_append(&c, "sinks");

		s->name = xasprintf("sink-%zu", i);
		s->language = 0;
		s->url = urls[i][0] ? xstrdup(urls[i][0]) : NULL;
		s->proxy = urls[i][1] ? xstrdup(urls[i][1]) : NULL;
	}
	const int fd = settings_write_blob(&c.settings, ROLE_REPORTER);

	config_done(&c);
	ck_assert_int_ge(fd, 0);
	ops->on_msg(ops_ctx, NULL, &m, fd);
	ck_assert_msg(fcntl(fd, F_GETFD) < 0, "settings stay open, one more at each reload");
}

static const char *const three[][2] = { { "https://a/x", NULL },
					{ "https://b/y", "socks5h://bastion" },
					{ "smtp://me@mail:587", NULL },
					{ NULL, NULL } };

static void fewer_sinks(void)
{
	hears_sinks(1, three, 4);
	hears_sinks(2, three + 1, 1);
	hears_commit(2);
}

static void another_sink(void)
{
	static const char *const more[][2] = { { "https://a/x", NULL }, { "http://c:9093", NULL } };

	hears_sinks(1, three, 4);
	hears_sinks(2, more, 2);
	hears_commit(2);
}

/* One that needs no other port is a matter of settings alone. */
TEST(a_reporter_starts_again_for_a_port_it_does_not_have)
{
	of_role = ROLE_REPORTER;
	ck_assert_int_eq(runs(fewer_sinks), EXIT_CODE_ORPHAN);
	ck_assert_uint_eq(n_commits, 1);
	ck_assert_uint_eq(closed[0].ports[0], 443);
	ck_assert_uint_eq(closed[0].ports[1], 1080);
	ck_assert_uint_eq(closed[0].ports[2], 587);
	ck_assert_uint_eq(closed[0].ports[3], 0);
}

TEST(a_sink_behind_another_port_needs_another_reporter)
{
	of_role = ROLE_REPORTER;
	ck_assert_int_eq(runs(another_sink), EXIT_CODE_OK);
	ck_assert_uint_eq(n_commits, 0);
}

SUITE("process/settings");
