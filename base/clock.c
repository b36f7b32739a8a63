/* clock.c - see clock.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <stdbool.h>
#include <time.h>

static struct {
	bool on;
	int64_t wall_ms;
	uint64_t boot_ms;
} fake;

static int64_t read_us(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_wall_ms(void)
{
	return fake.on ? fake.wall_ms : read_us(CLOCK_REALTIME) / 1000;
}

int64_t clock_wall_ago(int64_t ms)
{
	const int64_t at = clock_wall_ms() - ms;

	return at > 1 ? at : 1;
}

uint64_t clock_boot_us(void)
{
	return fake.on ? fake.boot_ms * 1000 : (uint64_t)read_us(CLOCK_BOOTTIME);
}

uint64_t clock_boot_ms(void)
{
	return fake.on ? fake.boot_ms : clock_boot_us() / 1000;
}

void clock_fake_set(int64_t wall_ms, uint64_t boot_ms)
{
	fake.on = true;
	fake.wall_ms = wall_ms;
	fake.boot_ms = boot_ms;
}

void clock_fake_advance(int64_t ms)
{
	fake.wall_ms += ms;
	fake.boot_ms += (uint64_t)ms;
}

void clock_fake_clear(void)
{
	fake.on = false;
}
