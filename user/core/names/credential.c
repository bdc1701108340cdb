// SPDX-License-Identifier: Apache-2.0
/* Judges when a credential expires, and limits how often that is logged. */
#include "core/names/credential.h"

#include <stddef.h>

#define DAY_NS	  (CREDENTIAL_DAY_S * 1000000000ull)
#define LIFE_PART 10

bool credential_set(enum credential_kind kind, int64_t issued_s, int64_t expires_s,
		    struct credential *ret)
{
	int64_t window_s = CREDENTIAL_DAY_S;

	*ret = (struct credential){};
	if (expires_s < 1 || expires_s > CREDENTIAL_LAST_S)
		return false;
	if (issued_s > 0 && issued_s < expires_s &&
	    (expires_s - issued_s) / LIFE_PART < CREDENTIAL_DAY_S)
		window_s = (expires_s - issued_s) / LIFE_PART;
	/* A life of less than ten seconds leaves a window of none. */
	ret->warn_s = expires_s - (window_s ? window_s : 1);
	ret->expires_s = expires_s;
	ret->kind = kind;
	return true;
}

const struct credential *credential_first(const struct credential *a, const struct credential *b)
{
	if (!a->kind || !b->kind)
		return a->kind ? a : b;
	return b->expires_s < a->expires_s ? b : a;
}

enum credential_state credential_judge(const struct credential *credential, int64_t now_s)
{
	if (!credential->kind)
		return CREDENTIAL_UNKNOWN;
	if (now_s >= credential->expires_s)
		return CREDENTIAL_EXPIRED;
	return now_s >= credential->warn_s ? CREDENTIAL_EXPIRING : CREDENTIAL_VALID;
}

/* Whether a line may be logged whose last one was at *last_ns; 0: there was none. */
static bool is_due(uint64_t *last_ns, uint64_t now_ns)
{
	if (*last_ns && now_ns - *last_ns < DAY_NS)
		return false;
	*last_ns = now_ns;
	return true;
}

static enum credential_news look_valid(struct credential_watch *w)
{
	bool was_open = w->logged != CREDENTIAL_UNKNOWN;

	w->logged = CREDENTIAL_UNKNOWN;
	w->expired_ns = 0;
	return was_open ? CREDENTIAL_RENEWED : CREDENTIAL_NO_NEWS;
}

enum credential_news credential_look(struct credential_watch *w,
				     const struct credential *credential, int64_t now_s,
				     uint64_t now_ns)
{
	enum credential_state state = credential_judge(credential, now_s);

	switch (state) {
	case CREDENTIAL_VALID:
		return look_valid(w);
	case CREDENTIAL_EXPIRING:
		if (!is_due(&w->expiring_ns, now_ns))
			return CREDENTIAL_NO_NEWS;
		w->logged = state;
		return CREDENTIAL_EXPIRES_SOON;
	case CREDENTIAL_EXPIRED:
		if (!is_due(&w->expired_ns, now_ns))
			return CREDENTIAL_NO_NEWS;
		w->logged = state;
		return CREDENTIAL_HAS_EXPIRED;
	case CREDENTIAL_UNKNOWN:
		break;
	}
	return CREDENTIAL_NO_NEWS;
}
