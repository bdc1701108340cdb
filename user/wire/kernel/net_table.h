/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of sockets in /proc/PID/net: tcp, tcp6 and unix. Takes any bytes. A table is read a
 * line at a time, since a node's may have a hundred thousand.
 */
#ifndef WIRE_KERNEL_NET_TABLE_H
#define WIRE_KERNEL_NET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net_socket {
	uint64_t inode;	     /* as in the link socket:[INODE] in /proc/PID/fd */
	uint32_t port, to;   /* local and of the other end; 0: it has none */
	bool listens;	     /* for TCP */
	bool is_established; /* both ends are there */
	bool is_accepted;    /* UNIX: it has a name, which is that of the one that listens */
};

/* False: the line is none of such a table, as its first one, or of a socket without connections. */
bool net_parse_tcp(const char *line, struct net_socket *ret);
bool net_parse_unix(const char *line, struct net_socket *ret);

#endif
