// SPDX-License-Identifier: Apache-2.0
/* Serves one connection after the other, waiting as long as it takes: the test ends it. One that
 * stays is served by a process of its own, so that it does not keep others waiting. */
#include "lib/daemon/kubepeer.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/files/library.h"
#include "lib/claim.h"

#define SAID_MAX (128 << 10)

struct kubepeer_heard {
	unsigned int accepted, asked;
	size_t len;
	char said[SAID_MAX]; /* NUL-terminated */
};

#define FUNCTIONS(X)                        \
	X(init)                             \
	X(deinit)                           \
	X(set_default_priority)             \
	X(credentials_set)                  \
	X(certificate_allocate_credentials) \
	X(certificate_set_x509_key_mem)     \
	X(certificate_set_x509_trust_mem)   \
	X(certificate_server_set_request)   \
	X(session_set_verify_cert)          \
	X(transport_set_int2)               \
	X(handshake)                        \
	X(record_recv)                      \
	X(record_send)                      \
	X(bye)

#define MEMBER(name) __typeof__(gnutls_##name) *name;
struct tls {
	FUNCTIONS(MEMBER)
};

#define FUNCTION(name) {"gnutls_" #name, offsetof(struct tls, name)},
static const struct dynlib_function functions[] = {FUNCTIONS(FUNCTION)};

struct player {
	const struct kubepeer_part *part;
	struct kubepeer_heard *heard;
	struct tls tls;
	gnutls_certificate_credentials_t keys;
	gnutls_session_t session; /* NULL in the clear */
	int fd;
};

static ssize_t listen_on(struct player *p, char *ret, size_t size)
{
	return p->session ? p->tls.record_recv(p->session, ret, size) : read(p->fd, ret, size);
}

static ssize_t say(struct player *p, const char *text, size_t len)
{
	return p->session ? p->tls.record_send(p->session, text, len)
			  : send(p->fd, text, len, MSG_NOSIGNAL);
}

static void keep(struct kubepeer_heard *heard, const char *text, size_t len)
{
	size_t room = SAID_MAX - 1 - heard->len;

	len = len < room ? len : room;
	memcpy(heard->said + heard->len, text, len);
	heard->len += len;
}

/* Until the end of a question's head, or of nothing that is one: TLS where none is spoken. False
 * when the client is gone. */
static bool hear(struct player *p)
{
	size_t from = p->heard->len;
	char piece[4096];
	ssize_t n;

	do {
		n = listen_on(p, piece, sizeof(piece));
		if (n <= 0)
			return false;
		keep(p->heard, piece, (size_t)n);
	} while (p->heard->said[from] == 'G' && !strstr(p->heard->said + from, "\r\n\r\n"));
	__atomic_fetch_add(&p->heard->asked, 1, __ATOMIC_ACQ_REL);
	return true;
}

static bool answer(struct player *p)
{
	size_t at = 0;

	while (at < p->part->len) {
		ssize_t n = say(p, p->part->answer + at, p->part->len - at);

		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

static bool greet(struct player *p)
{
	if (!p->part->cert)
		return true;
	if (p->tls.init(&p->session, GNUTLS_SERVER) < 0 ||
	    p->tls.set_default_priority(p->session) < 0 ||
	    p->tls.credentials_set(p->session, GNUTLS_CRD_CERTIFICATE, p->keys) < 0)
		_exit(1);
	if (p->part->client_ca) {
		p->tls.certificate_server_set_request(p->session, GNUTLS_CERT_REQUIRE);
		p->tls.session_set_verify_cert(p->session, NULL, 0);
	}
	p->tls.transport_set_int2(p->session, p->fd, p->fd);
	return p->tls.handshake(p->session) >= 0;
}

static void serve(struct player *p)
{
	if (greet(p)) {
		while (hear(p) && answer(p) && p->part->stays)
			;
		if (p->session)
			p->tls.bye(p->session, GNUTLS_SHUT_WR);
	}
	if (p->session)
		p->tls.deinit(p->session);
	p->session = NULL;
	/* What the client still said must not turn the end into a reset. */
	shutdown(p->fd, SHUT_WR);
	while (recv(p->fd, &(char){0}, 1, 0) > 0)
		;
	close(p->fd);
}

static void serve_beside(struct player *p)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(p);
		_exit(0);
	}
	close(p->fd);
}

static void load_keys(struct player *p)
{
	const char *error;
	gnutls_datum_t cert = {(unsigned char *)p->part->cert, (unsigned int)strlen(p->part->cert)};
	gnutls_datum_t key = {(unsigned char *)p->part->key, (unsigned int)strlen(p->part->key)};
	const char *client_ca = p->part->client_ca ?: "";
	gnutls_datum_t ca = {(unsigned char *)(uintptr_t)client_ca,
			     (unsigned int)strlen(client_ca)};

	if (dynlib_load(DYNLIB_GNUTLS, functions, LEN(functions), &p->tls, &error) < 0 ||
	    p->tls.certificate_allocate_credentials(&p->keys) < 0 ||
	    p->tls.certificate_set_x509_key_mem(p->keys, &cert, &key, GNUTLS_X509_FMT_PEM) < 0)
		_exit(1);
	if (*client_ca &&
	    p->tls.certificate_set_x509_trust_mem(p->keys, &ca, GNUTLS_X509_FMT_PEM) < 0)
		_exit(1);
}

static void play(const struct kubepeer *peer, const struct kubepeer_part *part)
{
	struct player p = {.part = part, .heard = peer->heard};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN); /* a client that is gone before TLS is greeted */
	if (part->cert)
		load_keys(&p);
	for (;;) {
		p.fd = accept(peer->fd, NULL, NULL);
		if (p.fd < 0)
			_exit(1);
		__atomic_fetch_add(&p.heard->accepted, 1, __ATOMIC_ACQ_REL);
		if (!part->stays)
			serve(&p);
		else
			serve_beside(&p);
	}
}

static void stop(struct kubepeer *peer)
{
	if (peer->pid <= 0)
		return;
	kill(peer->pid, SIGKILL);
	waitpid(peer->pid, NULL, 0);
	peer->pid = 0;
}

void kubepeer_open(struct kubepeer *peer)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);

	*peer = (struct kubepeer){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	assert_true(peer->fd >= 0);
	assert_int_equal(bind(peer->fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(getsockname(peer->fd, (struct sockaddr *)&in, &len), 0);
	assert_int_equal(listen(peer->fd, 16), 0);
	peer->port = ntohs(in.sin_port);
	peer->heard = mmap(NULL, sizeof(*peer->heard), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(peer->heard != MAP_FAILED);
}

void kubepeer_close(struct kubepeer *peer)
{
	stop(peer);
	close(peer->fd);
	munmap(peer->heard, sizeof(*peer->heard));
}

void kubepeer_play(struct kubepeer *peer, const struct kubepeer_part *part)
{
	stop(peer);
	memset(peer->heard, 0, sizeof(*peer->heard));
	peer->pid = fork();
	assert_true(peer->pid >= 0);
	if (peer->pid == 0)
		play(peer, part);
}

unsigned int kubepeer_accepted(const struct kubepeer *peer)
{
	return __atomic_load_n(&peer->heard->accepted, __ATOMIC_ACQUIRE);
}

unsigned int kubepeer_asked(const struct kubepeer *peer)
{
	return __atomic_load_n(&peer->heard->asked, __ATOMIC_ACQUIRE);
}

const char *kubepeer_said(const struct kubepeer *peer)
{
	return peer->heard->said;
}
