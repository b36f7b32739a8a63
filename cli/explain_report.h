/* explain_report.h - verdicts and checks about pods, collected and printed alike for a live pod and for a
 * file. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_EXPLAIN_REPORT_H
#define CLI_EXPLAIN_REPORT_H

#include <stdbool.h>

#include "cli/options.h"
#include "ipc/msg.h"

struct explain_report;

struct explain_report *explain_report_new(void);
/* Accepts NULL. */
void explain_report_free(struct explain_report **r);
/* About the pod "NAMESPACE/NAME". The checks of a duty follow its verdict. Copied. */
void explain_report_add(struct explain_report *r, const char *pod, const struct msg_ctl_explain_row *row);
void explain_report_print(const struct explain_report *r, enum output output);
/* Both say the same. */
bool explain_report_same(const struct explain_report *a, const struct explain_report *b);

#endif
