/* wiped.h - tells whether memory is given back with a secret in it. A test program that asks is linked with
 * opc_test_wiped (tests/CMakeLists.txt): the frees of its own objects and of our libraries come by here
 * first. Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_WIPED_H
#define TESTS_WIPED_H

#include <stddef.h>

/* From now on count the blocks that are freed while this text stands in them. Borrowed; NULL ends it. */
void wiped_watch(const char *secret);
size_t wiped_missed(void);

#endif
