/* apisim: a Kubernetes API server in memory, for tests. See README.md. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/api.h"
#include "tests/apisim/auth.h"
#include "tests/apisim/faults.h"
#include "tests/apisim/hooks.h"
#include "tests/apisim/log.h"
#include "tests/apisim/storm.h"
#include "tests/apisim/util.h"
#include "tests/apisim/watch.h"

#include <errno.h>
#include <malloc.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void on_change(void *arg, const struct change *change)
{
	struct sim *sim = arg;

	(void)change;
	watches_notify(sim->watches);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct sim *sim = arg;

	(void)fd, (void)what;
	sim->quit = true;
}

static void first_objects(struct sim *sim)
{
	static const char *const names[] = { "default", "kube-node-lease", "kube-public", "kube-system" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		api_run_internal(sim, "POST", "/api/v1/namespaces",
				 json_pack("{s:{s:s}}", "metadata", "name", names[i]));
}

/*
 * Timers that are never early: libevent's default clock is coarse (up to 4 ms behind) and cached for a whole round
 * of the loop, so that a delay of 300 ms could end after 296 ms as a client measures it (event2/event.h,
 * EVENT_BASE_FLAG_PRECISE_TIMER, EVENT_BASE_FLAG_NO_CACHE_TIME).
 */
static struct event_base *precise_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (!config || event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER | EVENT_BASE_FLAG_NO_CACHE_TIME) < 0)
		util_die(70, "no memory for an event loop");
	base = event_base_new_with_config(config);
	event_config_free(config);
	if (!base)
		util_die(70, "no event loop: %s", strerror(errno));
	return base;
}

static void sim_start(struct sim *sim, const struct options *opt, SSL_CTX *tls)
{
	sim->opt = opt;
	util_random_seed(opt->fill.seed);
	util_clock_skew_set(opt->clock_skew);
	sim->base = precise_base();
	sim->log = log_new(NULL);
	sim->store = store_new(opt->history, on_change, sim);
	sim->auth = auth_new();
	sim->faults = faults_new();
	sim->hooks = hooks_new();
	sim->watches = watches_new(sim);
	sim->storm = storm_new(sim);
	sim->by_verb = json_object();
	for (size_t i = 0; i < opt->token_count; i++)
		if (!auth_add(sim->auth, opt->tokens[i]))
			util_die(64,
				 "--token %s: TOKEN=USER[:[+]VERBS/RESOURCE[/SUB][@NAMESPACE]]... is wanted",
				 opt->tokens[i]);
	first_objects(sim);
	log_free(sim->log);
	sim->log = log_new(opt->request_log);
	if (opt->fill.pods)
		fill_store(sim->store, &opt->fill);
	sim->http = http_server_new(sim->base, opt->host, opt->port, tls, api_on_request, sim);
}

static void sim_stop(struct sim *sim)
{
	http_server_free(sim->http);
	storm_free(sim->storm);
	watches_free(sim->watches);
	hooks_free(sim->hooks);
	faults_free(sim->faults);
	auth_free(sim->auth);
	store_free(sim->store);
	log_flush(sim->log);
	log_free(sim->log);
	json_decref(sim->by_verb);
	fill_done();
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
	sim_start(&sim, &opt, tls);
	term = evsignal_new(sim.base, SIGTERM, on_signal, &sim);
	interrupt = evsignal_new(sim.base, SIGINT, on_signal, &sim);
	event_add(term, NULL);
	event_add(interrupt, NULL);
	write_port(opt.port_file, http_server_port(sim.http));
	while (!sim.quit) {
		event_base_loop(sim.base, EVLOOP_ONCE);
		log_flush(sim.log);
	}
	sim_stop(&sim);
	event_free(term);
	event_free(interrupt);
	event_base_free(sim.base);
	SSL_CTX_free(tls);
	return 0;
}
