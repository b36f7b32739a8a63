/* run.c - `run`: find the files, then become the supervisor; or, with --once, have one for a round. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/local/paths.h"
#include "cli/instance/start.h"
#include "cli/view/output.h"

/* Every missing directory of the path, for us alone. */
static int make_parents(const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST) {
			output_complain(NULL, TEXT(RUN_CANNOT_CREATE), copy, strerrordesc_np(errno));
			return EXIT_CODE_CONFIG;
		}
		*slash = '/';
	}
	return EXIT_CODE_OK;
}

/* Does not return but on an error. */
static int become_supervisor(const struct options *o, const char *control_socket)
{
	_cleanup_free_ char *found = paths_find_config(o->config);
	_cleanup_free_ char *config = paths_absolute(found);
	_cleanup_free_ char *state_dir = paths_absolute(o->state_dir);
	_cleanup_free_ char *kubeconfig = paths_absolute(o->kubeconfig);
	const struct start s = { config,
				 control_socket,
				 state_dir,
				 kubeconfig,
				 o->context,
				 o->master,
				 o->dry_run ? START_DRY_RUN : START_AS_CONFIGURED };

	if (!o->config)
		output_complain(NULL, TEXT(RUN_CONFIGURATION), config);
	if (!o->config && access(found, F_OK) != 0 && access("config.yml", F_OK) == 0)
		output_complain(NULL, "%s", TEXT(RUN_NOT_UNASKED));
	return start_supervisor(&s);
}

/* -- one round -- */

#define TROUBLE_MS 30000u /* as long as a name server or an API server may be away */
#define LEADER_MS  30000u /* a Lease that nobody renews is free after 15 s */
#define ASK_MS     UINT64_C(30000)
#define ROWS_MAX   100000u

static const uint64_t failures = UINT64_C(1) << OUTCOME_FAILED | UINT64_C(1) << OUTCOME_FORBIDDEN |
				 UINT64_C(1) << OUTCOME_CONFLICT | UINT64_C(1) << OUTCOME_UNCONFIRMED;

/* How each ended at last: what failed and was done at the next try did not fail. */
static void count_last_outcomes(struct rows *r, size_t ret[static OUTCOME__MAX])
{
	const char *key = NULL;

	rows_sort_history(r);
	for (size_t i = 0; i < r->ctl_history_row.n; i++) {
		const struct msg_ctl_history_row *h = &r->ctl_history_row.v[i];

		if (h->outcome < 0 || (key && strcmp(h->action_key, key) == 0))
			continue;
		key = h->action_key;
		ret[h->outcome]++;
	}
}

/* True when nothing failed. */
static bool print_outcomes(struct ctl *c, int64_t since)
{
	const struct msg ask = { .type = MSG_CTL_HISTORY,
				 .u.ctl_history = { .since = since,
						    .limit = ROWS_MAX,
						    .duty = DUTY_ALL,
						    .outcomes = OUTCOMES_ALL } };
	struct rows rows = { 0 };
	size_t n[OUTCOME__MAX] = { 0 };
	bool ok = ctl_request(c, &ask, ASK_MS, rows_take, &rows) == EXIT_CODE_OK;

	count_last_outcomes(&rows, n);
	printf("%s", TEXT(ROUND_OVER));
	for (size_t i = 0; i < OUTCOME__MAX; i++) {
		if (n[i] > 0)
			printf(" %zu %s,", n[i], outcome_name((enum outcome)i));
		ok = ok && !(n[i] > 0 && failures >> i & 1);
	}
	rows_done(&rows);
	return ok;
}

static int ask_round(const void *ctx, const char *socket, struct ctl *c)
{
	static const struct wait_limits limits = { TROUBLE_MS, LEADER_MS, true };
	const int64_t since = clock_wall_ms();
	size_t left = 0;
	int code = wait_settled(c, &limits, NULL);
	const bool ok = print_outcomes(c, since);

	if (code == EXIT_CODE_OK)
		code = plan_print_left(ctx, socket, &left);
	else
		printf("%s\n", TEXT(ROUND_NOT_ALL));
	return code == EXIT_CODE_OK && (!ok || left > 0) ? EXIT_CODE_FAILURE : code;
}

/* Run an instance until all is settled, drain it, and print what was done and what is left. Returns
 * EXIT_CODE_FAILURE when something failed or is left. */
static int run_once(const struct options *o, const char *socket)
{
	const struct private_instance a = { .o = o,
					    .socket = socket,
					    .kind = o->dry_run ? START_DRY_RUN : START_ROUND,
					    .ask = ask_round,
					    .ctx = o };

	return private_instance_run(&a);
}

/* -- the command -- */

int command_run(const struct options *o)
{
	_cleanup_free_ char *socket = o->socket ? paths_absolute(o->socket) : paths_default_control_socket();

	if (strlen(socket) >= sizeof(((struct sockaddr_un *)0)->sun_path) - 8)
		return command_misuse(o, TEXT(RUN_LONG_SOCKET), socket);
	const int code = make_parents(socket);

	if (code != EXIT_CODE_OK)
		return code;
	return o->once ? run_once(o, socket) : become_supervisor(o, socket);
}
