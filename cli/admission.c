/* admission.c - see admission.h. The policy is a list of variables and demands in CEL; each stands here as it
 * is printed, with what the configuration says in between. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/admission.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/admission_limits.h"
#include "cli/admission_suspend.h"
#include "cli/local/cel.h"
#include "config/config.h"
#include "model/actions.h"
#include "model/annotations.h"
#include "model/object_events.h"
#include "model/reasons.h"

#define POLICY_NAME "ops-pod-cleaner-writer"

/* RE2: a time in UTC; text without control and format characters, surrogates, private use and separators of
 * lines, as base/unicode.h has it. */
#define TIME_PATTERN "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?Z"
#define TEXT_PATTERN "[^\\p{C}\\p{Zl}\\p{Zp}]*"

/* -- what a duty deletes, as far as the pod itself says it -- */

struct due {
	FILE *f;
	const struct limits *limits;
};

static void put_no_job(const struct due *d)
{
	if (!d->limits->jobs)
		(void)fputs(" &&\n!variables.owners.exists(o, o.kind == 'Job')", d->f);
}

static void put_evicted(const struct due *d)
{
	(void)fputs("variables.phase == 'Failed' && oldObject.?status.?reason.orValue('') == 'Evicted'",
		    d->f);
	put_no_job(d);
}

static void put_finished(const struct due *d)
{
	const struct limits *l = d->limits;

	(void)fputs("variables.phase in ['Failed', 'Succeeded'] && variables.phase in ", d->f);
	cel_list(d->f, &l->phases);
	if (!str_list_has(&l->status, STR_LIT("*"))) {
		(void)fputs(" &&\n(", d->f);
		cel_matches_any(d->f, "oldObject.?status.?reason.orValue('')", &l->status);
		(void)fputs(" ||\nvariables.containers.exists(c, ", d->f);
		cel_matches_any(d->f, "c.?state.?terminated.?reason.orValue('')", &l->status);
		(void)fputs("))", d->f);
	}
	if (!l->bare)
		(void)fputs(" &&\nvariables.owners.size() > 0", d->f);
	put_no_job(d);
}

/* Not how long: a policy has no clock, and a parameter to read one from (the leader's Lease) would be worse
 * than none. Without it the server refuses all that the policy is about, to everybody, and once a binding has
 * been renewed it keeps an old one for ever (kubernetes/kubernetes#130887). */
static void put_terminating(const struct due *d)
{
	(void)fputs("has(oldObject.metadata.deletionTimestamp) && "
		    "oldObject.metadata.?finalizers.orValue([]).size() "
		    "== 0 &&\nrequest.?options.?gracePeriodSeconds.orValue(1) == 0",
		    d->f);
}

static void put_fresh_attempt(const struct due *d)
{
	(void)fputs("!has(oldObject.metadata.deletionTimestamp) && variables.owners.size() > 0 &&\n"
		    "request.?options.?gracePeriodSeconds.orValue(0) != 0 &&\n"
		    "!oldObject.?status.?conditions.orValue([]).exists(c, c.type == 'Ready' && c.status == "
		    "'True') &&\n"
		    "variables.containers.exists(c, c.?state.?waiting.?reason.orValue('') in ",
		    d->f);
	cel_list(d->f, &d->limits->status);
	(void)fputs(")", d->f);
}

/* A duty without a row deletes nothing. */
static void (*const due_of[DUTY__MAX])(const struct due *d) = {
	[DUTY_EVICTED] = put_evicted,
	[DUTY_TERMINATING] = put_terminating,
	[DUTY_FINISHED] = put_finished,
	[DUTY_IMAGE_PULL] = put_fresh_attempt,
};

/* -- YAML -- */

struct printer {
	const struct admission_request *q;
	const struct policy *policy;
	FILE *out;
	FILE *expression; /* one at a time ... */
	char *text;
	size_t n;
};

static FILE *begin(struct printer *p)
{
	p->expression = open_memstream(&p->text, &p->n);
	return p->expression;
}

/* ... as a block that stands so deep. */
static void end(struct printer *p, int indent)
{
	(void)fclose(p->expression);
	for (char *rest = p->text, *line; (line = strsep(&rest, "\n"));)
		(void)fprintf(p->out, "%*s%s\n", indent, "", line);
	free(p->text);
	p->text = NULL;
}

static FILE *variable(struct printer *p, const char *prefix, const char *name)
{
	(void)fprintf(p->out, "    - name: %s%s\n      expression: |-\n", prefix, name);
	return begin(p);
}

static void variable_is(struct printer *p, const char *name, const char *text)
{
	(void)fputs(text, variable(p, "", name));
	end(p, 8);
}

static void demand_begin(struct printer *p, const char *message)
{
	(void)fprintf(p->out, "    - message: \"%s\"\n      reason: Forbidden\n      expression: |-\n",
		      message);
}

static void demand(struct printer *p, const char *message, const char *text)
{
	demand_begin(p, message);
	(void)fputs(text, begin(p));
	end(p, 8);
}

static bool works(const struct policy *p, enum duty d)
{
	return duty_acts(d) && policy_enables(p, d);
}

/* Does the duty delete anything by its settings? */
static bool deletes(const struct policy *p, enum duty d)
{
	struct limits l = limits_of(p, d);
	const bool pod = action_desc(duty_desc(d)->action)->target == TARGET_POD;

	limits_done(&l);
	return due_of[d] && (pod || l.fresh_attempt);
}

static const struct kind_desc *kind_of(const struct printer *p, size_t i)
{
	size_t n = 0;

	while (kind_at(n))
		n++;
	if (i < n)
		return kind_at(i);
	return i - n < p->q->n_kinds ? &p->q->kinds[i - n] : NULL;
}

/* "UPDATE apps/deployments/scale", of every kind of the set; with pods, where there is a first. */
static void print_whats(struct printer *p, const char *name, enum right_set set, const char *behind,
			const char *first)
{
	FILE *f = variable(p, "", name);
	const struct kind_desc *k;
	const char *comma = *first ? ", " : "";

	(void)fprintf(f, "[%s", first);
	for (size_t i = 0; (k = kind_of(p, i)); i++)
		if (right_is_for(set, k)) {
			(void)fprintf(f, "%s'UPDATE %s%s%s%s'", comma, k->group, *k->group ? "/" : "",
				      k->resource, behind);
			comma = ",\n";
		}
	(void)fputs("]", f);
	end(p, 8);
}

static void print_requests(struct printer *p)
{
	const bool scales = works(p->policy, DUTY_IMAGE_PULL) || works(p->policy, DUTY_CRASH_LOOP);
	const struct {
		const char *name;
		enum right_set set;
		const char *behind, *first;
		bool printed;
	} lists[] = {
		{ "scales", SET_SCALES, "/scale", "", scales },
		{ "by_scale", SET_BY_SCALE, "/scale", "", scales },
		{ "wholes", SET_WHOLES, "", "", scales },
		{ "others", SET_BY_SCALE, "", "", scales },
		{ "suspends", p->q->suspends_cron_jobs ? SET_SUSPENDS : SET_SUSPENDS_JOB, "", "",
		  p->q->suspends },
		{ "annotates", SET_SCALES, "", p->q->announces ? "'UPDATE pods'" : "",
		  scales || p->q->announces },
	};

	variable_is(p, "what",
		    "request.operation + ' ' + (request.resource.group == '' ? '' : request.resource.group + "
		    "'/') +\n"
		    "request.resource.resource + (request.?subResource.orValue('') == '' ? '' : '/' + "
		    "request.subResource)");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (lists[i].printed)
			print_whats(p, lists[i].name, lists[i].set, lists[i].behind, lists[i].first);
		else
			variable_is(p, lists[i].name, "[]");
	variable_is(p, "tells", "['CREATE events', 'UPDATE events']");
}

static void print_where(struct printer *p)
{
	variable_is(p, "ns", "request.?namespace.orValue('')");
	variable_is(p, "labels", "namespaceObject.?metadata.?labels.orValue({})");
	cel_in_namespaces(variable(p, "", "excluded"), &p->policy->exclude_namespaces);
	end(p, 8);
	FILE *f = variable(p, "", "protected");

	(void)fputs("variables.ns == '" ADMISSION_HOME "' ||\n", f);
	cel_in_namespaces(f, &p->policy->default_exclude_namespaces);
	end(p, 8);
	for (int i = 0; i < DUTY__MAX; i++) {
		const struct str_list *l = &p->policy->duty[i].namespaces;

		if (!works(p->policy, (enum duty)i))
			continue;
		cel_named(variable(p, "named_", duty_name((enum duty)i)), l);
		end(p, 8);
		f = variable(p, "in_", duty_name((enum duty)i));
		(void)fputs("variables.ns != '' && !variables.excluded &&\n", f);
		(void)fprintf(f, "(variables.named_%s || !variables.protected) &&\n",
			      duty_name((enum duty)i));
		cel_in_namespaces(f, l);
		end(p, 8);
	}
}

static void print_due(struct printer *p)
{
	variable_is(p, "phase", "oldObject.?status.?phase.orValue('')");
	variable_is(p, "containers",
		    "oldObject.?status.?containerStatuses.orValue([]) + "
		    "oldObject.?status.?initContainerStatuses.orValue([])");
	variable_is(
		p, "owners",
		"oldObject.metadata.?ownerReferences.orValue([]).filter(o, o.?controller.orValue(false))");
	variable_is(p, "critical",
		    "oldObject.spec.?priorityClassName.orValue('') in ['system-cluster-critical', "
		    "'system-node-critical']");
	for (int i = 0; i < DUTY__MAX; i++) {
		const enum duty d = (enum duty)i;

		if (!works(p->policy, d) || !deletes(p->policy, d))
			continue;
		struct limits l = limits_of(p->policy, d);
		const struct due due = { variable(p, "due_", duty_name(d)), &l };

		(void)fprintf(due.f, "variables.in_%s && (variables.named_%s || !variables.critical) &&\n",
			      duty_name(d), duty_name(d));
		due_of[d](&due);
		end(p, 8);
		limits_done(&l);
	}
}

static void print_annotations(struct printer *p)
{
	FILE *f = variable(p, "", "marks");

	for (int i = 0; i < MARK__MAX; i++)
		(void)fprintf(f, "%s'%s'", i > 0 ? ",\n" : "[", annotations_mark_key((enum mark_part)i));
	(void)fputs("]", f);
	end(p, 8);
	variable_is(p, "ours", "variables.marks + ['" ANNOTATION_ANNOUNCED "']");
	variable_is(p, "before", "oldObject.?metadata.?annotations.orValue({})");
	variable_is(p, "after", "object.?metadata.?annotations.orValue({})");
	variable_is(p, "patches",
		    "variables.what in variables.annotates || variables.what in variables.suspends");
	f = variable(p, "", "allowed"); /* where webhooks annotate what is written */
	cel_list(f, &p->q->annotations);
	end(p, 8);
}

/* The namespaces of all duties, or what all of them delete. */
static void put_duties(const struct printer *p, FILE *f, const char *prefix,
		       bool (*which)(const struct policy *, enum duty))
{
	for (int i = 0; i < DUTY__MAX; i++)
		if (works(p->policy, (enum duty)i) && which(p->policy, (enum duty)i))
			(void)fprintf(f, " ||\nvariables.%s%s", prefix, duty_name((enum duty)i));
}

static void print_deletions(struct printer *p)
{
	demand_begin(p, "no duty deletes this pod");
	FILE *f = begin(p);

	(void)fputs("variables.what != 'DELETE pods'", f);
	put_duties(p, f, "due_", deletes);
	end(p, 8);
	demand(p, "a pod is deleted only by the uid and resourceVersion that were judged",
	       "variables.what != 'DELETE pods' ||\n"
	       "(request.?options.?preconditions.?uid.orValue('') != '' &&\n"
	       " request.?options.?preconditions.?resourceVersion.orValue('') != '')");
	demand(p, "a pod is deleted with a grace and preconditions and no other option",
	       "variables.what != 'DELETE pods' ||\n"
	       "request.?options.orValue({}).all(k, k in ['kind', 'apiVersion', 'gracePeriodSeconds', "
	       "'preconditions', 'dryRun'])");
	/* No policy sees whether the node is gone, where force frees nothing that is in use: somebody may
	 * give the right for that. */
	demand(p,
	       "a pod with a ResourceClaim is deleted by force only with the right to force it, or when its "
	       "phase is over or it has no node",
	       "variables.what != 'DELETE pods' || variables.phase in ['Failed', 'Succeeded'] ||\n"
	       "request.?options.?gracePeriodSeconds.orValue(1) != 0 || oldObject.spec.?nodeName.orValue('') "
	       "== '' "
	       "||\n"
	       "(oldObject.spec.?resourceClaims.orValue([]).size() == 0 &&\n"
	       " oldObject.?status.?resourceClaimStatuses.orValue([]).size() == 0 &&\n"
	       " !oldObject.?status.?extendedResourceClaimStatus.hasValue()) ||\n"
	       "authorizer.requestResource.check('force').allowed()");
	demand(p, "this pod is spared: its annotations say so, or it is this program's",
	       "variables.what != 'DELETE pods' ||\n"
	       "!('kubernetes.io/config.mirror' in variables.before ||\n"
	       "  variables.before[?'" ANNOTATION_IGNORE "'].orValue('') == 'true' ||\n"
	       "  (variables.ns == '" ADMISSION_HOME
	       "' && oldObject.spec.?serviceAccountName.orValue('').startsWith('ops-pod-cleaner-')))");
}

/* Replicas and the mark that notes them, which are written at once: so no mark is forged, and none comes back
 * that was not taken away. */
static void print_replicas(struct printer *p)
{
	variable_is(p, "was", "variables.what in variables.wholes ? oldObject.spec.?replicas.orValue(0) : 0");
	variable_is(p, "will", "variables.what in variables.wholes ? object.spec.?replicas.orValue(0) : 0");
	variable_is(p, "lowers", "variables.was > 0 && variables.will == 0");
	variable_is(p, "raises", "variables.was == 0 && variables.will > 0");
	for (size_t i = 0; suspension_variable(i); i++) {
		suspension_variable(i)->put(variable(p, "", suspension_variable(i)->name), 0);
		end(p, 8);
	}
	variable_is(p, "remarks", "variables.marks.exists(k, variables.before[?k] != variables.after[?k])");
	variable_is(p, "unmarked", "variables.marks.all(k, !(k in variables.after))");
}

static void print_scales(struct printer *p)
{
	const char *from = annotations_mark_key(MARK_FROM);
	_cleanup_free_ char *raised =
		xconcat("variables.was == variables.will || variables.lowers ||\n"
			"(variables.raises && string(variables.will) == variables.before[?'",
			from,
			"'].orValue('') &&\n"
			" variables.unmarked && authorizer.requestResource.check('restore').allowed())",
			NULL);
	_cleanup_free_ char *noted = xconcat("!variables.lowers ||\nvariables.after[?'", from,
					     "'].orValue('') == string(variables.was)", NULL);
	_cleanup_free_ char *scaled = xasprintf(
		"!(variables.what in variables.scales) ||\n"
		"(variables.what in variables.by_scale && (object.?spec.?replicas.orValue(0) == 0 ||\n"
		" (oldObject.?spec.?replicas.orValue(0) == 0 && object.spec.replicas <= %d &&\n"
		"  authorizer.requestResource.check('restore').allowed())))",
		ADMISSION_RESTORE_MAX);

	demand(p,
	       "replicas are written on the object itself, with their mark (role ops-pod-cleaner-marker); "
	       "/scale is for kinds named by --kinds: to 0, and back with the right to restore",
	       scaled);
	demand(p, "replicas go to 0, or from 0 to what the mark on the object says", raised);
	demand(p, "a scale-down notes how many replicas there were", noted);
	demand(p, "what serves is neither scaled to 0 nor suspended",
	       "!(variables.lowers || variables.halts) ||\n"
	       "(oldObject.?status.?readyReplicas.orValue(0) == 0 && oldObject.?status.?ready.orValue(0) == "
	       "0)");
	demand(p,
	       "this workload is spared: by its annotations, its owner, or the claims that would be deleted",
	       "!variables.lowers ||\n"
	       "(variables.owners.size() == 0 && variables.before[?'" ANNOTATION_IGNORE
	       "'].orValue('') != 'true' &&\n"
	       " variables.before[?'" ANNOTATION_SKIP "'].orValue('') != 'all' &&\n"
	       " oldObject.spec.?persistentVolumeClaimRetentionPolicy.?whenScaled.orValue('') != 'Delete')");
	demand(p, "a mark comes with what it notes, and goes when that is over",
	       "!variables.patches || !variables.remarks || variables.lowers || variables.halts ||\n"
	       "(variables.unmarked && (variables.will > 0 || variables.resumes)) ||\n"
	       "(variables.what in variables.others &&\n"
	       " (variables.unmarked || object.?spec.?replicas.orValue(0) == 0))");
}

/* The values that this program writes, each as an expression over variables.after[k]. An annotation that is
 * kept is not looked at. */
static void print_texts(struct printer *p)
{
	static const char *const shapes[MARK__MAX] = {
		[MARK_BY] = "variables.after[k] == 'ops-pod-cleaner'",
		[MARK_ACTION] = "variables.after[k].matches('^[0-9]{1,19}$')",
		[MARK_AT] = "variables.after[k].matches('^" TIME_PATTERN "$')",
		[MARK_WHY] =
			"variables.after[k].size() <= 1024 &&\n  variables.after[k].matches(r'^" TEXT_PATTERN
			"$')",
		[MARK_FROM] = "variables.after[k].matches('^[0-9]{1,10}$')",
		[MARK_UNDO] = "variables.after[k] in variables.ways_back",
		[MARK_TEMPLATE] = "variables.after[k].matches('^[0-9a-f]{16}$')",
	};
	FILE *f;

	demand_begin(p,
		     "our annotations hold only what this program writes: a time, a number, a bounded text, "
		     "the command that undoes it on this very object");
	f = begin(p);
	(void)fprintf(f,
		      "!variables.patches ||\n"
		      "((!variables.remarks || variables.unmarked || '%s' in variables.after) &&\n"
		      " variables.ours.all(k, !(k in variables.after) || "
		      "variables.before[?k] == variables.after[?k] ||\n",
		      annotations_mark_key(MARK_UNDO));
	for (int i = 0; i < MARK__MAX; i++)
		(void)fprintf(f, " (k == '%s' && %s) ||\n", annotations_mark_key((enum mark_part)i),
			      shapes[i]);
	(void)fputs(" (k == '" ANNOTATION_ANNOUNCED "' &&\n"
		    "  variables.after[k].matches('^[A-Za-z]{1,32}=" TIME_PATTERN
		    "(,[A-Za-z]{1,32}=" TIME_PATTERN "){0,7}$'))))",
		    f);
	end(p, 8);
}

static void print_ways_back(struct printer *p)
{
	_cleanup_free_ char *ways =
		xconcat("['ops-pod-cleaner restore ' + variables.after[?'", annotations_mark_key(MARK_ACTION),
			"'].orValue('?'),\n'kubectl -n ' + variables.ns + ' scale ' + variables.whose + "
			"' --replicas=...',\n"
			"'kubectl -n ' + variables.ns + ' patch ' + variables.whose +\n"
			"' --type=merge -p \\'{\"spec\":{\"suspend\":false}}\\'']",
			NULL);

	variable_is(p, "whose",
		    "request.resource.resource + (request.resource.group == '' ? '' : '.' + "
		    "request.resource.group) +\n' ' + request.name");
	variable_is(p, "ways_back", ways);
}

static void add_code(struct str_list *to, const char *code)
{
	if (*code && !str_list_has(to, STR_C(code)))
		str_list_add(to, code, strlen(code));
}

/* Of the Events that worker/action_event.c makes. */
static void print_reasons(struct printer *p)
{
	FILE *f = variable(p, "", "reasons");
	struct str_list codes = { 0 };

	for (int i = 0; i < OBJECT_EVENT__MAX; i++) {
		add_code(&codes, object_event_desc((enum object_event_id)i)->done);
		add_code(&codes, object_event_desc((enum object_event_id)i)->will);
	}
	for (int i = 0; i < REASON__MAX; i++)
		if (reason_desc((enum reason)i)->event == REASON_EVENT_WARNING)
			add_code(&codes, reason_code((enum reason)i));
	cel_list(f, &codes);
	str_list_done(&codes);
	end(p, 8);
}

/* "apps/Deployment": the kinds of the groups of Kubernetes about which there may be an Event. */
static void print_subjects(struct printer *p)
{
	FILE *f = variable(p, "", "subjects");
	const struct kind_desc *k;

	(void)fputs("['/Pod'", f);
	for (size_t i = 0; (k = kind_at(i)); i++)
		if (k->namespaced)
			(void)fprintf(f, ",\n'%s/%s'", k->group, k->kind);
	(void)fputs("]", f);
	end(p, 8);
	variable_is(p, "subject_group",
		    "!object.?involvedObject.?apiVersion.orValue('').contains('/') ? '' :\n"
		    "object.involvedObject.apiVersion.split('/')[0]");
}

/* A custom resource may own a pod, too: of those nobody can list the kinds, and no Secret is among them. */
static void print_events(struct printer *p)
{
	demand(p, "Events are written only as ours, and without anything but what ours hold",
	       "!(variables.what in variables.tells) ||\n"
	       "(object.?source.orValue({}) == {'component': 'ops-pod-cleaner'} &&\n"
	       " object.?reportingComponent.orValue('') == 'ops-pod-cleaner' &&\n"
	       " object.?reportingInstance.orValue('') == 'ops-pod-cleaner' &&\n"
	       " object.all(k, k in ['apiVersion', 'kind', 'metadata', 'involvedObject', 'reason', "
	       "'message', "
	       "'type', 'count',\n"
	       "  'firstTimestamp', 'lastTimestamp', 'eventTime', 'source', 'reportingComponent', "
	       "'reportingInstance']) &&\n"
	       " object.metadata.all(k, k in ['name', 'namespace', 'uid', 'creationTimestamp', "
	       "'resourceVersion', 'managedFields']) &&\n"
	       " (request.operation == 'CREATE' ||\n"
	       "  (oldObject.?source.orValue({}) == object.source && oldObject.involvedObject == "
	       "object.involvedObject &&\n"
	       "   oldObject.?reason.orValue('') == object.reason && oldObject.?type.orValue('') == "
	       "object.type)))");
	demand(p, "an Event of ours is about a pod or what owns it, with a reason of ours and a bounded text",
	       "!(variables.what in variables.tells) ||\n"
	       "((variables.subject_group + '/' + object.involvedObject.?kind.orValue('') in "
	       "variables.subjects ||\n"
	       "  (variables.subject_group.contains('.') && !variables.subject_group.endsWith('.k8s.io'))) "
	       "&&\n"
	       " object.?reason.orValue('') in variables.reasons && object.?type.orValue('') in ['Normal', "
	       "'Warning'] &&\n"
	       " object.?message.orValue('').size() <= 1024 &&\n"
	       " object.?message.orValue('').matches(r'^" TEXT_PATTERN "$'))");
}

static void print_patches(struct printer *p)
{
	demand(p, "nothing of an object changes but our annotations, replicas, and the suspension of a Job",
	       "!variables.patches ||\n"
	       "(object.all(k, k in ['metadata', 'spec'] || (k in oldObject && object[k] == oldObject[k])) "
	       "&&\n"
	       " oldObject.all(k, k in object) &&\n"
	       " object.spec.all(k, (k == 'suspend' && variables.what in variables.suspends) ||\n"
	       "   (k == 'replicas' && variables.what in variables.wholes) ||\n"
	       "   (k in oldObject.spec && object.spec[k] == oldObject.spec[k])) &&\n"
	       " oldObject.spec.all(k, k in object.spec) &&\n"
	       " object.metadata.all(k, k in ['annotations', 'managedFields', 'generation', "
	       "'resourceVersion'] ||\n"
	       "   (k in oldObject.metadata && object.metadata[k] == oldObject.metadata[k])) &&\n"
	       " oldObject.metadata.all(k, k == 'annotations' || k in object.metadata))");
	demand(p, "no annotation changes but ours",
	       "!variables.patches ||\n"
	       "(variables.after.all(k, k in variables.ours ||\n"
	       "   (k in variables.before && variables.before[k] == variables.after[k]) ||\n"
	       "   variables.allowed.exists(a, k.startsWith(a))) &&\n"
	       " variables.before.all(k, k in variables.ours || k == '" ANNOTATION_RESTORE "' ||\n"
	       "   k in variables.after || variables.allowed.exists(a, k.startsWith(a))))");
}

static void print_suspensions(struct printer *p)
{
	struct limits l = limits_of(p->policy, DUTY_IMAGE_PULL);

	for (size_t i = 0; p->q->suspends && suspension_demand(i); i++) {
		demand_begin(p, suspension_demand(i)->name);
		suspension_demand(i)->put(begin(p), l.suspend_after_ms);
		end(p, 8);
	}
	limits_done(&l);
}

static bool is_any(const struct policy *p, enum duty d)
{
	(void)p, (void)d;
	return true;
}

static bool scales(const struct policy *p, enum duty d)
{
	(void)p;
	return action_desc(duty_desc(d)->action)->target == TARGET_WORKLOAD;
}

/* what NULL: whatever it is. */
static void demand_namespaces(struct printer *p, const char *message, const char *what,
			      bool (*which)(const struct policy *, enum duty))
{
	demand_begin(p, message);
	FILE *f = begin(p);

	(void)fputs(what, f);
	put_duties(p, f, "in_", which);
	end(p, 8);
}

static void print_demands(struct printer *p)
{
	(void)fputs("  validations:\n"
		    "    - messageExpression: \"'no duty needs ' + variables.what\"\n"
		    "      reason: Forbidden\n"
		    "      expression: |-\n",
		    p->out);
	(void)fputs("variables.what == 'DELETE pods' || variables.patches || variables.what in "
		    "variables.scales ||\n"
		    "variables.what in variables.tells",
		    begin(p));
	end(p, 8);
	demand_namespaces(p, "no duty works in this namespace", "false", is_any);
	demand_namespaces(p, "no duty scales or suspends in this namespace",
			  "!(variables.what in variables.scales || variables.what in variables.suspends ||\n"
			  "  variables.lowers || variables.raises)",
			  scales);
	print_deletions(p);
	print_scales(p);
	print_texts(p);
	print_patches(p);
	print_suspensions(p);
	print_events(p);
}

static void print_head(struct printer *p)
{
	static const char head[] = "# What the workers may write, checked by the cluster itself, as "
				   "`ops-pod-cleaner rbac --admission` prints it for a\n"
				   "# configuration; kubectl apply -f\n"
				   "#\n"
				   "# Who has taken over a worker, or has its token, gets no further than "
				   "this. Kubernetes 1.30 or newer: where the server\n"
				   "# does not know ValidatingAdmissionPolicy, apply nothing of this file, "
				   "for the bindings below are safe only beside it.\n"
				   "apiVersion: admissionregistration.k8s.io/v1\n"
				   "kind: ValidatingAdmissionPolicy\n"
				   "metadata: {name: " POLICY_NAME "}\n"
				   "spec:\n"
				   "  failurePolicy: Fail\n"
				   "  matchConstraints:\n"
				   "    resourceRules:\n"
				   "      - {apiGroups: [\"*\"], apiVersions: [\"*\"], operations: [\"*\"], "
				   "resources: [\"*/*\"]}\n"
				   "  matchConditions:\n"
				   "    - name: writer\n"
				   "      expression: |-\n";

	(void)fputs(head, p->out);
	FILE *f = begin(p);

	(void)fputs("request.userInfo.username == ", f);
	cel_string(f, STR_C(p->q->writer ? p->q->writer
					 : "system:serviceaccount:" ADMISSION_HOME ":" POLICY_NAME));
	end(p, 8);
	(void)fputs("  variables:\n", p->out);
}

static void print_binding(const struct printer *p)
{
	(void)fputs("---\napiVersion: admissionregistration.k8s.io/v1\n"
		    "kind: ValidatingAdmissionPolicyBinding\n"
		    "metadata: {name: " POLICY_NAME "}\n"
		    "spec:\n  policyName: " POLICY_NAME "\n  validationActions: [Deny]\n",
		    p->out);
}

void admission_print(const struct admission_request *q, FILE *out)
{
	struct printer p = { .q = q, .policy = &q->config->settings.policy, .out = out };

	print_head(&p);
	print_requests(&p);
	print_where(&p);
	print_annotations(&p);
	print_ways_back(&p);
	print_replicas(&p);
	print_reasons(&p);
	print_subjects(&p);
	print_due(&p);
	print_demands(&p);
	print_binding(&p);
}
