/* kube_target.c - see kube_target.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/kube_target.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void kube_secret_clear(char **s)
{
	if (*s)
		explicit_bzero(*s, strlen(*s));
	free(*s);
	*s = NULL;
}

static void cluster_settings_done(struct cluster_settings *c)
{
	char **const all[] = { &c->name,     &c->server,   &c->address,  &c->tls_server_name,
			       &c->proxy,    &c->ca_pem,   &c->cert_pem, &c->key_pem,
			       &c->token,    &c->username, &c->password, &c->impersonate_user,
			       &c->namespace };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		kube_secret_clear(all[i]);
	str_list_done(&c->impersonate_groups);
}

void kube_target_done(struct kube_target *t)
{
	cluster_settings_done(&t->c);
	free(t->ca_file);
	free(t->cert_file);
	free(t->key_file);
	free(t->token_file);
	free(t->exec.command);
	free(t->exec.api_version);
	free(t->exec.install_hint);
	str_list_done(&t->exec.args);
	for (size_t i = 0; i < t->exec.n_env; i++) {
		free(t->exec.env[i].name);
		kube_secret_clear(&t->exec.env[i].value);
	}
	free(t->exec.env);
	free(t->source);
	*t = (struct kube_target){ 0 };
}
