/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The out-of-service taint for an earlier boot that ended uncleanly, while the start of the node is
 * held (core/boot/proof). What has to be asked is asked here: systemd for the kubelet's unit, the
 * API server for the node's pods.
 */
#ifndef APP_API_PROOF_H
#define APP_API_PROOF_H

#include "app/api/taint.h"

struct apiproof;

struct apiproof_options {
	const char *dead;	 /* the boot that ended uncleanly */
	const char *node;	 /* its name, checked */
	const char *bus_address; /* NULL: systemd's own socket */
	/* Once, from the loop or from apiproof_turn(): the node may start. */
	void (*over)(void *userdata);
	void *userdata;
};

/* Begins. The others outlive it; strings are copied. -errno, not logged: nothing is begun then. */
int apiproof_new(struct monitor *m, struct apiwriter *writer, struct taint *taint,
		 const struct apiproof_options *options, struct apiproof **ret);
/* As taint_free(). */
struct apiproof *apiproof_free(struct apiproof *proof);

/* What the engine knows may have changed. */
void apiproof_turn(struct apiproof *proof);

#endif
