/* test_resolve.c - names to addresses; the C library's resolver is in place of a name server, or this is. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/resolve.h"

#include <arpa/inet.h>
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "tests/suite.h"
#include "tests/unit/config/chinese.h"

/* Nobody listens at port 1 of these. */
static const char *const addresses[] = { "127.0.0.3", "127.0.0.10", "127.0.0.2", "127.0.0.4" };
static size_t first; /* in the answer of the name server, which rotates */
static bool rotates;
static struct sockaddr_in socket_addresses[ARRAY_SIZE(addresses)];
/* As nss-myhostname has for a machine's own name. */
static struct sockaddr_in6 of_a_link = { .sin6_family = AF_INET6,
					 .sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 },
					 .sin6_scope_id = 1 };
static struct addrinfo list[ARRAY_SIZE(addresses) + 1];

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
	int (*libc)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

	if (!rotates) {
		*(void **)&libc = dlsym(RTLD_NEXT, "getaddrinfo");
		return libc(host, service, hints, ret);
	}
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct sockaddr_in *sa = &socket_addresses[i];

		*sa = (struct sockaddr_in){ .sin_family = AF_INET,
					    .sin_port = htons((uint16_t)atoi(service)) };
		ck_assert_int_eq(
			inet_pton(AF_INET, addresses[(first + i) % ARRAY_SIZE(addresses)], &sa->sin_addr), 1);
		list[i] = (struct addrinfo){ .ai_family = AF_INET,
					     .ai_socktype = SOCK_STREAM,
					     .ai_addr = (struct sockaddr *)sa,
					     .ai_addrlen = sizeof(*sa),
					     .ai_next = &list[i + 1] };
	}
	list[ARRAY_SIZE(addresses)] = (struct addrinfo){ .ai_family = AF_INET6,
							 .ai_socktype = SOCK_STREAM,
							 .ai_addr = (struct sockaddr *)&of_a_link,
							 .ai_addrlen = sizeof(of_a_link) };
	*ret = list;
	return 0;
}

void freeaddrinfo(struct addrinfo *ai)
{
	void (*libc)(struct addrinfo *);

	*(void **)&libc = dlsym(RTLD_NEXT, "freeaddrinfo");
	if (!rotates)
		libc(ai);
}

TEST(resolves_names)
{
	char *address = NULL, why[SENTENCE_MAX];

	ck_assert_msg(loader_resolve("localhost", 6443, &address, why) == 0, "%s", words(why, LANGUAGE_EN));
	ck_assert(strcmp(address, "127.0.0.1:6443") == 0 || strcmp(address, "[::1]:6443") == 0 ||
		  strcmp(address, "[::1],127.0.0.1:6443") == 0 ||
		  strcmp(address, "127.0.0.1,[::1]:6443") == 0);
	free(address);
	ck_assert_int_eq(loader_resolve("no-such-host.invalid", 1, &address, why), -EAGAIN);
	ck_assert_ptr_nonnull(strstr(words(why, LANGUAGE_EN), "\"no-such-host.invalid\" cannot be resolved"));
}

/* A name server gives its addresses in another order each time. That is no other address: new settings at
 * every load would be. */
TEST(a_rotating_answer_is_no_change)
{
	rotates = true;
	for (first = 0; first < ARRAY_SIZE(addresses); first++) {
		_cleanup_free_ char *address = NULL;
		char why[SENTENCE_MAX];

		ck_assert_msg(loader_resolve("h", 1, &address, why) == 0, "%s", words(why, LANGUAGE_EN));
		ck_assert_str_eq(address, "127.0.0.10,127.0.0.2,127.0.0.3,127.0.0.4:1");
	}
}

/* Who connects later tries the others only when this one has failed. */
TEST(the_one_that_answers_stands_first)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	_cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM, 0);
	_cleanup_free_ char *address = NULL, *expected = NULL;
	char why[SENTENCE_MAX];

	rotates = true;
	ck_assert_int_eq(inet_pton(AF_INET, "127.0.0.3", &a.sin_addr), 1);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	ck_assert_int_eq(loader_resolve("h", ntohs(a.sin_port), &address, why), 0);
	expected = xasprintf("127.0.0.3,127.0.0.10,127.0.0.2,127.0.0.4:%u", ntohs(a.sin_port));
	ck_assert_str_eq(address, expected);
}

/* Equal names are asked for once and answered each; what is not asked for gets nothing. */
TEST(several_names_at_once)
{
	struct lookup v[5] = { 0 };

	lookup_init(&v[0], "localhost", 1);
	lookup_init(&v[1], "no-such-host.invalid", 1);
	lookup_init(&v[3], "localhost", 1);
	lookup_init(&v[4], "localhost", 2);
	loader_resolve_all(v, ARRAY_SIZE(v), clock_boot_ms() + 20000);
	ck_assert_ptr_nonnull(strstr(v[0].address, ":1"));
	ck_assert_ptr_null(v[1].address);
	ck_assert_ptr_nonnull(
		strstr(words(v[1].why, LANGUAGE_EN), "\"no-such-host.invalid\" cannot be resolved"));
	ck_assert_ptr_null(v[2].address);
	ck_assert_str_eq(v[2].why, "");
	ck_assert_str_eq(v[3].address, v[0].address);
	ck_assert_ptr_ne(v[3].address, v[0].address);
	ck_assert_ptr_nonnull(strstr(v[4].address, ":2"));
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		free(v[i].address);
}

/* What has no answer in time has none, and says so in any language. */
TEST(a_name_that_is_not_answered_in_time)
{
	struct lookup v = { 0 };

	lookup_init(&v, "localhost", 1);
	loader_resolve_all(&v, 1, clock_boot_ms());
	ck_assert_ptr_null(v.address);
	ck_assert_str_eq(words(v.why, LANGUAGE_EN),
			 "the name \"localhost\" cannot be resolved: no name server answers");
	assert_chinese(words(v.why, LANGUAGE_ZH));
}

SUITE("loader/resolve");
