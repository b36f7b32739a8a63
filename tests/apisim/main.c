/* apisim: a Kubernetes API server in memory, for tests. See README.md. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/api.h"
#include "tests/apisim/log.h"
#include "tests/apisim/sim.h"
#include "tests/apisim/util.h"

#include <errno.h>
#include <malloc.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static SSL_CTX *tls_context(const struct options *opt)
{
	SSL_CTX *ctx;

	if (!opt->tls_cert)
		return NULL;
	ctx = SSL_CTX_new(TLS_server_method());
	if (!ctx)
		util_die(71, "no TLS context");
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	if (SSL_CTX_use_certificate_chain_file(ctx, opt->tls_cert) != 1)
		util_die(66, "--tls-cert %s: %s", opt->tls_cert, ERR_error_string(ERR_get_error(), NULL));
	if (SSL_CTX_use_PrivateKey_file(ctx, opt->tls_key, SSL_FILETYPE_PEM) != 1)
		util_die(66, "--tls-key %s: %s", opt->tls_key, ERR_error_string(ERR_get_error(), NULL));
	return ctx;
}

static void write_port(const char *path, uint16_t port)
{
	char *tmp;
	FILE *f;

	if (!path)
		return;
	tmp = util_format("%s.tmp", path);
	f = fopen(tmp, "we");
	if (!f || fprintf(f, "%u\n", port) < 0 || fclose(f) || rename(tmp, path))
		util_die(73, "--port-file %s: %s", path, strerror(errno));
	free(tmp);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct sim *sim = arg;

	(void)fd, (void)what;
	sim->quit = true;
}

/*
 * Timers that are never early: libevent's default clock is coarse (up to 4 ms behind) and cached for a whole
 * round of the loop, so that a delay of 300 ms could end after 296 ms as a client measures it
 * (event2/event.h, EVENT_BASE_FLAG_PRECISE_TIMER, EVENT_BASE_FLAG_NO_CACHE_TIME). With epoll such timers cost
 * a timerfd_settime in each round; for so few connections poll is the cheaper one.
 */
static struct event_base *precise_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (!config || event_config_avoid_method(config, "epoll") < 0 ||
	    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER | EVENT_BASE_FLAG_NO_CACHE_TIME) < 0)
		util_die(70, "no memory for an event loop");
	base = event_base_new_with_config(config);
	event_config_free(config);
	if (!base)
		util_die(70, "no event loop: %s", strerror(errno));
	return base;
}

int main(int argc, char **argv)
{
	struct options opt;
	struct sim sim = { 0 };
	struct event *term, *interrupt;
	SSL_CTX *tls;

	options_parse(&opt, argc, argv);
	signal(SIGPIPE, SIG_IGN);
	mallopt(M_TOP_PAD, 64 << 20); /* it grows to gigabytes: in large steps */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	tls = tls_context(&opt);
	sim_start(&sim, &opt, precise_base());
	sim.http = http_server_new(sim.base, opt.host, opt.port, tls, api_on_request, api_before_send, &sim);
	term = evsignal_new(sim.base, SIGTERM, on_signal, &sim);
	interrupt = evsignal_new(sim.base, SIGINT, on_signal, &sim);
	event_add(term, NULL);
	event_add(interrupt, NULL);
	write_port(opt.port_file, http_server_port(sim.http));
	while (!sim.quit) {
		event_base_loop(sim.base, EVLOOP_ONCE);
		log_flush(sim.log);
	}
	http_server_free(sim.http);
	sim_stop(&sim);
	event_free(term);
	event_free(interrupt);
	event_base_free(sim.base);
	SSL_CTX_free(tls);
	return 0;
}
