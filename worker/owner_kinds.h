/* owner_kinds.h - where the objects of a kind live and whether it can be scaled: a table of the kinds of
 * Kubernetes and Argo, and for every other kind what the server's discovery says, remembered for a while.
 * Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_OWNER_KINDS_H
#define WORKER_OWNER_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* A discovery answer is believed this long; a CRD may be installed or changed at any time. */
#define OWNER_KINDS_EXPIRY_MS 600000

struct kind_info {
	char group[254]; /* "" = core */
	char version[64];
	char kind[64];
	char resource[64]; /* "deployments"; "" = the server serves no such kind */
	bool namespaced;
	bool scale;   /* has a scale subresource that can be patched */
	bool builtin; /* from the table, not from discovery */
};

/* "deployments.apps", "pods": how people name it, and a RESULT. Owned by the caller. */
char *kind_resource(const struct kind_info *kind);

enum owner_kinds_answer {
	OWNER_KINDS_FOUND,
	OWNER_KINDS_ABSENT, /* the server knows no such kind */
	OWNER_KINDS_ASK, /* not known yet: GET owner_kinds_path() and hand the answer to owner_kinds_learn()
			  */
};

struct owner_kinds;
struct owner_kinds *owner_kinds_new(void);
void owner_kinds_free(struct owner_kinds **k);

/* now: boot time, ms. ret_info is filled on OWNER_KINDS_FOUND. */
enum owner_kinds_answer owner_kinds_find(const struct owner_kinds *k, struct str api_version, struct str kind,
					 uint64_t now, struct kind_info *ret_info);

/* The same for a resource as a RESULT names it. Of kinds that are not in the table version and kind are not
 * known: the one is left empty, the resource stands for the other, and whether it scales is for the server to
 * say. False when it can be no workload. */
bool owner_kinds_resource(struct str group, struct str resource, struct kind_info *ret_info);

/* Path of the discovery document of a group and version, owned by the caller; NULL when the text is no
 * apiVersion. */
char *owner_kinds_path(struct str api_version);

/* Remember what the document says of this kind; n = 0: the server has no such document. */
void owner_kinds_learn(struct owner_kinds *k, struct str api_version, struct str kind, const char *body,
		       size_t n, uint64_t now);

#endif
