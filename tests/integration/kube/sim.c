/* sim.c - see sim.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/kube/sim.h"
#include "tests/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLAGS_MAX 32

static void run(const char *apisim, const char *listen, const char *port_file, const char *const *flags)
{
	const char *argv[FLAGS_MAX] = { apisim, "--port-file", port_file, "--listen", listen };
	size_t n = 5;

	for (; *flags && n < FLAGS_MAX - 1; flags++)
		argv[n++] = *flags;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(apisim, (char *const *)(uintptr_t)argv);
	_exit(127);
}

static unsigned wait_for_port(const char *path)
{
	for (int i = 0; i < 600; i++) {
		FILE *f = fopen(path, "r");
		unsigned port = 0;

		if (f) {
			if (fscanf(f, "%5u", &port) != 1)
				port = 0;
			(void)fclose(f);
		}
		if (port)
			return port;
		usleep(50000);
	}
	return 0;
}

static unsigned launch(struct sim *s, const char *apisim, const char *listen, const char *const *flags)
{
	char dir[SUITE_PATH_MAX], port_file[SUITE_PATH_MAX + 8];

	suite_folder(dir);
	(void)snprintf(port_file, sizeof(port_file), "%s/port", dir);
	s->pid = fork();
	if (s->pid == 0)
		run(apisim, listen, port_file, flags);
	const unsigned port = wait_for_port(port_file);

	ck_assert_msg(port != 0, "apisim did not start");
	return port;
}

void sim_start(struct sim *s, const char *apisim, const char *const *flags)
{
	const unsigned port = launch(s, apisim, "127.0.0.1:0", flags);

	(void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", port);
	const struct http_endpoint e = { .base_url = s->url, .user_agent = "test" };

	s->base = event_base_new();
	s->client = http_client_new(s->base, &e);
}

void sim_restart(struct sim *s, const char *apisim, const char *const *flags)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	(void)launch(s, apisim, s->url + strlen("http://"), flags);
}

void sim_stop(struct sim *s)
{
	http_client_free(&s->client);
	event_base_free(s->base);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

struct waiting {
	bool done;
	long status;
	json_t *body;
};

static void on_done(void *ctx, const struct http_result *r)
{
	struct waiting *w = ctx;

	w->done = true;
	w->status = r->failure == HTTP_OK ? r->status : 0;
	w->body = json_loadb(r->body, r->body_len, 0, NULL);
}

long sim_call(struct sim *s, const char *method, const char *path, const char *type, const char *body,
	      json_t **ret)
{
	struct waiting w = { 0 };
	const struct http_call call = {
		.method = method,
		.path = path,
		.content_type = type,
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.max_body = 64u << 20,
		.total_timeout_ms = 20000,
		.on_done = on_done,
		.ctx = &w,
	};

	(void)http_client_start(s->client, &call);
	while (!w.done)
		event_base_loop(s->base, EVLOOP_ONCE);
	if (ret)
		*ret = w.body;
	else
		json_decref(w.body);
	return w.status;
}
