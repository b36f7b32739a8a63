/* quotes.h - words of others that are kept with an action as they were, and are too long for a fact: the log
 * of a container that crashed, what a kubelet or registry said.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_QUOTES_H
#define MODEL_QUOTES_H

#define QUOTES_MAX     4u    /* of one action */
#define QUOTE_TEXT_MAX 4096u /* bytes of one */

/* Q(ID, key): what is quoted. The history holds the numbers: a new row stands last. */
#define QUOTE_LIST(Q)                                                                                        \
	Q(LOG, "log")         /* the last lines of a container's log */                                      \
	Q(MESSAGE, "message") /* of the status of a pod or container, or of an Event */

enum quote_kind {
#define QUOTE(ID, key) QUOTE_##ID,
	QUOTE_LIST(QUOTE)
#undef QUOTE
		QUOTE__MAX
};

/* "log": its name in JSON. */
static inline const char *quote_key(enum quote_kind kind)
{
	static const char *const keys[] = {
#define QUOTE(ID, key) key,
		QUOTE_LIST(QUOTE)
#undef QUOTE
	};

	return keys[kind];
}

#endif
