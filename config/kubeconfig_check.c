/* kubeconfig_check.c - see kubeconfig_check.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/kubeconfig_check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/file.h"
#include "config/kubeconfig.h"

static void check_source(const struct cluster_source *s, struct diags *d)
{
	const struct kube_options o = { .kubeconfig = s->kubeconfig, .context = s->context };
	_cleanup_(kube_target_done) struct kube_target t = { 0 };

	if (!s->kubeconfig || access(s->kubeconfig, F_OK) < 0)
		return;
	if (access(s->kubeconfig, R_OK) < 0) {
		diags_warn(d, s->kubeconfig, 0, 0, "%s: %s: check it as the user who runs the service",
			   "kubeconfig", diags_said(d, strerrordesc_np(errno)));
		return;
	}
	if (kube_target_load(&o, &t, d) < 0)
		return;
	file_tell_closed(s->kubeconfig, "kubeconfig", d);
	file_tell_exposed(s->kubeconfig, d);
}

int config_check_kubeconfigs(const char *path, const struct config *c, struct diags *d)
{
	const size_t before = d->errors;

	for (size_t i = 0; i < clusters_count(c); i++) {
		const struct cluster_config one = clusters_at(c, i);
		_cleanup_(cluster_source_done) struct cluster_source reader =
			clusters_reader(c, &one, path, NULL);
		_cleanup_(cluster_source_done) struct cluster_source writer =
			clusters_writer(c, &one, path, NULL);

		check_source(&reader, d);
		if (clusters_own_writer(&one))
			check_source(&writer, d);
	}
	return d->errors > before ? -EINVAL : 0;
}
