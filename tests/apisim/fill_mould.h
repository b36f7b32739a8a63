/* The encoded forms of filled pods: a form is encoded once for all pods in which every value has the same
 * length, and then cast for each with its values. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_FILL_MOULD_H
#define APISIM_FILL_MOULD_H

#include "tests/apisim/object.h"

enum fill_form { FILL_PROTOBUF, FILL_JSON, FILL_FORMS };

/* Of a filled pod; the caller's. */
struct blob *fill_mould_cast(const struct obj *o, enum fill_form form);

void fill_mould_done(void);

#endif
