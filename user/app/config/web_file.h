/* SPDX-License-Identifier: Apache-2.0 */
/* The file of --web.config.file, and the certificates and keys that it names. */
#ifndef APP_CONFIG_WEB_FILE_H
#define APP_CONFIG_WEB_FILE_H

#include <stdbool.h>

#include "io/http/web.h"

struct webfile;

/* Reads all of it and logs what is wrong: 0, or -EINVAL. webfile_free() frees and wipes *ret. */
int webfile_load(const char *path, struct webfile **ret);
struct webfile *webfile_free(struct webfile *file);

/* Fills in what the server does for it; the memory stays the file's. */
void webfile_apply(const struct webfile *file, struct web_config *ret);

/* Whether nothing changed, in the file and those it names. */
bool webfile_same(const struct webfile *a, const struct webfile *b);

/* Whether it refuses clients, or encrypts what is sent. */
bool webfile_protects(const struct webfile *file);

/* Whether passwords would travel in the clear. */
bool webfile_bares_passwords(const struct webfile *file);

#endif
