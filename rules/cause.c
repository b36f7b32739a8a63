/* cause.c - see cause.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/cause.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"

struct sign {
	enum pull_cause cause;
	const char *text;
};

static const struct sign signs[] = {
#define CAUSE(cause, text, source) { CAUSE_##cause, text },
#define CAUSE_REASON(cause, reason, source)
#include "rules/causes.def"
#undef CAUSE
#undef CAUSE_REASON
};

static const struct sign by_reason[] = {
#define CAUSE(cause, text, source)
#define CAUSE_REASON(cause, reason, source) { CAUSE_##cause, reason },
#include "rules/causes.def"
#undef CAUSE
#undef CAUSE_REASON
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

	if (in_name(*at) && at > text && (in_name(at[-1]) || strchr(".:", at[-1])))
		return false;
	if (!in_name(end[-1])) /* "x509:" */
		return true;
	return !in_name(*end) && !((*end == ':' || *end == '.') && in_name(end[1]));
}

/* Does the text begin with this part of a sign? */
static bool begins_with(const char *text, const char *part, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (part[i] == '#' ? !isdigit((unsigned char)text[i]) : text[i] != part[i])
			return false;
	return true;
}

/* Where the first such part ends, at `from` or after it; NULL: there is none. */
static const char *find_part(const char *text, const char *from, const char *part, size_t n)
{
	for (const char *at = from; (at = strchr(at, *part)); at++)
		if (begins_with(at, part, n) && stands_alone(text, at, n))
			return at + n;
	return NULL;
}

static bool contains(const char *text, const char *sign)
{
	const char *at = text;

	for (const char *part = sign; at && *part;) {
		const size_t n = strcspn(part, "*");

		at = find_part(text, at, part, n);
		part += n + (part[n] == '*');
	}
	return at != NULL;
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
		[CAUSE_TRANSIENT] = "transient", [CAUSE_NODE] = "node",
	};

	return (unsigned)c < CAUSE__MAX ? names[c] : "unknown";
}

static bool is_listed(const struct duty_policy *dp, enum pull_cause c)
{
	return str_list_has(&dp->causes, STR_C(cause_name(c == CAUSE_NODE ? CAUSE_TRANSIENT : c)));
}

bool cause_may_heal(enum pull_cause c)
{
	return c == CAUSE_TRANSIENT || c == CAUSE_NODE;
}

bool cause_may_act(const struct duty_policy *dp, enum pull_cause c, int64_t since, int64_t others_at)
{
	const bool not_the_registry = cause_may_heal(c) && since > 0 && others_at > since;

	return is_listed(dp, c) || (not_the_registry && is_listed(dp, CAUSE_MISCONFIGURED));
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

struct str image_repository(struct str image)
{
	size_t n = 0;

	while (n < image.n && image.p[n] != '@')
		n++;
	for (size_t i = n; i > 0 && image.p[i - 1] != '/'; i--)
		if (image.p[i - 1] == ':')
			return (struct str){ image.p, i - 1 };
	return (struct str){ image.p, n };
}
