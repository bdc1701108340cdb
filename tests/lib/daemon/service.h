/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A `graced run` child as systemd would start it: with a notification socket, a runtime
 * and a state directory of its own, on a free port of loopback, its log in a file.
 *
 *   struct service *service;
 *   struct buf page = {};
 *
 *   service_start(&(struct service_spec){ .args = BOX_ARGV("--log.level", "debug") }, &service);
 *   …
 *   assert_int_equal(service_get(service, "/metrics", NULL, &page), 200);
 *   assert_int_equal(service_sum(buf_str(&page), "graced_container_stops_total", NULL), 1);
 *   …
 *   assert_int_equal(service_stop(service), 0);
 *   service_free(service);
 */
#ifndef TESTS_LIB_DAEMON_SERVICE_H
#define TESTS_LIB_DAEMON_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "lib/box/box_tree.h"

struct service;

struct service_spec {
	const char *const *args; /* after `run`; NULL for none */
	const char *const *env;	 /* NAME=value, besides ours; NULL for none */
	int out;		 /* its standard output; 0: /dev/null */
	/* It looks for containers in this tree alone, whatever else the host runs; NULL: none. */
	const struct box_tree *tree;
	bool whole_host;      /* look for containers on the whole host instead */
	uint64_t watchdog_us; /* WATCHDOG_USEC; 0: none */
	bool no_wait;	      /* do not wait for READY=1 */
	const char *systemd;  /* what it finds as /etc/systemd; NULL: the host's */
	const char *dir; /* its runtime and state directory, which outlives it; NULL: of its own */
};

/* 0 once it is ready, -ECHILD when it ended first, -ETIMEDOUT after PATIENCE_S. */
int service_start(const struct service_spec *spec, struct service **ret);

pid_t service_pid(const struct service *service);
uint16_t service_port(const struct service *service);
/* Where its control socket is, unless args say otherwise. */
const char *service_socket(const struct service *service);

/* Waits at most PATIENCE_S until it has sent a notification with that line, n times in all. */
bool service_await(struct service *service, const char *line, unsigned int n);
/* How many notifications had that line so far. */
unsigned int service_notified(struct service *service, const char *line);
/* All of them so far, an empty line after each; valid until the next call. */
const char *service_notifications(struct service *service);

/* GET of a path, with further header lines ("A: b\r\n") or NULL. The status, or -errno; the body
 * replaces what page held. */
int service_get(const struct service *service, const char *path, const char *headers,
		struct buf *page);

/* The sum over the samples of a metric whose labels hold that text (`outcome="killed"`; NULL: all).
 * -1 when there is no such sample. */
double service_sum(const char *page, const char *metric, const char *label);

/* The same of a fresh scrape; -1 when it failed. */
double service_metric(const struct service *service, const char *metric, const char *label);

/* Scrapes until that sum is at least this, at most PATIENCE_S. What it was last. */
double service_await_metric(const struct service *service, const char *metric, const char *label,
			    double least);

/* What it logged so far; the caller frees. */
char *service_log(const struct service *service);

/* Waits at most PATIENCE_S until it has logged that text. */
bool service_await_log(const struct service *service, const char *text);

/* Waits until it ends: its exit status, 128 + n if it died of signal n, -ETIMEDOUT after
 * PATIENCE_S. */
int service_wait(struct service *service);
/* SIGTERM, then service_wait(). Prints the log where the exit status is not 0. */
int service_stop(struct service *service);

/* Kills it if it still runs and frees everything. NULL is fine; returns NULL. */
struct service *service_free(struct service *service);

#endif
