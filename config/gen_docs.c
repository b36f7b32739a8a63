/* gen_docs.c - writes docs/configuration.md to stdout. */
// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

int main(void)
{
	config_print_docs(stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}
