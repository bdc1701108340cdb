/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A systemd-journald of our own, on a /run of our own: the calling process gets a mount namespace
 * with an empty /run and stays in it, and what it starts from then on writes to that journal.
 */
#ifndef TESTS_LIB_DAEMON_JOURNALD_H
#define TESTS_LIB_DAEMON_JOURNALD_H

#include <jansson.h>
#include <sys/types.h>

/* Why there can be none here, or NULL. */
const char *journald_unavailable(void);

/* Starts it and waits until it listens: its pid, or -errno. The caller ends it with
 * journald_stop(). */
pid_t journald_start(void);
void journald_stop(pid_t pid);

/* The entries with that field, "NAME=value", as an array of objects of strings; NULL when they
 * cannot be read. */
json_t *journald_entries(const char *match);

/* Why no journal can be made of entries here, or NULL. */
const char *journald_import_unavailable(void);

/* Makes a journal of entries in the journal's export format. It takes the place of this host's
 * journal for the calling process, in a mount namespace of its own, and for what it starts from
 * then on. 0 or -errno. */
int journald_import(const char *entries);

#endif
