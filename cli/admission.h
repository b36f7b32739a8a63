/* admission.h - the wall that the cluster itself puts around the workers: a ValidatingAdmissionPolicy
 * (admissionregistration.k8s.io/v1, Kubernetes 1.30) that takes from their user what no duty of a
 * configuration would write. Process: cli.  Sources: k8s.io/apiserver/pkg/admission/plugin/policy/validating;
 * docs/threat-model.md says what it holds and what it cannot. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_ADMISSION_H
#define CLI_ADMISSION_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"
#include "model/rights.h"

/* The namespace of the accounts. */
#define ADMISSION_HOME "ops-pod-cleaner"

/* Of a kind that only /scale can tell nobody sees the mark: what its administrator lets come back from 0 is
 * at most this. */
#define ADMISSION_RESTORE_MAX 1000

struct config;

struct admission_request {
	const struct config *config;
	const char *writer;            /* the workers' user; NULL: their service account */
	const struct kind_desc *kinds; /* besides those of model/kinds.def */
	size_t n_kinds;
	struct str_list annotations; /* prefixes of annotations that may change beside ours; borrowed */
	bool suspends, announces;    /* some duty suspends Jobs, announces on the object */
	bool suspends_cron_jobs;     /* and CronJobs */
};

/* The policy and its binding, as YAML. */
void admission_print(const struct admission_request *q, FILE *out);

#endif
