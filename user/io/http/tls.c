// SPDX-License-Identifier: Apache-2.0
/* Checks keys, shapes sessions and keeps the account of handshakes. */
#include "io/http/tls.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"

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
