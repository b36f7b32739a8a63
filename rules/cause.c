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

/* In the order of precedence: what acts least comes first. */
static const struct sign signs[] = {
	/* the registry or the way to it */
	{ CAUSE_TRANSIENT, "toomanyrequests" },
	{ CAUSE_TRANSIENT, "too many requests" },
	{ CAUSE_TRANSIENT, "429" },
	{ CAUSE_TRANSIENT, "rate limit" },
	{ CAUSE_TRANSIENT, "pull qps exceeded" },
	{ CAUSE_TRANSIENT, "timeout" },
	{ CAUSE_TRANSIENT, "timed out" },
	{ CAUSE_TRANSIENT, "deadline exceeded" },
	{ CAUSE_TRANSIENT, "context canceled" },
	{ CAUSE_TRANSIENT, "500 internal server error" },
	{ CAUSE_TRANSIENT, "502 bad gateway" },
	{ CAUSE_TRANSIENT, "504 gateway time" },
	{ CAUSE_TRANSIENT, "status code 5" },
	{ CAUSE_TRANSIENT, "service unavailable" },
	{ CAUSE_TRANSIENT, "x509:" },
	{ CAUSE_TRANSIENT, "tls:" },
	{ CAUSE_TRANSIENT, "http response to https client" },
	{ CAUSE_TRANSIENT, "no such host" },
	{ CAUSE_TRANSIENT, "server misbehaving" },
	{ CAUSE_TRANSIENT, "temporary failure in name resolution" },
	{ CAUSE_TRANSIENT, "connection refused" },
	{ CAUSE_TRANSIENT, "connection reset" },
	{ CAUSE_TRANSIENT, "broken pipe" },
	{ CAUSE_TRANSIENT, "no route to host" },
	{ CAUSE_TRANSIENT, "network is unreachable" },
	{ CAUSE_TRANSIENT, "dial tcp" },
	{ CAUSE_TRANSIENT, "unexpected eof" },
	{ CAUSE_TRANSIENT, "failed to do request" },
	{ CAUSE_TRANSIENT, "no space left on device" },
	{ CAUSE_TRANSIENT, "registryunavailable" },
	/* no access; Docker Hub says this of a repository that does not exist, too */
	{ CAUSE_AUTH, "unauthorized" },
	{ CAUSE_AUTH, "authentication required" },
	{ CAUSE_AUTH, "authorization failed" },
	{ CAUSE_AUTH, "no basic auth credentials" },
	{ CAUSE_AUTH, "insufficient_scope" },
	{ CAUSE_AUTH, "access denied" },
	{ CAUSE_AUTH, "access to the resource is denied" },
	{ CAUSE_AUTH, "permission denied" },
	{ CAUSE_AUTH, "403 forbidden" },
	{ CAUSE_AUTH, "failed to fetch anonymous token" },
	{ CAUSE_AUTH, "failed to fetch oauth token" },
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
	{ CAUSE_PERMANENT, "invalid reference format" },
	{ CAUSE_PERMANENT, "couldn't parse image" },
	{ CAUSE_PERMANENT, "could not parse image" },
	{ CAUSE_PERMANENT, "failed to parse image" },
	{ CAUSE_PERMANENT, "invalidimagename" },
	{ CAUSE_PERMANENT, "errimageneverpull" },
	{ CAUSE_PERMANENT, "pull policy of never" },
	{ CAUSE_PERMANENT, "manifest invalid" },
	{ CAUSE_PERMANENT, "unsupported media type" },
};

/* Reasons that tell the cause without any message. */
static const struct sign by_reason[] = {
	{ CAUSE_PERMANENT, "InvalidImageName" },
	{ CAUSE_PERMANENT, "ErrImageNeverPull" },
	{ CAUSE_TRANSIENT, "RegistryUnavailable" },
};

#define MESSAGE_MAX 2048 /* a kubelet's message is cut at 1 KiB */

/* The text as lower case letters, without what is quoted: an image may be called "timeout". */
static size_t plain_text(struct str message, char out[static MESSAGE_MAX])
{
	bool quoted = false;
	size_t n = 0;

	for (size_t i = 0; i < message.n && n < MESSAGE_MAX - 1; i++) {
		if (message.p[i] == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted)
			out[n++] = (char)(message.p[i] ? tolower((unsigned char)message.p[i]) : ' ');
	}
	out[n] = '\0';
	return n;
}

/* A number stands alone: "429" is not part of a digest or of a port. */
static bool contains(const char *text, const char *sign)
{
	const size_t n = strlen(sign);

	for (const char *at = strstr(text, sign); at; at = strstr(at + 1, sign))
		if (!isdigit((unsigned char)*sign) ||
		    ((at == text || at[-1] == ' ' || at[-1] == '(') && !isdigit((unsigned char)at[n])))
			return true;
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
		[CAUSE_UNKNOWN] = "unknown",
		[CAUSE_PERMANENT] = "permanent",
		[CAUSE_AUTH] = "auth",
		[CAUSE_TRANSIENT] = "transient",
	};

	return (unsigned)c < CAUSE__MAX ? names[c] : "unknown";
}

bool cause_may_act(const struct duty_policy *dp, enum pull_cause c)
{
	return str_list_has(&dp->causes, STR_C(cause_name(c)));
}

struct str image_host(struct str image)
{
	const char *slash = image.n ? memchr(image.p, '/', image.n) : NULL;
	const struct str first = { image.p, slash ? (size_t)(slash - image.p) : 0 };

	if (image.n == 0)
		return (struct str){ "", 0 };
	if (first.n &&
	    (memchr(first.p, '.', first.n) || memchr(first.p, ':', first.n) || str_is(first, "localhost")))
		return first;
	return STR_LIT("docker.io");
}
