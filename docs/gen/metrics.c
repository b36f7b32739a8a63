/* metrics.c - prints docs/metrics.md from reporter/web/metrics.def and the tables whose names are label
 * values. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "model/actions.h"
#include "model/duties.h"
#include "model/measures.h"
#include "model/troubles.h"

static const char head[] =
	"# Metrics\n\n"
	"Generated from `reporter/web/metrics.def`; do not edit. Served at `/metrics` of "
	"`metricsListen` "
	"([configuration.md](configuration.md)),\n"
	"as OpenMetrics where `Accept` asks for it, else as Prometheus text. Times are in seconds, sizes in "
	"bytes. A counter begins at 0 "
	"when "
	"its process starts.\n"
	"A series is there once there is something to say of it. No label holds the name of a pod, and a "
	"metric "
	"has at most 2048 series:\n"
	"what comes after them is added up under `other`.\n\n"
	"In `deploy/monitoring/`, installed below `/usr/share/doc/ops-pod-cleaner/examples/monitoring/`:\n\n"
	"- `alerts.yml`: alert rules. Name the file under `rule_files` of Prometheus. The annotation "
	"`runbook` of "
	"each alert is a heading of\n"
	"  [troubleshooting.md](troubleshooting.md).\n"
	"- `alerts_test.yml`: when each of them fires and when it does not: `promtool test rules "
	"alerts_test.yml`.\n"
	"- `dashboard.json`: a dashboard for Grafana: *Dashboards*, *New*, *Import*.\n\n"
	"Outside of a pod the address is `127.0.0.1:9464`: a Prometheus elsewhere needs another "
	"`metricsListen`. A loopback\n"
	"address answers who asks by an address or as `localhost`, and any other name with 421 "
	"(docs/threat-model.md). In a cluster the chart makes\n"
	"a ServiceMonitor, a PrometheusRule with these rules and a ConfigMap with the dashboard: "
	"`serviceMonitor.create`, `prometheusRule.create`,\n"
	"`dashboard.create` in its values.\n\n"
	"| metric | type | labels | what it says |\n|---|---|---|---|\n";

static void print_labels(const char *labels)
{
	for (const char *s = labels; *s;) {
		const size_t n = strcspn(s, ",");

		printf("%s`%.*s`", s == labels ? "" : ", ", (int)n, s);
		s += n + (s[n] == ',');
	}
}

static void print_metrics(void)
{
	static const struct {
		const char *name, *type, *labels, *help;
	} rows[] = {
#define M(ID, name, type, labels, help, field) { name, type, labels, help },
#define H(ID, name, labels, help, timing)      { name, "histogram", labels, help },
#include "reporter/web/metrics.def"
#undef M
#undef H
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		printf("| `%s` | %s | ", rows[i].name, rows[i].type);
		print_labels(rows[i].labels);
		printf(" | %s |\n", rows[i].help);
	}
}

static void print_value(const char *name, int is_first)
{
	printf("%s`%s`", is_first ? "" : ", ", name);
}

static void print_values(void)
{
	fputs("\n## Labels\n\n| label | values |\n|---|---|\n"
	      "| `cluster` | name of the cluster in the configuration; empty: of none |\n"
	      "| `name` | of `workqueue_depth`: the same |\n| `duty` | ",
	      stdout);
	for (enum duty d = 0; d < DUTY__MAX; d++)
		print_value(duty_name(d), d == 0);
	fputs(" |\n| `outcome` | ", stdout);
	for (enum outcome o = 0; o < OUTCOME__MAX; o++)
		print_value(outcome_name(o), o == 0);
	fputs("; of messages to a sink: `done`, `again`, `given_up`, `unconfirmed`, `lost` |\n| `verdict` | ",
	      stdout);
	for (enum due_state s = 0; s < DUE_STATE__MAX; s++)
		print_value(due_state_name(s), s == 0);
	fputs(" |\n| `verb` | ", stdout);
	for (enum api_verb v = 0; v < API_VERB__MAX; v++)
		print_value(api_verb_name(v), v == 0);
	fputs(" |\n| `code` | status of the answer; `none`: there was none |\n"
	      "| `sink` | name of the sink in the configuration |\n"
	      "| `feature` | `nnp`, `nocaps`, `dumpable`, `mdwe`, `landlock`, `landlock-tcp`, `seccomp`, "
	      "`sealed` |\n| "
	      "`mode` | `enforce`, `observe` |\n"
	      "| `reason` | a code of [reasons.md](reasons.md) |\n| `trouble` | ",
	      stdout);
	for (enum trouble t = 0; t < TROUBLE__MAX; t++)
		print_value(trouble_desc(t)->name, t == 0);
	fputs("; in words: [reasons.md](reasons.md#troubles) |\n"
	      "| `role`, `number` | which process: `ops-pod-cleaner status` lists them |\n",
	      stdout);
}

int main(void)
{
	fputs(head, stdout);
	print_metrics();
	print_values();
	return 0;
}
