/* test_identity.c - credentials, TLS, and that nothing is opened once the sandbox is closed. */
// SPDX-License-Identifier: Apache-2.0
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <seccomp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "http/global.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/http/play.h"

/* -- who is who -- */

TEST(test_credentials)
{
	struct server s;
	struct run t = { 0 };
	char group[] = "ops";
	char *groups[] = { group };

	server_start(&s, serve_ok, false);
	struct http_endpoint e = { .base_url = s.url,
				   .bearer_token = "secret",
				   .impersonate_user = "jane",
				   .impersonate_groups = groups,
				   .n_impersonate_groups = 1 };

	open_run(&t, &e);
	const struct http_call call = call_of(&t, "GET", "/");

	go(&t, &call);
	ck_assert_ptr_nonnull(strstr(s.log->last, "Authorization: Bearer secret\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Impersonate-User: jane\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Impersonate-Group: ops\r\n"));
	e.bearer_token = "rotated";
	http_client_set_endpoint(t.client, &e);
	go(&t, &call);
	ck_assert_ptr_nonnull(strstr(s.log->last, "Authorization: Bearer rotated\r\n"));
	e.bearer_token = NULL;
	e.username = "u";
	e.password = "p";
	http_client_set_endpoint(t.client, &e);
	go(&t, &call);
	ck_assert_ptr_nonnull(strstr(s.log->last, "Authorization: Basic dTpw\r\n"));
	/* In clear to anywhere but loopback: nothing. */
	e.base_url = "http://192.0.2.1:80";
	e.address = s.address;
	e.bearer_token = "secret";
	http_client_set_endpoint(t.client, &e);
	go(&t, &call);
	ck_assert_int_eq(t.r.failure, HTTP_OK);
	ck_assert_ptr_null(strstr(s.log->last, "Authorization"));
	e.base_url = s.url;
	e.bearer_token = "two\r\nX-Evil: 1";
	http_client_set_endpoint(t.client, &e);
	go(&t, &call);
	ck_assert_int_eq(t.r.failure, HTTP_CONNECT);
	/* Without the header it would be done as who may impersonate. */
	e.bearer_token = "secret";
	e.impersonate_user = "jane\n";
	http_client_set_endpoint(t.client, &e);
	go(&t, &call);
	ck_assert_int_eq(t.r.failure, HTTP_CONNECT);
	e.impersonate_user = "jane";
	group[0] = '\n';
	http_client_set_endpoint(t.client, &e);
	go(&t, &call);
	ck_assert_int_eq(t.r.failure, HTTP_CONNECT);
	close_run(&t);
	server_stop(&s);
}

static struct run tls_get(const struct http_endpoint *e)
{
	struct run t = { 0 };

	open_run(&t, e);
	const struct http_call call = call_of(&t, "GET", "/x");

	go(&t, &call);
	close_run(&t);
	return t;
}

TEST(test_tls)
{
	struct server s;

	server_start(&s, serve_ok, true);
	char *by_name = xasprintf("https://api.test:%u/prefix/", s.port);
	char *by_other = xasprintf("https://other.test:%u", s.port);
	struct http_endpoint e = { .base_url = s.url, .ca_pem = s.ca_pem };
	struct run t = tls_get(&e);

	ck_assert_msg(t.r.failure == HTTP_OK, "%s", EN(t.r.why));
	e = (struct http_endpoint){ .base_url = by_name, .address = s.address, .ca_pem = s.ca_pem };
	ck_assert_int_eq(tls_get(&e).r.failure, HTTP_OK);
	ck_assert_ptr_nonnull(strstr(s.log->last, "GET /prefix/x HTTP/1.1"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Host: api.test:"));
	/* The certificate's name is another than the URL's. */
	e = (struct http_endpoint){ .base_url = by_other, .address = s.address, .ca_pem = s.ca_pem };
	t = tls_get(&e);
	ck_assert_int_eq(t.r.failure, HTTP_CONNECT);
	ck_assert(!t.r.sent);
	e.tls_server_name = "api.test";
	ck_assert_int_eq(tls_get(&e).r.failure, HTTP_OK);
	ck_assert_ptr_nonnull(strstr(s.log->last, "Host: other.test:"));
	/* Nobody vouches for it. */
	e = (struct http_endpoint){ .base_url = s.url };
	ck_assert_int_eq(tls_get(&e).r.failure, HTTP_CONNECT);
	e.insecure = true;
	ck_assert_int_eq(tls_get(&e).r.failure, HTTP_OK);
	e = (struct http_endpoint){ .base_url = s.url, .ca_pem = "no certificate" };
	ck_assert_int_eq(tls_get(&e).r.failure, HTTP_CONNECT);
	free(by_name);
	free(by_other);
	server_stop(&s);
}

/* Whoever names a CA trusts that one, and not all the world that the system trusts. */
TEST(an_authority_of_its_own_is_not_widened_by_the_systems)
{
	struct server s, other;

	server_start(&s, serve_ok, true);
	server_start(&other, serve_ok, true);
	char *pem = xstrdup(s.ca_pem);

	http_take_system_ca(&pem);
	ck_assert_ptr_null(pem);
	struct http_endpoint e = { .base_url = s.url };

	ck_assert_int_eq(tls_get(&e).r.failure, HTTP_OK);
	e.ca_pem = other.ca_pem;
	ck_assert_int_eq(tls_get(&e).r.failure, HTTP_CONNECT);
	e.ca_pem = s.ca_pem;
	ck_assert_int_eq(tls_get(&e).r.failure, HTTP_OK);
	server_stop(&other);
	server_stop(&s);
}

/* A key of that kind, which nobody is there to say the password of unless that is NULL; with its certificate.
 */
static void make_pair(const char *type, char **ret_cert, char **ret_key)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	BIO *b = BIO_new(BIO_s_mem()), *k = BIO_new(BIO_s_mem());
	unsigned char word[] = "word";
	char *p;
	long n;

	X509_set_pubkey(x, key);
	X509_gmtime_adj(X509_getm_notBefore(x), -3600);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_sign(x, key, EVP_sha256());
	PEM_write_bio_X509(b, x);
	if (!type)
		PEM_write_bio_PKCS8PrivateKey(k, key, NULL, NULL, 0, NULL, NULL);
	else if (strcmp(type, "PKCS#8") == 0)
		PEM_write_bio_PKCS8PrivateKey(k, key, EVP_aes_256_cbc(), (char *)word, 4, NULL, NULL);
	else
		PEM_write_bio_PrivateKey_traditional(k, key, EVP_aes_256_cbc(), word, 4, NULL, NULL);
	n = BIO_get_mem_data(b, &p);
	*ret_cert = xstrndup(p, (size_t)n);
	n = BIO_get_mem_data(k, &p);
	*ret_key = xstrndup(p, (size_t)n);
	BIO_free(b);
	BIO_free(k);
	X509_free(x);
	EVP_PKEY_free(key);
}

static const char *const locked[] = { "PKCS#8", "SEC1" };

/* A sandboxed process has no terminal to ask at, and dies of it. */
TEST_LOOP(a_key_that_needs_a_password_is_no_connection, 0, ARRAY_SIZE(locked))
{
	struct server s;
	char *cert, *key;

	make_pair(locked[_i], &cert, &key);
	server_start(&s, serve_ok, true);
	const struct http_endpoint e = {
		.base_url = s.url, .ca_pem = s.ca_pem, .cert_pem = cert, .key_pem = key
	};
	const struct run t = tls_get(&e);

	ck_assert_int_eq(t.r.failure, HTTP_CONNECT);
	ck_assert(!t.r.sent);
	free(cert);
	free(key);
	server_stop(&s);
}

/* libcurl says of it that it is unable to set '(memory blob)'. */
TEST(a_key_of_another_certificate_is_named)
{
	static const char damaged[] = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
	struct server s;
	char *cert, *key, *other_cert, *other_key;

	make_pair(NULL, &cert, &key);
	make_pair(NULL, &other_cert, &other_key);
	server_start(&s, serve_ok, true);
	const struct {
		const char *cert, *key;
		enum http_failure failure;
	} pairs[] = { { cert, key, HTTP_OK },
		      { cert, other_key, HTTP_CONNECT },
		      { cert, damaged, HTTP_CONNECT },
		      { key, key, HTTP_CONNECT } };

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct http_endpoint e = { .base_url = s.url,
						 .ca_pem = s.ca_pem,
						 .cert_pem = pairs[i].cert,
						 .key_pem = pairs[i].key };
		const struct run t = tls_get(&e);

		ck_assert_int_eq(t.r.failure, pairs[i].failure);
		ck_assert(t.r.failure == HTTP_OK ||
			  strstr(EN(t.r.why), "client-certificate and client-key of the kubeconfig") != NULL);
	}
	free(cert);
	free(key);
	free(other_cert);
	free(other_key);
	server_stop(&s);
}

/* Those that were are kept: a reload that brings the same must not keep it once more. */
TEST(the_same_certificates_of_the_system_are_not_kept_twice)
{
	char *first = xstrdup("-----BEGIN X-----\n"), *same = xstrdup(first);

	http_take_system_ca(&first);
	const void *kept = http_system_ca().data;

	http_take_system_ca(&same);
	ck_assert_ptr_eq(http_system_ca().data, kept);
	ck_assert_ptr_nonnull(same); /* still the caller's */
	free(same);
}

/* After http_global_init a whole TLS exchange opens no file and starts no thread: the kernel would kill. */
static int sealed_child(struct server *s)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	static const int forbidden[] = { SCMP_SYS(open),  SCMP_SYS(openat), SCMP_SYS(clone),   SCMP_SYS(fork),
					 SCMP_SYS(vfork), SCMP_SYS(execve), SCMP_SYS(readlink) };
	const struct http_endpoint e = { .base_url = s->url, .ca_pem = s->ca_pem, .user_agent = "x" };
	const struct http_endpoint system_trust = { .base_url = s->url };

	http_global_init();
	struct run t = { 0 };

	open_run(&t, &e); /* libevent and curl descriptors: before the sandbox */
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++)
		if (seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, forbidden[i], 0) < 0)
			return 3;
	if (seccomp_load(ctx) < 0)
		return 77; /* no seccomp here */
	struct http_call call = call_of(&t, "GET", "/");

	call.total_timeout_ms = 5000;
	go(&t, &call);
	if (t.r.failure != HTTP_OK)
		return 1;
	http_client_set_endpoint(t.client, &system_trust);
	go(&t, &call);
	return t.r.failure == HTTP_CONNECT ? 0 : 2;
}

TEST(test_sealed)
{
	struct server s;
	int status;

	server_start(&s, serve_ok, true);
	const pid_t pid = fork();

	if (pid == 0)
		_exit(sealed_child(&s));
	waitpid(pid, &status, 0);
#ifndef OPC_NO_SANDBOX
	ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77),
		      "status %x", (unsigned)status);
#endif
	server_stop(&s);
}

#if !defined(__SANITIZE_ADDRESS__) /* which has a heap of its own, not to be looked through */
/* In what this process has taken from the system for its heap, given back or not. */
static bool in_heap(const char *what)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	char *from, *to;
	bool found = false;

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[heap]") && sscanf(line, "%p-%p", (void **)&from, (void **)&to) == 2)
			found = found || memmem(from, (size_t)(to - from), what, strlen(what)) != NULL;
	(void)fclose(maps);
	return found;
}

/* Neither ours nor libcurl's copies stay behind; the one in use is there, so that looking finds something. */
TEST(a_token_that_was_replaced_is_gone)
{
	struct server s;
	struct run t = { 0 };
	char old[] = "0ld-t0ken-1-of-2", new[] = "n3w-t0ken-2-of-2";
	struct http_endpoint e = { .bearer_token = old };

	server_start(&s, serve_ok, false);
	e.base_url = s.url;
	open_run(&t, &e);
	const struct http_call call = call_of(&t, "GET", "/x");

	for (int i = 0; i < 3; i++)
		go(&t, &call);
	ck_assert(in_heap(old));
	e.bearer_token = new;
	http_client_set_endpoint(t.client, &e);
	go(&t, &call);
	ck_assert(in_heap(new));
	ck_assert_msg(!in_heap(old), "the old token is still in the heap");
	close_run(&t);
	ck_assert_msg(!in_heap(new), "the token is still in the heap in the end");
	server_stop(&s);
}
#endif

TEST_MAIN("http/identity")
{
	setenv("http_proxy", "http://127.0.0.1:1", 1); /* must be ignored */
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	http_global_init();
	tcase_set_timeout(t, 60);
}
