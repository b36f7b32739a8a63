/* gen_docs.c - prints docs/reasons.md from model/reasons.def. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "model/reasons.h"

int main(void)
{
	printf("# Reasons\n\n"
	       "Generated from `model/reasons.def`; do not edit. Every verdict and every result of a worker "
	       "carries "
	       "one of these\n"
	       "codes: in the history, the log, the metrics, `explain`, `plan` and the digest. A code is "
	       "never "
	       "renamed.\n\n"
	       "| code | what it says | what to do |\n|---|---|---|\n");
	for (int r = 0; r < REASON__MAX; r++)
		printf("| `%s` | %s | %s |\n", reason_code((enum reason)r), reason_sentence((enum reason)r),
		       reason_remedy((enum reason)r));
	return 0;
}
