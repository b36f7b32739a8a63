/* settle.h - give back the memory that only the start, or a burst, has needed.
 * Layer: process.  Threads: none.  Allowed in every sandbox: it needs madvise and brk alone. */
// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS_SETTLE_H
#define PROCESS_SETTLE_H

#include <stddef.h>

/* Unmap the pages of code and constants of all loaded objects, and give free heap back. What is needed again
 * is taken from the page cache by a minor fault, 16 pages at once. Pages that relocation has changed are
 * kept: they are in writable segments, which are left alone. Returns how many bytes of address space were let
 * go. */
size_t settle_memory(void);

#endif
