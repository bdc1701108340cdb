// SPDX-License-Identifier: Apache-2.0
/* Serves DNS by UDP in a process of its own. */
#include "lib/net/nameserver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"

#define FIRST_SERVER 0x7f000b01 /* 127.0.11.1 */
#define MANY	     100
#define HEADER	     12
#define TYPE_A	     1

struct shared {
	enum nameserver_mood mood;
	unsigned int heard;
};

struct nameserver {
	struct shared *shared;
	pid_t pid;
};

struct packet {
	unsigned char bytes[4096];
	size_t len;
};

static void add_address(struct packet *p, uint32_t address)
{
	/* The name at offset 12, type A, class IN, a minute, 4 bytes. */
	static const unsigned char record[] = {0xc0, HEADER, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4};
	uint32_t wire = htonl(address);

	memcpy(p->bytes + p->len, record, sizeof(record));
	memcpy(p->bytes + p->len + sizeof(record), &wire, sizeof(wire));
	p->len += sizeof(record) + sizeof(wire);
	p->bytes[7]++;
}

/* The end of the question, or 0 when there is none. */
static size_t question_end(const struct packet *p)
{
	size_t at = HEADER;

	while (at < p->len && p->bytes[at])
		at += p->bytes[at] + 1u;
	return at + 5 <= p->len ? at + 5 : 0;
}

/* Turns a query into its answer; false when there is none. */
static bool answer(struct packet *p, size_t end, enum nameserver_mood mood)
{
	bool is_a = p->bytes[end - 3] == TYPE_A;

	if (mood == NAMESERVER_SILENT)
		return false;
	p->len = end;
	p->bytes[2] = 0x81;
	p->bytes[3] = mood == NAMESERVER_NXDOMAIN ? 0x83 : 0x80;
	/* One question, no answer, no authority, nothing else. */
	memcpy(p->bytes + 4, (const unsigned char[]){0, 1, 0, 0, 0, 0, 0, 0}, 8);
	if (mood == NAMESERVER_GARBAGE) {
		p->bytes[7] = 200;
		memset(p->bytes + end, 0xc0, 64);
		p->len += 64;
	}
	if (is_a && mood == NAMESERVER_LOOPBACK)
		add_address(p, INADDR_LOOPBACK);
	if (is_a && mood == NAMESERVER_ELSEWHERE)
		add_address(p, INADDR_LOOPBACK + 98);
	for (uint32_t i = 0; is_a && mood == NAMESERVER_MANY && i < MANY; i++)
		add_address(p, 0x7f010001 + i);
	return true;
}

static void serve(struct shared *shared, int fd)
{
	struct sockaddr_in from;
	socklen_t from_len = sizeof(from);
	struct packet p;
	ssize_t n = recvfrom(fd, p.bytes, 512, 0, (struct sockaddr *)&from, &from_len);
	size_t end;

	p.len = n > 0 ? (size_t)n : 0;
	end = question_end(&p);
	if (end == 0)
		return;
	if (p.bytes[end - 3] == TYPE_A)
		__atomic_fetch_add(&shared->heard, 1, __ATOMIC_ACQ_REL);
	if (answer(&p, end, __atomic_load_n(&shared->mood, __ATOMIC_ACQUIRE)))
		sendto(fd, p.bytes, p.len, 0, (struct sockaddr *)&from, from_len);
}

static _Noreturn void run(struct shared *shared, struct pollfd *servers)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (poll(servers, NAMESERVER_COUNT, -1) > 0)
		for (int i = 0; i < NAMESERVER_COUNT; i++)
			if (servers[i].revents)
				serve(shared, servers[i].fd);
	_exit(1);
}

static bool bind_servers(struct pollfd *ret)
{
	for (uint32_t i = 0; i < NAMESERVER_COUNT; i++) {
		struct sockaddr_in in = {.sin_family = AF_INET,
					 .sin_port = htons(53),
					 .sin_addr.s_addr = htonl(FIRST_SERVER + i)};

		ret[i] = (struct pollfd){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
					 .events = POLLIN};
		if (ret[i].fd < 0 || bind(ret[i].fd, (struct sockaddr *)&in, sizeof(in)) < 0)
			return false;
	}
	return true;
}

static bool bring_loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	_cleanup_(cleanup_close) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
}

/* Over a file of the host, as this mount namespace alone sees it. */
static bool cover(const char *path, const char *text)
{
	char file[] = "/tmp/graced-names-XXXXXX";
	_cleanup_(cleanup_close) int fd = mkstemp(file);
	ssize_t len = (ssize_t)strlen(text);
	bool done = fd >= 0 && write(fd, text, (size_t)len) == len && fchmod(fd, 0644) == 0 &&
		    mount(file, path, NULL, MS_BIND, NULL) == 0;

	if (fd >= 0)
		unlink(file);
	return done;
}

static const char *move_apart(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0)
		return "no namespaces can be made here";
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || !bring_loopback_up())
		return "namespaces cannot be set up here";
	if (!cover("/etc/resolv.conf", "nameserver 127.0.11.1\nnameserver 127.0.11.2\n"
				       "nameserver 127.0.11.3\n") ||
	    !cover("/etc/nsswitch.conf", "hosts: files dns\n") ||
	    !cover("/etc/hosts", "127.0.0.1 localhost listed.example\n"
				 "fd00::1 listed6.example\n"))
		return "the files of the resolver cannot be covered here";
	return NULL;
}

struct nameserver *nameserver_open(const char **ret_why)
{
	struct nameserver *ns = calloc(1, sizeof(*ns));
	struct pollfd servers[NAMESERVER_COUNT];

	*ret_why = ns ? move_apart() : "there is no memory";
	if (!*ret_why && !bind_servers(servers))
		*ret_why = "no name server can listen here";
	if (*ret_why) {
		free(ns);
		return NULL;
	}
	ns->shared = mmap(NULL, sizeof(*ns->shared), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ns->pid = ns->shared == MAP_FAILED ? -1 : fork();
	if (ns->pid < 0)
		abort();
	if (ns->pid == 0)
		run(ns->shared, servers);
	for (int i = 0; i < NAMESERVER_COUNT; i++)
		close(servers[i].fd);
	return ns;
}

void nameserver_close(struct nameserver *ns)
{
	if (!ns)
		return;
	kill(ns->pid, SIGKILL);
	waitpid(ns->pid, NULL, 0);
	munmap(ns->shared, sizeof(*ns->shared));
	free(ns);
}

void nameserver_play(struct nameserver *ns, enum nameserver_mood mood)
{
	__atomic_store_n(&ns->shared->mood, mood, __ATOMIC_RELEASE);
	__atomic_store_n(&ns->shared->heard, 0, __ATOMIC_RELEASE);
}

unsigned int nameserver_heard(const struct nameserver *ns)
{
	return __atomic_load_n(&ns->shared->heard, __ATOMIC_ACQUIRE);
}
