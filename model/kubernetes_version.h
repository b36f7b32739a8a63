/* kubernetes_version.h - the version that an API server names (gitVersion of GET /version), and how it
 * compares with those of kubernetes.def.  Layer: model. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_KUBERNETES_VERSION_H
#define MODEL_KUBERNETES_VERSION_H

#include "base/str.h"

#define KUBERNETES_VERSION_MAX 63

struct kubernetes_version {
	uint64_t major, minor, patch;
};

/* "v1.34.1", which a distribution may follow by - or + and its own ("v1.30.2+k3s1", "v1.33.5-eks-113cf36").
 * 0, or -EINVAL: it is anything else, and unknown. */
int kubernetes_version_parse(struct str text, struct kubernetes_version *ret);
/* True when text is a version of that minor, or a later one; false when it is unknown. */
bool kubernetes_version_is_from(struct str text, uint64_t major, uint64_t minor);

enum kubernetes_tried {
	KUBERNETES_UNKNOWN,
	KUBERNETES_OLDER, /* its minor is before all that were tried */
	KUBERNETES_TRIED, /* one of them, or between them */
	KUBERNETES_NEWER,
};
enum kubernetes_tried kubernetes_version_tried(struct str text);

/* The i-th version that was tried, "v1.30.14", oldest first; NULL after the last. */
const char *kubernetes_version_at(size_t i);
/* All of them, for people: "1.30.14, 1.34.1". */
const char *kubernetes_versions_text(void);

#endif
