/* random_pod.h - random pods with every field of model/fields.def, in both encodings.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_RANDOM_POD_H
#define TESTS_RANDOM_POD_H

#include "tests/unit/kube/wire.h"

/* A pod that a duty may act on now and then, around RANDOM_POD_NOW; the seed decides everything. Its messages
 * carry unknown fields, too. Released by dual_done(). */
#define RANDOM_POD_NOW_S INT64_C(1790000000) /* 2026-09-21T14:13:20Z */
struct dual random_pod(uint64_t seed);

#endif
