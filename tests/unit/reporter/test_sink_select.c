/* test_sink_select.c - which sink is notified of what. */
// SPDX-License-Identifier: Apache-2.0
#include "model/duties.h"
#include "reporter/notify/sink_select.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

TEST(who_is_told_what)
{
	char *clusters[] = { (char *)"prod*" }, *namespaces[] = { (char *)"shop-*", (char *)"pay" };
	const struct sink_settings s = { .news = 1 << NEWS_ACTIONS,
					 .clusters = { clusters, 1 },
					 .namespaces = { namespaces, 2 } };
	struct sink_settings of_duty = { 0 };

	ck_assert(select_news(&s, NEWS_ACTIONS));
	ck_assert(!select_news(&s, NEWS_REPORT));
	ck_assert(select_object(&s, "prod-1", "shop-web", DUTY_EVICTED));
	ck_assert(!select_object(&s, "test", "shop-web", DUTY_EVICTED));
	ck_assert(!select_object(&s, "prod-1", "paypal", DUTY_EVICTED));
	ck_assert(select_object(&s, "prod-1", "", DUTY_ALL));
	ck_assert(select_object(&s, "", "pay", DUTY_ALL));
	namespaces[1] = (char *)"!shop-test";
	ck_assert(select_object(&s, "prod-1", "shop-web", DUTY_EVICTED));
	ck_assert(!select_object(&s, "prod-1", "shop-test", DUTY_EVICTED));
	str_list_add(&of_duty.duties, duty_name(DUTY_EVICTED), strlen(duty_name(DUTY_EVICTED)));
	ck_assert(select_object(&of_duty, "prod-1", "shop-web", DUTY_EVICTED));
	ck_assert(!select_object(&of_duty, "prod-1", "shop-web", DUTY_TERMINATING));
	ck_assert(select_object(&of_duty, "prod-1", "shop-web", DUTY_ALL)); /* of no duty: of each */
	str_list_done(&of_duty.duties);
}

TEST_MAIN("reporter/sink_select")
{
	(void)t;
}
