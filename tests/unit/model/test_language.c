/* test_language.c - the language of a reader: by name, by locale, by what the reader wrote. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/language.h"
#include "tests/suite.h"

TEST(names)
{
	ck_assert_str_eq(language_name(LANGUAGE_EN), "en");
	ck_assert_str_eq(language_name(LANGUAGE_ZH), "zh");
	ck_assert_str_eq(language_name(LANGUAGE__MAX), "?");
}

TEST(locales)
{
	static const struct {
		const char *all, *messages, *lang;
		enum language l;
	} cases[] = {
		{ NULL, NULL, NULL, LANGUAGE_EN },
		{ NULL, NULL, "", LANGUAGE_EN },
		{ NULL, NULL, "C", LANGUAGE_EN },
		{ NULL, NULL, "C.UTF-8", LANGUAGE_EN },
		{ NULL, NULL, "POSIX", LANGUAGE_EN },
		{ NULL, NULL, "en_US.UTF-8", LANGUAGE_EN },
		{ NULL, NULL, "de_DE.UTF-8", LANGUAGE_EN },
		{ NULL, NULL, "ZH_CN.UTF-8", LANGUAGE_EN }, /* no locale is called so */
		{ NULL, NULL, "zh_CN.UTF-8", LANGUAGE_ZH },
		{ NULL, NULL, "zh_CN.utf8", LANGUAGE_ZH },
		{ NULL, NULL, "zh_TW.UTF-8@x", LANGUAGE_ZH },
		{ NULL, NULL, "zh_CN", LANGUAGE_ZH },
		{ NULL, NULL, "zh@x", LANGUAGE_ZH },
		{ NULL, NULL, "zh", LANGUAGE_ZH },
		{ NULL, NULL, "zha_CN.UTF-8", LANGUAGE_EN }, /* another language */
		{ NULL, NULL, "zh_CN.GB18030", LANGUAGE_EN },
		/* the order of POSIX: the first that is not empty, whatever it says */
		{ "", "", "zh_CN.UTF-8", LANGUAGE_ZH },
		{ NULL, "C", "zh_CN.UTF-8", LANGUAGE_EN },
		{ NULL, "zh_CN.UTF-8", "en_US.UTF-8", LANGUAGE_ZH },
		{ "C", "zh_CN.UTF-8", "zh_CN.UTF-8", LANGUAGE_EN },
		{ "zh_CN.UTF-8", "C", "C", LANGUAGE_ZH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(language_of_locale(cases[i].all, cases[i].messages, cases[i].lang) ==
				      cases[i].l,
			      "case %zu", i);
}

TEST(the_environment_is_read)
{
	ck_assert_int_eq(setenv("LC_ALL", "", 1) | unsetenv("LC_MESSAGES") | setenv("LANG", "zh_CN.UTF-8", 1),
			 0);
	ck_assert_int_eq(language_of_environment(), LANGUAGE_ZH);
	ck_assert_int_eq(setenv("LC_MESSAGES", "C", 1), 0);
	ck_assert_int_eq(language_of_environment(), LANGUAGE_EN);
	ck_assert_int_eq(setenv("LC_ALL", "zh_CN.UTF-8", 1), 0);
	ck_assert_int_eq(language_of_environment(), LANGUAGE_ZH);
}

TEST(texts)
{
	ck_assert_int_eq(language_of_text(""), LANGUAGE_EN);
	ck_assert_int_eq(language_of_text("Pods that restart too often"), LANGUAGE_EN);
	ck_assert_int_eq(language_of_text("caf\xc3\xa9 \xe2\x80\x94 \xf0\x9f\x94\xa5"), LANGUAGE_EN);
	ck_assert_int_eq(language_of_text("\xe5\x8d not a character"), LANGUAGE_EN); /* cut */
	ck_assert_int_eq(language_of_text("prod 重启报告"), LANGUAGE_ZH);
	ck_assert_int_eq(language_of_text("\xff重启"), LANGUAGE_ZH);
}

SUITE("model/language");
