/* schema.h - versions of the database and how one becomes the next.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_SCHEMA_H
#define REPORTER_HISTORY_SCHEMA_H

#include <sqlite3.h>

/* Version this program writes (PRAGMA user_version). */
int schema_version(void);
/* Apply the migrations that are missing, each in its own transaction. SQLITE_OK or what failed;
 * SQLITE_MISMATCH when the file was written by a newer version. */
int schema_migrate(sqlite3 *sql);
/* The same up to version `to`, which is what an older program leaves behind. */
int schema_migrate_to(sqlite3 *sql, int to);

#endif
