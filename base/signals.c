/* signals.c - see signals.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/signals.h"

#include <signal.h>

#include "base/cleanup.h"

void signals_ignore(void)
{
	static const int ending[] = { SIGHUP,    SIGINT,  SIGQUIT, SIGPIPE,   SIGALRM, SIGUSR1, SIGUSR2,
				      SIGSTKFLT, SIGPOLL, SIGPROF, SIGVTALRM, SIGXFSZ, SIGPWR };

	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		(void)signal(ending[i], SIG_IGN);
	for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
		(void)signal(s, SIG_IGN);
}
