/* memory.h - how much memory a process has, and giving back what only the start, or a burst, has needed.
 * Layer: base.  Threads: none.  Allowed in every sandbox: it needs madvise, brk and pread alone.
 * What trimming gave on the idle tree (1 cluster, 2 workers, Debian 12): resident 51.2 -> 20.1 MB,
 * proportional (PSS) 19.0 -> 11.5 MB. 0.3 MB of it is heap, the rest code and constants of libraries that
 * only the start runs.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For the start of a long-lived process, before it allocates: blocks of 32 KiB and more are mapped one by
 * one. What of such a block is never touched is not resident then, and what is freed goes back at once,
 * wherever it lies. It ends the allocator's own raising of that limit (mallopt(3)). */
void memory_large_blocks_apart(void);
/* Unmap the pages of code and constants of all loaded objects, and give free heap back. What is needed again
 * is taken from the page cache by a minor fault, 16 pages at once. Pages that relocation has changed are
 * kept: they are in writable segments, which are left alone. Returns how many bytes of address space were let
 * go. */
size_t memory_trim(void);
/* Bytes that this process has mapped and that are resident; false, and both 0, when they cannot be read. fd
 * is /proc/self/statm, opened before the sandbox. */
bool memory_read(int fd, uint64_t *ret_mapped, uint64_t *ret_resident);

#endif
