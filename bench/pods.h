/* pods.h - the pods of an invented cluster as an API server sends them: about 8.6 KB of protobuf each, half
 * of it managedFields. A workload has four pods, a namespace two hundred, a node thirty; pod i + 1 follows
 * pod i in a list, which is sorted by namespace and name. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_PODS_H
#define BENCH_PODS_H

#include <stddef.h>
#include <stdint.h>

#define POD_BYTES_MAX 16384u

/* Once, before pods_write. */
void pods_init(void);
/* Pod i with that resourceVersion, restarted so many times (0 to 127). Returns its size. */
size_t pods_write(uint32_t i, uint64_t rv, unsigned restarts, uint8_t buf[static POD_BYTES_MAX]);

#endif
