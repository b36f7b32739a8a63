/* style.h - how the pages look: one stylesheet for the report and the status page, in light and dark, from a
 * phone (360 px) to a desktop, and on paper. Nothing else is loaded, no element has a style of its own.
 * Layer: process (reporter), page.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_STYLE_H
#define REPORTER_PAGE_STYLE_H

/* Holds neither '&' nor '<'. */
const char *style_sheet(void);

/* The Content-Security-Policy of a page: nothing but this stylesheet, by its hash
 * (https://www.w3.org/TR/CSP3/#external-hash). tests/unit/reporter/test_page.c says the new one when the
 * stylesheet has changed. */
#define STYLE_POLICY                                                                                         \
	"default-src 'none'; style-src 'sha256-nSolj3Sl9CTUCei+doyBSVVpae9Q8l3bhW6PeDbz5Bk='; "              \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#endif
