/* kubernetes_version.c - see kubernetes_version.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/kubernetes_version.h"

#include <errno.h>

#include "base/cleanup.h"

static const char *const tried[] = {
#define KUBERNETES(major, minor, patch, pinned) "v" #major "." #minor "." #patch,
#include "model/kubernetes.def"
#undef KUBERNETES
};

static const char joined[] =
#define KUBERNETES(major, minor, patch, pinned) ", " #major "." #minor "." #patch
#include "model/kubernetes.def"
#undef KUBERNETES
	;

const char *kubernetes_version_at(size_t i)
{
	return i < ARRAY_SIZE(tried) ? tried[i] : NULL;
}

const char *kubernetes_versions_text(void)
{
	return joined + 2;
}

static bool take_char(struct str *s, char c)
{
	if (s->n == 0 || *s->p != c)
		return false;
	s->p++;
	s->n--;
	return true;
}

static bool take_number(struct str *s, uint64_t *ret)
{
	size_t n = 0;

	while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
		n++;
	if (str_to_u64(s->p, n, ret) < 0)
		return false;
	s->p += n;
	s->n -= n;
	return true;
}

/* As semver.org has it, which Kubernetes follows. */
static bool is_suffix(struct str s)
{
	static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-";

	for (size_t i = 0; i < s.n; i++)
		if (!memchr(allowed, s.p[i], sizeof(allowed) - 1))
			return false;
	return s.n == 0 || *s.p == '-' || *s.p == '+';
}

int kubernetes_version_parse(struct str text, struct kubernetes_version *ret)
{
	struct str s = text;
	const bool good = text.n <= KUBERNETES_VERSION_MAX && take_char(&s, 'v') &&
			  take_number(&s, &ret->major) && take_char(&s, '.') &&
			  take_number(&s, &ret->minor) && take_char(&s, '.') &&
			  take_number(&s, &ret->patch) && is_suffix(s);

	return good ? 0 : -EINVAL;
}

/* By major and minor. */
static int compare(const struct kubernetes_version *a, const struct kubernetes_version *b)
{
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	return a->minor < b->minor ? -1 : a->minor > b->minor;
}

bool kubernetes_version_is_from(struct str text, uint64_t major, uint64_t minor)
{
	const struct kubernetes_version from = { major, minor, 0 };
	struct kubernetes_version v;

	return kubernetes_version_parse(text, &v) == 0 && compare(&v, &from) >= 0;
}

enum kubernetes_tried kubernetes_version_tried(struct str text)
{
	struct kubernetes_version v, oldest, newest;

	if (kubernetes_version_parse(text, &v) < 0 ||
	    kubernetes_version_parse(STR_C(tried[0]), &oldest) < 0 ||
	    kubernetes_version_parse(STR_C(tried[ARRAY_SIZE(tried) - 1]), &newest) < 0)
		return KUBERNETES_UNKNOWN;
	return compare(&v, &oldest) < 0   ? KUBERNETES_OLDER
	       : compare(&v, &newest) > 0 ? KUBERNETES_NEWER
					  : KUBERNETES_TRIED;
}
