/* configuration.c - prints docs/configuration.md from config/settings.def. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "config/config_print.h"

/* Text in a table cell. */
static void print_cell(FILE *out, const char *s)
{
	for (; *s; s++)
		(void)fprintf(out, *s == '|' ? "\\%c" : "%c", *s);
}

static void print_docs_row(const struct setting *row, FILE *out)
{
	const char *dot = strrchr(row->path, '.');

	(void)fprintf(out, "| `%s` | ", dot ? dot + 1 : row->path);
	print_cell(out, config_type_name(row));
	if (row->def[0] == '\0')
		(void)fprintf(out, " | | ");
	else
		(void)fprintf(out, " | `%s` | ", strlen(row->def) > 80 ? "(below)" : row->def);
	print_cell(out, row->doc);
	if (row->kind == SET_COUNT || row->kind == SET_DURATION)
		config_print_range(row, out, " ", ".");
	if (row->kind == SET_REASONS && row->unit[0] != '\0') {
		(void)fprintf(out, " One ");
		(void)fprintf(out, "of ");
		print_cell(out, row->unit);
		(void)fprintf(out, ".");
	}
	if (row->flags & SETTING_SECRET)
		(void)fprintf(out, " A secret: never shown, sent to the reporter only.");
	if (row->flags & SETTING_FIXED)
		(void)fprintf(out, " Changed by a restart, not by a reload.");
	(void)fprintf(out, " |\n");
}

static void print_table_head(FILE *out)
{
	(void)fprintf(out, "\n| key | value | default | meaning |\n|---|---|---|---|\n");
}

static void print_docs_section(const struct setting *section, FILE *out)
{
	const size_t n = strlen(section->path);

	(void)fprintf(out, "\n## %s\n\n%s\n", section->path, section->doc);
	print_table_head(out);
	for (const struct setting *row = settings_table; row->path; row++)
		if (strncmp(row->path, section->path, n) == 0 && row->path[n] == '.' &&
		    !(row->flags & SETTING_DERIVED))
			print_docs_row(row, out);
}

static void print_long_defaults(FILE *out)
{
	for (const struct setting *row = settings_table; row->path; row++)
		if (strlen(row->def) > 80) {
			(void)fprintf(out, "\nDefault of `%s`:\n\n", row->path);
			for (const char *s = row->def; *s;) {
				const size_t n = strcspn(s, ",");

				(void)fprintf(out, "- `%.*s`\n", (int)n, s);
				s += n + (s[n] == ',');
			}
		}
}

static void print_schedules(FILE *out)
{
	(void)fprintf(
		out, "\n## Schedules\n\n"
		     "Six fields, seconds first, mean what they meant to the original program (robfig/cron "
		     "v1): numbers, "
		     "`jan`-`dec`, `sun`-`sat` (weekday 0 to 6), ranges, lists, steps, `*` and `?`. When day "
		     "and weekday are both "
		     "restricted, either suffices; when one of them begins with `*`, also with a step, both "
		     "must hold. Five "
		     "fields are a crontab line (minute first), with a warning: the original read them as "
		     "second, minute, hour, "
		     "day, month. L, W, # and @reboot do not exist. `@every 6h` counts from the last run.\n\n"
		     "A local time that the clocks skip in spring does not fire that day; one that they "
		     "repeat in autumn fires "
		     "twice. `ops-pod-cleaner cron next 'SPEC' --timezone ZONE` shows the next times.\n");
}

static void print_namespaces(FILE *out)
{
	(void)fprintf(
		out,
		"\n## Namespaces\n\n"
		"Every list of namespaces is read alike. Its items, in any order:\n\n"
		"| item | means |\n|---|---|\n"
		"| `shop` | that namespace |\n"
		"| `team-*`, `*-dev`, `a*b` | every namespace of such a name; `*` stands for any "
		"characters, also "
		"none. It is the only wildcard, and this is no regular expression |\n"
		"| `label:team=a`, `label:env=dev-*`, `label:team=*` | every namespace with that label; its "
		"value may be a "
		"pattern too, `*` alone is any value. Items add up: write one for each value |\n"
		"| `!team-x`, `!*-prod`, `!label:env=prod` | not these, whatever else the list says |\n"
		"| `*` | every namespace; only where a duty works |\n\n"
		"Exceptions alone mean all others: `[\"!team-x\"]` is `[\"*\", \"!team-x\"]`. "
		"Neither `*` nor a "
		"pattern nor a label means what is protected by default (`defaultExcludeNamespaces`, and the "
		"namespace this "
		"program runs in); its name does. `excludeNamespaces` beats everything. YAML "
		"wants quotes around "
		"what begins with `!` or `*`.\n\n"
		"```yaml\ndeleteEvictedPod:\n  enable: true\n"
		"  namespaces: [\"team-*\", \"label:janitor=on\", \"!team-x\", kube-system]\n"
		"excludeNamespaces: [\"*-prod\", \"label:env=prod\"]\n```\n\n"
		"Labels are those of the namespace, not of the pod. Only where a list asks for some, the "
		"watcher "
		"lists and watches namespaces (rights: list and watch), and each worker reads the namespace "
		"again "
		"before it judges (get), on rights that `deploy/rbac.yaml` holds as "
		"ops-pod-cleaner-namespaces. "
		"While the labels of a namespace are not known, nothing is done where they would decide: "
		"`NamespaceUnknown`.\n\n"
		"Where all duties list names only, rights in these namespaces suffice: the "
		"program watches them "
		"one by one where it may not list the pods of the whole cluster. Patterns and `*` "
		"need that right; "
		"without it only the namespaces that are named are watched, and the log and "
		"`status` say so.\n");
}

static void print_differences(FILE *out)
{
	(void)fprintf(out, "\n## Where the same file is read more carefully than by the original program\n\n"
			   "- Items of a comma list are trimmed; the original kept the blanks, and such an "
			   "item matched nothing.\n"
			   "- `*` means all namespaces but `defaultExcludeNamespaces`; name one of these to "
			   "work in it.\n"
			   "- Evicted pods of Jobs are kept unless `includeJobs: true`.\n"
			   "- Pods stuck in Terminating on a node that does not answer are kept unless "
			   "`unreachableNodes: true`.\n"
			   "- A workload is scaled to 0 only when all its newest pods fail and none of its "
			   "pods is Ready; the original "
			   "looked at single pods.\n"
			   "- An unknown key, a misspelt status and a bad schedule are errors; the original "
			   "ignored them.\n\n"
			   "`config check` warns where this matters for a file; writing the key out ends the "
			   "warning.\n");
}

static void print_overrides_docs(FILE *out)
{
	(void)fprintf(out, "\n## overrides\n\nEach item of the list:\n");
	print_table_head(out);
	for (const struct setting *row = settings_override_table; row->path; row++)
		print_docs_row(row, out);
	(void)fprintf(
		out,
		"\nand, in a section of the duty's name, any of these; what an item does not name is as in "
		"the rest of the file:\n\n");
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->flags & SETTING_OVERRIDE)
			(void)fprintf(out, "- `%s`\n", row->path);
	(void)fprintf(
		out, "\nLabels and namespaces are more specific than labels, labels more than namespaces; of "
		     "equally specific items the first holds. Two items are never mixed. `explain` names the "
		     "item that decided.\n\n"
		     "```yaml\noverrides:\n- name: gold\n  namespaces: [shop]\n  labels: [tier=gold]\n"
		     "  errImagePull:\n    hours: 72h\n    announce: 4h\n- name: batch\n"
		     "  namespaces: [batch]\n  deleteEvictedPod:\n    includeJobs: true\n```\n");
}

static void print_docs(FILE *out)
{
	(void)fprintf(
		out, "# Configuration\n\n"
		     "Generated from `config/settings.def`; do not edit.\n\n"
		     "One YAML file. Keys are read without regard to case; an unknown key, a key given "
		     "twice and a value "
		     "out of its range are errors with file, line and column (`ops-pod-cleaner config "
		     "check FILE`). A list "
		     "is a YAML list or one text separated by commas. A duration is a number with a "
		     "unit, `90s`, `30m`, "
		     "`1h30m` (units ns, us, ms, s, m, h; a week is `168h`). Every duty is off until "
		     "`enable: true`.\n\n"
		     "Anchors, aliases, tags and several documents are refused; so is a file above 1 "
		     "MiB or one that "
		     "anybody may change. A relative path starts in the folder of the configuration file.\n");
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->kind == SET_SECTION)
			print_docs_section(row, out);
	(void)fprintf(out, "\n## At the top of the file\n");
	print_table_head(out);
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->kind != SET_SECTION && !strchr(row->path, '.') && !(row->flags & SETTING_DERIVED))
			print_docs_row(row, out);
	(void)fprintf(out, "\n## clusters\n\nEach item of the list:\n");
	print_table_head(out);
	for (const struct setting *row = settings_cluster_table; row->path; row++)
		print_docs_row(row, out);
	print_overrides_docs(out);
	print_long_defaults(out);
	print_namespaces(out);
	print_schedules(out);
	print_differences(out);
}

int main(void)
{
	print_docs(stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}
