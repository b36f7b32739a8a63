/* run_loader.h - the loader as a process: runs it over the files of a folder and takes in what it says.
 * Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_LOADER_RUN_LOADER_H
#define TESTS_UNIT_LOADER_RUN_LOADER_H

#include <stdbool.h>
#include <sys/resource.h>

#include "config/settings.h"
#include "ipc/msg.h"
#include "tests/suite.h"

#define POD_USER  65532
#define POD_GROUP 65531

/* The text of a kubeconfig, and of its user with a plugin. */
#define TARGET(server, user)                                                                                 \
	"{current-context: x, clusters: [{name: c, cluster: {server: '" server                               \
	"'}}], users: [{name: u, user: {" user                                                               \
	"}}], contexts: [{name: x, context: {cluster: c, user: u}}]}\n"
#define PLUGIN(command)                                                                                      \
	"exec: {command: " command ", interactiveMode: Never, apiVersion: client.authentication.k8s.io/v1}"

/* -- the certificates of the system -- */

/* All that one run said. */
struct run {
	int code;
	bool hello, end, ok;
	char lines[24][1024];
	size_t n_lines, errors;
	struct facts last; /* line */
	struct msg_load_supervisor tree;
	struct msg_load_cluster clusters[4];
	size_t n_clusters;
	bool kept[4]; /* blobs of one that could not be loaded */
	char problem[4][1024];
	uint64_t refresh_ms;                  /* the shortest that was asked for */
	struct msg_load_blob blob[ROLE__MAX]; /* the last one of a role */
	struct msg_load_fixed fixed[16];
	size_t n_fixed;
	struct settings watcher[4], worker[4], reporter;
	int reporter_fd;
	struct msg_load_watch watched[32];
	size_t n_watched;
	int watch_fd; /* 0 = none came */
};

/* The last one, and the folder with its files. */
extern struct run run;
extern char dir[SUITE_PATH_MAX];

/* Is this name watched? */
bool watches(const char *name);

/* How it is run. */
extern int in_force[ROLE__MAX]; /* what is in force of the first cluster; a run makes it where keep is set */
extern bool keep;
extern struct msg_load_kept of_plugin; /* and what is said with it */
extern rlim_t descriptors;             /* how many the loader may have, 0 = as many as we */
extern uint64_t limit_ms;              /* how long a cluster may take */
extern bool as_pod;                    /* as POD_USER, as a container whose volumes belong to POD_GROUP */

/* Names of indexes that the supervisor knows, NULL behind the last. */
extern const char *known[4];

/* Further arguments, NULL behind the last; NULL: none. */
extern const char *const *more;

/* The folder with kubeconfigs `reader` and `writer`; an environment without a cluster. */
void set_up(void);
void run_done(void);
/* In the folder; to be freed. */
char *path_of(const char *name);

/* kubeconfig NULL: without the flag. */
void run_loader(const char *config, const char *kubeconfig);
/* The configuration of the original program. */
void run_original(void);
/* A configuration of this text, and the kubeconfig of that name (NULL: without the flag). */
void run_text(const char *text, const char *kubeconfig);
/* The same, and it must succeed. */
void succeeds(const char *text, const char *kubeconfig);

#endif
