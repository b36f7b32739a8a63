/* output.h - what several commands print alike.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_VIEW_OUTPUT_H
#define CLI_VIEW_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

#include "base/rfc3339.h"
#include "cli/view/table.h"
#include "model/facts.h"
#include "model/phrases.h"

/* Of the shape of all answers, which docs/json.md describes: a member is added without it, and one that goes
 * or changes its meaning takes the next. */
#define OUTPUT_API_VERSION "ops-pod-cleaner.io/v1"
/* Print an answer to stdout and free it: an object, or a list, which becomes the member `items`; with
 * apiVersion. What is not printable (base/unicode.h) is escaped. */
void output_json(json_t *root);
/* The same of a document that has a format of its own, as it is. */
void output_document(json_t *root);
/* With true: a command that was asked for JSON begins. Its errors are JSON, too: where it ends with one and
 * without a call of output_json(), output_flush() prints {"apiVersion", "error": {"exitCode", "message"}}. */
void output_expect_json(bool expected);
/* Write out what was printed. Code, or EXIT_CODE_FAILURE when code was 0 and it could not be written: a full
 * disk behind a pipe must not look like success. */
int output_flush(int code);
/* The text of row ID of model/phrases.def, in the language of the reader's locale. */
#define TEXT(ID)       phrase(ID, language_of_environment())
#define TEXT_OF(ID, n) phrase_of(ID, n, language_of_environment())
struct diags;
/* Print what was found in a file on stderr, one line each, in that language; errors: without the warnings. */
void output_diags(const struct diags *d, bool errors);
/* Print "ops-pod-cleaner COMMAND: " (command NULL: without one), the text and a line end on stderr. */
void output_complain(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same as output_complain(), of facts, in the reader's language. */
void output_complain_facts(const struct facts *f);

/* Facts for people, in the reader's language; owned by the caller. */
char *output_facts(const struct facts *f, const struct table_view *v);
/* A time for people: "2026-11-22 18:31:04" of this machine's zone, or RFC 3339 with its Z. */
void output_time(const struct table_view *v, int64_t ms, char ret[static RFC3339_MAX]);

/* The template of text/templates/ of that name, of what programs read (manifests, scripts of a shell), filled
 * with values, which it frees; owned by the caller. {{name}} writes a value with a backslash before each
 * character of `escaped`, and with ' as '\''; {{{name}}} writes it as it is. */
char *output_filled(const char *name, const char *escaped, json_t *values);
/* Print the same to stdout. */
void output_template(const char *name, const char *escaped, json_t *values);

/* Of a reason code; "" of one that this program does not know. JSON is in English. */
const char *output_sentence(const char *code, enum language l);
const char *output_remedy(const char *code, enum language l);
/* "every duty" where d is negative; "cluster prod", or "every cluster" of "", owned by the caller. */
const char *output_duties(int64_t d);
char *output_clusters(const char *name);
/* Print "PAUSED: ..." on stdout: what is paused, by whom, until when and why. */
struct msg_pause;
void output_pause(const struct msg_pause *p, const struct table_view *v);
/* "duty", "retry", "restore" */
const char *output_action(uint64_t action);
/* "errImagePull restore"; the duty alone when the action is what it does anyway. */
#define OUTPUT_DUTY_MAX 64
void output_duty(char *ret, size_t size, uint64_t duty, uint64_t action);

#endif
