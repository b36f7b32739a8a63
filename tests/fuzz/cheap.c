/* cheap.c - what a sanitizer keeps of freed memory and of the calls that led to it, for targets that make a
 * whole process for every input: less of both, and many more inputs. */
// SPDX-License-Identifier: Apache-2.0

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:malloc_context_size=6";
}
