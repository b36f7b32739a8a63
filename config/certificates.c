/* certificates.c - see certificates.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/certificates.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "config/kubeconfig_user.h"

#define BEGIN       "-----BEGIN "
#define END         "-----END "
#define DASHES      "-----"
#define CERTIFICATE "CERTIFICATE" /* with X509 or TRUSTED before it, too */

/* X.690 8.1: a sequence, and as many bytes as its length says; a trusted certificate has more behind it. */
static bool is_whole_der(const unsigned char *der, size_t n)
{
	size_t said = 0, at = 2;

	if (n < 2 || der[0] != 0x30)
		return false;
	if (der[1] < 0x80)
		return n - 2 >= der[1];
	at += der[1] & 0x7f;
	if (at > 2 + 3 || at > n)
		return false;
	for (size_t i = 2; i < at; i++)
		said = said << 8 | der[i];
	return said > 0 && n - at >= said;
}

/* One of the bundle: from its BEGIN line to the end of its END line. */
struct block {
	const char *start, *end;
	bool whole;
};

/* The next certificate from s on. False: there is none. */
static bool next_block(const char *s, struct block *ret)
{
	while ((s = strstr(s, BEGIN))) {
		const char *type = s + strlen(BEGIN), *head = strstr(type, DASHES);
		const char *body = head ? head + strlen(DASHES) : NULL,
			   *tail = body ? strstr(body, DASHES) : NULL;
		const struct str name = { type, head ? (size_t)(head - type) : 0 };
		size_t n;

		if (name.n < strlen(CERTIFICATE) ||
		    strncmp(head - strlen(CERTIFICATE), CERTIFICATE, strlen(CERTIFICATE)) != 0) {
			s = type;
			continue;
		}
		*ret = (struct block){ .start = s, .end = body };
		if (!tail || strncmp(tail, END, strlen(END)) != 0 ||
		    strncmp(tail + strlen(END), type, name.n + strlen(DASHES)) != 0)
			return true;
		_cleanup_free_ char *der = kube_base64_decode(body, (size_t)(tail - body), &n);

		ret->end = tail + strlen(END) + name.n + strlen(DASHES);
		ret->whole = der && (*ret->end == '\0' || strchr("\r\n", *ret->end)) &&
			     is_whole_der((const unsigned char *)der, n);
		return true;
	}
	return false;
}

size_t certificates_keep_whole(char *pem, size_t *ret_damaged)
{
	size_t whole = 0, damaged = 0;
	char *w = pem;

	for (struct block b = { .end = pem }; next_block(b.end, &b);)
		*(b.whole ? &whole : &damaged) += 1;
	for (struct block b = { .end = pem }; damaged > 0 && next_block(b.end, &b);) {
		const size_t n = (size_t)(b.end - b.start) + (*b.end != '\0');

		if (!b.whole)
			continue;
		memmove(w, b.start, n);
		w += n;
		w[-1] = w[-1] == '\r' ? '\n' : w[-1];
	}
	if (damaged > 0)
		*w = '\0';
	*ret_damaged = damaged;
	return whole;
}
