/* schema.h - versions of the database and how one becomes the next.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_SCHEMA_H
#define REPORTER_HISTORY_SCHEMA_H

#include <sqlite3.h>

/* Version this program writes (PRAGMA user_version). */
int schema_version(void);
/* Apply the migrations that are missing up to version `to`, all in one transaction: what fails or is cut off
 * leaves the version that was there. SQLITE_OK or what failed; SQLITE_MISMATCH when the file was written by a
 * newer version than this program. */
int schema_migrate(sqlite3 *sql, int to);

#endif
