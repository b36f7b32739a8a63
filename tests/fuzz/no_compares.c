/* no_compares.c - for targets whose bytes choose among messages: libFuzzer notes each comparison, to put its
 * operands into inputs. Here none of them is a byte of an input; to note them took a quarter of the time. The
 * linker gives these instead (--wrap). */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#define CMP(name, type)                                                                                      \
	void __wrap___sanitizer_cov_trace_##name(type a, type b);                                            \
	void __wrap___sanitizer_cov_trace_##name(type a, type b)                                             \
	{                                                                                                    \
		(void)a;                                                                                     \
		(void)b;                                                                                     \
	}

CMP(cmp1, uint8_t)
CMP(cmp2, uint16_t)
CMP(cmp4, uint32_t)
CMP(cmp8, uint64_t)
CMP(const_cmp1, uint8_t)
CMP(const_cmp2, uint16_t)
CMP(const_cmp4, uint32_t)
CMP(const_cmp8, uint64_t)
