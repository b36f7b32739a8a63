/* alertmanager.h - how often an Alertmanager has to be told what lasts.  Layer: process (reporter), sinks. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_ALERTMANAGER_H
#define REPORTER_SINKS_ALERTMANAGER_H

#include "reporter/sinks/sink.h"

/* Attention that stands is sent to it again after this time, whatever tell.remind says: nobody is told twice
 * by that, and it is what keeps the alert (alertmanager.c). */
#define ALERTMANAGER_AGAIN_MS (30 * 60 * INT64_C(1000))

#endif
