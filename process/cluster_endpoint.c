/* cluster_endpoint.c - see cluster_endpoint.h. */
// SPDX-License-Identifier: Apache-2.0
#include "process/cluster_endpoint.h"

void cluster_endpoint(const struct cluster_settings *c, const char *user_agent, struct http_endpoint *ret)
{
	*ret = (struct http_endpoint){
		.base_url = c->server,
		.address = c->address,
		.tls_server_name = c->tls_server_name,
		.ca_pem = c->ca_pem,
		.cert_pem = c->cert_pem,
		.key_pem = c->key_pem,
		.insecure = c->insecure,
		.proxy = c->proxy,
		.bearer_token = c->token,
		.username = c->username,
		.password = c->password,
		.impersonate_user = c->impersonate_user,
		.impersonate_groups = c->impersonate_groups.v,
		.n_impersonate_groups = c->impersonate_groups.n,
		.user_agent = user_agent,
	};
}
