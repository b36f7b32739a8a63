/* balance.h - which replica should lead which cluster. Process: supervisor. Pure.
 * Rendezvous hashing (Thaler, Ravishankar 1998): every replica comes to the same answer alone, and one that
 * comes or goes moves little but its own share. Chance makes none busier than the others: each gets its
 * share, rounded up or down, or a twentieth of it more or less. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_BALANCE_H
#define SUPERVISOR_ACTIONS_BALANCE_H

#include "base/str.h"

/* ret[i]: index in `replicas`, which is not empty, for cluster i. Neither names nor replicas hold one twice;
 * their order does not matter. */
void balance(const struct str_list *clusters, const struct str_list *replicas, size_t ret[]);

#endif
