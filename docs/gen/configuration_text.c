/* configuration_text.c - see configuration_text.h. */
// SPDX-License-Identifier: Apache-2.0
#include "docs/gen/configuration_text.h"

/* clang-format off */
/* The same in every language. */
#define NAMESPACES_EXAMPLE \
	"```yaml\n" \
	"deleteEvictedPod:\n" \
	"  enable: true\n" \
	"  namespaces: [\"team-*\", \"label:janitor=on\", \"!team-x\", kube-system]\n" \
	"excludeNamespaces: [\"*-prod\", \"label:env=prod\"]\n" \
	"```\n"
#define OVERRIDES_EXAMPLE \
	"```yaml\n" \
	"overrides:\n" \
	"- name: gold\n" \
	"  namespaces: [shop]\n" \
	"  labels: [tier=gold]\n" \
	"  errImagePull:\n" \
	"    hours: 72h\n" \
	"    announce: 4h\n" \
	"- name: batch\n" \
	"  namespaces: [batch]\n" \
	"  deleteEvictedPod:\n" \
	"    includeJobs: true\n" \
	"```\n"

const struct configuration_text configuration_texts[LANGUAGE__MAX] = {
	[LANGUAGE_EN] = {
		.table_head =
			"\n"
			"| key | value | default | meaning |\n"
			"|---|---|---|---|\n",
		.below =
			"(below)",
		.one_of =
			" One of ",
		.stop =
			".",
		.secret =
			" A secret: never shown, sent to the reporter only.",
		.fixed =
			" Changed by a restart, not by a reload.",
		.default_of =
			"Default of ",
		.default_is =
			":",
		.to =
			" to ",
		.at_least =
			"at least ",
		.at_most =
			" Up to ",
		.top =
			"\n"
			"## At the top of the file\n",
		.sinks =
			"Receivers of notifications: actions, alerts that need an operator, and the report. Each gets them in its language, of its clusters, namespaces and\n"
			"duties. One that does not answer slows no other, and nothing else. Each item of the list:\n",
		.each_item =
			"Each item of the list:\n",
		.schedules =
			"\n"
			"## Schedules\n"
			"\n"
			"Six fields, seconds first, mean what they meant to the original program (robfig/cron v1): numbers, `jan`-`dec`, `sun`-`sat` (weekday 0 to 6), ranges, lists, steps, `*` and `?`. When day and weekday are both restricted, either suffices; when one of them begins with `*`, also with a step, both must hold. Five fields are a crontab line (minute first), with a warning: the original read them as second, minute, hour, day, month. L, W, # and @reboot do not exist. `@every 6h` counts from the last run.\n"
			"\n"
			"A local time that the clocks skip in spring does not fire that day; one that they repeat in autumn fires once (a rhythm, with `*` in the hour or the minute, goes on), but twice where the schedule of the report has six fields, as in the original; a window opens once. `ops-pod-cleaner cron next 'SPEC' --timezone ZONE` shows the next times.\n",
		.namespaces =
			"\n"
			"## Namespaces\n"
			"\n"
			"Every list of namespaces is read alike. Its items, in any order:\n"
			"\n"
			"| item | means |\n"
			"|---|---|\n"
			"| `shop` | that namespace |\n"
			"| `team-*`, `*-dev`, `a*b` | every namespace of such a name; `*` stands for any characters, also none. It is the only wildcard, and this is no regular expression |\n"
			"| `label:team=a`, `label:env=dev-*`, `label:team=*` | every namespace with that label; its value may be a pattern too, `*` alone is any value. Items add up: write one for each value |\n"
			"| `!team-x`, `!*-prod`, `!label:env=prod` | not these, whatever else the list says |\n"
			"| `*` | every namespace; only where a duty works |\n"
			"\n"
			"Exceptions alone mean all others: `[\"!team-x\"]` is `[\"*\", \"!team-x\"]`. `*`, patterns and labels do not select protected namespaces (`defaultExcludeNamespaces`, and the namespace this program runs in); their names do. `excludeNamespaces` beats everything. YAML wants quotes around what begins with `!` or `*`.\n"
			"\n"
			NAMESPACES_EXAMPLE
			"\n"
			"Labels are those of the namespace, not of the pod. Only where a list asks for some, the watcher lists and watches namespaces (rights: list and watch), and each worker reads the namespace again before it judges (get), on rights that `deploy/rbac.yaml` holds as ops-pod-cleaner-namespaces. While the labels of a namespace are not known, nothing is done where they would decide: `NamespaceUnknown`.\n"
			"\n"
			"Where all duties list names only, rights in these namespaces suffice: the program watches them one by one where it may not list the pods of the whole cluster. Patterns and `*` need that right; without it only the namespaces that are named are watched, and the log and `status` say so.\n",
		.differences =
			"\n"
			"## Where the same file is read more carefully than by the original program\n"
			"\n"
			"- Items of a comma list are trimmed; the original kept the blanks, and such an item matched nothing.\n"
			"- `*` means all namespaces but `defaultExcludeNamespaces`; name one of these to work in it.\n"
			"- Evicted pods of Jobs are kept unless `includeJobs: true`.\n"
			"- Pods stuck in Terminating on a node that does not answer are kept unless `unreachableNodes: true`.\n"
			"- A workload is scaled to 0 only when all its newest pods fail and none of its pods is Ready; the original looked at single pods.\n"
			"- An unknown key, a misspelt status and a bad schedule are errors; the original ignored them.\n"
			"\n"
			"`config check` warns where this matters for a file; writing the key out ends the warning.\n",
		.head =
			"# Configuration\n"
			"\n"
			"Generated from `config/settings.def`; do not edit.\n"
			"\n"
			"One YAML file. Keys are read without regard to case; an unknown key, a key given twice and a value out of its range are errors with file, line and column (`ops-pod-cleaner config check FILE`). A list is a YAML list or one text separated by commas. A duration is a number with a unit, `90s`, `30m`, `1h30m` (units ns, us, ms, s, m, h, d; a week is `7d`). Every duty is off until `enable: true`.\n"
			"\n"
			"Anchors, aliases and merge keys (`<<`) work; tags and several documents are refused; so is a file above 1 MiB or one that anybody may change. A relative path starts in the folder of the configuration file.\n",
		.override_keys =
			"\n"
			"and, in a section of the duty's name, any of these; what an item does not name is as in the rest of the file:\n"
			"\n",
		.overrides =
			"\n"
			"Labels and namespaces are more specific than labels, labels more than namespaces; of equally specific items the first holds. Two items are never mixed. `explain` names the item that decided.\n"
			"\n"
			OVERRIDES_EXAMPLE,
	},
	[LANGUAGE_ZH] = {
		.table_head =
			"\n"
			"| 键 | 值 | 默认 | 含义 |\n"
			"|---|---|---|---|\n",
		.below =
			"（见下）",
		.one_of =
			"可选值：",
		.stop =
			"。",
		.secret =
			"机密：从不显示，只发给 reporter。",
		.fixed =
			"重启后生效，reload 不生效。",
		.default_of =
			"",
		.default_is =
			"的默认值：",
		.to =
			" 至 ",
		.at_least =
			"不小于 ",
		.at_most =
			"不超过 ",
		.top =
			"\n"
			"## 文件顶层\n",
		.sinks =
			"谁会收到：做了什么、什么需要人工处理，以及定期报告。每个接收方按自己的语言、集群、命名空间和清理任务接收。某个接收方没有响应，\n"
			"不影响其他接收方，也不影响其他工作。列表的每一项：\n",
		.each_item =
			"列表的每一项：\n",
		.schedules =
			"\n"
			"## 计划\n"
			"\n"
			"六个字段、秒在最前，含义与原程序（robfig/cron v1）相同：数字、`jan`-`dec`、`sun`-`sat`（周 0 到 6）、范围、列表、步长、`*` 和 `?`。日和周都有限制时，满足其一即可；其中一个以 `*` 开头（带步长也算）时，须同时满足。五个字段按 crontab 解释（分钟在最前）并给出警告：原程序会把它们读作秒、分、时、日、月。L、W、# 和 @reboot 不存在。`@every 6h` 从上一次运行起算。\n"
			"\n"
			"夏令时跳过的本地时间当天不触发；秋季重复的时间只触发一次（小时或分钟带 `*` 的按节奏照常触发）；六字段的报告计划沿用原程序的含义，触发两次；窗口只打开一次。`ops-pod-cleaner cron next 'SPEC' --timezone ZONE` 显示接下来的时间。\n",
		.namespaces =
			"\n"
			"## 命名空间\n"
			"\n"
			"所有命名空间列表的写法相同。各项顺序不限：\n"
			"\n"
			"| 写法 | 含义 |\n"
			"|---|---|\n"
			"| `shop` | 该命名空间 |\n"
			"| `team-*`、`*-dev`、`a*b` | 名字符合的所有命名空间；`*` 代表任意字符，也可以为空。它是唯一的通配符，不是正则表达式 |\n"
			"| `label:team=a`、`label:env=dev-*`、`label:team=*` | 带有该标签的所有命名空间；值也可以是模式，单独的 `*` 表示任意值。多项是“或”的关系：每个值写一项 |\n"
			"| `!team-x`、`!*-prod`、`!label:env=prod` | 排除，无论列表其他项怎么写 |\n"
			"| `*` | 所有命名空间；只能用于清理任务生效的位置 |\n"
			"\n"
			"只写排除项表示其余全部：`[\"!team-x\"]` 等于 `[\"*\", \"!team-x\"]`。`*`、模式和标签都不包含默认受保护的命名空间（`defaultExcludeNamespaces`，以及本程序所在的命名空间）；直接写出名字才包含。`excludeNamespaces` 优先于一切。以 `!` 或 `*` 开头的内容在 YAML 中需要加引号。\n"
			"\n"
			NAMESPACES_EXAMPLE
			"\n"
			"标签指命名空间的标签，不是 Pod 的。只有列表用到标签时，watcher 才会列出并监视命名空间（权限：list 和 watch），每个 worker 判断前也会再读取一次命名空间（get）；相应权限在 `deploy/rbac.yaml` 中名为 ops-pod-cleaner-namespaces。命名空间的标签未知时，凡由标签决定的一律不做：`NamespaceUnknown`。\n"
			"\n"
			"如果所有清理任务都只写名字，那么在这些命名空间中有权限就够了：无权列出整个集群的 Pod 时，程序会逐个监视它们。模式和 `*` 需要集群级权限；没有时只监视写明名字的命名空间，日志和 `status` 会说明。\n",
		.differences =
			"\n"
			"## 同一份文件，比原程序读得更仔细的地方\n"
			"\n"
			"- 逗号列表的各项会去掉空格；原程序保留空格，这样的项匹配不到任何东西。\n"
			"- `*` 表示 `defaultExcludeNamespaces` 之外的所有命名空间；要处理其中某个，请写出它的名字。\n"
			"- Job 的被驱逐 Pod 默认保留，除非 `includeJobs: true`。\n"
			"- 节点失联而卡在 Terminating 的 Pod 默认保留，除非 `unreachableNodes: true`。\n"
			"- 仅当最新的所有 Pod 都失败、且没有一个 Pod 就绪时，才把工作负载缩容到 0；原程序只看单个 Pod。\n"
			"- 未知的键、拼错的状态、错误的计划都是错误；原程序会忽略它们。\n"
			"\n"
			"这些差异对某份文件有影响时，`config check` 会给出警告；把该键明确写出来，警告就会消失。\n",
		.head =
			"# 配置\n"
			"\n"
			"由 `config/settings.def` 生成，请勿手工修改。\n"
			"\n"
			"一份 YAML 文件。键名不区分大小写；未知的键、重复的键、超出范围的值都是错误，并标明文件、行和列（`ops-pod-cleaner config check FILE`）。列表可以写成 YAML 列表，也可以写成逗号分隔的一段文本。时长是带单位的数字：`90s`、`30m`、`1h30m`（单位 ns、us、ms、s、m、h、d；一周写作 `7d`）。所有清理任务默认关闭，设置 `enable: true` 才启用。\n"
			"\n"
			"支持锚点、别名和合并键（`<<`）；不接受标签和多文档；大于 1 MiB 的文件、任何人都能改的文件也不接受。相对路径从配置文件所在目录算起。\n",
		.override_keys =
			"\n"
			"以及在以清理任务命名的小节里，下列任意键；某项没有写出的，与文件其余部分相同：\n"
			"\n",
		.overrides =
			"\n"
			"标签加命名空间比只有标签更具体，标签比命名空间更具体；同样具体时以先写的为准。两项绝不混合。`explain` 会写明由哪一项决定。\n"
			"\n"
			OVERRIDES_EXAMPLE,
	},
};
/* clang-format on */
