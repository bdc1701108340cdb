/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords that are being checked: the queue for the child that does it, the child's life, and the
 * account of what it costs. */
#ifndef IO_HTTP_AUTH_JOBS_H
#define IO_HTTP_AUTH_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "io/http/web.h"
#include "wire/http/headers.h"

#define WEBAUTH_MAC_SIZE 32

/* A user and a password, as nobody else could tell them. */
struct webauth_mac {
	unsigned char bytes[WEBAUTH_MAC_SIZE];
};

bool webauth_mac_same(const struct webauth_mac *a, const struct webauth_mac *b);

struct webauth_jobs_hooks {
	void *userdata;
	void (*verdict)(void *userdata, const char *user, const struct webauth_mac *mac,
			bool right);
	void (*changed)(void *userdata); /* after a verdict, or when jobs were lost */
};

struct webauth_jobs;

/* As webauth_new(). */
int webauth_jobs_new(sd_event *event, bool wait, const struct webauth_jobs_hooks *hooks,
		     struct webauth_jobs **ret, struct web_why *ret_why);
struct webauth_jobs *webauth_jobs_free(struct webauth_jobs *jobs);

bool webauth_jobs_has(const struct webauth_jobs *jobs, const struct webauth_mac *mac);

/* Has a password checked; false: not now, since too many are, or it costs too much. */
bool webauth_jobs_add(struct webauth_jobs *jobs, const struct basicauth *who,
		      const struct webauth_mac *mac, const char *hash, uint64_t now_ns);

/* No verdict comes of what was added before. */
void webauth_jobs_drop(struct webauth_jobs *jobs);

#endif
