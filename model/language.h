/* language.h - the languages in which people are spoken to, and how the one of a reader is found.
 * Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_LANGUAGE_H
#define MODEL_LANGUAGE_H

enum language { LANGUAGE_EN, LANGUAGE_ZH, LANGUAGE__MAX };

/* "en", "zh"; "?" outside the range. */
const char *language_name(enum language l);

/* The language of messages in a locale, by the variables of POSIX in their order (XBD 8.2): the first of
 * LC_ALL, LC_MESSAGES and LANG that is set and not empty decides alone. "zh_CN.UTF-8" is Chinese; what is not
 * spoken here, "C" and no variable at all are English. A Chinese locale whose codeset is named and is not
 * UTF-8 is English, too: UTF-8 is all that is printed. NULL is a variable that is not set. */
enum language language_of_locale(const char *lc_all, const char *lc_messages, const char *lang);
/* The same of this process's environment. */
enum language language_of_environment(void);

/* The language that a text is written in: Chinese where it holds a Han character, else English. */
enum language language_of_text(const char *text);

#endif
