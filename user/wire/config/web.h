/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where and how to serve HTTP: listen addresses, and the web configuration of Prometheus's exporters
 * (the exporter-toolkit's format), from memory: TLS for the server, certificates of its clients,
 * users and their passwords. What graced does not support is an error, never left out in silence.
 */
#ifndef WIRE_CONFIG_WEB_H
#define WIRE_CONFIG_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Addresses to listen on, as --web.listen-address takes them. */

#define LISTEN_ADDR_MAX 2

struct listen_addr {
	bool v6;
	uint8_t bytes[16]; /* network order; the first 4 of them for IPv4 */
};

/* An empty host and localhost stand for an address of each family, IPv4 first. */
struct listen {
	struct listen_addr addr[LISTEN_ADDR_MAX];
	size_t n_addr;
	uint16_t port; /* 0: whichever is free */
	bool loopback; /* only this host can reach it */
};

/*
 * Reads "127.0.0.1:9753", "[::1]:9753", "localhost:9753" or ":9753" (every address). Other names
 * are -EINVAL, as is everything else: what a name stands for is for a resolver to say, and could
 * change. So is IPv4 mapped into IPv6 ("[::ffff:127.0.0.1]:9753"): it is to be written as IPv4.
 */
int listen_parse(const char *text, struct listen *ret);

#endif
