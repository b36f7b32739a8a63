/* test_hints.c - keys that people call otherwise, or write in another place: config/hints.def. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/table.h"
#include "tests/suite.h"
#include "tests/unit/config/loaded.h"

/* A text with one error, and that error. */
static const struct {
	const char *text, *error;
} cases[] = {
	{ "dryrun: true", "f:1:1: unknown key \"dryrun\": did you mean mode?" },
	{ "whatever: true", "f:1:1: unknown key \"whatever\": remove it" },
	{ "tooManyRestart: {Schedule: '@daily'}",
	  "unknown key \"tooManyRestart.Schedule\": did you mean duration?" },
	{ "errImagePull: {duration: 3h}", "did you mean hours?" },
	{ "crashLoop: {threshold: 3}", "did you mean counts?" },
	{ "deleteFinishedPod: {status: [Shutdown]}", "did you mean reasons?" },
	{ "tooManyRestart: {webhook: x}", "did you mean apiurl?" },
	{ "sinks: [{name: a, type: webhook, url: 'https://example.com/x', secret: x, lang: zh}]",
	  "unknown key \"sinks[].lang\": did you mean language?" },
	{ "namespaces: [x]", "it stands in a section, as in deleteEvictedPod.namespaces" },
	{ "errImagePull: {exclude: [x]}", "an exception in its namespaces: \"!name\"" },
	{ "tell: [actions]", "what one sink is told stands in that sink" },
	{ "overrides: [{labels: [a=b], namespace: [x]}]",
	  "unknown key \"overrides[].namespace\": did you mean namespaces?" },
	{ "overrides: [{labels: [a=b], errImagePul: {hours: 3h}}]", "did you mean errImagePull?" },
	{ "overrides: [{labels: [a=b], mod: observe}]", "name, namespaces, labels, or a duty" },
};

TEST_LOOP(the_key_that_is_meant_is_named, 0, (int)ARRAY_SIZE(cases))
{
	ck_assert_int_lt(load(cases[_i].text), 0);
	ck_assert_uint_eq(diags.errors, 1);
	for (size_t i = 0; i < diags.n; i++)
		if (diags.v[i].error)
			ck_assert_msg(strstr(diags.v[i].text, cases[_i].error) != NULL, "%s",
				      diags.v[i].text);
}

static bool is_said_by(const struct setting *table, const char *option)
{
	for (const struct setting *row = table; row->path; row++) {
		const char *dot = strrchr(row->path, '.');
		_cleanup_free_ char *all = xconcat("|", row->unit, "|", NULL),
				    *one = xconcat("|", option, "|", NULL);

		if (strcmp(dot ? dot + 1 : row->path, option) == 0 || strstr(all, one))
			return true;
	}
	return false;
}

/* A row that names what nothing is called would never be given. */
TEST(what_is_meant_exists)
{
	static const char *const options[] = {
#define HINT(said, written, remedy)
#define FULL_WIDTH(written, ascii)
#define MEANT(word, option) option,
#include "config/hints.def"
#undef MEANT
#undef FULL_WIDTH
#undef HINT
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		ck_assert_msg(is_said_by(settings_table, options[i]) ||
				      is_said_by(settings_sink_table, options[i]) ||
				      is_said_by(settings_cluster_table, options[i]),
			      "%s", options[i]);
}

TEST_MAIN("config/hints")
{
	tcase_add_checked_fixture(t, loaded_setup, loaded_teardown);
}
