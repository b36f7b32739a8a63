/* alarms.h - what only an operator can change, as it stands now, and what is kept of it: which sink was told
 * of which begin is kept with it (alarm_messages_put.c).  Layer: process (reporter), notify. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_ALARMS_H
#define REPORTER_NOTIFY_ALARMS_H

#include "reporter/history/db.h"
#include "reporter/notify/alarm_stage.h"

/* What one is about: where its texts come from. */
#define ALARM_OF_TROUBLE "trouble"
#define ALARM_OF_REASON  "reason"
#define ALARM_OF_PAUSE   "pause"
#define ALARM_OF_SINK    "sink"

/* n and state.newest are of what stands. */
struct alarm {
	int64_t id, duty;
	int64_t n; /* objects; 0 = it is about none */
	struct alarm_state state;
	char *key, *cluster, *kind, *code, *ns, *name, *detail;
};
/* Zeroed = empty. */
struct alarms {
	struct alarm *v;
	size_t n;
	uint32_t room;
	bool is_partial; /* reasons and pauses could not be read: none of those has ended */
};

void alarms_done(struct alarms *l);
/* Texts are copied; the detail is left to be set, and owned. It is good until the next is added. */
struct alarm *alarms_add(struct alarms *l, const char *kind, const char *code, const char *cluster,
			 int64_t duty, const char *ns, const char *name);
/* "web-1, web-2, web-3, +4": the first of n objects. Owned by the caller. */
char *alarm_names(const char *first, int64_t n);

/* Each of the following returns 0 or negative errno. */

/* What came to stand since the last look joins its alarm. Not where the history cannot be written. */
int alarms_join(struct db *history);
/* Adds what the history says stands. */
int alarms_add_reasons(struct db *history, struct alarms *ret);
int alarms_add_pauses(struct db *history, struct alarms *ret);
/* What db keeps becomes what stands now; *ret is that, with what has ended. */
int alarms_update(struct db *db, const struct alarms *standing, int64_t now, struct alarms *ret);
/* What ended before that, Unix ms: its end was told. */
int alarms_forget_over(struct db *db, int64_t before);

#endif
