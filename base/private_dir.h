/* private_dir.h - a folder in which a process keeps what nobody else may change: made, checked, locked; and
 * files in it that are replaced whole.  Layer: base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_PRIVATE_DIR_H
#define BASE_PRIVATE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is wrong with a folder, in parts: text/private_dir_text.h tells it. */
enum private_dir_fault {
	PRIVATE_DIR_UNMADE,
	PRIVATE_DIR_NO_DIR,
	PRIVATE_DIR_OTHER_OWNER,
	PRIVATE_DIR_OPEN_TO_OTHERS,
	PRIVATE_DIR_UNLOCKABLE,
	PRIVATE_DIR_TAKEN,
};
struct private_dir_error {
	enum private_dir_fault fault;
	int err; /* errno, where the system said it */
	unsigned uid, mode;
};

/* A volume as a kubelet prepares it for the fsGroup of a pod: it belongs to root, a group of ours may write
 * to it and inherits what is made in it (mode 2775; 2777 an emptyDir). It cannot be ours alone; a folder in
 * it can: nobody changes what is in that, and those who see the volume, which are the pod's own containers,
 * could at most take it away whole. */
bool private_dir_is_volume(const char *dir);
/* mkdir -p (mode 0700 where something is missing), then: it is a folder, it is ours, nobody else may write
 * to it. On error *ret_error says what is wrong: -EPERM, -ENOTDIR, or what the system said. */
int private_dir_make(const char *dir, struct private_dir_error *ret_error);
/* Take the exclusive lock of an open file (flock(2)) within wait_ms: of a process that was killed it goes a
 * little later than the process. Returns 0, or -errno: -EWOULDBLOCK when somebody else holds it. */
int private_dir_flock(int fd, uint64_t wait_ms);
/* The lock of the folder, which lasts as long as *ret_fd is open (O_CLOEXEC). -EWOULDBLOCK: another instance
 * still holds it after wait_ms; *ret_error as above. */
int private_dir_lock(const char *dir, uint64_t wait_ms, int *ret_fd, struct private_dir_error *ret_error);

/* All of dir/name, with a 0 behind it; *ret is to be freed. -ENOENT; -EFBIG: more than max bytes; -EPERM: it
 * is no regular file of ours that others cannot write to; or what the system said. */
int private_dir_read(const char *dir, const char *name, size_t max, char **ret, size_t *ret_n);
/* dir/name becomes these bytes (mode 0600), or stays as it is: also over a power cut. 0 when they are on
 * disk; negative errno. */
int private_dir_replace(const char *dir, const char *name, const void *p, size_t n);

#endif
