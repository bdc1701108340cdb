// SPDX-License-Identifier: Apache-2.0
/* Parses the states of threads and their signals, locks and sockets from /proc. */
#include "wire/kernel/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* 32-bit processes, on x86 as on arm; none of them is a call that sleeps in a 64-bit one. */
#define COMPAT_SIGTIMEDWAIT	   177
#define COMPAT_SIGTIMEDWAIT_TIME64 421
#define COMPAT_CLONE		   120
#define COMPAT_VFORK		   190

#define EPOLL_PWAIT2 441 /* Linux 5.11 */

struct span {
	const char *at, *end;
};

/* Takes the hexadecimal number at the beginning; false when there is none, or one of more than 64
 * bits. */
static bool take_hex(struct span *text, uint64_t *ret)
{
	uint64_t value = 0;
	unsigned int digits = 0;

	for (; text->at < text->end; text->at++, digits++) {
		char c = *text->at;
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned int)(c - 'a') + 10;
		else
			break;
		if (digits == 16)
			return false;
		value = value << 4 | digit;
	}
	if (!digits)
		return false;
	*ret = value;
	return true;
}

/* What stands behind a key at the beginning of a line, up to the line's end. */
static bool find_line(const char *text, size_t len, const char *key, struct span *ret)
{
	size_t want = strlen(key);

	for (const char *at = text, *end = text + len; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		if ((size_t)(stop - at) >= want && memcmp(at, key, want) == 0) {
			*ret = (struct span){at + want, stop};
			return true;
		}
		at = stop + 1;
	}
	return false;
}

static int parse_mask(const char *text, size_t len, const char *key, uint64_t *ret)
{
	struct span line;
	uint64_t mask;

	if (!find_line(text, len, key, &line))
		return -ENOENT;
	while (line.at < line.end && (*line.at == '\t' || *line.at == ' '))
		line.at++;
	if (!take_hex(&line, &mask) || line.at != line.end)
		return -EBADMSG;
	*ret = mask;
	return 0;
}

static bool parse_state(const char *text, size_t len, char *ret)
{
	struct span line;

	if (!find_line(text, len, "State:\t", &line) || line.at == line.end)
		return false;
	*ret = *line.at;
	return true;
}

static uint64_t parse_sleeps(const char *text, size_t len)
{
	char digits[24] = "";
	struct span line;

	if (find_line(text, len, "voluntary_ctxt_switches:\t", &line) &&
	    (size_t)(line.end - line.at) < sizeof(digits))
		memcpy(digits, line.at, (size_t)(line.end - line.at));
	return strtoull(digits, NULL, 10);
}

int procsig_parse_status(const char *text, size_t len, struct procsig_status *ret)
{
	struct procsig_status s = {.sleeps = parse_sleeps(text, len)};

	if (!parse_state(text, len, &s.state) ||
	    parse_mask(text, len, "SigPnd:", &s.thread_pending) < 0 ||
	    parse_mask(text, len, "ShdPnd:", &s.shared_pending) < 0 ||
	    parse_mask(text, len, "SigBlk:", &s.blocked) < 0 ||
	    parse_mask(text, len, "SigIgn:", &s.ignored) < 0 ||
	    parse_mask(text, len, "SigCgt:", &s.caught) < 0)
		return -EBADMSG;
	*ret = s;
	return 0;
}

int procsig_parse_signalfd(const char *text, size_t len, uint64_t *ret)
{
	return parse_mask(text, len, "sigmask:", ret);
}

static bool take_number(struct span *text, int64_t *ret)
{
	int64_t value = 0;
	unsigned int digits = 0;
	bool minus = text->at < text->end && *text->at == '-';

	text->at += minus;
	for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
		if (digits++ < 18)
			value = value * 10 + (*text->at - '0');
	if (!digits || digits > 18)
		return false;
	*ret = minus ? -value : value;
	return true;
}

static bool take_word(struct span *text, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(text->end - text->at) < len || memcmp(text->at, word, len) != 0)
		return false;
	text->at += len;
	return true;
}

static bool take_argument(struct span *text, uint64_t *ret)
{
	return take_word(text, " 0x") && take_hex(text, ret);
}

/* "running", "-1 SP PC" or "NUMBER ARG0 ... ARG5 SP PC" */
int procsig_parse_call(const char *text, size_t len, struct procsig_call *ret)
{
	struct span rest = {text, text + len};
	struct procsig_call call = {};
	uint64_t sp = 0, pc = 0;

	if (take_word(&rest, "running")) {
		*ret = call;
		return 0;
	}
	if (!take_number(&rest, &call.number))
		return -EBADMSG;
	call.sleeps = call.number >= 0;
	for (int i = 0; call.sleeps && i < 6; i++)
		if (!take_argument(&rest, &call.args[i]))
			return -EBADMSG;
	if (call.sleeps && (!take_argument(&rest, &sp) || !take_argument(&rest, &pc)))
		return -EBADMSG;
	call.is_compat = call.sleeps && sp <= UINT32_MAX && pc <= UINT32_MAX;
	*ret = call;
	return 0;
}

bool procsig_awaits_signal(const struct procsig_call *call, uint64_t *ret_set)
{
	if (!call->sleeps || call->args[3] != PROCSIG_SET_BYTES)
		return false;
	switch (call->number) {
	case SYS_rt_sigtimedwait:
	case COMPAT_SIGTIMEDWAIT:
	case COMPAT_SIGTIMEDWAIT_TIME64:
		*ret_set = call->args[0];
		return true;
	default:
		return false;
	}
}

static bool is_lock(uint64_t command)
{
	return command == F_SETLKW || command == F_OFD_SETLKW;
}

#define ALWAYS 7

static const struct kind {
	int64_t number;
	enum look_call kind;
	int limit; /* the number of the argument that has its address; negative: in ms, -1 for none */
} kinds[] = {
	{SYS_read, LOOK_CALL_READ, 0},
	{SYS_readv, LOOK_CALL_READ, 0},
	{SYS_pread64, LOOK_CALL_READ, 0},
	{SYS_recvfrom, LOOK_CALL_READ, 0},
	{SYS_recvmsg, LOOK_CALL_READ, 0},
	{SYS_write, LOOK_CALL_WRITE, 0},
	{SYS_writev, LOOK_CALL_WRITE, 0},
	{SYS_pwrite64, LOOK_CALL_WRITE, 0},
	{SYS_sendto, LOOK_CALL_WRITE, 0},
	{SYS_sendmsg, LOOK_CALL_WRITE, 0},
	{SYS_sendfile, LOOK_CALL_WRITE, 0},
	{SYS_splice, LOOK_CALL_READ, 0},
	{SYS_fsync, LOOK_CALL_SYNC, 0},
	{SYS_fdatasync, LOOK_CALL_SYNC, 0},
	{SYS_flock, LOOK_CALL_LOCK, 0},
	{SYS_wait4, LOOK_CALL_CHILD, 0},
	{SYS_waitid, LOOK_CALL_CHILD, 0},
	{SYS_rt_sigtimedwait, LOOK_CALL_SIGNAL, 3},
	{SYS_ppoll, LOOK_CALL_POLL, 3},
	{SYS_pselect6, LOOK_CALL_POLL, 5},
	{SYS_epoll_pwait, LOOK_CALL_POLL, -4},
#ifdef SYS_poll
	{SYS_poll, LOOK_CALL_POLL, -3},
	{SYS_select, LOOK_CALL_POLL, 5},
	{SYS_epoll_wait, LOOK_CALL_POLL, -4},
#endif
	{SYS_futex, LOOK_CALL_FUTEX, 4},
	{SYS_nanosleep, LOOK_CALL_SLEEP, ALWAYS},
	{SYS_clock_nanosleep, LOOK_CALL_SLEEP, ALWAYS},
	{SYS_connect, LOOK_CALL_CONNECT, 0},
	{SYS_accept, LOOK_CALL_ACCEPT, 0},
	{SYS_accept4, LOOK_CALL_ACCEPT, 0},
};

static const struct kind *kind_of(int64_t number)
{
	static const struct kind other = {-1, LOOK_CALL_OTHER, 0};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].number == number)
			return kinds + i;
	return &other;
}

enum look_call procsig_call_kind(const struct procsig_call *call)
{
	if (!call->sleeps)
		return LOOK_CALL_NONE;
	if (call->is_compat)
		return LOOK_CALL_OTHER;
	if (call->number == SYS_fcntl && is_lock(call->args[1]))
		return LOOK_CALL_LOCK;
	return kind_of(call->number)->kind;
}

bool procsig_awaits_child(const struct procsig_call *call)
{
	return call->sleeps && (call->number == SYS_wait4 || call->number == SYS_waitid);
}

/* It ends by itself. */
static bool has_limit(const struct procsig_call *call)
{
	int limit = kind_of(call->number)->limit;

	if (limit < 0)
		return (int)call->args[-limit - 1] >= 0;
	return limit == ALWAYS || (limit && call->args[limit - 1]);
}

bool procsig_makes_child(const struct procsig_call *call)
{
	static const int64_t list[] = {
		SYS_clone, SYS_clone3, COMPAT_CLONE, COMPAT_VFORK,
#ifdef SYS_vfork
		SYS_vfork, SYS_fork,
#endif
	};

	for (size_t i = 0; call->sleeps && i < sizeof(list) / sizeof(*list); i++)
		if (list[i] == call->number)
			return true;
	return false;
}

bool procsig_is_settled(const struct procsig_call *call)
{
	return call->sleeps && !call->is_compat && !procsig_makes_child(call) && !has_limit(call) &&
	       call->number != SYS_rt_sigprocmask && call->number != SYS_restart_syscall &&
	       call->number != EPOLL_PWAIT2;
}

enum procsig_wchan procsig_parse_wchan(const char *text, size_t len)
{
	static const char name[] = "sigtimedwait";

	if (!len || text[0] == '0' || text[0] == '\n')
		return PROCSIG_WCHAN_NONE;
	/* Compilers lend their own endings to the function's name. */
	return memmem(text, len, name, strlen(name)) ? PROCSIG_WCHAN_SIGNAL : PROCSIG_WCHAN_OTHER;
}

/* --- /proc/locks ------------------------------------------------------------------------------ */

/* "7: -> FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF"; what waits for what waits is set in further.
 */
bool locks_parse(const char *line, struct locks_line *ret)
{
	int pid, kind = 0;

	*ret = (struct locks_line){};
	if (sscanf(line, "%" SCNu64 ": %n", &ret->number, &kind) != 1 || !kind)
		return false;
	ret->waits = strncmp(line + kind, "-> ", 3) == 0;
	/* The device is hexadecimal; "<none>:0" in place of all three. */
	if (sscanf(line + kind + (ret->waits ? 3 : 0),
		   "%*7s %*9s %*5s %d %*[0-9a-f]:%*[0-9a-f]:%" SCNu64, &pid, &ret->inode) < 1)
		return false;
	ret->pid = pid > 0 ? (uint32_t)pid : 0;
	return true;
}

/* --- /proc/PID/net ---------------------------------------------------------------------------- */

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
