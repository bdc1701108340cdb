/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the text of /proc says of a thread and signals. Takes any bytes; a process names itself, so
 * only the lines that the kernel writes are read (it escapes a newline in a name).
 *
 * Masks have bit n-1 for signal n. A mask of blocked signals is shown without those that the thread
 * waits for in rt_sigtimedwait, as long as it does.
 */
#ifndef WIRE_KERNEL_PROC_H
#define WIRE_KERNEL_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/words/words.h"

/* What /proc/PID/status or /proc/PID/task/TID/status shows. */
struct procsig_status {
	char state; /* 'R', 'S', 'T', 'Z' ... */
	uint64_t thread_pending, shared_pending;
	uint64_t blocked; /* this thread's; the next two are the process's */
	uint64_t ignored, caught;
	uint64_t sleeps; /* how often this thread has gone to sleep; 0: not known */
};

/* -EBADMSG unless all of them are there. */
int procsig_parse_status(const char *text, size_t len, struct procsig_status *ret);

/* The signals that a signalfd takes, of its /proc/PID/fdinfo/FD. -ENOENT: the file is of another
 * kind; -EBADMSG. */
int procsig_parse_signalfd(const char *text, size_t len, uint64_t *ret);

/* The system call that a thread sleeps in, from /proc/PID/task/TID/syscall. */
struct procsig_call {
	bool sleeps;	/* false: it runs, or sleeps outside of one; nothing else counts then */
	int64_t number; /* in the ABI of the process, which need not be ours */
	bool is_compat; /* its stack and its code are below 4 GiB: it has that of 32 bits */
	uint64_t args[6];
};

int procsig_parse_call(const char *text, size_t len, struct procsig_call *ret);

/* rt_sigtimedwait, also that of a 32-bit process. *ret_set is where its set is in the process's
 * memory: PROCSIG_SET_BYTES of it, lowest signal first. */
#define PROCSIG_SET_BYTES 8
bool procsig_awaits_signal(const struct procsig_call *call, uint64_t *ret_set);

/* Which kind it is, by its number in our own ABI; another's is LOOK_CALL_OTHER at best. */
enum look_call procsig_call_kind(const struct procsig_call *call);

/* wait4 or waitid. */
bool procsig_awaits_child(const struct procsig_call *call);

/* It sleeps until a child that it makes has begun: of vfork(2), until that execs. */
bool procsig_makes_child(const struct procsig_call *call);

/*
 * Whether a thread in this call keeps its mask, and takes no blocked signal, until something else
 * happens: not one that runs, that sleeps for a time (it may look for the signal then), that makes
 * a child (vfork(2) sleeps until the child execs, and is called with everything blocked), that is
 * held by the freezer on its way out of the call that sets the mask, or of 32 bits: which of its
 * calls sleep for a time is not looked up.
 */
bool procsig_is_settled(const struct procsig_call *call);

/* What /proc/PID/task/TID/wchan says where the file above may not be read. */
enum procsig_wchan {
	PROCSIG_WCHAN_NONE,   /* nothing: it runs, or that may not be read either */
	PROCSIG_WCHAN_SIGNAL, /* in rt_sigtimedwait */
	PROCSIG_WCHAN_OTHER,
};

enum procsig_wchan procsig_parse_wchan(const char *text, size_t len);

/* Lines of /proc/locks: a lock, and behind it those that wait for it, under its number. */

struct locks_line {
	uint64_t number;
	bool waits;	/* for the lock of that number */
	uint32_t pid;	/* who took it, or waits; 0: not known, as for locks of an open file */
	uint64_t inode; /* of the file; 0: not known */
};

/* Reads a line as fs/locks.c, lock_get_status(), writes it. False: it is not one. */
bool locks_parse(const char *line, struct locks_line *ret);

/*
 * The tables of sockets in /proc/PID/net: tcp, tcp6 and unix. Takes any bytes. A table is read a
 * line at a time, since a node's may have a hundred thousand.
 */

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
