/* verdicts.h - what a judgement can say, and what may be unknown.  Layer: model. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_VERDICTS_H
#define MODEL_VERDICTS_H

enum verdict_kind {
	VERDICT_NONE,
	VERDICT_WAIT,
	VERDICT_ACT,
	VERDICT_REFUSE,
	VERDICT__MAX,
};

/* Whatever is not TRI_YES is not yes. */
enum tri {
	TRI_UNKNOWN,
	TRI_NO,
	TRI_YES,
	TRI__MAX,
};

/* "act", ...; "?" outside the range. */
const char *verdict_kind_name(enum verdict_kind k);

#endif
