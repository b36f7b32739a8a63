/* settings.h - the validated settings as every process sees them, made from YAML by the loader and carried in
 * sealed memfds, and the configuration as it was written. One table (config/settings.def) describes every
 * key: type, default, range, unit, reloadable, secret, roles, doc. Layer: config.  No libyaml in here:
 * linking the YAML parser needs config/config.h. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/msg.h"
#include "model/policy.h"

/* How to reach one API server. Everything a file held is here as bytes: no process after the loader opens
 * one. */
struct cluster_settings {
	char *name;
	char *server;  /* "https://host:port/prefix", no trailing slash */
	char *address; /* resolved "ip,[v6]:port" of server, or of proxy; NULL when that is an IP literal */
	char *tls_server_name; /* NULL = the server's host */
	bool insecure;         /* insecure-skip-tls-verify */
	bool shared;           /* watcher and workers have one credential */
	char *proxy;           /* proxy-url, NULL = none */
	char *ca_pem;          /* NULL: none is needed, or there is none */
	char *cert_pem, *key_pem;
	char *token; /* sent only over https */
	char *username, *password;
	char *impersonate_user; /* as */
	struct str_list impersonate_groups;
	char *namespace; /* of the context or the service account */
};

#define SINKS_MAX        20
#define SINK_PROBLEM_MAX 600       /* so that it has room in the particulars of a trouble */
#define SYSTEM_CA_MAX    (8 << 20) /* bytes */

/* One entry of `sinks`: a place that news is sent to (model/sink_types.def). */
struct sink_settings {
	char *name;
	uint64_t type;     /* enum sink_type */
	char *url;         /* a secret, as most hold a key */
	char *secret;      /* of its signature, or the password of a mail server; NULL = none */
	uint64_t language; /* enum language */
	uint64_t news;     /* one bit for each enum news that it is told */
	struct str_list clusters, namespaces; /* patterns; empty = all */
	struct str_list duties;               /* names; empty = all */
	struct str_list mentions;             /* whom to mention where something is bad */
	uint64_t top;                         /* entries of a section at most */
	char *proxy;                          /* NULL = none */
	char *ca_pem;                         /* NULL = settings.system_ca */
	char *from;                           /* email */
	struct str_list to;
	char *url_file, *secret_file, *ca_file; /* end in the loader */
	/* made by the loader */
	char *address; /* resolved "ip,[v6]:port", or of proxy; NULL when the host is an IP literal */
	char *problem; /* why nothing can be sent: no address, no secret (model/sentence.h); NULL = nothing is
			* wrong */
};

/* Links of a message (base/url_template.h); NULL: there is none. */
struct link_settings {
	char *page, *runbook;
};

struct settings {
	struct policy policy; /* duties, mode, exclusions */
	/* reporter only */
	char *msg_title;             /* tooManyRestart.msgtitle */
	struct sink_settings *sinks; /* the original tooManyRestart.apiurl is the first one */
	size_t n_sinks;
	char *system_ca; /* what sinks without a ca_pem trust; NULL: none of them is asked for it, or there is
			    none */
	uint64_t remind_ms, gather_ms, give_up_ms; /* tell.remind, tell.gather, tell.giveUp */
	bool tell_logs;                            /* tell.logs */
	struct str_list with_report;               /* tell.withReport */
	struct link_settings links;
	uint64_t language;         /* enum language; of everything that is said to nobody in particular */
	char *schedule;            /* tooManyRestart.duration: cron expression */
	uint64_t report_window_ms; /* tooManyRestart.window; 0 = since the last report */
	char *time_zone;           /* of the schedule: IANA name; NULL: timeZone */
	void *zone_data;           /* TZif bytes read by the loader, NULL = UTC */
	uint64_t zone_size;
	char *window_zone;  /* timeZone: of all that names none; NULL = UTC */
	void *window_zones; /* TZif bytes by name (config/window.h), read by the loader */
	uint64_t window_zones_size;
	char *state_dir;
	char *metrics_listen;       /* "127.0.0.1:9090"; empty = off */
	uint64_t history_megabytes; /* the database at most */
	uint64_t history_days;      /* rows older than this are removed */
	struct str_list
		cluster_names; /* index -> name, for reporter and cli; empty: there is none any more */
	char *cluster_title;   /* of the only cluster, where it has no name; NULL = there is none */
	/* watcher, worker */
	struct cluster_settings cluster;
	char *owner_annotation; /* tooManyRestart.ownerAnnotation: keys, separated by commas */
	bool election;          /* act only while holding the Lease */
	bool presence;          /* without election: keep the Lease to notice other instances */
	char *lease_namespace, *lease_name;
	char *election_home;       /* name of the cluster where replicas see one another, "" = the first */
	uint64_t max_pods;         /* in the watcher's cache */
	uint64_t startup_quiet_ms; /* no nomination this long after the first sync */
	/* all */
	uint64_t sandbox;    /* enum sandbox_mode */
	uint64_t log_level;  /* enum log_level */
	uint64_t log_format; /* enum log_format */
};

/* One entry of `clusters`. */
struct cluster_config {
	char *name;
	char *kubeconfig;     /* NULL = config.kubeconfig */
	char *context;        /* NULL = current-context */
	uint64_t workers;     /* at most; 0 = config.workers */
	uint64_t workers_min; /* of clusters_at() */
	char *writer_kubeconfig, *writer_context;
	char *wrong;  /* NULL = nothing; a packed sentence: why the file of clustersFrom cannot be loaded */
	bool is_file; /* of clustersFrom */
};

struct config {
	struct settings settings;      /* first: rows of the table have the same offset in both */
	uint64_t workers, workers_min; /* at most; while there is nothing to do */
	char *kubeconfig, *context;
	char *writer_kubeconfig, *writer_context; /* without `clusters` */
	char *api_url, *api_url_file;             /* tooManyRestart.apiurl: a secret */
	char *api_secret, *api_secret_file;       /* its signing secret */
	bool tell_actions, tell_attention;
	uint64_t language;   /* enum language, or LANGUAGE__MAX: of the title */
	char *clusters_from; /* a pattern of files */
	struct cluster_config *clusters;
	size_t n_clusters; /* those of clustersFrom stand last */
};

/* Is tooManyRestart enabled, with an address: then its bot is a sink, the first one, and called so. */
bool config_has_original_sink(const struct config *c);
#define SINK_ORIGINAL_NAME "feishu"

void settings_init(struct settings *s);
void settings_done(struct settings *s);

/* How many of cluster_names there still are, and the first of them (NULL: not wanted). */
size_t cluster_names_count(const struct str_list *names, const char **ret_first);
/* What people call the cluster of that name. */
const char *settings_cluster_title(const struct settings *s, const char *name);

/* Is everything judged alike by both? All but how the cluster is reached, and what is not for its roles. */
bool settings_judge_alike(const struct settings *a, const struct settings *b);

/* The i-th key that a reload does not change (FIXED), NULL behind the last, and a hash of its value: with
 * another hash the value is another. */
const char *settings_fixed_key(const struct settings *s, size_t i, uint64_t *ret_hash);

#endif
