/* sim.c - see sim.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/sim.h"
#include "tests/apisim/api.h"
#include "tests/apisim/auth.h"
#include "tests/apisim/log.h"
#include "tests/apisim/storm.h"
#include "tests/apisim/util.h"
#include "tests/apisim/watch.h"

static void on_change(void *arg, const struct change *change)
{
	struct sim *sim = arg;

	(void)change;
	watches_wake(sim->watches);
}

static void first_objects(struct sim *sim)
{
	static const char *const names[] = { "default", "kube-node-lease", "kube-public", "kube-system" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		api_run_internal(sim, "POST", "/api/v1/namespaces",
				 json_pack("{s:{s:s}}", "metadata", "name", names[i]));
}

void sim_start(struct sim *sim, const struct options *opt, struct event_base *base)
{
	sim->opt = opt;
	util_random_seed(opt->fill.seed);
	util_clock_skew_set(opt->clock_skew);
	sim->base = base;
	sim->log = log_new(NULL);
	sim->store = store_new(opt->history, on_change, sim);
	sim->auth = auth_new();
	sim->faults = json_array();
	sim->hooks = json_array();
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
}

void sim_stop(struct sim *sim)
{
	storm_free(sim->storm);
	watches_free(sim->watches);
	json_decref(sim->hooks);
	json_decref(sim->faults);
	auth_free(sim->auth);
	store_free(sim->store);
	log_flush(sim->log);
	log_free(sim->log);
	json_decref(sim->by_verb);
	fill_done();
}
