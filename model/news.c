/* news.c - see news.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/news.h"

#include "base/cleanup.h"

static const struct {
	const char *name;
	enum news_in_doubt in_doubt;
} rows[NEWS__MAX] = {
#define NEWS(ID, name, in_doubt, doc) [NEWS_##ID] = { name, IN_DOUBT_##in_doubt },
#include "model/news.def"
#undef NEWS
};

const char *news_name(enum news n)
{
	return (unsigned)n < NEWS__MAX ? rows[n].name : "?";
}

int news_parse(struct str name)
{
	for (int n = 0; n < NEWS__MAX; n++)
		if (str_is(name, rows[n].name))
			return n;
	return -1;
}

enum news_in_doubt news_in_doubt(enum news n)
{
	return rows[n].in_doubt;
}
