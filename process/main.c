/* main.c - the program of a role: watcher, worker and reporter are each linked with the spec of their role,
 * which CMake names. The supervisor is at descriptor 3. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/signals.h"
#include "ipc/loop.h"
#include "process/process.h"

#define CHANNEL_FD 3

extern const struct process_spec OPC_ROLE_SPEC;

/* Not by the supervisor, which asks by DRAIN when nothing is open any more: until then grants hold, and a
 * watcher that gave its Lease back would let another replica write beside them. The next one takes it up
 * again. */
static void on_sigterm(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	if (OPC_ROLE_SPEC.role == ROLE_WATCHER)
		process_exit(arg, EXIT_CODE_OK);
	else
		process_drain(arg);
}

int main(int argc, char **argv)
{
	const struct process_spec *spec = &OPC_ROLE_SPEC;

	(void)argc;
	if (fcntl(CHANNEL_FD, F_GETFD) < 0) {
		(void)fprintf(stderr, "%s: is started by ops-pod-cleaner, not by hand\n", argv[0]);
		return EXIT_CODE_USAGE;
	}
	memory_large_blocks_apart();
	log_init(role_name(spec->role));
	(void)prctl(PR_SET_NAME, role_name(spec->role), 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	signals_ignore();
	tzset(); /* reads its files now, not in the sandbox */
	struct event_base *base = loop_new();

	if (!base)
		abort();
	struct process *p = process_begin(base, CHANNEL_FD, spec);
	struct event *sigterm = evsignal_new(base, SIGTERM, on_sigterm, p);

	(void)event_add(sigterm, NULL);
	(void)event_base_dispatch(base);
	event_free(sigterm);
	const int code = process_end(&p);

	event_base_free(base);
	return code;
}
