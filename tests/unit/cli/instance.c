/* instance.c - see instance.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cli/instance.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/suite.h"

void instance_send(const struct instance_call *call, const struct msg *m)
{
	uint8_t frame[IPC_FRAME_MAX];
	const size_t n = msg_encode(m, frame);

	(void)send(call->fd, frame, n, MSG_NOSIGNAL);
}

void instance_end(const struct instance_call *call, int code)
{
	const struct msg m = { .type = MSG_CTL_END, .u.ctl_end.code = (uint64_t)code };

	instance_send(call, &m);
}

static void serve(int listener, unsigned calls,
		  void (*answer)(const struct instance_call *call, unsigned nth))
{
	struct instance_call call = { .fd = -1 };

	for (unsigned i = 0; i < calls;) {
		uint8_t frame[IPC_FRAME_MAX];
		const char *field = NULL;

		if (call.fd < 0)
			call.fd = accept(listener, NULL, NULL);
		const ssize_t n = recv(call.fd, frame, sizeof(frame), 0);

		if (n <= 0) { /* the next command, or the next connection of this one */
			(void)close(call.fd);
			call.fd = -1;
			continue;
		}
		if (msg_decode(ROLE_CLI, ROLE_SUPERVISOR, PH_RUN, frame, (size_t)n, &call.request, &field) <
		    0)
			_exit(1);
		answer(&call, i++);
	}
	(void)close(call.fd);
}

void instance_start(char ret_path[static 128], unsigned calls,
		    void (*answer)(const struct instance_call *call, unsigned nth))
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	char folder[SUITE_PATH_MAX];
	const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	suite_folder(folder);
	(void)snprintf(ret_path, 128, "%s/control", folder);
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", ret_path);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	if (fork() == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(listener, calls, answer);
		_exit(0);
	}
	(void)close(listener);
}
