/* news.h - the kinds of news that people are told, from model/news.def.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_NEWS_H
#define MODEL_NEWS_H

#include "base/str.h"

enum news {
#define NEWS(ID, ...) NEWS_##ID,
#include "model/news.def"
#undef NEWS
	NEWS__MAX
};

enum news_in_doubt { IN_DOUBT_REPEAT, IN_DOUBT_TELL };

/* What `ops-pod-cleaner report` asks for, and the form of the answer: lines for a terminal, the document as
 * JSON, a page, or what the sink would be sent, to the byte. */
enum report_ask { REPORT_ASK_NOW, REPORT_ASK_PREVIEW, REPORT_ASK_TEST, REPORT_ASK__MAX };
enum report_form { REPORT_FORM_TEXT, REPORT_FORM_JSON, REPORT_FORM_HTML, REPORT_FORM_BODY, REPORT_FORM__MAX };

/* "actions"; "?" outside the table. */
const char *news_name(enum news n);
/* The kind of that name; -1 when there is none. */
int news_parse(struct str name);
/* What becomes of a message whose answer was never heard. */
enum news_in_doubt news_in_doubt(enum news n);

#endif
