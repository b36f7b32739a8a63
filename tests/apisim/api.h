/* From a request to its answer: faults and hooks, who may do it, what is wanted, which verb does it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_API_H
#define APISIM_API_H

#include "tests/apisim/call.h"

/* Handler of the HTTP server; arg is the struct sim. */
void api_on_request(void *arg, struct http_request *req);

/* A line of the log is there when the client has the answer: this writes them. arg is the struct sim. */
void api_before_send(void *arg);

/* Runs a request of a hook at once; returns its status code. body is taken. */
int api_run_internal(struct sim *sim, const char *method, const char *path, json_t *body);

/* Sends the answer of a call that has one, and ends it. */
void api_send(struct call *c);

#endif
