/* status.h - the STATUS column of kubectl, for reports and explain (R6).  Layer: rules.  Pure.
 * Source: kubernetes pkg/printers/internalversion/printers.go, printPod. Signals are not among the facts:
 * "ExitCode:137" stands where kubectl says "Signal:9". */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_STATUS_H
#define RULES_STATUS_H

#include "model/pod.h"

#define STATUS_MAX 96

/* "Running", "Init:ImagePullBackOff", "CrashLoopBackOff", "Init:0/2", "Terminating", ... Returns buf. */
const char *status_of(const struct pod_facts *p, char buf[static STATUS_MAX]);

#endif
