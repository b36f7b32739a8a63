/* fuzz_kubeconfig.c - any bytes as a kubeconfig; what it names is not read. Properties: an error is told, in
 * text that may be shown, or there is a server, and a plugin has a command. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unicode.h"
#include "config/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void load(const char *path, const char *context)
{
	const struct kube_options o = { .kubeconfig = path, .context = context };
	struct kube_target t = { 0 };
	struct diags d = { 0 };
	const int r = kube_target_load(&o, &t, &d);

	require((r < 0) == (d.errors > 0));
	for (size_t i = 0; i < d.n; i++)
		require(unicode_all_printable(d.v[i].text, strlen(d.v[i].text)));
	if (r == 0) {
		require(t.c.server && *t.c.server);
		require(!t.exec.command || *t.exec.command);
		require(!t.in_cluster);
	}
	kube_target_done(&t);
	diags_done(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	const int fd = memfd_create("kubeconfig", MFD_CLOEXEC);

	require(fd >= 0 && fchmod(fd, 0600) == 0);
	require(write(fd, data, size) == (ssize_t)size);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	load(path, NULL);
	load(path, "x");
	(void)close(fd);
	return 0;
}
