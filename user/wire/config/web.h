/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web configuration of Prometheus's exporters (the exporter-toolkit's format), from memory: TLS
 * for the server, certificates of its clients, users and their passwords. What of it graced does
 * not do is an error, and never left out in silence.
 */
#ifndef WIRE_CONFIG_WEB_H
#define WIRE_CONFIG_WEB_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/config/yaml.h"

#define WEBCONFIG_USERS_MAX    64
#define WEBCONFIG_COST_MAX     14 /* about a second for one password */
#define WEBCONFIG_PROBLEMS_MAX (2 * YAMLCONF_ERRORS_MAX)

struct webconfig_user {
	char *name; /* no colon in it */
	char *hash; /* bcrypt's, whole */
};

struct webconfig_problem {
	unsigned int line;
	char *text; /* with the key; any characters of a name may be in it, but no value of a user */
};

struct webconfig {
	bool tls; /* cert_file and key_file are there */
	char *cert_file, *key_file;
	char *client_ca_file; /* NULL: clients show no certificate; else each must, of this CA */
	bool tls13;	      /* refuse TLS 1.2; below that all is refused */
	struct webconfig_user users[WEBCONFIG_USERS_MAX];
	size_t n_users;
	struct webconfig_problem problems[WEBCONFIG_PROBLEMS_MAX]; /* by line */
	size_t n_problems;
	size_t n_unsaid; /* problems beyond that */
};

/*
 * 0, also when there are problems: then the rest is of no use. -ENOMEM. The caller frees *ret by
 * webconfig_done(), which wipes the hashes.
 */
int webconfig_parse(const char *data, size_t size, struct webconfig *ret);
void webconfig_done(struct webconfig *conf);

/* The cost of a hash that webconfig_parse() let pass: it takes 2^cost rounds. */
unsigned int webconfig_cost(const char *hash);

#endif
