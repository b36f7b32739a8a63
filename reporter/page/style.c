/* style.c - see style.h. Colours stand once, as variables: d0 ... are those of the duties in drawings, t1 to
 * t3 the tiles of the map. Every text has a contrast of 4.5 or more to what is under it
 * (tests/page/run measures it in a browser). */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/style.h"

#define LIGHT                                                                                                \
	"--bg:#f4f5f7;--card:#fff;--line:#d5dae1;--text:#1b1f24;--dim:#56606b;--link:#0b57b0;"               \
	"--good:#17692f;--warn:#7d5200;--bad:#b3261e;--code:#eceff3;"                                        \
	"--d0:#2f6fde;--d1:#c2410c;--d2:#7c3aed;--d3:#64748b;--d4:#0f766e;--d5:#be185d;"                     \
	"--t1:#fdebd0;--t2:#f9cf97;--t3:#efa05f"
#define DARK                                                                                                 \
	"--bg:#0f1216;--card:#181d24;--line:#333c48;--text:#e6e9ee;--dim:#a0abb8;--link:#7cb3ff;"            \
	"--good:#5bd07a;--warn:#f0b429;--bad:#ff8f86;--code:#242b35;"                                        \
	"--d0:#6ea8fe;--d1:#fb923c;--d2:#b794f6;--d3:#94a3b8;--d4:#2dd4bf;--d5:#f472b6;"                     \
	"--t1:#3a2a14;--t2:#5a3b13;--t3:#7d4712"

static const char sheet[] =
	":root{color-scheme:light dark;" LIGHT "}"
	"@media (prefers-color-scheme:dark){:root{" DARK "}}"
	"*{box-sizing:border-box}"
	"html{-webkit-text-size-adjust:100%}"
	"body{margin:0;background:var(--bg);color:var(--text);font:15px/1.45 system-ui,-apple-system,"
	"\"Segoe UI\",Roboto,\"PingFang SC\",\"Microsoft YaHei\",\"Noto Sans CJK SC\",sans-serif;"
	"overflow-wrap:anywhere}"
	"main{max-width:1120px;margin:0 auto;padding:16px}"
	"h1{font-size:22px;line-height:1.25;margin:0 0 4px}"
	"h2{font-size:16px;margin:0 0 10px}"
	"p{margin:0 0 6px}"
	"header{margin:4px 0 16px}"
	"footer,.dim{color:var(--dim)}"
	"footer{margin:16px 0;font-size:13px}"
	".small{font-size:13px}"
	"section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px "
	"16px;"
	"margin:0 0 14px}"
	".badge{display:inline-block;border:1px solid currentColor;border-radius:999px;padding:0 9px;"
	"font-size:13px;font-weight:600;margin:0 6px 4px 0}"
	".good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}"
	"code{font:13px/1.4 "
	"ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--code);"
	"color:var(--text);padding:1px 5px;border-radius:4px}"
	"table{width:100%;border-collapse:collapse}"
	"th,td{text-align:left;vertical-align:top;padding:6px 10px 6px 0;border-top:1px solid "
	"var(--line)}"
	"thead th{border-top:0;color:var(--dim);font-size:13px;font-weight:600;overflow-wrap:normal}"
	"td.num,th.num{text-align:right;font-variant-numeric:tabular-nums;overflow-wrap:normal}"
	"td.word{white-space:nowrap}td>p:last-child{margin:0}"
	".key{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:10px;margin:0}"
	".key div{min-width:0}.key dt{color:var(--dim);font-size:13px}"
	".key dd{margin:0;font-size:17px;font-weight:600}"
	/* drawings */
	"svg{display:block;width:100%}"
	".spark{height:38px;min-width:120px}.spark path{fill:var(--bad)}.spark .base{fill:var(--line)}"
	".days{height:150px}.axis{display:grid;grid-template-columns:repeat(14,1fr);font-size:12px;"
	"color:var(--dim);text-align:center;overflow-wrap:normal}"
	".legend{display:flex;flex-wrap:wrap;gap:2px 16px;list-style:none;padding:0;margin:8px 0 0;"
	"font-size:13px}"
	".legend svg{display:inline-block;width:11px;height:11px;margin-right:6px}"
	".d0{fill:var(--d0)}.d1{fill:var(--d1)}.d2{fill:var(--d2)}.d3{fill:var(--d3)}.d4{fill:var(--"
	"d4)}"
	".d5{fill:var(--d5)}.grid{fill:var(--line)}"
	".map{display:grid;grid-template-columns:repeat(auto-fill,minmax(132px,1fr));gap:6px;"
	"list-style:none;padding:0;margin:0}"
	".map li{border:1px solid var(--line);border-radius:6px;padding:6px "
	"8px;font-size:13px;min-width:0}"
	".map b{display:block}"
	".t1{background:var(--t1)}.t2{background:var(--t2)}.t3{background:var(--t3)}"
	/* a phone: each row stands as a block, its cells under one another with the name of the column
	 */
	"@media screen and (max-width:640px){main{padding:10px}section{padding:12px}"
	"table,tbody,tr,td{display:block}thead{display:none}"
	"tr{border-top:1px solid var(--line);padding:6px 0}td,td.num,td.word{border:0;padding:2px 0;"
	"text-align:left;white-space:normal}td[data-l]::before{content:attr(data-l) \": \";color:var(--dim);"
	"font-size:13px}td:empty{display:none}}"
	/* paper */
	"@media print{:root{" LIGHT ";--bg:#fff}body{font-size:11px}main{max-width:none;padding:0}"
	"section{border:0;border-radius:0;padding:0;margin:0 0 12px}"
	"tr,li,svg,h2{break-inside:avoid}h2{break-after:avoid}thead{display:table-header-group}"
	"*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}";

const char *style_sheet(void)
{
	return sheet;
}
