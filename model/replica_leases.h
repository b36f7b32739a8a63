/* replica_leases.h - the Leases by which replicas that share clusters see one another.  Layer: model. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_REPLICA_LEASES_H
#define MODEL_REPLICA_LEASES_H

#define REPLICAS_MAX 8 /* that share; one more leads what nobody else does */
/* Name of one: that of the clusters' Lease and a number from 1 to REPLICAS_MAX, so that a Role can name all.
 */
#define REPLICA_LEASE_FORMAT "%s-replica-%d"

#endif
