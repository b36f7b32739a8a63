/* quiet_store.h - a store whose callbacks do nothing.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_WATCHER_QUIET_STORE_H
#define TEST_WATCHER_QUIET_STORE_H

#include "watcher/cache/store.h"

static inline void quiet_callback(void *ctx, uint32_t number)
{
	(void)ctx;
	(void)number;
}

static inline struct store *quiet_store(void)
{
	return store_new(&(struct store_ops){ quiet_callback, quiet_callback }, NULL);
}

#endif
