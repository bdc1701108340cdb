/* SPDX-License-Identifier: Apache-2.0 */
/* Which program this is. The strings are static; tools/version makes the first two. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

/* "0.1.0", or "0.1.0+5.g6a0dd4b" five commits after that. */
const char *version_string(void);

/* The commit it was built from, in hex; "unknown" outside of git. */
const char *version_commit(void);

/* What it was built with, as "+name" or "-name", spaces between them. */
const char *version_features(void);

#endif
