/* private_dir_text.h - what is wrong with a folder (base/private_dir.h), as facts. Layer: text. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEXT_PRIVATE_DIR_TEXT_H
#define TEXT_PRIVATE_DIR_TEXT_H

#include "base/private_dir.h"
#include "model/facts.h"

/* The place, what is wrong with it and the remedy. */
void private_dir_facts(const char *dir, const struct private_dir_error *e, struct facts *ret);

#endif
