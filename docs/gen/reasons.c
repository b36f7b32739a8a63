/* reasons.c - prints docs/reasons.md, or docs/zh/reasons.md when its argument is "zh", from the tables of
 * model/. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "model/duties.h"
#include "model/object_events.h"
#include "model/troubles.h"

static const char *const heads[LANGUAGE__MAX] = {
	[LANGUAGE_EN] = "# Reasons\n\n"
			"Generated from `model/reasons.def`; do not edit. Every verdict and every result of "
			"a worker carries one of\n"
			"these codes: in the history, the log, the metrics, `explain`, `plan` and the "
			"digest. A code that was released is\n"
			"never renamed.\n\n"
			"Classes: **none** = nothing is due, or not yet; **refusal** = due by its state, but "
			"it must not be done;\n"
			"**blocked** = due, but a guard says not now; **outcome** = why it was done, or how "
			"its write ended.\n\n"
			"| code | class | what it says | what to do |\n|---|---|---|---|\n",
	[LANGUAGE_ZH] = "# 原因码\n\n"
			"由 `model/reasons.def` "
			"生成，请勿手工修改。每个判断结果和每次操作结果都带有一个原因码：历史、日志、\n"
			"指标、`explain`、`plan` 和巡检报告中都会出现。已发布的原因码不会改名。\n\n"
			"分类：**none** = 无需处理或尚未到时间；**refusal** = "
			"状态符合，但不允许处理；**blocked** = 应当处理，\n"
			"但被保护机制暂缓；**outcome** = 处理的依据，或写入的结果。\n\n"
			"| 原因码 | 分类 | 含义 | 如何处理 |\n|---|---|---|---|\n",
};
static const char *const classes[] = { [CLASS_NONE] = "none",
				       [CLASS_REFUSAL] = "refusal",
				       [CLASS_BLOCKED] = "blocked",
				       [CLASS_OUTCOME] = "outcome" };

static const char *const trouble_heads[LANGUAGE__MAX] = {
	[LANGUAGE_EN] = "\n## Troubles\n\n"
			"Generated from `model/troubles.def`. What can be wrong with the program itself, as "
			"`status`, the log and the\n"
			"metric `opc_trouble{trouble,cluster}` say it. **blind** = nothing of that cluster "
			"is seen; when that is so of\n"
			"every cluster, the first line of `status` says `blind`. While any stands, `status` "
			"ends with exit code 1.\n\n"
			"| trouble | severity | what it says | what to do |\n|---|---|---|---|\n",
	[LANGUAGE_ZH] = "\n## 故障\n\n"
			"由 `model/troubles.def` 生成。程序自身可能出现的问题，见 `status`、日志和指标 "
			"`opc_trouble{trouble,cluster}`。\n"
			"**blind** = 看不到该集群；若所有集群都如此，`status` 的第一行显示 "
			"`blind`。只要存在任何故障，`status` 的退出码就是 1。\n\n"
			"| 故障 | 级别 | 含义 | 如何处理 |\n|---|---|---|---|\n",
};

static const char *const event_heads[LANGUAGE__MAX] = {
	[LANGUAGE_EN] =
		"\n## Events\n\n"
		"Generated from `model/object_events.def`. Events stand on the object that was written "
		"to, in English whatever\n"
		"`language` says: everybody who may read the namespace reads them. An action has the "
		"first reason, an\n"
		"announcement (`announce` of the duty) the second, with the time and the command that "
		"refuses it. Mode observe writes none.\n\n"
		"| done | announced | type | what it says |\n|---|---|---|---|\n",
	[LANGUAGE_ZH] = "\n## Events\n\n"
			"由 `model/object_events.def` 生成。Event 写在被操作的对象上；无论 `language` "
			"如何设置都使用英文，因为凡能读取该命名空间的人都会看到。\n"
			"操作完成后使用第一列的 reason；预告（清理任务的 `announce`）使用第二列，"
			"内容包括时间和用于拒绝的命令。observe 模式不写 Event。\n\n"
			"| 已执行 | 预告 | 类型 | 含义 |\n|---|---|---|---|\n",
};
static const char *const refusal_heads[LANGUAGE__MAX] = {
	[LANGUAGE_EN] = "\nA refusal that somebody has to look at is a Warning Event with the code as its "
			"reason:\n",
	[LANGUAGE_ZH] = "\n被拒绝且需要有人查看的，以原因码作为 reason 写入 Warning Event：\n",
};

static void print_events(enum language l)
{
	const char *separator = "";

	fputs(event_heads[l], stdout);
	for (enum object_event_id e = 0; e < OBJECT_EVENT__MAX; e++) {
		const struct object_event_desc *d = object_event_desc(e);

		printf("| `%s` | %s%s%s | %s | %s |\n", d->done, *d->will ? "`" : "",
		       *d->will ? d->will : "-", *d->will ? "`" : "", d->warning ? "Warning" : "Normal",
		       phrase_text(d->done_phrase, l));
	}
	fputs(refusal_heads[l], stdout);
	for (enum reason r = 0; r < REASON__MAX; r++)
		if (reason_desc(r)->event == REASON_EVENT_WARNING) {
			printf("%s`%s`", separator, reason_code(r));
			separator = l == LANGUAGE_EN ? ", " : "、";
		}
	printf("%s\n", l == LANGUAGE_EN ? "." : "。");
}

int main(int argc, char **argv)
{
	const enum language l = argc > 1 && strcmp(argv[1], "zh") == 0 ? LANGUAGE_ZH : LANGUAGE_EN;

	fputs(heads[l], stdout);
	for (enum reason r = 0; r < REASON__MAX; r++) {
		const struct reason_desc *d = reason_desc(r);

		printf("| `%s` | %s | %s | %s |\n", d->code, classes[d->class], d->text[l].sentence,
		       d->text[l].remedy);
	}
	print_events(l);
	fputs(trouble_heads[l], stdout);
	for (enum trouble t = 0; t < TROUBLE__MAX; t++) {
		const struct trouble_desc *d = trouble_desc(t);

		printf("| `%s` | %s | %s | %s |\n", d->name,
		       d->severity == TROUBLE_IS_BLIND ? "blind" : "degraded", d->text[l].sentence,
		       d->text[l].remedy);
	}
	return 0;
}
