/* endpoint.c - see endpoint.h. */
// SPDX-License-Identifier: Apache-2.0
#include "http/endpoint.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "http/global.h"

#define NAME_OF_LIST_MAX 200 /* names have 255 bytes at most */

struct parts {
	char *scheme, *host, *port, *rest;
	bool ok;
};

static void parts_done(struct parts *p)
{
	free(p->scheme);
	free(p->host);
	free(p->port);
	free(p->rest);
}

static char *url_part(CURLU *u, CURLUPart part, unsigned flags)
{
	char *s = NULL;

	if (curl_url_get(u, part, &s, flags) != CURLUE_OK)
		return xstrdup("");
	char *copy = xstrdup(s);

	curl_free(s);
	return copy;
}

/* What follows the authority, without fragment and trailing slash. */
static char *url_rest(const char *url)
{
	const char *authority = strstr(url, "://");
	const char *rest = authority ? authority + 3 + strcspn(authority + 3, "/?#") : "";
	size_t n = strcspn(rest, "#");

	if (n > 0 && rest[n - 1] == '/' && !memchr(rest, '?', n))
		n--;
	return xstrndup(rest, n);
}

static struct parts parts_of(const char *url)
{
	CURLU *u = curl_url();
	struct parts p = { 0 };

	p.ok = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK;
	p.scheme = url_part(u, CURLUPART_SCHEME, 0);
	p.host = url_part(u, CURLUPART_HOST, 0);
	p.port = url_part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	p.rest = url_rest(url);
	curl_url_cleanup(u);
	p.ok = p.ok && *p.host;
	return p;
}

static bool is_literal(const char *host)
{
	struct in6_addr a;
	char bare[INET6_ADDRSTRLEN];
	const size_t n = strlen(host);

	if (host[0] == '[' && n >= 2 && n - 2 < sizeof(bare)) {
		memcpy(bare, host + 1, n - 2);
		bare[n - 2] = '\0';
		return inet_pton(AF_INET6, bare, &a) == 1;
	}
	return inet_pton(AF_INET, host, &a) == 1;
}

static bool is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
	       (is_literal(host) && strncmp(host, "127.", 4) == 0);
}

static struct curl_blob blob_of(const char *pem)
{
	const size_t n = pem ? strlen(pem) : 0;

	return (struct curl_blob){ n ? xmemdup(pem, n) : NULL, n, CURL_BLOB_NOCOPY };
}

static void add_header(struct endpoint *e, const char *name, const char *value)
{
	_cleanup_free_ char *line = xasprintf("%s: %s", name, value);

	e->headers = curl_slist_append(e->headers, line);
	explicit_bzero(line, strlen(line));
}

/* The first one counts. It names what, as a fact of this key, unless that is NULL. */
static void set_problem(struct endpoint *e, enum text problem, enum fact key, const char *what)
{
	struct facts f = { 0 };

	facts_text(&f, FACT_PROBLEM, problem);
	if (what)
		facts_quoted(&f, key, STR_C(what));
	if (!e->problem)
		e->problem = facts_dup(&f);
}

static char *origin_text(CURLU *origin, unsigned flags)
{
	char *s = url_part(origin, CURLUPART_URL, flags);
	const size_t n = strlen(s);

	if (n > 0 && s[n - 1] == '/')
		s[n - 1] = '\0';
	return s;
}

/* What a request's target begins with. A proxy that is asked in clear is told the server in it, too. */
static void set_prefix(struct endpoint *e, const char *rest)
{
	_cleanup_free_ char *server =
		e->proxy && !e->is_https ? origin_text(e->origin, CURLU_NO_DEFAULT_PORT) : xstrdup("");

	e->prefix = xconcat(server, *rest == '?' ? "/" : "", rest, NULL);
	e->bare = *rest == '\0';
}

/* CURLOPT_RESOLVE: where that name is. */
static void add_addresses(struct endpoint *e, const char *name, const char *address)
{
	const char *port = strrchr(address, ':');
	_cleanup_free_ char *entry =
		port ? xasprintf("%s:%s:%.*s", name, port + 1, (int)(port - address), address) : NULL;

	if (entry)
		e->resolve = curl_slist_append(e->resolve, entry);
}

/* libcurl takes several addresses of a name only. The list itself is the name: no connection is used again
 * for another list, and messages show it. Returns what CURLOPT_CONNECT_TO wants. */
static char *connect_to_address(struct endpoint *e, const char *address)
{
	char name[NAME_OF_LIST_MAX], *w = name;
	const char *port = strrchr(address, ':');

	if (!strchr(address, ',') || !port)
		return xasprintf("::%s", address);
	for (const char *s = address; s < port && w < name + sizeof(name) - 1; s++)
		if (*s != '[' && *s != ']')
			*w++ = (char)(*s == ':' ? '_' : *s);
	*w = '\0';
	add_addresses(e, name, address);
	return xasprintf("::%s%s", name, port);
}

/* The origin carries the name the certificate must hold; the connection goes elsewhere (CONNECT_TO), and the
 * Host header names the server as the operator did. */
static void set_target(struct endpoint *e, const struct http_endpoint *from, const struct parts *p)
{
	const char *name = e->is_https && from->tls_server_name && *from->tls_server_name
				   ? from->tls_server_name
				   : p->host;
	const bool renamed = strcmp(name, p->host) != 0;
	const bool has_proxy = e->proxy != NULL;
	_cleanup_free_ char *origin = xasprintf("%s://%s:%s", p->scheme, name, p->port), *to = NULL;

	if (!str_is_line(name) || strpbrk(name, "/?#@ "))
		set_problem(e, TEXT_NO_HOST_NAME, FACT_SERVER, name);
	e->origin = curl_url();
	(void)curl_url_set(e->origin, CURLUPART_URL, origin, 0);
	set_prefix(e, p->rest);
	if (renamed) {
		_cleanup_free_ char *host = xasprintf("%s:%s", p->host, p->port);

		add_header(e, "Host", host);
	}
	if (from->address && !has_proxy)
		to = connect_to_address(e, from->address);
	else if (renamed)
		to = xasprintf("::%s:%s", p->host, p->port);
	if (to)
		e->connect_to = curl_slist_append(NULL, to);
	/* A name without an address would ask the resolver: files and threads the sandbox forbids. */
	if (!from->address && !has_proxy && !is_literal(p->host) && strcmp(p->host, "localhost") != 0)
		set_problem(e, TEXT_NO_ADDRESS, FACT_SERVER, p->host);
}

static void set_proxy(struct endpoint *e, const char *proxy, const char *address)
{
	if (!proxy || !*proxy)
		return;
	CURLU *u = curl_url();
	const bool ok = curl_url_set(u, CURLUPART_URL, proxy, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
	_cleanup_free_ char *host = url_part(u, CURLUPART_HOST, 0);

	curl_url_cleanup(u);
	e->proxy = xstrdup(proxy);
	e->is_tls_proxy = strncmp(proxy, "https://", 8) == 0;
	if (!ok)
		set_problem(e, TEXT_PROXY_NO_URL, FACT_SERVER, NULL);
	else if (address)
		add_addresses(e, host, address);
	else if (!is_literal(host) && strcmp(host, "localhost") != 0)
		set_problem(e, TEXT_PROXY_BY_NAME, FACT_SERVER, host);
}

/* Left out it would not be an error but another identity. */
static void impersonate(struct endpoint *e, const char *header, const char *who)
{
	if (str_is_line(who))
		add_header(e, header, who);
	else
		set_problem(e, TEXT_IMPERSONATION_CONTROL, FACT_SERVER, NULL);
}

static void set_credentials(struct endpoint *e, const struct http_endpoint *from)
{
	if (from->bearer_token && *from->bearer_token) {
		_cleanup_free_ char *value = xasprintf("Bearer %s", from->bearer_token);

		if (!str_is_line(from->bearer_token))
			set_problem(e, TEXT_TOKEN_CONTROL, FACT_SERVER, NULL);
		else
			add_header(e, "Authorization", value);
		explicit_bzero(value, strlen(value));
	} else if (from->username && *from->username) {
		e->username = xstrdup(from->username);
		e->password = xstrdup(from->password ? from->password : "");
	}
	if (from->impersonate_user)
		impersonate(e, "Impersonate-User", from->impersonate_user);
	for (size_t i = 0; from->impersonate_user && i < from->n_impersonate_groups; i++)
		impersonate(e, "Impersonate-Group", from->impersonate_groups[i]);
}

static void set_trust(struct endpoint *e, const struct http_endpoint *from)
{
	e->insecure = from->insecure;
	if (from->ca_pem && *from->ca_pem)
		e->ca = blob_of(from->ca_pem);
	else if ((e->is_https || e->is_tls_proxy || (e->is_mail && !e->is_near)) && !from->insecure &&
		 !http_system_ca().data)
		set_problem(e, TEXT_NO_CA, FACT_SERVER, NULL);
	e->cert = blob_of(from->cert_pem);
	e->key = blob_of(from->key_pem);
}

static bool is_one_of(const char *s, const char *a, const char *b)
{
	return strcmp(s, a) == 0 || strcmp(s, b) == 0;
}

static struct endpoint *endpoint_make(const struct http_endpoint *from, bool is_mail)
{
	struct endpoint *e = xcalloc(1, sizeof(*e));
	struct parts p = parts_of(from->base_url ? from->base_url : "");

	*e = (struct endpoint){ .refs = 1, .is_https = strcmp(p.scheme, "https") == 0, .is_mail = is_mail };
	if (!p.ok || !(is_mail ? is_one_of(p.scheme, "smtps", "smtp") : is_one_of(p.scheme, "https", "http")))
		set_problem(e, is_mail ? TEXT_NO_SMTP_URL : TEXT_NO_HTTP_URL, FACT_URL,
			    is_mail          ? NULL
			    : from->base_url ? from->base_url
					     : "(none)");
	set_proxy(e, from->proxy, from->address);
	set_target(e, from, &p);
	e->is_near = is_loopback(p.host);
	/* Credentials never cross a network in clear (client-go's IsConfigTransportTLS). For a mail there is
	 * TLS before them, or nothing. */
	if (e->is_https || e->is_mail || e->is_near)
		set_credentials(e, from);
	set_trust(e, from);
	add_header(e, "User-Agent",
		   from->user_agent && str_is_line(from->user_agent) ? from->user_agent : "ops-pod-cleaner");
	e->headers = curl_slist_append(e->headers, "Expect:"); /* none: a body goes at once */
	parts_done(&p);
	return e;
}

struct endpoint *endpoint_new(const struct http_endpoint *from)
{
	return endpoint_make(from, false);
}

struct endpoint *endpoint_new_mail(const struct http_endpoint *from)
{
	CURLU *u = curl_url();
	struct http_endpoint with_user = *from;

	(void)curl_url_set(u, CURLUPART_URL, from->base_url, 0);
	_cleanup_free_ char *user = url_part(u, CURLUPART_USER, CURLU_URLDECODE);

	curl_url_cleanup(u);
	if (*user)
		with_user.username = user;
	return endpoint_make(&with_user, true);
}

struct endpoint *endpoint_ref(struct endpoint *e)
{
	e->refs++;
	return e;
}

bool endpoint_set_trust(const struct endpoint *e, CURL *easy)
{
	struct curl_blob ca = e->ca.data ? e->ca : http_system_ca();
	bool ok = true;

	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_SSL_VERIFYPEER, e->insecure ? 0L : 1L);
	SET(CURLOPT_SSL_VERIFYHOST, e->insecure ? 0L : 2L);
	/* Never a path: nothing may be opened later. */
	SET(CURLOPT_CAINFO, NULL);
	SET(CURLOPT_CAPATH, NULL);
	if (ca.data && !e->insecure)
		SET(CURLOPT_CAINFO_BLOB, &ca);
	return ok;
}

bool endpoint_set_proxy(const struct endpoint *e, CURL *easy)
{
	struct curl_blob ca = e->ca.data ? e->ca : http_system_ca();
	bool ok = true;

	SET(CURLOPT_PROXY, e->proxy ? e->proxy : "");
	SET(CURLOPT_NOPROXY, "");
	if (e->proxy && strncmp(e->proxy, "http:", 5) == 0)
		SET(CURLOPT_PROXYPORT, 80L); /* unless it names one; libcurl's own is 1080 */
	if (!e->is_tls_proxy)
		return ok;
	SET(CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_PROXY_SSL_VERIFYPEER, e->insecure ? 0L : 1L);
	SET(CURLOPT_PROXY_SSL_VERIFYHOST, e->insecure ? 0L : 2L);
	SET(CURLOPT_PROXY_CAINFO, NULL);
	SET(CURLOPT_PROXY_CAPATH, NULL);
	if (ca.data && !e->insecure)
		SET(CURLOPT_PROXY_CAINFO_BLOB, &ca);
	return ok;
}

static bool is_one_code(CURLcode code, const CURLcode *codes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (code == codes[i])
			return true;
	return false;
}

/* A SOCKS proxy that fails has codes of its own: with others nobody knows on which side it was. An HTTP proxy
 * has answered CONNECT with 2xx, or nothing of the server was seen but for its TLS. */
struct http_way endpoint_way(const struct endpoint *e, CURL *easy, CURLcode code)
{
	static const CURLcode of_socks[] = { CURLE_PROXY, CURLE_COULDNT_CONNECT,
					     CURLE_COULDNT_RESOLVE_PROXY };
	static const CURLcode of_tls[] = { CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION,
					   CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
					   CURLE_SSL_ISSUER_ERROR };
	long status = 0;

	/* No proxy is given a certificate of ours. */
	if (!e->proxy || code == CURLE_OK || code == CURLE_SSL_CERTPROBLEM)
		return (struct http_way){ 0 };
	if (strncmp(e->proxy, "socks", 5) == 0)
		return (struct http_way){ .at_proxy = is_one_code(code, of_socks, ARRAY_SIZE(of_socks)) };
	(void)curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
	if ((status >= 200 && status < 300) ||
	    (!e->is_tls_proxy && is_one_code(code, of_tls, ARRAY_SIZE(of_tls))))
		return (struct http_way){ 0 };
	return (struct http_way){ .at_proxy = true, .proxy_status = status };
}

void endpoint_transport(const struct http_way *way, CURLcode code, const char *words, struct facts *f)
{
	facts_text(f, FACT_PROBLEM,
		   way->at_proxy                   ? TEXT_PROXY_TRANSPORT
		   : code == CURLE_SSL_CERTPROBLEM ? TEXT_CLIENT_CERTIFICATE
						   : TEXT_TRANSPORT);
	facts_quoted(f, FACT_TRANSPORT, STR_C(words));
}

void endpoint_free_idle(struct endpoint *e, size_t keep)
{
	while (e->n_idle > keep)
		curl_easy_cleanup(e->idle[--e->n_idle]);
}

static void wipe_free(char *s)
{
	if (s)
		explicit_bzero(s, strlen(s));
	free(s);
}

static void wipe_list(struct curl_slist *l)
{
	for (struct curl_slist *i = l; i; i = i->next)
		explicit_bzero(i->data, strlen(i->data));
	curl_slist_free_all(l);
}

static void wipe_blob(struct curl_blob *b)
{
	if (b->data)
		explicit_bzero(b->data, b->len);
	free(b->data);
}

void endpoint_unref(struct endpoint **ref)
{
	struct endpoint *e = *ref;

	*ref = NULL;
	if (!e || --e->refs > 0)
		return;
	endpoint_free_idle(e, 0);
	curl_url_cleanup(e->origin);
	free(e->prefix);
	free(e->username);
	wipe_free(e->password);
	free(e->proxy);
	curl_slist_free_all(e->connect_to);
	curl_slist_free_all(e->resolve);
	wipe_list(e->headers);
	wipe_blob(&e->ca);
	wipe_blob(&e->cert);
	wipe_blob(&e->key);
	free(e->problem);
	free(e);
}
