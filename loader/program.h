/* program.h - which program a plugin's command is, and whether only those may change it who may change us.
 * Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_PROGRAM_H
#define LOADER_PROGRAM_H

#include "loader/loader.h"

/* Find the executable of a command: a path (from the working directory when it is relative), else by name in
 * the absolute folders of PATH, as Go's exec.LookPath does. Then judge every folder, symbolic link and the
 * file itself on its way: each has to belong to root or to our user, and neither group nor others may write
 * to it, but to a folder with the sticky bit, where nobody replaces what is another's. In a pod others may
 * write to folders: a volume is everybody's, and everybody there are the containers of that pod.
 *
 * *ret is the path to execute, malloc()ed. It is executed by its path, not by a descriptor: a script is read
 * by its path again, and who could put another file there after the check is one of those that were
 * trusted with it. What a script's first line names is not looked at. 0; -ENOENT, -EACCES, -ELOOP, -EPERM
 * with the reason in why. */
int program_find(const char *command, char **ret, char why[static SENTENCE_MAX]);

#endif
