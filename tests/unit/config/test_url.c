/* test_url.c - the parts of a URL. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "config/url.h"
#include "tests/suite.h"

static const struct {
	const char *text;
	bool ok, https, ip, loopback;
	const char *host;
	unsigned port;
	const char *path;
} cases[] = {
	{ "https://h", true, true, false, false, "h", 443, "" },
	{ "HTTP://h:8080/a?b#c", true, false, false, false, "h", 8080, "/a?b#c" },
	{ "https://10.0.0.1:6443/k8s/c-x", true, true, true, false, "10.0.0.1", 6443, "/k8s/c-x" },
	{ "http://127.9.0.1?x", true, false, true, true, "127.9.0.1", 80, "?x" },
	{ "https://[::1]:6443", true, true, true, true, "::1", 6443, "" },
	{ "https://[fe80::1]", true, true, true, false, "fe80::1", 443, "" },
	{ "http://localhost:1/", true, false, false, true, "localhost", 1, "/" },
	{ "ftp://h", false },
	{ "h", false },
	{ "https://", false },
	{ "https:///x", false },
	{ "https://h:0", false },
	{ "https://h:65536", false },
	{ "https://h:x", false },
	{ "https://u:p@h", false },
	{ "https://a b", false },
	{ "https://[::1", false },
	{ "https://[x]:1", false },
	{ "https://[::1]1", false },
	{ "https://h\n", false },
	{ "https://h\xc3\xa4", false },
	{ "https://h:", false },
};

TEST_LOOP(parses, 0, ARRAY_SIZE(cases))
{
	enum phrase why = PHRASE__MAX;
	struct url u;
	const int r = url_parse(cases[_i].text, &u, &why);

	ck_assert_msg((r == 0) == cases[_i].ok, "%s", cases[_i].text);
	if (r < 0) {
		ck_assert_int_eq(r, -EINVAL);
		ck_assert_int_ne(why, PHRASE__MAX);
		return;
	}
	ck_assert_int_eq(u.https, cases[_i].https);
	ck_assert_int_eq(u.ip, cases[_i].ip);
	ck_assert_int_eq(url_is_loopback(&u), cases[_i].loopback);
	ck_assert_str_eq(u.host, cases[_i].host);
	ck_assert_uint_eq(u.port, cases[_i].port);
	ck_assert_str_eq(u.path, cases[_i].path);
}

static const struct {
	const char *text;
	bool inside;
} places[] = {
	{ "http://am:9093", true },
	{ "http://am.monitoring.svc:9093", true },
	{ "http://am.monitoring.svc.cluster.local/x", true },
	{ "http://127.0.0.1", true },
	{ "http://[::1]", true },
	{ "http://10.1.2.3", true },
	{ "http://172.31.0.1", true },
	{ "http://192.168.0.1", true },
	{ "http://172.32.0.1", false },
	{ "http://8.8.8.8", false },
	{ "http://[2001:db8::1]", false },
	{ "http://example.com", false },
	{ "http://am.example.com", false },
	{ "http://x.svc.example.com", false },
	{ "http://a.b.svc-example.com", false },
};

TEST_LOOP(what_leaves_no_network_of_ones_own, 0, ARRAY_SIZE(places))
{
	struct url u;
	enum phrase why;

	ck_assert_int_eq(url_parse(places[_i].text, &u, &why), 0);
	ck_assert_msg(url_is_inside(&u) == places[_i].inside, "%s", places[_i].text);
}

SUITE("config/url");
