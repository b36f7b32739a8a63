/* play.h - plays everything around one reporter process: the supervisor's end of its channel, the bot, a
 * scraper.  Layer: tests. Every wait has a limit; running into it fails the test. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_INTEGRATION_REPORTER_PLAY_H
#define TESTS_INTEGRATION_REPORTER_PLAY_H

#include <check.h>
#include <stdbool.h>
#include <sys/types.h>

#include "config/settings.h"
#include "ipc/msg.h"
#include "tests/suite.h"

#define PLAY_SECRET "s3cr3t-t0ken"

extern const char *play_executable;

struct play {
	pid_t pid;
	int fd;
	enum phase phase;
	char folder[SUITE_PATH_MAX];  /* all its files */
	char dir[SUITE_PATH_MAX + 8]; /* state directory, in it */
	char log[SUITE_PATH_MAX + 8]; /* its stderr, of every start */
	int bot;                      /* listening socket */
	unsigned bot_port;
	const char *schedule;             /* NULL = the duty is off */
	const char *listen;               /* NULL = any free port */
	char sandbox[256];                /* what READY said */
	size_t n_open;                    /* open descriptors at OPEN_END, but for sockets */
	char troubles[TROUBLE__MAX][512]; /* what TROUBLE said last of each kind */
	size_t at, len;                   /* of the datagram that was read last: decoded up to at */
	uint8_t frame[IPC_FRAME_MAX];
};

void play_init(struct play *p);
/* A reporter that still runs has no more open than at OPEN_END. */
void play_done(struct play *p);
/* fork + exec, channel on fd 3. */
void play_spawn(struct play *p);
/* play_spawn, then HELLO, SETTINGS, READY, OPEN_END; intents that were open are counted. */
size_t play_start(struct play *p);
void play_kill(struct play *p);
/* Wait for the end of the process; returns its exit code. */
int play_wait(struct play *p);

void play_settings(const struct play *p, struct settings *s);
void play_send_settings(struct play *p, const struct settings *s, uint64_t generation);
void play_send(struct play *p, const struct msg *m);
/* Next message but heartbeats. */
void play_recv(struct play *p, struct msg *ret);
/* Next message of that type; others are dropped. */
void play_recv_type(struct play *p, enum msg_type type, struct msg *ret);
/* Is there a message (but heartbeats) within ms? */
bool play_recv_within(struct play *p, int ms, struct msg *ret);

/* Wait for one request to the bot; returns the connection, *ret_body is the caller's. */
int play_bot_request(struct play *p, char **ret_body);
/* Answer and close. */
void play_bot_answer(int conn, const char *status, const char *body);
bool play_bot_idle(struct play *p, int ms);

/* GET from the listener of the reporter; the answer with head, the caller frees it. */
char *play_get(struct play *p, const char *path);
/* The answer to GET path holds text, within 5 s. */
void play_expect(struct play *p, const char *path, const char *text);
/* The log holds text. */
bool play_logged(const struct play *p, const char *text);

#endif
