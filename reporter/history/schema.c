/* schema.c - see schema.h. migrations[n] leads from version n to n + 1 and is never changed once released. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/schema.h"

#include <stdio.h>

#include "base/cleanup.h"

/* Clusters are kept by name: indices change when the configuration does. */
static const char *const migrations[] = {
	"CREATE TABLE intents("
	" id INTEGER PRIMARY KEY, intent_at INTEGER NOT NULL, cluster_name TEXT NOT NULL, observe INTEGER "
	"NOT NULL,"
	" duty INTEGER NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL, rv TEXT NOT NULL,"
	" subject TEXT NOT NULL, since INTEGER NOT NULL, reason TEXT NOT NULL, evidence TEXT NOT NULL,"
	" closed INTEGER NOT NULL DEFAULT 0) STRICT;"
	"CREATE INDEX intents_at ON intents(intent_at);"
	"CREATE INDEX intents_open ON intents(id) WHERE closed = 0;"
	"CREATE TABLE results("
	" id INTEGER PRIMARY KEY, result_at INTEGER NOT NULL, at INTEGER NOT NULL, outcome INTEGER NOT NULL,"
	" reason TEXT NOT NULL, detail TEXT NOT NULL, http INTEGER NOT NULL, target TEXT NOT NULL,"
	" target_uid TEXT NOT NULL, target_rv TEXT NOT NULL, replicas INTEGER NOT NULL) STRICT;"
	"CREATE INDEX results_at ON results(result_at);"
	"CREATE TABLE refusals("
	" id INTEGER PRIMARY KEY, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, count INTEGER NOT "
	"NULL,"
	" cluster_name TEXT NOT NULL, duty INTEGER NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
	" uid TEXT NOT NULL, reason TEXT NOT NULL, evidence TEXT NOT NULL, UNIQUE(uid, duty, reason)) STRICT;"
	"CREATE INDEX refusals_at ON refusals(last_at);"
	"CREATE TABLE since("
	" id INTEGER PRIMARY KEY, cluster_name TEXT NOT NULL, owner TEXT NOT NULL, revision TEXT NOT NULL,"
	" at INTEGER NOT NULL, UNIQUE(cluster_name, owner, revision)) STRICT;"
	"CREATE TABLE digests("
	" slot INTEGER PRIMARY KEY,"
	" state TEXT NOT NULL CHECK(state IN ('claimed', 'sending', 'done', 'empty', 'failed', "
	"'unconfirmed', 'skipped')),"
	" schedule TEXT NOT NULL, claimed_at INTEGER NOT NULL, late INTEGER NOT NULL, part INTEGER NOT NULL "
	"DEFAULT 0,"
	" parts INTEGER NOT NULL DEFAULT 0, workloads INTEGER NOT NULL DEFAULT 0, pods INTEGER NOT NULL "
	"DEFAULT 0,"
	" finished_at INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '') STRICT;"
	"CREATE TABLE restarts("
	" cluster_name TEXT NOT NULL, ns TEXT NOT NULL, pod TEXT NOT NULL, container TEXT NOT NULL,"
	" created INTEGER NOT NULL, restarts INTEGER NOT NULL,"
	" PRIMARY KEY(cluster_name, ns, pod, container, created)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;",

	"ALTER TABLE intents ADD COLUMN action INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE intents ADD COLUMN fights INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE intents ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE intents ADD COLUMN want_target TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE intents ADD COLUMN want_uid TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE intents ADD COLUMN want_replicas INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE results ADD COLUMN retry_ms INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE results ADD COLUMN request TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE results ADD COLUMN proof TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE results ADD COLUMN actor TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE since ADD COLUMN tried INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE memos("
	" id INTEGER PRIMARY KEY, cluster_name TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,"
	" at INTEGER NOT NULL, until INTEGER NOT NULL, count INTEGER NOT NULL, text TEXT NOT NULL,"
	" UNIQUE(cluster_name, kind, key)) STRICT;"
	"CREATE TABLE pauses("
	" id INTEGER PRIMARY KEY, cluster_name TEXT NOT NULL, duty INTEGER NOT NULL, at INTEGER NOT NULL,"
	" until INTEGER NOT NULL, \"by\" TEXT NOT NULL, why TEXT NOT NULL, UNIQUE(cluster_name, duty)) "
	"STRICT;"
	"CREATE TABLE needs("
	" id INTEGER PRIMARY KEY, cluster_name TEXT NOT NULL, duty INTEGER NOT NULL, reason TEXT NOT NULL,"
	" ns TEXT NOT NULL, name TEXT NOT NULL, detail TEXT NOT NULL, first_at INTEGER NOT NULL,"
	" last_at INTEGER NOT NULL, told INTEGER NOT NULL DEFAULT 0,"
	" UNIQUE(cluster_name, duty, reason, ns, name)) STRICT;"
	"CREATE INDEX intents_subject ON intents(subject);",

	/* Every intent and every result is written at the end of its table and of each index, so that a
	 * commit of many writes few pages; what is open is a table of its own, which stays small.
	 * intents.closed means nothing from here on: to drop it would write the whole table anew. Of a
	 * workload, which may fight, are only the actions of errImagePull. */
	"CREATE TABLE open(id INTEGER PRIMARY KEY) STRICT;"
	"INSERT INTO open SELECT id FROM intents WHERE closed = 0;"
	"DROP INDEX intents_open;"
	"DROP INDEX intents_subject;"
	"CREATE INDEX intents_workload ON intents(subject) WHERE duty = 2;"
	"CREATE INDEX intents_origin ON intents(origin) WHERE origin <> 0;",

	/* Names that a stranger understands. intents.closed was unused; an action on a workload is one whose
	 * key is not the pod's own uid, whatever the duty; attention says itself how long it has to last. */
	"DROP INDEX intents_workload;"
	"ALTER TABLE intents DROP COLUMN closed;"
	"ALTER TABLE intents RENAME COLUMN subject TO action_key;"
	"ALTER TABLE intents RENAME COLUMN fights TO reverts;"
	"CREATE INDEX intents_workload ON intents(action_key) WHERE action_key <> uid;"
	"ALTER TABLE results RENAME COLUMN proof TO evidence;"
	"ALTER TABLE open RENAME TO open_intents;"
	/* Several duties may concern a workload: each has its clock. Until now there was errImagePull. */
	"CREATE TABLE failing_since("
	" id INTEGER PRIMARY KEY, cluster_name TEXT NOT NULL, duty INTEGER NOT NULL, owner TEXT NOT NULL,"
	" revision TEXT NOT NULL, at INTEGER NOT NULL, attempted INTEGER NOT NULL,"
	" UNIQUE(cluster_name, duty, owner, revision)) STRICT;"
	"INSERT INTO failing_since SELECT id, cluster_name, 2, owner, revision, at, tried FROM since;"
	"DROP TABLE since;"
	"ALTER TABLE memos RENAME TO saved_state;"
	"UPDATE saved_state SET kind = 'reverted' WHERE kind = 'fight';"
	"UPDATE saved_state SET kind = 'share', key = 'ns/' || key WHERE kind = 'share-ns';"
	"UPDATE saved_state SET kind = 'share', key = 'node/' || key WHERE kind = 'share-node';"
	"ALTER TABLE digests RENAME COLUMN slot TO due_at;"
	"ALTER TABLE needs RENAME TO attention;"
	"ALTER TABLE attention RENAME COLUMN told TO reported;"
	"ALTER TABLE attention ADD COLUMN state INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE attention ADD COLUMN lasting_ms INTEGER NOT NULL DEFAULT 3600000;"
	"UPDATE attention SET state = 1 WHERE reason IN ('Fight', 'BreakerOpen', 'BudgetSpent');"
	"UPDATE attention SET lasting_ms = 0 WHERE reason IN ('Fight', 'BreakerOpen');"
	"UPDATE attention SET duty = -1 WHERE reason = 'BudgetSpent';"
	"UPDATE attention SET reason = 'Reverted' WHERE reason = 'Fight';"
	"UPDATE results SET reason = 'Reverted' WHERE reason = 'Fight';"
	"UPDATE refusals SET reason = 'Reverted' WHERE reason = 'Fight';"
	"CREATE TABLE schedules(schedule TEXT PRIMARY KEY, armed_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
	"INSERT INTO schedules SELECT substr(value, instr(value, ' ') + 1), CAST(value AS INTEGER)"
	" FROM meta WHERE key = 'schedule' AND value <> '';"
	"DROP TABLE meta;"
	/* An action says by itself what is done: delete, force-delete, scale down. */
	"UPDATE intents SET action = CASE duty WHEN 1 THEN 3 ELSE 4 END WHERE action = 0 AND duty IN (1, 2);",

	/* Deletions whose end is not known are followed, also those of before. */
	"ALTER TABLE intents ADD COLUMN finishes INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE results ADD COLUMN settled_at INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE unsettled(id INTEGER PRIMARY KEY, cluster_name TEXT NOT NULL, uid TEXT NOT NULL) "
	"STRICT;"
	"CREATE INDEX unsettled_uid ON unsettled(uid);"
	"INSERT INTO unsettled SELECT i.id, i.cluster_name, i.uid FROM results r JOIN intents i ON i.id = "
	"r.id"
	" WHERE r.outcome = 6 AND i.observe = 0 AND i.action IN (0, 1, 3);",

	/* All that the supervisor signs of an intent, and its signature. */
	("ALTER TABLE intents ADD COLUMN others_pulled_at INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE intents ADD COLUMN mac TEXT NOT NULL DEFAULT '';"),

	/* Messages for people, each a row before it is sent. */
	("CREATE TABLE outbox("
	 " id INTEGER PRIMARY KEY, sink TEXT NOT NULL, news TEXT NOT NULL, message_id TEXT NOT NULL,"
	 " made_at INTEGER NOT NULL,"
	 " state TEXT NOT NULL DEFAULT 'waiting' CHECK(state IN ('waiting', 'sending', 'done', 'given_up', "
	 "'unconfirmed')),"
	 " tries INTEGER NOT NULL DEFAULT 0, doubts INTEGER NOT NULL DEFAULT 0, next_at INTEGER NOT NULL "
	 "DEFAULT 0,"
	 " finished_at INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', document TEXT NOT NULL) "
	 "STRICT;"
	 "CREATE INDEX outbox_open ON outbox(sink, id) WHERE state IN ('waiting', 'sending');"
	 "CREATE INDEX outbox_ended ON outbox(sink, news, id) WHERE state NOT IN ('waiting', 'sending');"
	 /* Up to which action people were told, and those before it that had not ended then. */
	 "CREATE TABLE told_actions(one INTEGER PRIMARY KEY CHECK(one = 1), up_to INTEGER NOT NULL,"
	 " told_at INTEGER NOT NULL) STRICT;"
	 "CREATE TABLE untold_actions(id INTEGER PRIMARY KEY) STRICT;"
	 /* What only an operator can change: as long as it lasts, and until its end was told. */
	 "CREATE TABLE alarms("
	 " id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, cluster_name TEXT NOT NULL, kind TEXT NOT NULL,"
	 " code TEXT NOT NULL, duty INTEGER NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL, detail TEXT NOT "
	 "NULL,"
	 " begin_at INTEGER NOT NULL, lasting_ms INTEGER NOT NULL, gone_at INTEGER NOT NULL DEFAULT 0) "
	 "STRICT;"
	 "CREATE TABLE alarms_told("
	 " alarm INTEGER NOT NULL, sink TEXT NOT NULL, begin_at INTEGER NOT NULL, told_at INTEGER NOT NULL,"
	 " PRIMARY KEY(alarm, sink)) STRICT, WITHOUT ROWID;"),

	/* How often containers restarted, and when that was seen (reporter/digest/samples.h); and of each
	 * workload what the last report said of it. */
	"CREATE TABLE sampled("
	" id INTEGER PRIMARY KEY, cluster_name TEXT NOT NULL, ns TEXT NOT NULL, kind TEXT NOT NULL,"
	" workload TEXT NOT NULL, pod TEXT NOT NULL, container TEXT NOT NULL, created INTEGER NOT NULL,"
	" restarts INTEGER NOT NULL, seen_at INTEGER NOT NULL, known_since INTEGER NOT NULL,"
	" UNIQUE(cluster_name, ns, pod, container)) STRICT;"
	"CREATE TABLE samples("
	" series INTEGER NOT NULL, at INTEGER NOT NULL, restarts INTEGER NOT NULL, PRIMARY KEY(series, at)) "
	"STRICT, WITHOUT ROWID;"
	"CREATE INDEX samples_at ON samples(at);"
	"CREATE TABLE sampling("
	" cluster_name TEXT PRIMARY KEY, at INTEGER NOT NULL, full_at INTEGER NOT NULL) STRICT, WITHOUT "
	"ROWID;"
	"CREATE TABLE reported("
	" cluster_name TEXT NOT NULL, ns TEXT NOT NULL, kind TEXT NOT NULL, workload TEXT NOT NULL,"
	" restarts INTEGER NOT NULL, window_ms INTEGER NOT NULL, at INTEGER NOT NULL,"
	" PRIMARY KEY(cluster_name, ns, kind, workload)) STRICT, WITHOUT ROWID;",

	/* What the last report remembered of restart counts is known since then. */
	"INSERT OR IGNORE INTO sampled(cluster_name, ns, kind, workload, pod, container, created, restarts,"
	" seen_at, known_since)"
	" SELECT cluster_name, ns, '', '', pod, container, created, restarts, at, at FROM restarts,"
	" (SELECT coalesce(max(due_at), 0) AS at FROM digests WHERE state IN ('done', 'empty'));"
	"DROP TABLE restarts;",

	/* What ended, of a sink, the newest first. */
	"DROP INDEX outbox_ended;"
	"CREATE INDEX outbox_ended ON outbox(sink) WHERE state NOT IN ('waiting', 'sending');",

	/* When the last report was delivered. */
	"CREATE INDEX outbox_reports ON outbox(finished_at) WHERE news = 'report' AND state = 'done';",

	/* Objects join an alarm that stands, and each sink is told up to one of them. */
	("ALTER TABLE attention ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE alarms_told ADD COLUMN up_to INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE alarms_told ADD COLUMN pause_ms INTEGER NOT NULL DEFAULT 0;"),

	/* The supervisor's signature of what a restore puts back. */
	"ALTER TABLE results ADD COLUMN mac TEXT NOT NULL DEFAULT '';",
};

int schema_version(void)
{
	return (int)ARRAY_SIZE(migrations);
}

static int current_version(sqlite3 *sql, int *ret)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(sql, "PRAGMA user_version", -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int(st, 0);
	(void)sqlite3_finalize(st);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* One commit, so one wait for the disk: a new database has all of them before it. */
static int migrate(sqlite3 *sql, int from, int to)
{
	char stamp[64];

	(void)snprintf(stamp, sizeof(stamp), "PRAGMA user_version = %d; COMMIT", to);
	int rc = sqlite3_exec(sql, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	for (int i = from; rc == SQLITE_OK && i < to; i++)
		rc = sqlite3_exec(sql, migrations[i], NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(sql, stamp, NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		(void)sqlite3_exec(sql, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int schema_migrate(sqlite3 *sql, int to)
{
	int version = 0;
	int rc = current_version(sql, &version);

	if (rc == SQLITE_OK && (version < 0 || version > schema_version()))
		return SQLITE_MISMATCH;
	return rc == SQLITE_OK && version < to ? migrate(sql, version, to) : rc;
}
