/* facts_json.h - facts for programs. Layer: text. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEXT_FACTS_JSON_H
#define TEXT_FACTS_JSON_H

#include <jansson.h>

#include "model/facts.h"

/* An object {key: value}, empty without facts; the caller owns it. Times are RFC 3339 in UTC, durations
 * seconds, statements of ours their codes; a key that may be there several times has an array. */
json_t *facts_json(const struct facts *f);

#endif
