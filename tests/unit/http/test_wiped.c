/* test_wiped.c - what a client is told to keep secret does not stay in memory that it gives back. */
// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "http/endpoint.h"
#include "tests/suite.h"
#include "tests/wiped.h"

#define SECRET "s3cr3t-of-this-test"
#define PEM    "-----BEGIN X-----\n" SECRET "\n-----END X-----\n"

static const struct {
	const char *what;
	struct http_endpoint e;
	bool kept; /* somewhere in the endpoint */
} table[] = {
	{ "bearer token", { .bearer_token = SECRET }, true },
	{ "password", { .username = "u", .password = SECRET }, true },
	{ "key", { .key_pem = PEM }, true },
	{ "certificate", { .cert_pem = PEM }, true },
	{ "impersonated user", { .bearer_token = "t", .impersonate_user = SECRET }, true },
	{ "token that ends its header", { .bearer_token = SECRET "\r\nX: y" }, false },
};

TEST_LOOP(is_wiped, 0, ARRAY_SIZE(table))
{
	struct http_endpoint from = table[_i].e;

	from.base_url = "https://127.0.0.1:6443";
	from.ca_pem = "-----BEGIN X-----\n";
	wiped_watch(SECRET);
	struct endpoint *e = endpoint_new(&from);

	ck_assert_int_eq(e->problem == NULL, table[_i].kept);
	ck_assert_msg(wiped_missed() == 0, "%s: left behind when it was taken", table[_i].what);
	endpoint_unref(&e);
	ck_assert_msg(wiped_missed() == 0, "%s: left behind in the end", table[_i].what);
}

/* What is not wiped is seen. */
TEST(a_block_with_the_secret_in_it_counts)
{
	char *p = xstrdup("x " SECRET);

	wiped_watch(SECRET);
	free(p);
	ck_assert_uint_eq(wiped_missed(), 1);
	struct curl_slist *l = curl_slist_append(NULL, SECRET);

	curl_slist_free_all(l);
	ck_assert_uint_eq(wiped_missed(), 2);
}

SUITE("http/wiped");
