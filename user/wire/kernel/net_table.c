// SPDX-License-Identifier: Apache-2.0
#include "wire/kernel/net_table.h"

#include <inttypes.h>
#include <stdio.h>

/* include/net/tcp_states.h */
#define STATE_ESTABLISHED 0x01
#define STATE_LISTEN	  0x0a
/* include/uapi/linux/net.h, SS_CONNECTED; include/linux/net.h, __SO_ACCEPTCON */
#define UNIX_CONNECTED	  3
#define UNIX_LISTENS	  0x10000
#define SOCK_DGRAM_NR	  2

/* "0: 0100007F:1F90 0200007F:C350 01 TX:RX TR:WHEN RETRANSMITS UID TIMEOUT INODE ..." */
bool net_parse_tcp(const char *line, struct net_socket *ret)
{
	unsigned int port, to, state;
	uint64_t inode;

	if (sscanf(line,
		   " %*u: %*32[0-9A-F]:%4x %*32[0-9A-F]:%4x %2x %*8x:%*8x %*2x:%*8x %*8x %*u %*u "
		   "%" SCNu64,
		   &port, &to, &state, &inode) != 4)
		return false;
	*ret = (struct net_socket){
		.inode = inode,
		.port = port,
		.to = to,
		.listens = state == STATE_LISTEN,
		.is_established = state == STATE_ESTABLISHED,
	};
	return true;
}

/* "ADDRESS: REFERENCES PROTOCOL FLAGS TYPE STATE INODE NAME" */
bool net_parse_unix(const char *line, struct net_socket *ret)
{
	unsigned int flags, type, state;
	uint64_t inode;
	char name;
	int n = sscanf(line, "%*x: %*8x %*8x %8x %4x %2x %" SCNu64 " %c", &flags, &type, &state,
		       &inode, &name);

	if (n < 4 || type == SOCK_DGRAM_NR)
		return false;
	*ret = (struct net_socket){
		.inode = inode,
		.listens = flags & UNIX_LISTENS,
		.is_established = state == UNIX_CONNECTED,
		/* Clients may have abstract names of their own. */
		.is_accepted = n == 5 && name == '/',
	};
	return true;
}
