/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a token or a client certificate expires, and when to warn of that: in the last tenth of its
 * life, but not earlier than a day before its end. The kubelet renews the tokens of pods in the
 * last fifth of their life (requiresRefresh() in pkg/kubelet/token/token_manager.go), and its own
 * certificate between seven and nine tenths of it (nextRotationDeadline() in
 * k8s.io/client-go/util/certificate), so that neither is warned of while it is renewed.
 */
#ifndef CORE_NAMES_CREDENTIAL_H
#define CORE_NAMES_CREDENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#define CREDENTIAL_DAY_S 86400

/* The last second of an RFC 3339 time in nanoseconds of int64_t (2262): what expires later never
 * does. */
#define CREDENTIAL_LAST_S 9223372036

enum credential_kind { CREDENTIAL_NONE, CREDENTIAL_TOKEN, CREDENTIAL_CERTIFICATE };

/* All zero: none, or none that says when it expires. Seconds since 1970. */
struct credential {
	enum credential_kind kind;
	int64_t expires_s; /* 1 to CREDENTIAL_LAST_S */
	int64_t warn_s;	   /* warned of from here on; before expires_s */
};

/* issued_s: 0 where it is unknown; the warning comes a day before the end then, as it does where
 * issued_s is not before the end. False, and *ret is all zero, when expires_s is outside of
 * 1 to CREDENTIAL_LAST_S. */
bool credential_set(enum credential_kind kind, int64_t issued_s, int64_t expires_s,
		    struct credential *ret);

/* The one of two that expires first; one that does not expire comes last. */
const struct credential *credential_first(const struct credential *a, const struct credential *b);

enum credential_state {
	CREDENTIAL_UNKNOWN, /* absent, or without a date of expiry */
	CREDENTIAL_VALID,
	CREDENTIAL_EXPIRING, /* warned of */
	CREDENTIAL_EXPIRED,
};

/* now_s: of the wall clock, since 1970. */
enum credential_state credential_judge(const struct credential *credential, int64_t now_s);

/* What was logged of one source's credential; all zero at the start. */
struct credential_watch {
	enum credential_state logged; /* the last warning; CREDENTIAL_UNKNOWN: none is open */
	uint64_t expiring_ns;	      /* of the last warning that it expires; 0: there was none */
	uint64_t expired_ns; /* ... that it has expired; 0: there was none since it was valid */
};

enum credential_news {
	CREDENTIAL_NO_NEWS,
	CREDENTIAL_EXPIRES_SOON, /* once a day at most, however often it is renewed */
	CREDENTIAL_HAS_EXPIRED,	 /* once, and again after each day of it */
	CREDENTIAL_RENEWED,	 /* after one of these: it is valid again */
};

/* What there is to log. now_ns: of a clock that does not jump (CLOCK_BOOTTIME), more than 0. */
enum credential_news credential_look(struct credential_watch *watch,
				     const struct credential *credential, int64_t now_s,
				     uint64_t now_ns);

#endif
