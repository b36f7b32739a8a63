/* options.h - reads the command line of every command by one table (options.def).
 * Process: cli.  Texts point into argv. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/view/table.h"

#define OPTIONS_MAX      18 /* of one command */
#define OPTIONS_TEXT_MAX 320

enum option_id {
#define O(ID, ...) OPTION_##ID,
#include "cli/options.def"
#undef O
	OPTION__MAX
};

/* An option of one command and what it means there. */
struct option_use {
	enum option_id id;
	const char *help;
};

/* What was written of an option that may be repeated, in its order. */
#define OPTION_NAMES_MAX 16
struct option_names {
	const char *v[OPTION_NAMES_MAX]; /* v[0] NULL: none was written */
	size_t n;
};

/* How a summary is divided; 0 when nothing was written. */
enum option_by { BY_DUTY, BY_NAMESPACE, BY_NODE, BY_CLUSTER, BY_REASON };

enum output { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON };

/* What was written; a member whose option was not is NULL or 0, unless it says otherwise. */
struct options {
	const char *command; /* its name; set by main() */
	const char *socket, *config, *state_dir, *kubeconfig, *context, *master;
	const char *target, *reason, *file, *zone, *sink;
	const char *kinds, *webhook_annotations, *writer, *kubeconfig_for, *namespaces_file;
	struct option_names clusters, namespaces;
	int64_t output;  /* enum output */
	int64_t form;    /* enum report_form; -1: none was written */
	int64_t duty;    /* enum duty; -1: none was written */
	int64_t outcome; /* enum outcome, OUTCOME__MAX: open; -1: none was written */
	int64_t by;      /* enum option_by; -1: none was written */
	int64_t since_ms, now_ms, failing_since_ms; /* Unix ms */
	int64_t for_ms, count;
	int64_t refusals, dry_run, yes, rules, watch, utc, detailed_exitcode, follow, strict; /* 1: written */
	int64_t admission, once, quiet, check, test, summary, list, answers, with_answers;
	int64_t terminal;  /* columns; 0: none were written */
	char *const *args; /* what is no option */
	size_t n_args;
};

/* Read argv[1] and what follows. one_dash: a long option may also begin with one dash. 0; 1 when help is
 * asked for; -EINVAL with what is wrong in reterr. */
int options_parse(const struct option_use uses[static OPTIONS_MAX], size_t max_args, bool one_dash, int argc,
		  char **argv, struct options *ret, char reterr[static OPTIONS_TEXT_MAX]);
struct option_desc {
	const char *name, *argument; /* argument NULL: it takes none */
	char letter;                 /* 0: none */
};
const struct option_desc *option_desc(enum option_id id);
/* The i-th name that may be written for an option; NULL behind the last, or where it may be any text. */
const char *option_value_at(enum option_id id, int i);
/* The line of help about one option, with its end; names that may be written stand behind the help. */
void options_help(const struct option_use *use, FILE *out);

/* The names with that between them, owned by the caller; NULL: none was written. */
char *option_names_join(const struct option_names *n, const char *between);
/* Is that name written, or none at all? */
bool option_names_take(const struct option_names *n, const char *name);

/* How stdout is written for these options. */
struct table_view options_view(const struct options *o);

#endif
