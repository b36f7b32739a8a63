/* standalone.c - runs a fuzz target over the files named on the command line (a corpus): the way the targets
 * run under gcc. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *buf = malloc(1 << 20);
	const size_t n = f && buf ? fread(buf, 1, 1 << 20, f) : 0;
	/* Exactly as long as the input: a read past its end is seen by the sanitizer. */
	uint8_t *exact = malloc(n ? n : 1);

	if (!f || !buf || !exact) {
		(void)fprintf(stderr, "cannot read %s\n", path);
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		exact[i] = buf[i];
	(void)LLVMFuzzerTestOneInput(exact, n);
	(void)fclose(f);
	free(exact);
	free(buf);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed += run_file(argv[i]);
	printf("%d passed, %d failed, 0 skipped\n", argc - 1 - failed, failed);
	return failed != 0 || argc < 2;
}
