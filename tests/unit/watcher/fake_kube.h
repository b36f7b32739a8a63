/* fake_kube.h - what the fake reflector and client were told.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_WATCHER_FAKE_KUBE_H
#define TEST_WATCHER_FAKE_KUBE_H

#include <stdio.h>
#include <stdlib.h>

#include "http/client.h"
#include "kube/reflector.h"

/* The last reflector of pods; of namespaces: one more of the kind. */
extern struct fake_kube {
	int started;
	bool running;
	struct reflector_ops ops;
	void *ctx;
	struct reflector_config config;
	char server[64], token[64];
} fake, fake_namespaces;

/* The last request for the Lease: none may come while it is not expected. */
extern struct fake_request {
	bool expected, open;
	int started;
	char method[8], path[160], body[512];
	void (*on_done)(void *ctx, const struct http_result *r);
	void *ctx;
} fake_request;

/* A trouble in these words. */
static inline const struct facts *words(const char *text)
{
	static struct facts f;

	f = (struct facts){ 0 };
	facts_quoted(&f, FACT_SERVER_MESSAGE, STR_C(text));
	return &f;
}

/* The last request for the version, which may come at any time. */
extern struct fake_request fake_version;

#endif
