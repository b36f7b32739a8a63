/* fallback.c - see fallback.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/fallback.h"

#include "base/cleanup.h"
#include "reporter/notify/alarms.h"

int fallback_begin(struct db *history, struct db **ret)
{
	const int r = db_open_memory(0, ret);

	if (r < 0)
		return r;
	(void)db_copy(history, DB_FALLBACK_ALARMS, *ret, DB_ALARM_PUT);
	(void)db_copy(history, DB_FALLBACK_NOTICES, *ret, DB_ALARM_NOTICE_PUT);
	(void)db_copy(history, DB_FALLBACK_WAITING, *ret, DB_FALLBACK_MESSAGE_PUT);
	return 0;
}

int fallback_return(struct db *memory, struct db *history)
{
	static const struct {
		enum db_stmt rows, put;
	} steps[] = {
		{ DB_FALLBACK_ALARMS, DB_ALARM_PUT },
		{ DB_FALLBACK_OVER, DB_FALLBACK_FORGET },
		{ DB_FALLBACK_NOTICES, DB_ALARM_NOTICE_PUT },
		{ DB_FALLBACK_MESSAGES, DB_FALLBACK_MESSAGE_PUT },
	};
	int r = db_begin(history);

	if (r == 0)
		r = alarms_join(history);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(steps); i++)
		r = db_copy(memory, steps[i].rows, history, steps[i].put);
	return db_end(history, r);
}
