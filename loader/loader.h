/* loader.h - what the parts of the one-shot loader share: what is loaded, where errors go, when to load
 * again. Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_LOADER_H
#define LOADER_LOADER_H

#include "config/config.h"
#include "config/diag.h"
#include "ipc/msg.h"
#include "loader/watch.h"

#define LOADER_TIME_S   30 /* of one run */
#define LOADER_SETS_MAX 24

struct loader_options {
	const char *config, *kubeconfig, *context, *master, *state_dir;
	const char *set[LOADER_SETS_MAX]; /* KEY=VALUE: whatever the file says */
	size_t n_set;
};

/* Where a credential is from. */
struct plugin_mark {
	uint64_t hash;    /* of the exec plugin, 0 = none */
	int64_t until_ms; /* Unix; 0 = it names no end */
};

struct loader {
	const struct loader_options *options;
	struct config config;
	struct diags diags;
	struct watches watches;
	uint64_t refresh_ms;          /* when to run again; 0 = never */
	bool lasting;                 /* an error that will not go away by itself */
	uint64_t index[CLUSTERS_MAX]; /* of each cluster of the configuration, in its order */
	/* From the supervisor: */
	struct str_list indexes;           /* the name that each index belongs to */
	uint64_t limit_ms;                 /* for all that may have to be waited for */
	int kept[ROLE__MAX][CLUSTERS_MAX]; /* settings in force, sealed memfds; -1 = none */
	struct plugin_mark kept_plugin[ROLE__MAX][CLUSTERS_MAX]; /* of their credentials, none = run it */
	uint64_t until_ms;                                       /* boot time: limit_ms from the begin on */
};

/* Run again within so many ms; 0 asks for nothing. The shortest counts. */
void loader_refresh_within(struct loader *l, uint64_t ms);
/* Add an error at a place, as diags_error(), and be false. It is a lasting one unless err is about the host
 * at this moment (base/exit.h). */
#define loader_error(l, err, at, ...) (diags_error(&(l)->diags, at, __VA_ARGS__), loader_failed(l, err))
bool loader_failed(struct loader *l, int err);
/* The same of a sentence that is made already. */
bool loader_tell(struct loader *l, int err, struct place at, const char *sentence);
/* Warn when others may read this secret (path NULL: there is none). A pod's files are only its own. */
void loader_check_secret(struct loader *l, const char *path);

#endif
