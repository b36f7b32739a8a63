/* test_certificates.c - which certificates of a bundle are whole. */
// SPDX-License-Identifier: Apache-2.0
#include "config/certificates.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tests/suite.h"

#define PEM(type, body) "-----BEGIN " type "-----\n" body "-----END " type "-----\n"
#define ONE             PEM("CERTIFICATE", "MAA=\n")
/* Of 128 bytes, whose length has a byte of its own. */
#define A64   "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
#define OTHER PEM("CERTIFICATE", "MIGA\n" A64 A64 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n")

static const struct {
	const char *pem, *kept; /* NULL = unchanged */
	size_t whole, damaged;
} bundles[] = {
	{ ONE, NULL, 1, 0 },
	{ "# of ours\n" ONE "\n" OTHER "end", NULL, 2, 0 },
	{ "-----BEGIN CERTIFICATE-----\r\nMAA=\r\n-----END CERTIFICATE-----", NULL, 1, 0 },
	{ PEM("TRUSTED CERTIFICATE", "MAAwAA==\n") PEM("X509 CERTIFICATE", "MAA=\n"), NULL, 2, 0 },
	{ "", NULL, 0, 0 },
	{ "-----BEGIN ", NULL, 0, 0 },
	{ PEM("PRIVATE KEY", "MAA=\n"), NULL, 0, 0 },
	{ PEM("CERTIFICATE REQUEST", "MAA=\n"), NULL, 0, 0 },
	{ ONE PEM("CERTIFICATE", "MA?=\n") "x" OTHER, ONE OTHER, 2, 1 }, /* no base64 */
	{ PEM("CERTIFICATE", "MAE=\n") ONE, ONE, 1, 1 },                 /* cut off inside */
	{ PEM("CERTIFICATE", "MIGA\n") PEM("CERTIFICATE", "MIA=\n") ONE, ONE, 1, 2 },
	{ PEM("CERTIFICATE", "MQA=\n") PEM("CERTIFICATE", "") ONE, ONE, 1, 2 }, /* no sequence */
	{ "-----BEGIN CERTIFICATE-----\nMAA=\n" ONE, ONE, 1, 1 },               /* its end is missing */
	{ ONE "-----BEGIN CERTIFICATE-----\nMAA=\n", ONE, 1, 1 },
	{ ONE "-----BEGIN CERTIFICATE", NULL, 1, 0 },
	{ "-----BEGIN CERTIFICATE-----\nMAA=\n-----END PRIVATE KEY-----\n" ONE, ONE, 1, 1 },
	{ "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----" ONE, ONE, 1, 1 }, /* joined */
	{ PEM("CERTIFICATE", "Proc-Type: 4\n\nMAA=\n"), "", 0, 1 },
};

TEST_LOOP(what_is_whole_is_kept, 0, ARRAY_SIZE(bundles))
{
	_cleanup_free_ char *pem = xstrdup(bundles[_i].pem);
	size_t damaged;

	ck_assert_uint_eq(certificates_keep_whole(pem, &damaged), bundles[_i].whole);
	ck_assert_uint_eq(damaged, bundles[_i].damaged);
	ck_assert_str_eq(pem, bundles[_i].kept ? bundles[_i].kept : bundles[_i].pem);
}

SUITE("config/certificates");
