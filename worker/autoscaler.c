/* autoscaler.c - see autoscaler.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/autoscaler.h"

#include <string.h>

#include "base/cleanup.h"
#include "worker/read.h"

static struct str or_default(struct str s, struct str otherwise)
{
	return str_empty(s) ? otherwise : s;
}

bool autoscaler_targets(const json_t *scaler, const struct kind_info *kind, struct str name)
{
	struct str version =
		or_default(READ_TEXT(scaler, "spec", "scaleTargetRef", "apiVersion"), STR_LIT("apps/v1"));
	const char *slash = memchr(version.p, '/', version.n);
	struct str group = { version.p, slash ? (size_t)(slash - version.p) : 0 };

	return str_eq(READ_TEXT(scaler, "spec", "scaleTargetRef", "name"), name) &&
	       str_is(or_default(READ_TEXT(scaler, "spec", "scaleTargetRef", "kind"), STR_LIT("Deployment")),
		      kind->kind) &&
	       str_is(group, kind->group);
}

int64_t autoscaler_hpa_min(const json_t *hpa)
{
	const json_t *min = READ_AT(hpa, "spec", "minReplicas");

	return json_is_integer(min) ? json_integer_value(min) : 1;
}

bool autoscaler_keda_paused(const json_t *scaled_object)
{
	struct str paused = READ_TEXT(scaled_object, "metadata", "annotations", "autoscaling.keda.sh/paused");
	struct str at =
		READ_TEXT(scaled_object, "metadata", "annotations", "autoscaling.keda.sh/paused-replicas");

	if (!str_empty(at)) /* it is kept at this number, paused or not */
		return str_is(at, "0");
	return str_is(paused, "true");
}

const char *autoscaler_gitops_mark(const json_t *workload)
{
	static const char *const marks[][2] = {
		{ "annotations", "argocd.argoproj.io/tracking-id" },
		{ "labels", "argocd.argoproj.io/instance" },
		{ "labels", "kustomize.toolkit.fluxcd.io/name" },
		{ "labels", "helm.toolkit.fluxcd.io/name" },
		{ "annotations", "meta.helm.sh/release-name" },
		{ "labels", "app.kubernetes.io/instance" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (!str_empty(READ_TEXT(workload, "metadata", marks[i][0], marks[i][1])))
			return marks[i][1];
	return NULL;
}
