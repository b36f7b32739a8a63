/* signals.h - signals that mean nothing to this program do not end it.
 * Layer: base.  Source: signal(7), "Standard signals": those whose default action is to terminate. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

/* Ignore every signal that would end the process and is neither SIGKILL, SIGTERM nor the sign of a fault
 * (SIGSEGV, SIGABRT, SIGSYS, ...), which must be seen. Whoever means something by one handles it afterwards.
 * A limit that is reached (SIGXFSZ) is an error of the call then, like a full disk. */
void signals_ignore(void);

#endif
