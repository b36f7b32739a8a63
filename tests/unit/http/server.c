/* server.c - see server.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/http/server.h"

#include <arpa/inet.h>
#include <check.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "base/xalloc.h"

static char *pem_of(X509 *x)
{
	BIO *b = BIO_new(BIO_s_mem());
	char *p;

	PEM_write_bio_X509(b, x);
	const long n = BIO_get_mem_data(b, &p);
	char *s = xstrndup(p, (size_t)n);

	BIO_free(b);
	return s;
}

static void add_extension(X509 *x, int nid, const char *value)
{
	X509V3_CTX v3;

	X509V3_set_ctx_nodb(&v3);
	X509V3_set_ctx(&v3, x, x, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &v3, nid, value);

	X509_add_ext(x, e, -1);
	X509_EXTENSION_free(e);
}

static SSL_CTX *make_context(char **ret_pem)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	X509_set_version(x, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), -3600);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_set_pubkey(x, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
				   (const unsigned char *)"test", -1, -1, 0);
	X509_set_issuer_name(x, X509_get_subject_name(x));
	add_extension(x, NID_basic_constraints, "critical,CA:TRUE");
	add_extension(x, NID_subject_alt_name, "DNS:api.test,IP:127.0.0.1");
	X509_sign(x, key, EVP_sha256());
	SSL_CTX_use_certificate(ctx, x);
	SSL_CTX_use_PrivateKey(ctx, key);
	*ret_pem = pem_of(x);
	X509_free(x);
	EVP_PKEY_free(key);
	return ctx;
}

void server_send(struct server_conn *c, const char *data, size_t n)
{
	while (n > 0) {
		const ssize_t k =
			c->ssl ? SSL_write(c->ssl, data, (int)n) : send(c->fd, data, n, MSG_NOSIGNAL);

		if (k <= 0)
			return;
		data += k;
		n -= (size_t)k;
	}
}

void server_sends(struct server_conn *c, const char *text)
{
	server_send(c, text, strlen(text));
}

static ssize_t receive(struct server_conn *c, char *p, size_t n)
{
	return c->ssl ? SSL_read(c->ssl, p, (int)n) : recv(c->fd, p, n, 0);
}

void server_drain(struct server_conn *c)
{
	char buf[4096];

	while (receive(c, buf, sizeof(buf)) > 0)
		;
}

static size_t length_of(const char *request)
{
	const char *end = strstr(request, "\r\n\r\n");
	const char *field = strcasestr(request, "Content-Length: ");
	uint64_t body = 0;

	if (!end)
		return SIZE_MAX;
	if (field && field < end)
		ck_assert_int_eq(str_to_u64(field + 16, strcspn(field + 16, "\r"), &body), 0);
	return (size_t)(end - request) + 4 + body;
}

static void serve(struct server_conn *c, server_fn *fn)
{
	char buf[sizeof(c->log->last)] = { 0 };
	size_t have = 0;

	for (;;) {
		const size_t want = length_of(buf);

		if (have >= want) {
			memcpy(c->log->last, buf, sizeof(buf));
			__atomic_add_fetch(&c->log->requests, 1, __ATOMIC_SEQ_CST);
			if (!fn(c, buf))
				return;
			have = 0;
			memset(buf, 0, sizeof(buf));
			continue;
		}
		const ssize_t n = receive(c, buf + have, sizeof(buf) - 1 - have);

		if (n <= 0)
			return;
		have += (size_t)n;
	}
}

bool server_line(struct server_conn *c, char *ret, size_t size)
{
	const size_t had = strlen(c->log->last);
	size_t n = 0;

	ret[0] = '\0';
	while (n + 1 < size && receive(c, ret + n, 1) == 1 && ret[n] != '\n')
		n++;
	const bool whole = ret[n] == '\n';

	ret[n > 0 && ret[n - 1] == '\r' ? n - 1 : n] = '\0';
	snprintf(c->log->last + had, sizeof(c->log->last) - had, "%s\n", ret);
	return whole;
}

bool server_secure(struct server_conn *c)
{
	c->ssl = SSL_new(c->tls);
	SSL_set_fd(c->ssl, c->fd);
	return SSL_accept(c->ssl) == 1;
}

/* How a server speaks. */
struct manner {
	server_fn *fn;
	bool tls, late, talks;
};

static void child_loop(int listener, struct server_log *log, SSL_CTX *ctx, const struct manner *how)
{
	for (;;) {
		struct server_conn c = { accept(listener, NULL, NULL), NULL, ctx, log };

		__atomic_add_fetch(&log->connections, 1, __ATOMIC_SEQ_CST);
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (ctx && !how->late && !server_secure(&c))
				_exit(0);
			if (how->talks)
				(void)how->fn(&c, "");
			else
				serve(&c, how->fn);
			_exit(0);
		}
		close(c.fd);
	}
}

static void start(struct server *s, const struct manner *how)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(a);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);

	*s = (struct server){ 0 };
	SSL_CTX *ctx = how->tls ? make_context(&s->ca_pem) : NULL;

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(listener, 16), 0);
	getsockname(listener, (struct sockaddr *)&a, &len);
	s->port = ntohs(a.sin_port);
	snprintf(s->url, sizeof(s->url), "%s://127.0.0.1:%u", how->tls ? "https" : "http", s->port);
	snprintf(s->address, sizeof(s->address), "127.0.0.1:%u", s->port);
	s->log = mmap(NULL, sizeof(*s->log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGCHLD, SIG_IGN);
		child_loop(listener, s->log, ctx, how);
	}
	close(listener);
	SSL_CTX_free(ctx);
}

void server_start(struct server *s, server_fn *fn, bool tls)
{
	start(s, &(const struct manner){ .fn = fn, .tls = tls });
}

void server_start_talk(struct server *s, server_fn *fn, bool tls, bool late)
{
	start(s, &(const struct manner){ .fn = fn, .tls = tls, .late = late, .talks = true });
}

void server_stop(struct server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	munmap(s->log, sizeof(*s->log));
	free(s->ca_pem);
}
