/* memory_dir.h - in the place of base/private_dir.c: one folder of a few files in memory, which is there as
 * long as this process. Nothing waits for a disk.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_STAGE_MEMORY_DIR_H
#define TESTS_STAGE_MEMORY_DIR_H

/* No file is left. */
void memory_dir_clear(void);

#endif
