/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses to listen on, as --web.listen-address takes them. */
#ifndef WIRE_CONFIG_LISTEN_H
#define WIRE_CONFIG_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
