/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logind's configuration on disk: what its files say of InhibitDelayMaxSec, and our own drop-in
 * among them. wire/config/logind and core/shutdown/delay_limit have the rules.
 */
#ifndef IO_LOGIND_DELAY_DROP_H
#define IO_LOGIND_DELAY_DROP_H

#include <stddef.h>
#include <stdint.h>

#include "core/shutdown/delay_limit.h"

/* It sorts after the kubelet's 99-kubelet.conf, and after what distributions ship. */
#define DELAYDROP_NAME "zz-graced.conf"
#define DELAYDROP_DIR  "/etc/systemd/logind.conf.d"

/* What the kubelet calls its own. */
#define DELAYDROP_KUBELET "99-kubelet.conf"

/* More drop-ins than these are not read. */
#define DELAYDROP_FILES_MAX 256

/* Where logind looks, each with logind.conf and the directory logind.conf.d in it; the first wins
 * over the others. */
#define DELAYDROP_PLACES 4
extern const char *const delaydrop_places[DELAYDROP_PLACES];

/* The files as logind merges them. */
struct delaydrop_files {
	struct delaylimit_file list[DELAYDROP_FILES_MAX];
	unsigned int places[DELAYDROP_FILES_MAX]; /* of each: in which of delaydrop_places */
	size_t n;
	char *names[DELAYDROP_FILES_MAX]; /* owned; what the list points to */
	size_t n_names;
};

/* root goes before each path: "" for the host's own. 0 or -ENOMEM; what cannot be read says
 * nothing. The caller frees *ret by delaydrop_done(). */
int delaydrop_read(const char *root, struct delaydrop_files *ret);
void delaydrop_done(struct delaydrop_files *files);

/* Writes our drop-in for a value of delaylimit_decide(), whole or not at all. -errno: -EROFS where
 * the unit may not write there. */
int delaydrop_write(const char *root, uint64_t us);
/* 1: it is removed, and logind has its value until it reads its files anew; 0: there was none;
 * -errno. */
int delaydrop_remove(const char *root);

#endif
