/* certificates.h - the certificates of a bundle, as PEM.  Layer: config.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CERTIFICATES_H
#define CONFIG_CERTIFICATES_H

#include <stddef.h>

/* Take damaged certificates (cut off, or no base64) out of a bundle, in place: OpenSSL would refuse all of it
 * for one, client-go passes over them (x509.CertPool.AppendCertsFromPEM). A bundle without any is not
 * changed. Returns how many certificates it holds, and in *ret_damaged how many were taken out. */
size_t certificates_keep_whole(char *pem, size_t *ret_damaged);

#endif
