/* settings.h - the validated settings as every process sees them, made from YAML by the loader and carried in
 * sealed memfds. One table (config/settings.def) describes every key: type, default, range, unit, reloadable,
 * secret, roles, doc. Layer: config.  No libyaml in here: linking the YAML parser needs config/config.h. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/policy.h"
#include "ipc/msg.h"

/* How to reach one API server. Everything a file held is here as bytes: no process after the loader opens
 * one. */
struct cluster_settings {
	char *name;
	uint64_t workers;
	char *server;  /* "https://host:port/prefix", no trailing slash */
	char *address; /* resolved "ip:port" for CURLOPT_CONNECT_TO; NULL when server is an IP literal */
	char *tls_server_name; /* NULL = the server's host */
	bool insecure;         /* insecure-skip-tls-verify */
	char *proxy;           /* proxy-url, NULL = none */
	char *ca_pem;          /* NULL = system trust */
	char *cert_pem, *key_pem;
	char *token; /* sent only over https */
	char *username, *password;
	char *impersonate_user; /* as */
	struct str_list impersonate_groups;
	char *namespace; /* of the context or the service account */
};

struct settings {
	struct policy policy; /* duties, mode, exclusions */
	/* reporter only */
	char *msg_title;   /* tooManyRestart.msgtitle */
	char *api_url;     /* tooManyRestart.apiurl: a secret */
	char *api_secret;  /* signing secret: a secret */
	char *api_address; /* resolved "ip:port" of api_url's host; NULL when literal */
	char *schedule;    /* tooManyRestart.duration: cron expression */
	char *time_zone;   /* IANA name, NULL = UTC */
	void *zone_data;   /* TZif bytes read by the loader, NULL = UTC */
	uint64_t zone_size;
	char *window_zone;  /* timeZone: of windows that name none; NULL = UTC */
	void *window_zones; /* TZif bytes by name (config/window.h), read by the loader */
	uint64_t window_zones_size;
	char *state_dir;
	char *metrics_listen;          /* "127.0.0.1:9090"; empty = off */
	uint64_t history_days;         /* rows older than this are removed */
	struct str_list cluster_names; /* index -> name, for reporter and cli */
	/* watcher, worker */
	struct cluster_settings cluster;
	bool election; /* act only while holding the Lease */
	char *lease_namespace, *lease_name;
	uint64_t startup_quiet_ms; /* no nomination this long after the first sync */
	/* all */
	uint64_t sandbox; /* enum sandbox_mode */
};

void settings_init(struct settings *s);
void settings_done(struct settings *s);

#define SETTINGS_ERROR_MAX 256

/* Read a generation from a sealed memfd (fd stays the caller's). Strict: unknown key, wrong type, range,
 * trailing bytes are -EBADMSG with a text for people in reterr. */
int settings_read_blob(int fd, struct settings *ret, char reterr[static SETTINGS_ERROR_MAX]);
/* Write what `role` may see of s into a new sealed memfd. Returns the fd or negative errno. */
int settings_write_blob(const struct settings *s, enum role role);
/* The decoder of settings_read_blob on plain bytes. */
int settings_decode(const void *p, size_t n, struct settings *ret, char reterr[static SETTINGS_ERROR_MAX]);

/* The i-th key that a reload does not change (FIXED), NULL behind the last, and a hash of its value: with
 * another hash the value is another. */
const char *settings_fixed_key(const struct settings *s, size_t i, uint64_t *ret_hash);

#endif
