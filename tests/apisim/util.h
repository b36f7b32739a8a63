/* Small things every part of apisim needs. apisim stands alone: nothing here comes from the program under
 * test. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_UTIL_H
#define APISIM_UTIL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Allocation dies with exit code 71 when memory is out. */
void *util_alloc(size_t n);
void *util_alloc_raw(size_t n); /* not cleared */
void *util_realloc(void *p, size_t n);
char *util_strdup(const char *s);
char *util_strndup(const char *s, size_t n);
char *util_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints to standard error and exits with the code. */
_Noreturn void util_die(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Pseudo-random numbers (splitmix64) from the seed given last: the same seed makes the same server. */
void util_random_seed(uint64_t seed);
uint64_t util_random(void);

/* The splitmix64 value of x: a fixed function. */
uint64_t util_mix(uint64_t x);

/* A version 4 UUID of 128 random bits, 36 characters and NUL. */
void util_uuid(char out[37], uint64_t hi, uint64_t lo);

/* Server time: the real one plus --clock-skew. */
void util_clock_skew_set(double seconds);
double util_now(void);

/* RFC 3339 in UTC with whole seconds, as Kubernetes writes metav1.Time: 20 characters and NUL. */
void util_time_format(int64_t seconds, char out[21]);

/* Reads RFC 3339 with any offset and an optional fraction, which is dropped. */
bool util_time_parse(const char *text, int64_t *ret_seconds);

/* A decimal number of the whole string; false for anything else. */
bool util_parse_int(const char *s, int64_t *ret);
bool util_parse_double(const char *s, double *ret);

/* Makes text of any bytes, in place: what is no UTF-8 becomes question marks. Returns s. */
char *util_make_text(char *s);

/* Base64 in the URL alphabet, without padding. Results are the caller's; of what is no base64 nothing. */
char *util_base64url(const void *data, size_t n);
char *util_base64url_decode(const char *text, size_t *ret_n);

/* The decimal digits of n; out holds 21 bytes. */
const char *util_number(uint64_t n, char out[21]);

/* Copies as much as there is room for, NUL included; returns out. */
char *util_copy(char *out, size_t room, const char *s);

/* Borrowed string of an object's member, NULL when absent or not a string; o may be NULL. */
const char *util_str(const json_t *o, const char *key);

/* Whether a member of a rule allows the value: absent or "*" allows anything. */
bool util_fits(const json_t *rule, const char *key, const char *value);

bool util_streq(const char *a, const char *b);

#endif
