/* SPDX-License-Identifier: Apache-2.0 */
/* A real Prometheus (the directory of the program is PROMETHEUS in the environment) that scrapes
 * one port of loopback once a second, and questions to it. */
#ifndef TESTS_LIB_DAEMON_PROM_H
#define TESTS_LIB_DAEMON_PROM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct prom;

#define PROM_MINUTE_S 1 /* see prom_start_alerts() */

/* Why it cannot run here, or NULL. */
const char *prom_unavailable(void);

/* A port of loopback that is free now. */
uint16_t prom_free_port(void);

/* 0 once it answers, -errno, -ETIMEDOUT after a minute. */
int prom_start(uint16_t target, struct prom **ret);

/*
 * The same as in Kubernetes: a scrape adds the labels namespace="graced" and container="graced".
 * Job graced honours those of the page, job renamed does not. Each expression is a rule that alerts
 * under the name query<index>.
 */
int prom_start_rules(uint16_t target, const char *const *exprs, size_t n_exprs, struct prom **ret);
/* With features of --enable-feature, and deploy/graced.rules.yaml each second; it scrapes as often.
 */
int prom_start_features(uint16_t target, const char *features, struct prom **ret);

/*
 * With the rules of deploy/graced.rules.yaml, in which each minute is a second, as it is between
 * scrapes, between evaluations, and in Prometheus' own times. One target: job graced, node node-1,
 * and whatever instance is its address.
 */
int prom_start_alerts(uint16_t target, struct prom **ret);
/* Has it scrape another port instead, from 5 seconds later on at most. 0 or -errno. */
int prom_retarget(const struct prom *prom, uint16_t target);
/* Ends it by that signal, and starts it on the same data. As prom_start(). */
int prom_restart(struct prom *prom, int sig);

/* Kills it, removes its data. NULL is fine; returns NULL. */
struct prom *prom_free(struct prom *prom);

/* data.result of an instant query; the caller drops the reference. NULL when it failed. */
json_t *prom_query(const struct prom *prom, const char *query);
/* data of the exemplars of a selector; the caller drops the reference. NULL when it failed. */
json_t *prom_exemplars(const struct prom *prom, const char *selector);
/* The value of a query with one result; -1 when there is none. */
double prom_value(const struct prom *prom, const char *query);

/* Whether promtool takes a page of metrics in the text format without a word. */
bool prom_check(const char *page);

#endif
