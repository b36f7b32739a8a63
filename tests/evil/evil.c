/* evil.c - see evil.h. What it sends is valid by ipc/messages.def, but for raw bytes. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/evil/evil.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "process/process.h"

#define CHANNEL_FD 3 /* of process.c */
#define RULES_MAX  16
#define SEEN_MAX   64
#define WORDS_MAX  64
#define BURST      64 /* messages of one run of the loop */
#define BURST_MS   2

/* Fields that tell one message from another of its type. */
static const char *const numbers[] = { "id", "look", "digest", "conn", "left" };

enum act { ANSWER, PRECEDE, LIE, SWALLOW, MUTE };

struct words {
	char *v[WORDS_MAX];
	size_t n;
};

struct rule {
	enum act act;
	int type; /* MSG__MAX: any */
	int answer;
	char text[1024]; /* fields; words point into it */
	struct words fields;
};

static struct {
	struct process *process;
	enum role role;
	bool acting; /* what is sent now is our own */
	struct rule rules[RULES_MAX];
	size_t n_rules;
	struct msg_packed *seen[SEEN_MAX];
	size_t n_seen;
	struct event *timer;
	struct rule storm; /* what is sent, one after the other: a flood */
	bool is_random, hangs, skipped[MSG__MAX];
	uint64_t left, count, dice;
} evil;

/* -- words -- */

/* Of text, which is cut up. */
static void split(char *text, struct words *ret)
{
	char *at = NULL;

	ret->n = 0;
	for (char *w = strtok_r(text, " ", &at); w && ret->n < WORDS_MAX; w = strtok_r(NULL, " ", &at))
		ret->v[ret->n++] = w;
}

static int type_of(const char *name)
{
	for (int i = 0; i < MSG__MAX; i++)
		if (strcmp(msg_desc((enum msg_type)i)->name, name) == 0)
			return i;
	return strcmp(name, "all") == 0 ? MSG__MAX : -1;
}

/* -- fields -- */

static void *member(struct msg *m, const struct msg_field *f)
{
	return (char *)&m->u + f->off;
}

/* The text of a value: ~ is a space, # the number of the message. */
static void expand(const char *value, char ret[static 4096])
{
	size_t n = 0;

	for (; *value && n < 4000; value++) {
		if (*value == '#')
			n += (size_t)snprintf(ret + n, 32, "%llu", (unsigned long long)evil.count);
		else
			ret[n++] = *value == '~' ? ' ' : *value;
	}
	ret[n] = '\0';
}

static int set_number(struct msg *m, const struct msg_field *f, const char *text)
{
	uint64_t v;
	int64_t i;
	const int r = *text == '-' ? str_to_i64(text, strlen(text), &i) : str_to_u64(text, strlen(text), &v);

	if (r < 0)
		return -EINVAL;
	if (*text == '-')
		v = (uint64_t)i;
	if (f->kind == KIND_BOOL)
		*(bool *)member(m, f) = v != 0;
	else
		memcpy(member(m, f), &v, sizeof(v));
	return 0;
}

/* Facts quote it. */
static void set_text(struct msg *m, const struct msg_field *f, const char *text)
{
	struct facts *facts = (void *)member(m, f);

	if (f->kind != KIND_FACTS) {
		msg_set_text(m, member(m, f), (size_t)f->max + 1, text, strlen(text));
		return;
	}
	*facts = (struct facts){ 0 };
	facts_quoted(facts, FACT_WHY, STR_C(text));
}

static int set_field(struct msg *m, const char *word)
{
	const struct msg_desc *d = msg_desc(m->type);
	const char *eq = strchr(word, '=');
	char text[4096];

	for (size_t i = 0; eq && i < d->n; i++) {
		const struct msg_field *f = &d->fields[i];

		if (strlen(f->name) != (size_t)(eq - word) || strncmp(f->name, word, strlen(f->name)) != 0)
			continue;
		expand(eq + 1, text);
		if (f->kind <= KIND_BOOL)
			return set_number(m, f, text);
		set_text(m, f, text);
		return 0;
	}
	return -EINVAL;
}

static int set_fields(struct msg *m, const struct words *w)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->n; i++)
		r = set_field(m, w->v[i]);
	return r;
}

static bool has_name(const struct msg_field *f, const char *name)
{
	return strcmp(f->name, name) == 0;
}

/* A message of that type whose fields are the least that they may be, and of the own cluster. */
static void begin(struct msg *m, int type)
{
	const struct msg_desc *d = msg_desc((enum msg_type)type);

	*m = (struct msg){ .type = (enum msg_type)type };
	for (size_t i = 0; i < d->n; i++) {
		const struct msg_field *f = &d->fields[i];

		if (f->kind > KIND_BOOL && f->min > 0)
			set_text(m, f, "x");
		else if (f->kind == KIND_U64)
			memcpy(member(m, f), &f->min, sizeof(f->min));
	}
	msg_set_u64(m, "cluster", evil.role == ROLE_REPORTER ? 0 : process_cluster(evil.process));
}

/* Could an encoder of the product have made it? */
static bool is_valid(struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);

	for (size_t i = 0; i < d->n; i++) {
		const struct msg_field *f = &d->fields[i];
		const char *at = member(m, f);
		int64_t v = 0;

		if (f->kind == KIND_U64 || f->kind == KIND_I64)
			memcpy(&v, at, sizeof(v));
		if (f->kind == KIND_U64 && ((uint64_t)v < (uint64_t)f->min || (uint64_t)v > f->max))
			return false;
		if (f->kind == KIND_I64 && (v < f->min || (v >= 0 && (uint64_t)v > f->max)))
			return false;
		if (f->kind > KIND_BOOL && strlen(at) < (size_t)f->min)
			return false;
	}
	return true;
}

static int send_own(struct msg *m)
{
	if (!is_valid(m))
		return -EINVAL;
	evil.acting = true;
	const int r = process_send(evil.process, m);

	evil.acting = false;
	return r;
}

/* -- chance -- */

static uint64_t roll(uint64_t sides)
{
	evil.dice = evil.dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (evil.dice >> 33) % sides;
}

static uint64_t any_number(const struct msg_field *f)
{
	const uint64_t least = (uint64_t)f->min, now = (uint64_t)clock_wall_ms();
	const uint64_t some[] = {
		least, least + roll(8), f->max, f->max - roll(4), now, now - roll(1 << 30)
	};
	const uint64_t v = some[roll(ARRAY_SIZE(some))];

	if (f->kind == KIND_BOOL)
		return roll(2);
	if (has_name(f, "cluster"))
		return evil.role == ROLE_REPORTER ? roll(2) : process_cluster(evil.process);
	return f->kind == KIND_U64 && (v < least || v > f->max) ? least : v > f->max ? f->max : v;
}

static void any_text(struct msg *m, const struct msg_field *f)
{
	static const char *const some[] = { "default", "uid-1",
					    "*/*",     "<!channel> @all **x** [y](http://z)",
					    "Evicted", "'; DROP--",
					    "../..",   "deployments.apps/default/x" };
	char text[4096] = "";
	const uint64_t kind = roll(10);

	if (kind < ARRAY_SIZE(some))
		(void)snprintf(text, sizeof(text), "%s", some[kind]);
	else if (kind == 8)
		memset(text, 'w', (size_t)f->max);
	if (f->min > 0 && !text[0])
		text[0] = 'x';
	set_text(m, f, text);
}

static void any_field(struct msg *m, const struct msg_field *f)
{
	const uint64_t v = f->kind <= KIND_BOOL ? any_number(f) : 0;

	if (f->kind > KIND_BOOL)
		any_text(m, f);
	else if (f->kind == KIND_BOOL)
		*(bool *)member(m, f) = v;
	else
		memcpy(member(m, f), &v, sizeof(v));
}

/* Some message that this role may send while it runs. */
static void any_message(struct msg *m)
{
	const struct msg_desc *d;
	struct msg seen;
	uint64_t type;

	do {
		type = roll(MSG__MAX);
		d = msg_desc((enum msg_type)type);
	} while (!(d->from >> evil.role & 1) || !(d->phases & PH_RUN) || evil.skipped[type]);
	begin(m, (int)type);
	for (size_t i = 0; i < d->n; i++)
		any_field(m, &d->fields[i]);
	if (evil.n_seen == 0 || roll(4) == 0)
		return;
	msg_unpack(evil.seen[roll(evil.n_seen < SEEN_MAX ? evil.n_seen : SEEN_MAX)], &seen);
	msg_copy_fields(m, &seen);
	if (d->n > 0 && roll(2))
		any_field(m, &d->fields[roll(d->n)]);
}

static void note(const struct msg *m)
{
	const size_t at = evil.n_seen++ % SEEN_MAX;

	free(evil.seen[at]);
	evil.seen[at] = msg_pack(m);
}

/* -- many messages -- */

/* No two are alike: what is kept by a text or a number is kept for each. */
static void vary(struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);
	char text[32];

	(void)snprintf(text, sizeof(text), "x%llu", (unsigned long long)evil.count);
	for (size_t i = 0; i < d->n; i++)
		if (d->fields[i].kind > KIND_BOOL)
			set_text(m, &d->fields[i], text);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		msg_set_u64(m, numbers[i], evil.count + 1);
}

static int send_next(void)
{
	struct msg m;

	if (evil.is_random) {
		any_message(&m);
		while (!is_valid(&m))
			any_message(&m);
	} else {
		begin(&m, evil.storm.type);
		vary(&m);
		(void)set_fields(&m, &evil.storm.fields);
	}
	return send_own(&m);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	while (evil.hangs)
		(void)poll(NULL, 0, 1000);
	for (int i = 0; i < BURST && evil.left > 0; i++) {
		if (send_next() == -EAGAIN)
			break;
		evil.left--;
		evil.count++;
	}
	if (evil.left > 0)
		(void)event_add(evil.timer, CLOCK_TIMEVAL(BURST_MS));
}

static void start_timer(void)
{
	if (!evil.timer)
		evil.timer = event_new(process_base(evil.process), -1, 0, on_timer, NULL);
	(void)event_add(evil.timer, CLOCK_TIMEVAL(BURST_MS));
}

/* -- commands: what follows the verb -- */

/* The fields that stand in w from `first` on, kept in r, tried on a message. */
static int keep_fields(struct rule *r, int type, const struct words *w, size_t first)
{
	struct msg m;
	size_t n = 0;

	if (type < 0 || type == MSG__MAX)
		return -EINVAL;
	r->text[0] = '\0';
	for (size_t i = first; i < w->n && n < sizeof(r->text); i++)
		n += (size_t)snprintf(r->text + n, sizeof(r->text) - n, "%s ", w->v[i]);
	split(r->text, &r->fields);
	begin(&m, type);
	return set_fields(&m, &r->fields);
}

static int add_rule(enum act act, const struct words *w)
{
	struct rule *r = &evil.rules[evil.n_rules];
	const size_t at = act <= PRECEDE ? 2 : 1; /* where the message that is made stands */

	if (evil.n_rules == RULES_MAX || w->n < at)
		return -EINVAL;
	*r = (struct rule){ .act = act, .type = type_of(w->v[0]) };
	r->answer = act <= PRECEDE ? type_of(w->v[1]) : r->type;
	if (r->type < 0 || (act <= LIE && keep_fields(r, r->answer, w, at) < 0))
		return -EINVAL;
	evil.n_rules++;
	return 0;
}

static int obey_answer(const struct words *w)
{
	return add_rule(ANSWER, w);
}

static int obey_precede(const struct words *w)
{
	return add_rule(PRECEDE, w);
}

static int obey_lie(const struct words *w)
{
	return add_rule(LIE, w);
}

static int obey_swallow(const struct words *w)
{
	return add_rule(SWALLOW, w);
}

static int obey_mute(const struct words *w)
{
	return add_rule(MUTE, w);
}

static int obey_say(const struct words *w)
{
	struct rule r = { .type = w->n > 0 ? type_of(w->v[0]) : -1 };
	struct msg m;

	if (keep_fields(&r, r.type, w, 1) < 0)
		return -EINVAL;
	begin(&m, r.type);
	(void)set_fields(&m, &r.fields);
	return send_own(&m);
}

static int obey_flood(const struct words *w)
{
	if (w->n < 2 || str_to_u64(w->v[0], strlen(w->v[0]), &evil.left) < 0)
		return -EINVAL;
	evil.storm.type = type_of(w->v[1]);
	evil.is_random = false;
	evil.count = 0;
	if (keep_fields(&evil.storm, evil.storm.type, w, 2) < 0)
		return -EINVAL;
	start_timer();
	return 0;
}

static int obey_random(const struct words *w)
{
	if (w->n < 2 || str_to_u64(w->v[0], strlen(w->v[0]), &evil.left) < 0 ||
	    str_to_u64(w->v[1], strlen(w->v[1]), &evil.dice) < 0)
		return -EINVAL;
	memset(evil.skipped, 0, sizeof(evil.skipped));
	evil.skipped[MSG_CTL_PROBE_ROW] = true;
	for (size_t i = 2; i < w->n; i++) {
		const int type = type_of(w->v[i] + 1);

		if (type < 0 || type == MSG__MAX)
			return -EINVAL;
		evil.skipped[type] = true;
	}
	evil.is_random = true;
	start_timer();
	return 0;
}

static int obey_rest(const struct words *w)
{
	(void)w;
	return evil.left > 0 ? -EAGAIN : 0;
}

static int obey_hang(const struct words *w)
{
	(void)w;
	evil.hangs = true;
	start_timer();
	return 0;
}

static int send_raw(const char *hex)
{
	uint8_t bytes[512];
	size_t n = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1 && n < sizeof(bytes); hex += 2)
		bytes[n++] = (uint8_t)byte;
	return n > 0 && send(CHANNEL_FD, bytes, n, MSG_NOSIGNAL) == (ssize_t)n ? 0 : -EINVAL;
}

static int obey_raw(const struct words *w)
{
	int r = w->n > 0 ? 0 : -EINVAL;

	for (size_t i = 0; r == 0 && i < w->n; i++)
		r = send_raw(w->v[i]);
	return r;
}

static int obey_open(const struct words *w)
{
	const int fd = w->n > 0 ? open(w->v[0], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return -errno;
	(void)close(fd);
	return 0;
}

static int obey_remove(const struct words *w)
{
	return w->n == 0 || unlink(w->v[0]) < 0 ? -errno : 0;
}

static int obey_pass(const struct words *w)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	const struct msg m = { .type = MSG_HEARTBEAT };
	uint8_t buf[IPC_FRAME_MAX];
	struct iovec iov = { buf, msg_encode(&m, buf) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *h = CMSG_FIRSTHDR(&mh);
	const int fd = w->n > 0 ? atoi(w->v[0]) : -1;

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	return sendmsg(CHANNEL_FD, &mh, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static const struct {
	const char *verb;
	int (*obey)(const struct words *w);
} verbs[] = {
	{ "say", obey_say },       { "flood", obey_flood },     { "random", obey_random },
	{ "answer", obey_answer }, { "lie", obey_lie },         { "swallow", obey_swallow },
	{ "mute", obey_mute },     { "raw", obey_raw },         { "pass", obey_pass },
	{ "hang", obey_hang },     { "rest", obey_rest },       { "open", obey_open },
	{ "remove", obey_remove }, { "precede", obey_precede },
};

int evil_obey(struct process *p, enum role role, const char *command)
{
	char text[1024];
	struct words w;

	evil.process = p;
	evil.role = role;
	(void)snprintf(text, sizeof(text), "%s", command);
	split(text, &w);
	for (size_t i = 0; w.n > 0 && i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(verbs[i].verb, w.v[0]) != 0)
			continue;
		memmove(w.v, w.v + 1, --w.n * sizeof(w.v[0]));
		return verbs[i].obey(&w);
	}
	return -EINVAL;
}

/* -- between the process and its channel -- */

/* The first of those acts. */
static const struct rule *rule_for(const struct msg *m, unsigned acts)
{
	for (size_t i = 0; i < evil.n_rules; i++) {
		const struct rule *r = &evil.rules[i];

		if ((acts >> r->act & 1) && (r->type == MSG__MAX || r->type == (int)m->type))
			return r;
	}
	return NULL;
}

bool evil_receives(const struct msg *m)
{
	const struct rule *r = rule_for(m, 1u << ANSWER | 1u << PRECEDE | 1u << SWALLOW);
	struct msg answer;

	if (!evil.process)
		return false;
	note(m);
	if (!r || m->type == MSG_CTL_PROBE)
		return false;
	if (r->act <= PRECEDE) {
		begin(&answer, r->answer);
		msg_copy_fields(&answer, m);
		(void)set_fields(&answer, &r->fields);
		(void)send_own(&answer);
	}
	return r->act != PRECEDE;
}

const struct msg *evil_sends(const struct msg *m, struct msg *buf)
{
	const struct rule *r = evil.acting ? NULL : rule_for(m, 1u << LIE | 1u << MUTE);

	if (!evil.process)
		return m;
	if (!evil.acting)
		note(m);
	if (!r || m->type == MSG_CTL_PROBE_ROW)
		return m;
	if (r->act == MUTE)
		return NULL;
	*buf = *m;
	(void)set_fields(buf, &r->fields);
	return is_valid(buf) ? buf : m;
}
