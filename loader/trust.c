/* trust.c - see trust.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/trust.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "config/certificates.h"
#include "config/file.h"
#include "config/url.h"

/* As Go's crypto/x509/root_linux.go has them. */
static const char *const places[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
};

static char *read_bundle(const char *path, char why[static SENTENCE_MAX])
{
	char *text = NULL;
	size_t n = 0, damaged;

	if (file_read(path, SYSTEM_CA_MAX, &text, &n, why) < 0)
		return NULL;
	if (file_is_pem(text, n) && certificates_keep_whole(text, &damaged) > 0)
		return text;
	sentence_make(why, NO_PEM);
	free(text);
	return NULL;
}

static char *read_system(void)
{
	const char *named = str_env("SSL_CERT_FILE");
	char why[SENTENCE_MAX] = "", *text = named ? read_bundle(named, why) : NULL;

	_cleanup_free_ char *cause = sentence_text(why, LANGUAGE_EN);

	if (named && !text)
		(void)log_warn(0, "SSL_CERT_FILE names no certificates: those of the system are used",
			       kv_s("file", named), kv_s("cause", cause));
	for (size_t i = 0; !text && i < ARRAY_SIZE(places); i++)
		text = read_bundle(places[i], why);
	return text;
}

void trust_complete_cluster(struct cluster_settings *c)
{
	const bool by_tls = (c->server && !url_scheme_is(c->server, "http", 4)) ||
			    (c->proxy && url_scheme_is(c->proxy, "https", 5));

	if (!c->ca_pem && !c->insecure && by_tls)
		c->ca_pem = read_system();
}

void trust_complete_sinks(struct settings *s)
{
	for (size_t i = 0; !s->system_ca && i < s->n_sinks; i++)
		if (!s->sinks[i].ca_pem && s->sinks[i].url && !url_scheme_is(s->sinks[i].url, "http", 4))
			s->system_ca = read_system();
}
