/* exit.h - exit codes are a protocol between a process, its supervisor, systemd and people.
 * Layer: base.  Values follow sysexits.h where it has one. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_EXIT_H
#define BASE_EXIT_H

#include <errno.h>
#include <stdbool.h>

enum {
	EXIT_CODE_OK = 0,
	EXIT_CODE_FAILURE = 1,
	EXIT_CODE_DUE = 2,          /* `plan --detailed-exitcode`: something is due */
	EXIT_CODE_USAGE = 64,       /* EX_USAGE: wrong command line */
	EXIT_CODE_DATA = 65,        /* EX_DATAERR: a file the user named is not what it should be */
	EXIT_CODE_UNAVAILABLE = 69, /* EX_UNAVAILABLE: no running instance, API server unreachable */
	EXIT_CODE_INTERNAL = 70,    /* EX_SOFTWARE: a bug */
	EXIT_CODE_RESOURCE = 71,    /* EX_OSERR: out of memory, descriptors, processes */
	EXIT_CODE_TEMPORARY =
		75, /* EX_TEMPFAIL: try again, e.g. state directory locked by another instance */
	EXIT_CODE_CREDENTIAL = 77, /* EX_NOPERM: credential refused */
	EXIT_CODE_CONFIG = 78,     /* EX_CONFIG: configuration or requirement not met: do not restart */
	EXIT_CODE_ORPHAN = 79,     /* the supervisor is gone */
};

/* Is this negative errno about the host at this moment, and not about what the operator configured? Such an
 * error never becomes EXIT_CODE_CONFIG, which is not restarted. */
static inline bool exit_is_transient(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -ENOBUFS || err == -EAGAIN ||
	       err == -EINTR || err == -EIO || err == -ENOSPC || err == -EADDRINUSE;
}

#endif
