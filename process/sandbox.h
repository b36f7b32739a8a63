/* sandbox.h - what a role may still do after start: rlimits, dumpable 0, no_new_privs, no capabilities, W^X,
 * Landlock, seccomp. Layer: process.  Profiles: process/profiles.def.  Facts about the filters:
 * docs/threat-model.md.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS_SANDBOX_H
#define PROCESS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/msg.h"

#define SANDBOX_PORTS_MAX 32

struct sandbox_params {
	enum role role;
	enum sandbox_mode mode;
	const char *writable_dir;          /* the one directory this role may use; NULL = none */
	uint16_t ports[SANDBOX_PORTS_MAX]; /* TCP ports it may connect to; 0 = none, or no more */
	uint64_t data_bytes;               /* of private memory at most; 0 = no limit */
	uint64_t file_bytes;               /* no file grows beyond */
};

/* Close the sandbox around the calling process; it can not be opened again. *ret_text (255 bytes) lists what
 * really holds, and what does not, e.g. "nnp,dumpable0,mdwe,landlock3,no landlock-tcp,seccomp". 0, or
 * -ENOTSUP in SANDBOX_REQUIRE when a layer is missing: *ret_text then names it. */
int sandbox_enter(const struct sandbox_params *params, char ret_text[static 256]);
/* The reporter opens its history between the two, at once or, where that is not possible, later: from now on
 * it makes no file, and learns of none by its path. For other roles nothing changes. text goes on; the result
 * is as above. */
int sandbox_seal(const struct sandbox_params *params, char text[static 256]);

#endif
