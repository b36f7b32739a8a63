/* clock_step.c - the wall clock of a program under torture: what the kernel says, plus the nanoseconds that
 * the file "clock-step" beside the executable holds. Whoever writes that file sets the clock of every process
 * of that program at once, also of those in their sandbox: the file is mapped before main(). Not shifted:
 * time(), by which OpenSSL alone reads the clock, because the certificates of the test's servers are minutes
 * old. */
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static const int64_t *step_ns;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void map_step(void)
{
	char path[4096];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("clock-step"));

	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	if (n < 0)
		return;
	path[n] = '\0';
	(void)strcpy(strrchr(path, '/') + 1, "clock-step");
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	void *map = mmap(NULL, sizeof(*step_ns), PROT_READ, MAP_SHARED, fd, 0);

	(void)close(fd);
	if (map != MAP_FAILED)
		step_ns = map;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	const int r = real(id, ts);

	if (r == 0 && id == CLOCK_REALTIME && step_ns) {
		const int64_t now =
			(int64_t)ts->tv_sec * SECOND + ts->tv_nsec + *(volatile const int64_t *)step_ns;

		ts->tv_sec = now / SECOND;
		ts->tv_nsec = now % SECOND;
	}
	return r;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;
	const int r = clock_gettime(CLOCK_REALTIME, &ts);

	(void)zone;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return r;
}
