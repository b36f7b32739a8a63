/* restore.c - `restore`: put back the replicas that scale-downs took. First a worker does a dry run of
 * each, which is always shown; then, when the operator agrees, each goes the way of every write. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "model/reasons.h"
#include "model/rights.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
#include "cli/commands/command.h"
#include "cli/instance/answers.h"
#include "cli/instance/ctl.h"
#include "cli/instance/instance_status.h"
#include "cli/view/table.h"
#include "cli/view/json.h"
#include "text/texts.h"

#define ASK_MS UINT64_C(60000)
/* A lease may wait for a worker, and the worker for the server. */
#define ACT_MS UINT64_C(180000)

struct item {
	struct msg_ctl_marked_row mark;  /* what it says, where that is all that is known; else empty */
	char cluster[64];                /* "": it is named by its number */
	struct msg_ctl_dry_run_result r; /* replicas: that were taken, -1 = not known; outcome: refused, too,
					  * when the instance itself says no */
};

struct restore {
	const struct options *o;
	const char *workload;
	struct ctl *ctl;
	struct item *v;
	size_t n;
	const char *cluster; /* that is asked for marks */
};

static struct item *add(struct restore *r, uint64_t id, const char *cluster, const char *target,
			int64_t replicas)
{
	r->v = xreallocarray(r->v, r->n + 1, sizeof(*r->v));
	struct item *i = &r->v[r->n++];

	*i = (struct item){ .r = { .id = id, .replicas = replicas } };
	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", cluster);
	(void)snprintf(i->r.target, sizeof(i->r.target), "%s", target);
	return i;
}

/* -- which -- */

/* target is resource.group/namespace/name; an operator writes that, namespace/name, or kind/namespace/name:
 * its kind as kubectl takes it, or as the target begins. */
static bool matches(const char *target, const char *said)
{
	const char *rest = strchr(target, '/');
	const char *slash = strchr(said, '/');

	if (!rest || !slash)
		return false;
	if (strcmp(target, said) == 0 || strcmp(rest + 1, said) == 0)
		return true;
	const struct str said_kind = { said, (size_t)(slash - said) };
	const char *wanted = kind_named(said_kind),
		   *kind = kind_named((struct str){ target, strcspn(target, "./") });

	if (slash == said || strcmp(rest, slash) != 0)
		return false;
	return strncasecmp(target, said, said_kind.n) == 0 || (wanted && kind && strcmp(wanted, kind) == 0);
}

static bool known(const struct restore *r, const char *cluster, const char *target)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->v[i].r.target, target) == 0 && strcmp(r->v[i].cluster, cluster) == 0)
			return true;
	return false;
}

/* The history comes newest first: of each workload the newest scale-down counts. */
static void on_history_row(void *ctx, const struct msg *m)
{
	const struct msg_ctl_history_row *h = &m->u.ctl_history_row;
	struct restore *r = ctx;

	if (m->type == MSG_CTL_HISTORY_ROW && !h->observe && h->action == ACTION_SCALE_DOWN &&
	    h->replicas > 0 && option_names_take(&r->o->clusters, h->cluster_name) &&
	    (!r->workload || matches(h->target, r->workload)) && !known(r, h->cluster_name, h->target))
		(void)add(r, h->id, h->cluster_name, h->target, h->replicas);
}

/* -- by the mark alone -- */

/* It may be known already: two instances are asked about a cluster that nobody leads. */
static void on_marked_row(void *ctx, const struct msg *m)
{
	const struct msg_ctl_marked_row *row = &m->u.ctl_marked_row;
	struct restore *r = ctx;

	if (m->type == MSG_CTL_MARKED_ROW && (!r->workload || matches(row->target, r->workload)) &&
	    !known(r, r->cluster, row->target))
		add(r, row->number, r->cluster, row->target, row->replicas)->mark = *row;
}

/* ns NULL: all of them. The name of the workload is behind the last slash, its namespace before that. */
static int ask_for_marks(struct restore *r, const char *ns)
{
	struct msg ask = { .type = MSG_CTL_MARKED };
	const char *slash = r->workload ? strrchr(r->workload, '/') : NULL, *begin = slash;

	while (begin && begin > r->workload && begin[-1] != '/')
		begin--;
	if (slash) {
		msg_set(&ask, ctl_marked.ns, begin, (size_t)(slash - begin));
		msg_set(&ask, ctl_marked.name, slash + 1, strlen(slash + 1));
	} else if (ns) {
		msg_set(&ask, ctl_marked.ns, ns, strlen(ns));
	}
	msg_set(&ask, ctl_marked.cluster_name, r->cluster, strlen(r->cluster));
	return ctl_request(r->ctl, &ask, ASK_MS, on_marked_row, r);
}

/* A list is of what this replica leads, and of what nobody does: others list the rest. */
static bool is_meant(const struct restore *r, const struct cluster_status *c)
{
	return !r->o->list || cluster_status_leads(c) || !c->leader->holder[0];
}

/* In all namespaces that are named. */
static int ask_cluster_for_marks(struct restore *r)
{
	const struct option_names *names = &r->o->namespaces;
	int code = EXIT_CODE_OK;

	for (size_t i = 0; code == EXIT_CODE_OK && i < (names->n ? names->n : 1); i++)
		code = ask_for_marks(r, names->n ? names->v[i] : NULL);
	return code;
}

/* A cluster that does not answer keeps no other from being asked. The code of the first. */
static int find_marks(struct restore *r, const char *socket)
{
	struct rows status = { 0 };
	int first = r->ctl ? EXIT_CODE_OK : ctl_open(socket, &r->ctl);

	if (first == EXIT_CODE_OK)
		first = instance_status_request(r->ctl, &r->o->clusters, &status);
	for (size_t k = 0; k < status.ctl_cluster.n; k++) {
		const struct cluster_status c = cluster_status_of(&status, k);

		r->cluster = c.at->cluster_name;
		const int code = is_meant(r, &c) ? ask_cluster_for_marks(r) : EXIT_CODE_OK;

		if (code != EXIT_CODE_OK && status.ctl_cluster.n > 1)
			output_complain(NULL, TEXT(CLUSTER_UNASKED), r->cluster);
		first = first != EXIT_CODE_OK ? first : code;
	}
	rows_done(&status);
	if (r->n > 0 && r->workload)
		output_complain("restore", TEXT(RESTORE_BY_MARK), r->workload);
	return first;
}

static int find_scale_downs(struct restore *r)
{
	const struct msg ask = { .type = MSG_CTL_HISTORY,
				 .u.ctl_history = { .since = r->o->since_ms,
						    .limit = 100000,
						    .duty = DUTY_ALL,
						    .outcomes = OUTCOMES_WRITTEN } };

	if (!r->workload && !r->o->since_ms)
		return EXIT_CODE_OK;
	const int code = ctl_request(r->ctl, &ask, ASK_MS, on_history_row, r);

	if (code != EXIT_CODE_OK || r->n > 0)
		return code;
	if (r->workload && (find_marks(r, r->o->socket) != EXIT_CODE_OK || r->n > 0))
		return r->n > 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
	if (r->workload)
		output_complain("restore", TEXT(RESTORE_UNKNOWN), r->workload);
	else
		output_complain("restore", "%s", TEXT(RESTORE_NONE_SINCE));
	return EXIT_CODE_FAILURE;
}

/* -- ask and act -- */

/* The history was asked which action is of that workload, and is not believed: the worker has looked. */
static void take_answer(struct item *i, const struct msg_ctl_dry_run_result *t)
{
	struct msg_ctl_dry_run_result r = *t;
	struct fact_value had;

	r.id = i->r.id;
	r.replicas = i->r.replicas;
	if (r.replicas < 0 && facts_find(&t->detail, FACT_REPLICAS, &had)) /* asked for by its number */
		r.replicas = had.number;
	if (i->r.target[0] && t->target[0] && strcmp(i->r.target, t->target) != 0) {
		r.outcome = OUTCOME_REFUSED;
		r.reason[0] = '\0';
		r.detail = facts_of(TEXT_RESTORE_ANOTHER);
		facts_name(&r.detail, FACT_OBJECT, STR_C(t->target));
		facts_name(&r.detail, FACT_WORKLOAD, STR_C(i->r.target));
	}
	if (!t->target[0] || r.reason[0] == '\0')
		memcpy(r.target, i->r.target, sizeof(r.target));
	i->r = r;
}

static struct msg question(const struct item *i, bool dry)
{
	struct msg ask = { .type = MSG_CTL_RESTORE, .u.ctl_restore = { .id = i->r.id, .dry = dry } };
	const char *name = ctl_operator();

	msg_set(&ask, ctl_restore.by, name, strlen(name));
	if (!i->mark.target[0])
		return ask;
	ask.u.ctl_restore.duty = i->mark.duty;
	ask.u.ctl_restore.want_replicas = i->mark.replicas;
	msg_set(&ask, ctl_restore.cluster_name, i->cluster, strlen(i->cluster));
	msg_set(&ask, ctl_restore.want_target, i->mark.target, strlen(i->mark.target));
	msg_set(&ask, ctl_restore.want_uid, i->mark.target_uid, strlen(i->mark.target_uid));
	return ask;
}

static int ask_one(struct restore *r, struct item *i, bool dry)
{
	const struct msg ask = question(i, dry);
	struct msg m = { 0 };
	int code = ctl_send(r->ctl, &ask);

	while (code == EXIT_CODE_OK && m.type != MSG_CTL_DRY_RUN_RESULT && m.type != MSG_CTL_END)
		code = ctl_recv(r->ctl, dry ? ASK_MS : ACT_MS, &m);
	if (code == EXIT_CODE_OK && m.type == MSG_CTL_DRY_RUN_RESULT) {
		take_answer(i, &m.u.ctl_dry_run_result);
	} else if (code == EXIT_CODE_OK) {
		i->r.outcome = OUTCOME_REFUSED;
		i->r.reason[0] = '\0';
		facts_set(&i->r.detail, &m.u.ctl_end.why);
	}
	return code;
}

static int each(struct restore *r, bool dry)
{
	int code = EXIT_CODE_OK;

	for (size_t i = 0; code == EXIT_CODE_OK && i < r->n; i++)
		if (dry || r->v[i].r.outcome == OUTCOME_WOULD)
			code = ask_one(r, &r->v[i], dry);
	return code;
}

/* Is what stands at 0 not what this history knows: scaled down by another replica, or another object of that
 * name? */
static bool is_of_another(const struct item *i)
{
	return i->r.outcome == OUTCOME_REFUSED &&
	       (strcmp(i->r.reason, reason_code(REASON_NOT_MARKED)) == 0 ||
		strcmp(i->r.reason, reason_code(REASON_OWNER_UID_DIFFERS)) == 0);
}

/* What would be put back. A workload that was asked for by its name, and is not as the history knows it, is
 * looked at by its mark; where there is none, what was said before stands. */
static int look(struct restore *r)
{
	const int code = each(r, true);
	struct restore marked = { .o = r->o, .workload = r->workload, .ctl = r->ctl };

	if (code != EXIT_CODE_OK || !r->workload)
		return code;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].mark.target[0] || !is_of_another(&r->v[i]))
			return code;
	(void)find_marks(&marked, r->o->socket);
	if (marked.n == 0)
		return code;
	free(r->v);
	*r = marked;
	return each(r, true);
}

static size_t count(const struct restore *r, enum outcome outcome)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].r.outcome == outcome;
	return n;
}

/* Nothing is left to put back: it has its replicas, or is gone. */
static bool is_settled(const struct item *i)
{
	return i->r.outcome == OUTCOME_DONE || i->r.outcome == OUTCOME_GONE ||
	       strcmp(i->r.reason, reason_code(REASON_NOT_ZERO_ANYMORE)) == 0;
}

static int code_of_all(const struct restore *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!is_settled(&r->v[i]))
			return EXIT_CODE_FAILURE;
	return EXIT_CODE_OK;
}

/* -- printing -- */

static bool has_several_clusters(const struct restore *r)
{
	for (size_t i = 1; i < r->n; i++)
		if (strcmp(r->v[i].cluster, r->v[0].cluster) != 0)
			return true;
	return false;
}

static void print_table(const struct restore *r, FILE *out)
{
	static const struct table_column columns[] = {
		{ "ID", 0, 0 },
		{ "CLUSTER", 3, COLUMN_FEW | COLUMN_BELOW },
		{ "WORKLOAD", 0, 0 },
		{ "REPLICAS", 0, 0 },
		{ "OUTCOME", 0, 0 },
		{ "REASON", 2, COLUMN_BELOW },
		{ "DETAIL", 1, COLUMN_BELOW },
	};
	const struct table_view view = table_view_of(out, false, false);
	const bool several = has_several_clusters(r);
	_cleanup_(table_free) struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t k = 0; k < r->n; k++) {
		const struct item *i = &r->v[k];
		const bool good = i->r.outcome == OUTCOME_WOULD || i->r.outcome == OUTCOME_DONE;

		table_add(t, COLOR_NONE, "%" PRIu64, i->r.id);
		table_add(t, COLOR_NONE, "%s", several ? i->cluster : "");
		table_add(t, COLOR_NONE, "%s", i->r.target[0] ? i->r.target : "-");
		if (i->r.replicas >= 0)
			table_add(t, COLOR_NONE, "0 -> %" PRId64, i->r.replicas);
		else
			table_add(t, COLOR_NONE, "-");
		table_add(t, good ? COLOR_GOOD : COLOR_BAD, "%s", outcome_name((enum outcome)i->r.outcome));
		table_add(t, COLOR_NONE, "%s", i->r.reason[0] ? i->r.reason : "-");
		_cleanup_free_ char *detail = output_facts(&i->r.detail, &view);

		table_add(t, COLOR_DIM, "%s", detail);
	}
	table_print(t, out, &view);
}

static json_t *items_json(const struct restore *r)
{
	json_t *all = json_array();

	for (size_t k = 0; k < r->n; k++)
		json_array_append_new(all, json_of(MSG_CTL_DRY_RUN_RESULT, &r->v[k].r));
	return all;
}

static void print_result(const struct restore *r, bool dry)
{
	if (r->o->output == OUTPUT_JSON)
		output_json(json_pack("{s:b, s:o}", "dryRun", dry, "items", items_json(r)));
	else
		print_table(r, stdout);
}

/* -- only what the marks say -- */

static void print_marks(const struct restore *r)
{
	static const struct table_column columns[] = { { "CLUSTER", 0, 0 },
						       { "WORKLOAD", 0, 0 },
						       { "REPLICAS", 0, 0 },
						       { "SINCE", 0, 0 },
						       { "WHY", 1, COLUMN_BELOW } };
	const struct table_view view = options_view(r->o);
	_cleanup_(table_free) struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t k = 0; k < r->n; k++) {
		const struct msg_ctl_marked_row *m = &r->v[k].mark;
		char at[RFC3339_MAX];

		table_add(t, COLOR_NONE, "%s", r->v[k].cluster);
		table_add(t, COLOR_NONE, "%s", m->target);
		table_add(t, COLOR_NONE, "0 -> %" PRId64, m->replicas);
		output_time(&view, m->at, at);
		table_add(t, COLOR_NONE, "%s", m->at ? at : "-");
		table_add(t, COLOR_DIM, "%s", m->said);
	}
	table_print(t, stdout, &view);
}

static void print_marks_json(const struct restore *r)
{
	json_t *all = json_array();

	for (size_t k = 0; k < r->n; k++) {
		json_t *one = json_of(MSG_CTL_MARKED_ROW, &r->v[k].mark);

		json_object_set_new(one, "cluster", json_string(r->v[k].cluster));
		json_array_append_new(all, one);
	}
	output_json(all);
}

/* Of each instance; one that does not answer says why on stderr. The code of the first. */
static int list(struct restore *r)
{
	int first = EXIT_CODE_OK;

	for (size_t i = 0; i <= answers_count(); i++) {
		const int code = find_marks(r, answers_socket(r->o->socket, i));

		ctl_close(&r->ctl);
		first = first == EXIT_CODE_OK ? code : first;
	}
	if (r->o->output == OUTPUT_JSON)
		print_marks_json(r);
	else if (r->n > 0)
		print_marks(r);
	else if (first == EXIT_CODE_OK)
		output_complain("restore", "%s", TEXT(RESTORE_NO_MARK));
	return first;
}

/* -- the command -- */

static bool agree(const struct restore *r, size_t n)
{
	char line[16] = "";

	if (r->o->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		output_complain("restore", "%s", TEXT(RESTORE_REPEAT));
		return false;
	}
	(void)fprintf(stderr, TEXT_OF(RESTORE_AGREE, n), n);
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static int act(struct restore *r)
{
	int code = find_scale_downs(r);

	if (code == EXIT_CODE_OK)
		code = look(r);
	if (code != EXIT_CODE_OK)
		return code;
	const size_t would = count(r, OUTCOME_WOULD);

	/* The dry run is always shown; as JSON there is one document, and the last word is the result. */
	if (r->o->output != OUTPUT_JSON || r->o->dry_run || would == 0)
		print_result(r, true);
	else if (!r->o->yes)
		print_table(r, stderr);
	if (would == 0 || r->o->dry_run)
		return would ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
	if (!agree(r, would))
		return EXIT_CODE_USAGE;
	code = each(r, false);
	if (code != EXIT_CODE_OK)
		return code;
	if (r->o->output != OUTPUT_JSON)
		printf("\n");
	print_result(r, false);
	return code_of_all(r);
}

/* One workload, or numbers of actions. */
static int take_arguments(const struct options *o, struct restore *r)
{
	uint64_t id;

	for (size_t i = 0; i < o->n_args; i++) {
		const char *arg = o->args[i];

		if (str_to_u64(arg, strlen(arg), &id) == 0 && id > 0 && id <= LEASE_ID_MAX)
			(void)add(r, id, "", "", -1);
		else if (strchr(arg, '/') && !r->workload)
			r->workload = arg;
		else
			return command_misuse(o, TEXT(RESTORE_NEITHER), arg);
	}
	if ((r->workload != NULL) + (r->n > 0) + (o->since_ms != 0 && !r->workload) + (o->list != 0) != 1)
		return command_misuse(o, "%s", TEXT(RESTORE_NEEDS));
	return EXIT_CODE_OK;
}

int command_restore(const struct options *o)
{
	struct restore r = { .o = o };
	int code = take_arguments(o, &r);

	if (code == EXIT_CODE_OK && o->list) {
		code = list(&r);
	} else if (code == EXIT_CODE_OK) {
		code = ctl_open(o->socket, &r.ctl);
		code = code == EXIT_CODE_OK ? act(&r) : code;
	}
	ctl_close(&r.ctl);
	if (code == EXIT_CODE_FAILURE || o->list) /* perhaps it is another replica's to do */
		leaders_tell_others(o);
	free(r.v);
	return code;
}
