// SPDX-License-Identifier: Apache-2.0
/* Opens the sockets of a configuration, reports clients, checks keys, shapes sessions and keeps the
 * account of handshakes. */
#include "io/http/listen.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "wire/config/web.h"

#define BACKLOG	    512
#define BACKLOG_TLS 64 /* who waits for credit there is not to wait longer than a scrape takes */
#define SEND_BYTES  (128 << 10) /* what the kernel holds for a slow reader, doubled by it */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t fill_address(const struct listen_addr *addr, uint16_t port, union address *ret)
{
	*ret = (union address){};
	if (addr->v6) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		memcpy(&ret->v6.sin6_addr, addr->bytes, 16);
		return sizeof(ret->v6);
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(port);
	memcpy(&ret->v4.sin_addr, addr->bytes, 4);
	return sizeof(ret->v4);
}

static int set_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

/* *port is 0 for any, and then says which it became. */
static int open_socket(const struct listen_addr *addr, int backlog, uint16_t *port, int *ret)
{
	union address address;
	socklen_t len = fill_address(addr, *port, &address);
	_cleanup_(cleanup_close) int fd = -1;
	int r;

	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (r == 0 && addr->v6)
		r = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (r < 0)
		return r;
	set_option(fd, SOL_SOCKET, SO_SNDBUF, SEND_BYTES);
	if (bind(fd, &address.any, len) < 0 || listen(fd, backlog) < 0)
		return -errno;
	if (getsockname(fd, &address.any, &len) < 0)
		return -errno;
	*port = ntohs(addr->v6 ? address.v6.sin6_port : address.v4.sin_port);
	*ret = TAKE_FD(fd);
	return 0;
}

void web_listen_pause(struct web_listeners *listeners, uint64_t until_ns)
{
	listeners->paused = true;
	listeners->paused_until_ns = until_ns;
	for (size_t i = 0; i < listeners->n; i++)
		sd_event_source_set_enabled(listeners->list[i].source, SD_EVENT_OFF);
}

void web_listen_resume(struct web_listeners *listeners)
{
	listeners->paused = false;
	for (size_t i = 0; i < listeners->n; i++)
		sd_event_source_set_enabled(listeners->list[i].source, SD_EVENT_ON);
}

static int on_client(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct web_listeners *listeners = ((struct web_listener *)userdata)->all;

	listeners->ready(listeners->userdata, fd);
	return 0;
}

static int add_listener(struct web_listeners *listeners, sd_event *event, size_t index,
			const struct listen_addr *addr, int backlog, uint16_t *port)
{
	struct web_listener *listener = &listeners->list[listeners->n];
	int r;

	if (listeners->n == WEB_LISTEN_MAX)
		return -E2BIG;
	*listener = (struct web_listener){.fd = -1, .index = index, .all = listeners};
	r = open_socket(addr, backlog, port, &listener->fd);
	if (r < 0)
		return r;
	listener->port = *port;
	listeners->n++;
	r = sd_event_add_io(event, &listener->source, listener->fd, EPOLLIN, on_client, listener);
	return r < 0 ? r : 0;
}

/* A host without IPv6 has no [::] and no [::1], which is no reason not to listen on the other. */
static bool may_lack(int error, const struct listen *listen, size_t i)
{
	return i > 0 && listen->addr[i].v6 && (error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL);
}

int web_listen_open(struct web_listeners *listeners, sd_event *event,
		    const struct web_config *config, struct web_why *ret_why)
{
	int backlog = config->tls ? BACKLOG_TLS : BACKLOG;

	for (size_t i = 0; i < config->n_listen; i++) {
		struct listen listen;

		if (listen_parse(config->listen[i], &listen) < 0) {
			snprintf(ret_why->text, sizeof(ret_why->text),
				 "cannot listen on %s: it is not ADDRESS:PORT", config->listen[i]);
			return -EINVAL;
		}
		for (size_t k = 0; k < listen.n_addr; k++) {
			int r = add_listener(listeners, event, i, &listen.addr[k], backlog,
					     &listen.port);

			if (r >= 0 || may_lack(r, &listen, k))
				continue;
			snprintf(ret_why->text, sizeof(ret_why->text), "cannot listen on %s: %s",
				 config->listen[i], strerror(-r));
			return r;
		}
	}
	return 0;
}

void web_listen_close(struct web_listeners *listeners)
{
	for (size_t i = 0; i < listeners->n; i++) {
		sd_event_source_disable_unref(listeners->list[i].source);
		close(listeners->list[i].fd);
	}
	listeners->n = 0;
}

uint16_t web_listen_port(const struct web_listeners *listeners, size_t index)
{
	for (size_t i = 0; i < listeners->n; i++)
		if (listeners->list[i].index == index)
			return listeners->list[i].port;
	return 0;
}

#define PRICE_NS UINT64_C(200000) /* of a connection, beside what it is seen to cost */
#define BURST_NS UINT64_C(5000000000)

/* Forward secrecy and authenticated encryption alone, and groups that are cheap for the server:
 * with FFDHE-8192 a client could ask for 100 ms of CPU time. */
#define CIPHERS                                                                          \
	"-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:"         \
	"+CHACHA20-POLY1305:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:" \
	"%SERVER_PRECEDENCE"
#define PRIORITY_13 "NORMAL:-VERS-ALL:+VERS-TLS1.3:" CIPHERS
#define PRIORITY_12 "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:" CIPHERS

static const char *priority_of(const struct web_tls *tls)
{
	return tls->tls13 ? PRIORITY_13 : PRIORITY_12;
}

static int load(struct gtls *ret, struct web_why *ret_why)
{
	const char *error;
	int r = gtls_load(ret, &error);

	if (r < 0)
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot load TLS: %s", error);
	return r;
}

static gnutls_datum_t datum(const char *text)
{
	return (gnutls_datum_t){.data = (unsigned char *)text, .size = (unsigned int)strlen(text)};
}

static int check_keys(const struct gtls *gtls, gnutls_certificate_credentials_t credentials,
		      const struct web_tls *tls, struct web_why *ret_why)
{
	gnutls_datum_t cert = datum(tls->cert), key = datum(tls->key), ca;
	int r = gtls->certificate_set_x509_key_mem2(credentials, &cert, &key, GNUTLS_X509_FMT_PEM,
						    NULL, 0);

	if (r < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "cannot use cert_file with key_file: %s", gtls->strerror(r));
		return -EINVAL;
	}
	if (!tls->client_ca)
		return 0;
	ca = datum(tls->client_ca);
	r = gtls->certificate_set_x509_trust_mem(credentials, &ca, GNUTLS_X509_FMT_PEM);
	if (r > 0)
		return 0;
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot use client_ca_file: %s",
		 r < 0 ? gtls->strerror(r) : "there is no certificate in it");
	return -EINVAL;
}

/* The library would say no more than that it refuses. */
int web_tls_check(const struct web_tls *tls, struct web_why *ret_why)
{
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority;
	struct gtls gtls;
	int r = load(&gtls, ret_why);

	if (r < 0)
		return r;
	r = gtls.priority_init(&priority, priority_of(tls), NULL);
	if (r < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot set up TLS: %s",
			 gtls.strerror(r));
		return -EINVAL;
	}
	gtls.priority_deinit(priority);
	if (gtls.certificate_allocate_credentials(&credentials) < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot set up TLS: out of memory");
		return -ENOMEM;
	}
	r = check_keys(&gtls, credentials, tls, ret_why);
	gtls.certificate_free_credentials(credentials);
	return r;
}

void web_tls_options(const struct web_tls *tls, struct MHD_OptionItem ret[WEB_TLS_OPTIONS])
{
	size_t n = 0;

	if (tls) {
		ret[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (char *)tls->cert};
		ret[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (char *)tls->key};
		ret[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
						   (char *)priority_of(tls)};
	}
	if (tls && tls->client_ca)
		ret[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0,
						   (char *)tls->client_ca};
	ret[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

int web_tls_set(struct web_tls_state *state, const struct web_tls *tls, struct web_why *ret_why)
{
	int r = tls ? load(&state->gtls, ret_why) : 0;

	if (r < 0)
		return r;
	state->on = tls;
	state->require = tls && tls->client_ca;
	return 0;
}

/* The library asks for a certificate, but goes on without one, or with anybody's. */
void web_tls_session(const struct web_tls_state *state, gnutls_session_t session)
{
	/* They are looked at during the handshake. */
	static gnutls_typed_vdata_st is_client = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
		.size = sizeof(GNUTLS_KP_TLS_WWW_CLIENT) - 1,
	};

	if (!state->require)
		return;
	state->gtls.certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	state->gtls.session_set_verify_cert2(session, &is_client, 1, 0);
}

void web_tls_init(struct web_tls_state *state, unsigned int share)
{
	state->credit = (struct credit){.share = share, .burst_ns = BURST_NS};
}

bool web_tls_may_admit(const struct web_tls_state *state, uint64_t now_ns, uint64_t *ret_until_ns)
{
	uint64_t back_at_ns = state->on ? credit_back_at(&state->credit, now_ns) : 0;

	if (!back_at_ns)
		return true;
	*ret_until_ns = back_at_ns;
	return false;
}

void web_tls_admitted(struct web_tls_state *state, uint64_t now_ns)
{
	if (state->on)
		credit_charge(&state->credit, now_ns, PRICE_NS);
}

void web_tls_begin_turn(struct web_tls_state *state)
{
	if (!state->on)
		return;
	state->pages_ns = 0;
	state->before_ns = clock_thread_ns();
}

void web_tls_end_turn(struct web_tls_state *state, uint64_t now_ns)
{
	uint64_t spent_ns;

	if (!state->on)
		return;
	spent_ns = clock_thread_ns() - state->before_ns;
	if (spent_ns > state->pages_ns)
		credit_charge(&state->credit, now_ns, spent_ns - state->pages_ns);
}

uint64_t web_tls_begin_page(const struct web_tls_state *state)
{
	return state->on ? clock_thread_ns() : 0;
}

void web_tls_end_page(struct web_tls_state *state, uint64_t began_ns)
{
	if (state->on)
		state->pages_ns += clock_thread_ns() - began_ns;
}
