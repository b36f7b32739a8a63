/* action_quotes.c - see action_quotes.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/action_quotes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "rules/cause.h"
#include "worker/action_end.h"

/* A message of the status. A longer one than the facts surely hold is quoted as well. */
#define MESSAGE_MAX 2048u
#define FACT_HOLDS  400u

static const char mark[] = "…";

static void post(struct action *a, uint64_t *number, enum quote_kind kind, const struct container_facts *c,
		 struct str container, struct str text)
{
	struct msg m = { .type = MSG_QUOTE };
	const size_t n = kind == QUOTE_MESSAGE ? unicode_cut(text.p, text.n, MESSAGE_MAX) : text.n;
	_cleanup_free_ char *whole = xasprintf("%.*s%s", (int)n, text.p, n < text.n ? mark : "");

	if (n == 0 || *number >= QUOTES_MAX)
		return;
	m.u.quote.id = a->grant.id;
	m.u.quote.number = (*number)++;
	m.u.quote.quote = kind;
	msg_set(&m, quote.pod, a->grant.name, strlen(a->grant.name));
	msg_set(&m, quote.container, container.p, container.n);
	if (c)
		msg_set(&m, quote.image, c->image.p, c->image.n);
	msg_set(&m, quote.text, whole, strlen(whole));
	a->env.quote(a->env.ctx, &m);
}

static bool waits_for_image(const struct container_facts *c)
{
	return c->kind != CONTAINER_EPHEMERAL && cause_concerns(c) && !str_empty(c->message);
}

static void post_pulls(struct action *a, uint64_t *number)
{
	unsigned waiting = 0;

	for (uint32_t i = 0; i < a->pod.n_containers; i++)
		waiting += waits_for_image(&a->pod.containers[i]);
	for (uint32_t i = 0; i < a->pod.n_containers; i++) {
		const struct container_facts *c = &a->pod.containers[i];

		if (waits_for_image(c) && (waiting > 1 || c->message.n > FACT_HOLDS))
			post(a, number, QUOTE_MESSAGE, c, c->name, c->message);
	}
}

void quotes_post(struct action *a)
{
	const uint64_t acts = OUTCOMES_SPENT | UINT64_C(1) << OUTCOME_ANNOUNCED;
	uint64_t number = 0;

	if (a->dry_run || !(acts >> a->result.u.result.outcome & 1))
		return;
	if (a->log)
		post(a, &number, QUOTE_LOG, NULL, STR_C(a->log_container), STR_C(a->log));
	if (duty_workload((enum duty)a->grant.duty) >= 0)
		post_pulls(a, &number);
	else if (a->pod.message.n > FACT_HOLDS)
		post(a, &number, QUOTE_MESSAGE, NULL, STR_LIT(""), a->pod.message);
}

/* Behind "ESC [ ... m": p is at ESC. */
static const char *skip_colour(const char *p, const char *end)
{
	if (end - p < 2 || p[1] != '[')
		return p + 1;
	for (p += 2; p < end && (unsigned char)*p < 0x40; p++)
		;
	return p < end ? p + 1 : end;
}

static char *plain(const char *log, size_t n)
{
	const char *const end = log + n;
	char *text = xmalloc(n + 1), *to = text;

	for (const char *p = log; p < end;) {
		if (*p == '\x1b') {
			p = skip_colour(p, end);
			continue;
		}
		if (*p == '\t')
			*to++ = ' ';
		else if (*p != '\r' && *p)
			*to++ = *p;
		p++;
	}
	while (to > text && to[-1] == '\n')
		to--;
	*to = '\0';
	return text;
}

char *quotes_last_lines(const char *log, size_t n, int64_t lines)
{
	_cleanup_free_ char *text = plain(log, n);
	const size_t len = strlen(text);
	const char *from = text + len, *line = from;

	while (lines > 0 && line > text) {
		for (line--; line > text && line[-1] != '\n'; line--)
			;
		if (text + len - line > (ptrdiff_t)QUOTE_TEXT_MAX)
			break;
		from = line;
		lines--;
	}
	if (from == text + len && len > 0) { /* the last line alone is longer */
		from = text + len - QUOTE_TEXT_MAX + sizeof(mark);
		while (((unsigned char)*from & 0xc0) == 0x80)
			from++;
		return xconcat(mark, from, NULL);
	}
	return *from ? xstrdup(from) : NULL;
}
