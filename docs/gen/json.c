/* json.c - prints docs/json.md from cli/view/json.def and the messages that it names. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/view/json.h"
#include "cli/view/output.h"

static const char head[] =
	"# JSON\n\n"
	"For who reads the answers of `ops-pod-cleaner` by a program: every member that a verb prints with "
	"`-o json`.\n"
	"Generated from `cli/view/json.def`; do not edit.\n\n"
	"An answer is one object on standard output, in English in every locale. Its `apiVersion` is "
	"`" OUTPUT_API_VERSION "`: members are added without another\n"
	"version, so leave out what you do not know. A list is `items`, also when it is empty. Messages for "
	"people are on standard error.\n"
	"`config print`, `config schema` and `rbac` print documents of other formats, as they are.\n\n"
	"| type | is |\n|---|---|\n"
	"| time | RFC 3339, in UTC |\n"
	"| name | one of a fixed set: a duty, an outcome, a reason code ([reasons.md](reasons.md)) |\n"
	"| names | a list of such |\n"
	"| facts | an object: what was found, by the keys of `model/facts.def`; durations are in seconds, "
	"words of "
	"others as they were |\n";

static const struct entry {
	const char *verb, *doc; /* verb NULL: a member, or those of a message */
	const char *path, *type;
	int message; /* -1: a member */
} entries[] = {
#define VERB(words, doc)        { words, doc, NULL, NULL, -1 },
#define MESSAGE(path, ID)       { NULL, NULL, path, NULL, MSG_##ID },
#define MEMBER(path, type, doc) { NULL, doc, path, type, -1 },
#include "cli/view/json.def"
#undef VERB
#undef MESSAGE
#undef MEMBER
};

/* Does a row of its own describe that member, of the verb that e is of? */
static bool is_described(const struct entry *e, const char *path)
{
	for (e++; e < entries + ARRAY_SIZE(entries) && !e->verb; e++)
		if (e->message < 0 && strcmp(e->path, path) == 0)
			return true;
	return false;
}

static void print_message(const struct entry *e)
{
	struct json_member m;
	size_t at = 0;

	while (json_member_next((enum msg_type)e->message, &at, &m)) {
		_cleanup_free_ char *key = m.key, *path = xconcat(e->path, key, NULL);

		if (!is_described(e, path))
			printf("| `%s` | %s%s | %s |\n", path, m.type, m.nullable ? ", or null" : "", m.doc);
	}
}

int main(void)
{
	(void)fputs(head, stdout);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		const struct entry *e = &entries[i];

		if (e->verb)
			printf("\n## %s\n\n%s\n\n| member | type | is |\n|---|---|---|\n", e->verb, e->doc);
		else if (e->message >= 0)
			print_message(e);
		else
			printf("| `%s` | %s | %s |\n", e->path, e->type, e->doc);
	}
	return 0;
}
