/* cleanup.h - how variables begin and end: scope-bound release of resources (gcc/clang cleanup attribute).
 * Layer: base.  A destructor used here accepts NULL and half-built objects. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* Hand a pointer or a descriptor over: the variable forgets it, so its cleanup does nothing. */
#define TAKE_PTR(p)                                                                                          \
	({                                                                                                   \
		__typeof__(p) taken_ = (p);                                                                  \
		(p) = NULL;                                                                                  \
		taken_;                                                                                      \
	})
#define TAKE_FD(fd)                                                                                          \
	({                                                                                                   \
		int taken_ = (fd);                                                                           \
		(fd) = -1;                                                                                   \
		taken_;                                                                                      \
	})

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}
static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}
#define _cleanup_free_  _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)

/* Of a large variable that is filled before it is read: it is not cleared, as the release build clears all
 * others. */
#if __has_attribute(uninitialized)
#define _uninitialized_ __attribute__((uninitialized))
#else
#define _uninitialized_
#endif

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
