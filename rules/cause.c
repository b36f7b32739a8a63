/* cause.c - see cause.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/cause.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"

struct sign {
	enum pull_cause cause;
	const char *text; /* lower case */
};

/* In the order of precedence: what may heal by itself comes first, and what is said of the image itself
 * stands before what is said of the registry as a whole. A '#' is a digit. */
static const struct sign signs[] = {
	/* the registry, the way to it, or the node: it may heal by itself */
	{ CAUSE_TRANSIENT, "toomanyrequests" },
	{ CAUSE_TRANSIENT, "too many requests" },
	{ CAUSE_TRANSIENT, "status code 429" },
	{ CAUSE_TRANSIENT, "status: 429" },
	{ CAUSE_TRANSIENT, "rate limit" },
	{ CAUSE_TRANSIENT, "pull qps exceeded" },
	{ CAUSE_TRANSIENT, "timeout" },
	{ CAUSE_TRANSIENT, "client.timeout exceeded" },
	{ CAUSE_TRANSIENT, "timed out" },
	{ CAUSE_TRANSIENT, "deadline exceeded" },
	{ CAUSE_TRANSIENT, "context canceled" },
	{ CAUSE_TRANSIENT, "request canceled" },
	{ CAUSE_TRANSIENT, "internal server error" },
	{ CAUSE_TRANSIENT, "bad gateway" },
	{ CAUSE_TRANSIENT, "gateway time-out" },
	{ CAUSE_TRANSIENT, "service unavailable" },
	{ CAUSE_TRANSIENT, "status code 5##" },
	{ CAUSE_TRANSIENT, "status: 5##" },
	{ CAUSE_TRANSIENT, "server misbehaving" },
	{ CAUSE_TRANSIENT, "temporary failure in name resolution" },
	{ CAUSE_TRANSIENT, "connection refused" },
	{ CAUSE_TRANSIENT, "connection reset" },
	{ CAUSE_TRANSIENT, "broken pipe" },
	{ CAUSE_TRANSIENT, "no route to host" },
	{ CAUSE_TRANSIENT, "network is unreachable" },
	{ CAUSE_TRANSIENT, "eof" },
	{ CAUSE_TRANSIENT, "no space left on device" },
	{ CAUSE_TRANSIENT, "registryunavailable" },
	/* what was asked is no registry, or is not asked so: somebody has to correct an address, a name, a
	 * certificate or the runtime's own settings */
	{ CAUSE_MISCONFIGURED, "x509:" },
	{ CAUSE_MISCONFIGURED, "failed to verify certificate" },
	{ CAUSE_MISCONFIGURED, "unknown authority" },
	{ CAUSE_MISCONFIGURED, "first record does not look like a tls handshake" },
	{ CAUSE_MISCONFIGURED, "http response to https client" },
	{ CAUSE_MISCONFIGURED, "malformed http response" },
	{ CAUSE_MISCONFIGURED, "unsupported protocol scheme" },
	{ CAUSE_MISCONFIGURED, "no such host" },
	{ CAUSE_MISCONFIGURED, "unexpected media type text/html" },
	{ CAUSE_MISCONFIGURED, "invalid reference format" },
	{ CAUSE_MISCONFIGURED, "couldn't parse image" },
	{ CAUSE_MISCONFIGURED, "could not parse image" },
	{ CAUSE_MISCONFIGURED, "failed to parse image" },
	{ CAUSE_MISCONFIGURED, "invalidimagename" },
	{ CAUSE_MISCONFIGURED, "no unqualified-search registries" },
	{ CAUSE_MISCONFIGURED, "no registries configured" },
	{ CAUSE_MISCONFIGURED, "invalid policy in" },
	{ CAUSE_MISCONFIGURED, "source image rejected" },
	/* the way to the registry, of any other kind */
	{ CAUSE_TRANSIENT, "dial tcp" },
	{ CAUSE_TRANSIENT, "failed to do request" },
	/* the registry was asked with this credential or that, and one was let in */
	{ CAUSE_PERMANENT, "not found: manifest unknown" },
	/* no access; Docker Hub says this of a repository that does not exist, too */
	{ CAUSE_AUTH, "unauthorized" },
	{ CAUSE_AUTH, "authentication required" },
	{ CAUSE_AUTH, "authenticationrequired" },
	{ CAUSE_AUTH, "authorization failed" },
	{ CAUSE_AUTH, "no basic auth credentials" },
	{ CAUSE_AUTH, "insufficient_scope" },
	{ CAUSE_AUTH, "access denied" },
	{ CAUSE_AUTH, "access to the resource is denied" },
	{ CAUSE_AUTH, "permission denied" },
	{ CAUSE_AUTH, "denied" },
	{ CAUSE_AUTH, "forbidden" },
	{ CAUSE_AUTH, "failed to fetch anonymous token" },
	{ CAUSE_AUTH, "failed to fetch oauth token" },
	/* the kubelet says this also of an image that is there, when the pod's secrets may not have it
	 * (KEP-2535, on since 1.35; pkg/kubelet/images imageNotPresentOnNeverPolicyError) */
	{ CAUSE_AUTH, "pull policy of never" },
	{ CAUSE_AUTH, "errimageneverpull" },
	/* of the node's own store, not of a registry */
	{ CAUSE_UNKNOWN, "failed to prepare extraction snapshot" },
	/* there is no such image, and there will be none by waiting */
	{ CAUSE_PERMANENT, "manifest unknown" },
	{ CAUSE_PERMANENT, "manifest_unknown" },
	{ CAUSE_PERMANENT, "name unknown" },
	{ CAUSE_PERMANENT, "name_unknown" },
	{ CAUSE_PERMANENT, "repository does not exist" },
	{ CAUSE_PERMANENT, "repository name not known" },
	{ CAUSE_PERMANENT, "not found" },
	{ CAUSE_PERMANENT, "no match for platform" },
	{ CAUSE_PERMANENT, "no matching manifest" },
	{ CAUSE_PERMANENT, "manifest invalid" },
	{ CAUSE_PERMANENT, "unsupported media type" },
	{ CAUSE_PERMANENT, "is no longer supported since" },
	{ CAUSE_PERMANENT, "application/vnd.docker.distribution.manifest.v1+prettyjws not supported" },
	{ CAUSE_PERMANENT, "schema 1 support is disabled" },
};

/* Reasons that tell the cause without any message. */
static const struct sign by_reason[] = {
	{ CAUSE_MISCONFIGURED, "InvalidImageName" },
	{ CAUSE_AUTH, "ErrImageNeverPull" },
	{ CAUSE_TRANSIENT, "RegistryUnavailable" },
};

#define MESSAGE_MAX 2048 /* a kubelet's message is cut at 1 KiB */

/* Where the quotation that begins at i ends; i itself when it does not. */
static size_t quote_end(struct str s, size_t i)
{
	for (size_t k = i + 1; k < s.n; k++) {
		if (s.p[k] == '\\')
			k++;
		else if (s.p[k] == '"')
			return k;
	}
	return i;
}

/* The text as lower case letters and single blanks, without what is quoted: an image may be called
 * "timeout". What follows a quotation is read, and so is one that is cut off. */
static size_t plain_text(struct str message, char out[static MESSAGE_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < message.n && n < MESSAGE_MAX - 1; i++) {
		const unsigned char c = (unsigned char)message.p[i];
		const size_t end = c == '"' ? quote_end(message, i) : i;
		const bool blank = end > i || c == '\0' || isspace(c);

		i = end;
		if (!blank)
			out[n++] = (char)tolower(c);
		else if (n && out[n - 1] != ' ')
			out[n++] = ' ';
	}
	out[n] = '\0';
	return n;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-/@+", c));
}

/* Names stand unquoted, too: "r.example.com/timeout:v1: not found". A sign is never a part of one, nor of a
 * digest or a port. */
static bool stands_alone(const char *text, const char *at, size_t n)
{
	const char *end = at + n;

	if (at > text && (in_name(at[-1]) || strchr(".:", at[-1])))
		return false;
	if (!in_name(end[-1])) /* "x509:" */
		return true;
	return !in_name(*end) && !((*end == ':' || *end == '.') && in_name(end[1]));
}

/* Length of the sign when the text begins with it, else 0. */
static size_t begins_with(const char *text, const char *sign)
{
	size_t n = 0;

	for (; sign[n]; n++)
		if (sign[n] == '#' ? !isdigit((unsigned char)text[n]) : text[n] != sign[n])
			return 0;
	return n;
}

static bool contains(const char *text, const char *sign)
{
	for (const char *at = text; (at = strchr(at, *sign)); at++) {
		const size_t n = begins_with(at, sign);

		if (n && stands_alone(text, at, n))
			return true;
	}
	return false;
}

enum pull_cause cause_classify(struct str message)
{
	char text[MESSAGE_MAX];

	if (plain_text(message, text) == 0)
		return CAUSE_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (contains(text, signs[i].text))
			return signs[i].cause;
	return CAUSE_UNKNOWN;
}

struct str cause_bare_reason(struct str s)
{
	if (s.n > 5 && memcmp(s.p, "Init:", 5) == 0)
		return (struct str){ s.p + 5, s.n - 5 };
	return s;
}

/* Every waiting reason that means "the image is not here" (kubernetes pkg/kubelet/images/types.go). */
static const char *const pull_reasons[] = {
	"ErrImagePull",      "ImagePullBackOff",    "InvalidImageName",         "ErrImageNeverPull",
	"ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"
};

bool cause_concerns(const struct container_facts *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(pull_reasons); i++)
		if (c->state == CONTAINER_WAITING && str_is(cause_bare_reason(c->reason), pull_reasons[i]))
			return true;
	return false;
}

enum pull_cause cause_of(const struct container_facts *c)
{
	const enum pull_cause said = cause_classify(c->message);

	if (said != CAUSE_UNKNOWN)
		return said;
	for (size_t i = 0; i < ARRAY_SIZE(by_reason); i++)
		if (str_is(c->reason, by_reason[i].text))
			return by_reason[i].cause;
	return (unsigned)c->cause < CAUSE__MAX ? c->cause : CAUSE_UNKNOWN;
}

const char *cause_name(enum pull_cause c)
{
	static const char *const names[CAUSE__MAX] = {
		[CAUSE_UNKNOWN] = "unknown",     [CAUSE_PERMANENT] = "permanent",
		[CAUSE_AUTH] = "auth",           [CAUSE_MISCONFIGURED] = "misconfigured",
		[CAUSE_TRANSIENT] = "transient",
	};

	return (unsigned)c < CAUSE__MAX ? names[c] : "unknown";
}

bool cause_may_act(const struct duty_policy *dp, enum pull_cause c, int64_t since, int64_t others_at)
{
	const bool not_the_registry = c == CAUSE_TRANSIENT && since > 0 && others_at > since;

	return str_list_has(&dp->causes, STR_C(cause_name(c))) ||
	       (not_the_registry && str_list_has(&dp->causes, STR_C(cause_name(CAUSE_UNKNOWN))));
}

struct str image_host(struct str image)
{
	const char *slash = image.n ? memchr(image.p, '/', image.n) : NULL;
	const struct str first = { image.p, slash ? (size_t)(slash - image.p) : 0 };

	if (image.n == 0 || (!slash && image.n > 7 && memcmp(image.p, "sha256:", 7) == 0))
		return (struct str){ "", 0 };
	if (first.n &&
	    (memchr(first.p, '.', first.n) || memchr(first.p, ':', first.n) || str_is(first, "localhost")))
		return first;
	return STR_LIT("docker.io");
}
