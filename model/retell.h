/* retell.h - evidence and details, which are written and kept in English, told in the language of who reads
 * them, by the rows of model/phrases_evidence.def.  Layer: model.  Pure.
 *
 * A text is a list of sentences with "; " between. Of each the row is found whose English it may have been
 * made from; of several, that with the most bytes of its own. What has no row, as the message of a server,
 * stays byte for byte as it is, and so does what was filled into a "%.*s". The text may hold anything: no
 * text is an error. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_RETELL_H
#define MODEL_RETELL_H

#include <stddef.h>

#include "model/language.h"

/* Fills out, terminated, never with half a character of a text that is UTF-8, and returns how many bytes the
 * whole has, without the NUL: what is not less than size was cut, as with snprintf. size may be 0, and out is
 * not looked at then. English stays as it is. */
size_t retell(const char *text, enum language l, char *out, size_t size);
/* The whole of it. Owned by the caller; NULL where text is. */
char *retell_dup(const char *text, enum language l);

#endif
