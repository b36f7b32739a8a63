/* trust.h - the certificates that this machine trusts, for whom nobody has named others. Read here as every
 * other file: what acts and what tells opens none. Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_TRUST_H
#define LOADER_TRUST_H

#include "config/settings.h"

/* A server of https without a CA of its own gets the system's: the file that SSL_CERT_FILE names (as for
 * OpenSSL and Go's crypto/x509), else the one where distributions keep it; none where there is none. */
void trust_complete_cluster(struct cluster_settings *c);
/* The same for the sinks, which share one copy. */
void trust_complete_sinks(struct settings *s);

#endif
