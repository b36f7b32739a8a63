/* retell.h - evidence and details, which are written and kept in English, told in the language of who reads
 * them, by the rows of model/phrases_evidence.def and phrases_details.def; what a configuration lacks and
 * what an instance answers is told as well, by phrases_config.def and
 * phrases_answers.def. Layer: model.  Pure.
 *
 * A text is a list of sentences with "; " between, and so is a row. Of each the one is found whose English it
 * may have been made from; of several, that with the most bytes of its own. What has no row, as the message
 * of a server, stays byte for byte as it is, and so does what was filled into a "%.*s". The text may hold
 * anything: no text is an error. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_RETELL_H
#define MODEL_RETELL_H

#include "model/language.h"

/* The whole of it, a copy where there is nothing to tell again. Owned by the caller; NULL where text is. */
char *retell(const char *text, enum language l);

#endif
