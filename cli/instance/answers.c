/* answers.c - see answers.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cli/view/output.h"

#define ANSWERS   "ops-pod-cleaner answers 1 "
#define REPLICA   "ops-pod-cleaner replica "
#define BYTES_MAX (UINT64_C(256) << 20) /* of one replica */

struct answers {
	char replica[254];
	uint8_t *bytes; /* NULL: it has not answered */
	size_t len, at;
};

/* The first is this instance itself. */
static struct answers replicas[1 + ANSWERS_MAX];
static size_t n_replicas;
static struct {
	FILE *out; /* NULL: nothing is recorded */
	char *bytes;
	size_t len;
	int stdout_fd; /* as it was */
} record;

/* -- recording -- */

void answers_record(void)
{
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	record.out = open_memstream(&record.bytes, &record.len);
	record.stdout_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (!record.out || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
		abort(); /* no memory, no descriptors */
	(void)close(nowhere);
}

int answers_print(void)
{
	(void)fflush(stdout);
	(void)fclose(record.out);
	record.out = NULL;
	_cleanup_free_ char *bytes = record.bytes;

	if (record.stdout_fd < 0 || dup2(record.stdout_fd, STDOUT_FILENO) < 0)
		return -errno;
	if (record.len > 0) /* else nobody answered, which was said */
		printf(ANSWERS "%zu\n", record.len);
	(void)fwrite(bytes, 1, record.len, stdout);
	return fflush(stdout) == 0 ? 0 : -errno;
}

void answers_keep(const struct msg *m)
{
	uint8_t frame[IPC_FRAME_MAX];
	struct msg leader;

	if (!record.out)
		return;
	if (m->type == MSG_LEADER) {
		leader = (struct msg){ .type = MSG_LEADER, .u.leader = m->u.leader };
		leader.u.leader.leading = m->u.leader.leading && clock_boot_ms() < m->u.leader.valid_until;
		leader.u.leader.valid_until = UINT64_MAX;
		m = &leader;
	}
	(void)fwrite(frame, 1, msg_encode(m, frame), record.out);
}

/* -- reading -- */

/* What stands behind `head` in the line; NULL: it is another line. */
static const char *behind(const char *head, const char *line)
{
	const size_t n = strlen(head);

	return strncmp(line, head, n) == 0 ? line + n : NULL;
}

/* The bytes behind that line. */
static int read_bytes(FILE *in, const char *line, struct answers *a)
{
	const char *number = behind(ANSWERS, line);
	uint64_t len;

	if (!number || str_to_u64(number, strlen(number), &len) < 0 || len > BYTES_MAX || a->bytes)
		return -EBADMSG;
	a->len = (size_t)len;
	a->bytes = xmalloc(a->len + 1);
	if (fread(a->bytes, 1, a->len, in) == a->len)
		return 0;
	free(a->bytes);
	a->bytes = NULL;
	return -EBADMSG;
}

static int take_line(FILE *in, const char *line)
{
	const char *name = behind(REPLICA, line);

	if (name && n_replicas <= ANSWERS_MAX) {
		(void)snprintf(replicas[n_replicas++].replica, sizeof(replicas[0].replica), "%s", name);
		return 0;
	}
	return n_replicas > 1 ? read_bytes(in, line, &replicas[n_replicas - 1]) : -EBADMSG;
}

/* Those that have not answered. */
static int drop_missing(void)
{
	size_t n = 1;

	for (size_t i = 1; i < n_replicas; i++)
		if (replicas[i].bytes)
			replicas[n++] = replicas[i];
		else
			output_complain(NULL, TEXT(ANSWERS_MISSING), replicas[i].replica);
	const bool missing = n < n_replicas;

	n_replicas = n;
	return missing ? EXIT_CODE_UNAVAILABLE : EXIT_CODE_OK;
}

int answers_read(FILE *in)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = getline(&line, &room, in)) > 0) {
		line[n - (line[n - 1] == '\n')] = '\0';
		r = take_line(in, line);
	}
	if (n_replicas > 0)
		return drop_missing();
	output_complain(NULL, "%s", TEXT(ANSWERS_NONE));
	return EXIT_CODE_USAGE;
}

size_t answers_count(void)
{
	return n_replicas > 0 ? n_replicas - 1 : 0;
}

bool answers_are_joined(void)
{
	return record.out || answers_count() > 0;
}

const char *answers_socket(const char *socket, size_t i)
{
	if (i == 0)
		return socket;
	return i < n_replicas ? replicas[i].replica : NULL;
}

const char *answers_replica(size_t i)
{
	return replicas[i].replica;
}

struct answers *answers_find(const char *socket)
{
	for (size_t i = 1; i < n_replicas; i++)
		if (socket == replicas[i].replica)
			return &replicas[i];
	return NULL;
}

int answers_next(struct answers *a, struct msg *ret)
{
	const char *field = NULL;
	int n;

	if (a->at == a->len)
		return -ENODATA;
	n = msg_decode(ROLE_SUPERVISOR, ROLE_CLI, PH_RUN, a->bytes + a->at, a->len - a->at, ret, &field);
	if (n < 0)
		return -EBADMSG;
	a->at += (size_t)n;
	return 0;
}
