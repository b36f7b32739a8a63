/* client_state.h - what is behind struct http_client.  Layer: http, of client.c and its tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_CLIENT_STATE_H
#define HTTP_CLIENT_STATE_H

#include "http/transfer.h"

struct http_client {
	CURLM *multi;
	struct event *timer;   /* curl's */
	struct event *started; /* requests wait in REQUEST_NEW */
	struct event *quiet;   /* looks whether there was no request for IDLE_CONN_MAX_S */
	uint64_t last_end_ms;  /* when the last of the requests ended */
	struct sockets sockets;
	struct endpoint *endpoint;
	TAILQ_HEAD(request_list, http_request) requests;
	unsigned depth; /* inside curl or a callback of ours: no curl call that re-enters, no free */
	bool doomed;
};

#endif
