/* send.c - see send.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/send.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "text/texts.h"

#define DAY_MS        UINT64_C(86400000)
#define WRITES_MARGIN 10u
/* Bytes of a packed sentence that an operator is told. */
#define LINE_SENTENCE_MAX 600u

static uint64_t at_most_a_day(uint64_t ms)
{
	return ms > DAY_MS ? DAY_MS : ms;
}

void send_hello(struct channel *c)
{
	struct msg m = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = (uint64_t)getpid() } };

	msg_text(&m, hello.build, OPC_BUILD_ID);
	(void)channel_send(c, &m, -1);
}

/* Short enough to stand in the particulars of a trouble. */
static void line_facts(const struct diag *one, struct facts *ret)
{
	static const char behind[] = ": ";
	const size_t place = strlen(one->place), mark = sizeof(behind) - 1;
	char sentence[LINE_SENTENCE_MAX + 1];
	const size_t n = unicode_cut(one->sentence, strlen(one->sentence), LINE_SENTENCE_MAX);

	facts_finding(ret, one->error ? TEXT_LOAD_ERROR : TEXT_LOAD_WARNING);
	facts_quoted(ret, FACT_PLACE, (struct str){ one->place, place > mark ? place - mark : 0 });
	facts_quoted(ret, FACT_SETTING, STR_C(one->key));
	memcpy(sentence, one->sentence, n);
	sentence[n] = '\0';
	facts_sentence(ret, FACT_SENTENCE, sentence);
}

void send_lines(struct channel *c, const struct diags *d, size_t from, uint64_t cluster,
		const struct loaded_cluster *of)
{
	for (size_t i = from; i < d->n; i++) {
		struct msg m = { .type = MSG_LOAD_LINE,
				 .u.load_line = { .error = d->v[i].error, .cluster = cluster } };

		msg_text(&m, load_line.cluster_name, of ? of->name : NULL);
		line_facts(&d->v[i], &m.u.load_line.line);
		(void)channel_send(c, &m, -1);
	}
	(void)channel_flush(c, 0); /* the operator reads them, whatever becomes of the rest */
}

void send_watches(struct channel *c, const struct watches *w, size_t from)
{
	for (size_t i = from; i < w->n; i++) {
		struct msg m = { .type = MSG_LOAD_WATCH, .u.load_watch.watch = w->v[i].watch };

		msg_text(&m, load_watch.name, w->v[i].name);
		(void)channel_send(c, &m, i == 0 ? w->fd : -1);
	}
}

static void send_fixed(struct channel *c, const struct settings *s)
{
	struct msg m = { .type = MSG_LOAD_FIXED };
	const char *key;

	for (size_t i = 0; (key = settings_fixed_key(s, i, &m.u.load_fixed.value)); i++) {
		msg_text(&m, load_fixed.key, key);
		(void)channel_send(c, &m, -1);
	}
}

/* -- the whole -- */

/* The tighter of two budgets; 0 is none. */
static int64_t tighter(int64_t a, int64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* A budget of a longer time is one of a shorter time, too. */
static int64_t hour_of(const struct duty_policy *d)
{
	return tighter(d->max_per_hour, d->max_per_day);
}

static int64_t minute_of(const struct duty_policy *d)
{
	return tighter(d->max_per_minute, hour_of(d));
}

/* Twice what all duties that work may do in that time, and a margin: for attempts after a conflict, rests of
 * half-deleted pods and what operators restore, for which no budget is charged. So the supervisor's own limit
 * is met only when somebody else's counting fails. 0: some duty has no such budget, and there is no limit
 * either. */
static uint64_t write_limit(const struct policy *p, int64_t (*of)(const struct duty_policy *d))
{
	uint64_t n = 0;

	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = (enum duty)i;

		if (!duty_acts(d) || !policy_enables(p, d))
			continue;
		if (of(&p->duty[d]) == 0)
			return 0;
		n += (uint64_t)of(&p->duty[d]);
	}
	n = 2 * n + WRITES_MARGIN;
	return n < UINT32_MAX ? n : UINT32_MAX;
}

void send_supervisor(struct channel *c, const struct loader *l)
{
	const struct settings *s = &l->config.settings;
	struct msg m = { .type = MSG_LOAD_SUPERVISOR,
			 .u.load_supervisor = { .clusters = l->indexes.n,
						.observe = s->policy.mode == MODE_OBSERVE,
						.election = s->election,
						.refresh_ms = at_most_a_day(l->refresh_ms) } };

	for (enum duty d = 0; d < DUTY__MAX; d++)
		if (policy_enables(&s->policy, d))
			m.u.load_supervisor.duties |= UINT64_C(1) << d;
	m.u.load_supervisor.writes_per_minute = write_limit(&s->policy, minute_of);
	m.u.load_supervisor.writes_per_hour = write_limit(&s->policy, hour_of);
	m.u.load_supervisor.log_level = s->log_level;
	m.u.load_supervisor.log_format = s->log_format;
	msg_text(&m, load_supervisor.state_dir, s->state_dir);
	msg_text(&m, load_supervisor.home, s->election_home);
	msg_text(&m, load_supervisor.config, l->options->config);
	(void)channel_send(c, &m, -1);
	send_fixed(c, s);
}

/* -- one cluster -- */

/* "*", or the namespaces of all duties, each once. */
static char *namespaces_text(const struct policy *p)
{
	struct str_list seen = { 0 };
	char *all = NULL;

	for (enum duty d = 0; d < DUTY__MAX; d++) {
		const struct str_list *of = &p->duty[d].namespaces;

		for (size_t i = 0; policy_enables(p, d) && i < of->n; i++) {
			if (str_list_has(&seen, STR_C(of->v[i])))
				continue;
			str_list_add(&seen, of->v[i], strlen(of->v[i]));
			xappend(&all, ", ", of->v[i]);
		}
	}
	if (str_list_has(&seen, STR_LIT("*"))) {
		free(all);
		all = xstrdup("*");
	}
	str_list_done(&seen);
	return all ? all : xstrdup("");
}

/* "admin as viewer"; a service account has no name here. */
static char *user_text(const struct kube_target *t)
{
	const char *user = t->user ? t->user : "", *as = t->c.impersonate_user;

	return as ? xasprintf("%s as %s", user, as) : xstrdup(user);
}

static char *writer_text(const struct loaded_cluster *of)
{
	const struct kube_target *t = &of->writer;
	_cleanup_free_ char *user = user_text(t);

	if (!of->own_writer)
		return xstrdup("");
	return xasprintf("user %s, context %s, %s", user, t->context ? t->context : "?",
			 t->path ? t->path : "?");
}

void send_cluster(struct channel *c, const struct loader *l, uint64_t cluster,
		  const struct loaded_cluster *of, bool loaded)
{
	const struct kube_target *t = &of->reader;
	_cleanup_free_ char *user = user_text(t), *writer = writer_text(of),
			    *namespaces = namespaces_text(&l->config.settings.policy);
	struct msg m = { .type = MSG_LOAD_CLUSTER,
			 .u.load_cluster = { .cluster = cluster,
					     .workers = of->workers,
					     .workers_min = of->workers_min,
					     .loaded = loaded } };

	msg_text(&m, load_cluster.cluster_name, of->name);
	msg_text(&m, load_cluster.server, t->c.server);
	msg_text(&m, load_cluster.context, t->context);
	msg_text(&m, load_cluster.user, user);
	msg_text(&m, load_cluster.kubeconfig, t->path);
	msg_text(&m, load_cluster.writer, writer);
	msg_text(&m, load_cluster.namespaces, namespaces);
	(void)channel_send(c, &m, -1);
}

int send_blob(struct channel *c, enum role role, uint64_t cluster, int fd, uint64_t refresh_ms,
	      struct plugin_mark plugin)
{
	const struct msg m = { .type = MSG_LOAD_BLOB,
			       .u.load_blob = { .role = role,
						.cluster = cluster,
						.refresh_ms = at_most_a_day(refresh_ms),
						.plugin = plugin.hash,
						.plugin_until = plugin.until_ms } };

	return channel_send(c, &m, fd);
}

void send_end(struct channel *c, bool ok)
{
	const struct msg m = { .type = MSG_LOAD_END, .u.load_end.ok = ok };

	(void)channel_send(c, &m, -1);
}
