/* unicode.h - characters of UTF-8, and which of them are shown to people. One predicate for everything that
 * is printed: terminals, logs, metrics, chats, and the texts of messages between processes. Layer: base.
 * Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_UNICODE_H
#define BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The valid character at s (RFC 3629): its length in bytes (1-4), and *ret_c its code point. 0: there is none
 * (*ret_c is 0 then). */
size_t unicode_take(const char *s, size_t n, uint32_t *ret_c);

/* Its length alone. */
size_t unicode_len(const char *s, size_t n);

/* May it be shown? Not: controls (C0, DEL, C1), formats (what reorders, has no width, or tags), separators of
 * lines and paragraphs, what has no look of its own (fillers, variation selectors, the empty braille
 * pattern), private use, and what the Unicode version of base/unprintable.def does not assign. */
bool unicode_is_printable(uint32_t c);

/* The longest beginning of s of at most `max` bytes that cuts no character in two, where s holds n bytes. */
size_t unicode_cut(const char *s, size_t n, size_t max);

/* Is all of it valid UTF-8, and shown? */
bool unicode_all_printable(const char *s, size_t n);

#endif
