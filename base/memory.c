/* memory.c - see memory.h. A TLS library reads its certificates once and a database its schema; that text
 * stays mapped, in each process anew, for as long as nobody asks the kernel to drop it. */
// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <link.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"

#define LARGE_BLOCK (32 << 10)

static size_t drop_segment(const struct dl_phdr_info *object, const ElfW(Phdr) * h, uintptr_t page)
{
	const uintptr_t begin = (object->dlpi_addr + h->p_vaddr) & ~(page - 1);
	const uintptr_t end = (object->dlpi_addr + h->p_vaddr + h->p_memsz + page - 1) & ~(page - 1);

	/* Mapped from the file and never written: dropping it changes nothing that can be read there. */
	return madvise((void *)begin, end - begin, MADV_DONTNEED) == 0 ? end - begin : 0;
}

static int on_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
	size_t *sum = ctx;

	(void)size;
	if (strstr(object->dlpi_name, "linux-vdso"))
		return 0;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && !(h->p_flags & PF_W))
			*sum += drop_segment(object, h, (uintptr_t)sysconf(_SC_PAGESIZE));
	}
	return 0;
}

void memory_large_blocks_apart(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
}

size_t memory_trim(void)
{
	size_t sum = 0;

	(void)malloc_trim(0);
	(void)dl_iterate_phdr(on_object, &sum);
	return sum;
}

bool memory_read(int fd, uint64_t *ret_mapped, uint64_t *ret_resident)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char buf[128] = "";
	uint64_t mapped, resident;

	*ret_mapped = *ret_resident = 0;
	if (pread(fd, buf, sizeof(buf) - 1, 0) <= 0)
		return false;
	const size_t first = strcspn(buf, " ");
	const char *second = buf + first + (buf[first] == ' ');

	if (str_to_u64(buf, first, &mapped) < 0 || str_to_u64(second, strcspn(second, " "), &resident) < 0)
		return false;
	*ret_mapped = mapped * page;
	*ret_resident = resident * page;
	return true;
}
