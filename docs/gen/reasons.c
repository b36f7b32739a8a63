/* reasons.c - prints docs/reasons.md, or docs/zh/reasons.md when its argument is "zh", from the tables of
 * model/. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "model/duties.h"
#include "model/actions.h"

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
			"但被保护机制暂时拦下；**outcome** = 处理的依据，或写入的结果。\n\n"
			"| 原因码 | 分类 | 含义 | 如何处理 |\n|---|---|---|---|\n",
};
static const char *const classes[] = { [CLASS_NONE] = "none",
				       [CLASS_REFUSAL] = "refusal",
				       [CLASS_BLOCKED] = "blocked",
				       [CLASS_OUTCOME] = "outcome" };

int main(int argc, char **argv)
{
	const enum language l = argc > 1 && strcmp(argv[1], "zh") == 0 ? LANGUAGE_ZH : LANGUAGE_EN;

	fputs(heads[l], stdout);
	for (enum reason r = 0; r < REASON__MAX; r++) {
		const struct reason_desc *d = reason_desc(r);

		printf("| `%s` | %s | %s | %s |\n", d->code, classes[d->class], d->text[l].sentence,
		       d->text[l].remedy);
	}
	return 0;
}
