// SPDX-License-Identifier: Apache-2.0
/* Writes sentences about credentials. */
#include "app/live/expiry.h"

#include <string.h>

#include "app/log/log.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "io/proc/clock.h"

static int64_t now_s(void)
{
	return (int64_t)(clock_wall_ns() / (uint64_t)NS_PER_S);
}

/* Whole seconds: "2026-11-24T14:00:00Z". */
static void add_time(struct buf *out, int64_t wall_s)
{
	char text[RFC3339_SIZE];

	rfc3339_format(wall_s * NS_PER_S, text);
	buf_printf(out, "%.*sZ", (int)strcspn(text, "."), text);
}

static void add_name(struct buf *out, const struct sources_peer *peer,
		     const struct credential *credential)
{
	bool token = credential->kind == CREDENTIAL_TOKEN ||
		     (credential->kind == CREDENTIAL_NONE && peer->token_file);

	buf_printf(out, "the %s in %s", token ? "token" : "client certificate",
		   token ? peer->token_file : peer->client_file);
}

enum credential_state expiry_add(struct buf *out, const struct sources_peer *peer,
				 const struct credential *credential)
{
	int64_t now = now_s();
	enum credential_state state = credential_judge(credential, now);
	char left[DURATION_SIZE];

	add_name(out, peer, credential);
	if (state == CREDENTIAL_UNKNOWN) {
		buf_adds(out, " does not tell when it expires");
		return state;
	}
	buf_adds(out, state == CREDENTIAL_EXPIRED ? " expired at " : " expires at ");
	add_time(out, credential->expires_s);
	if (state != CREDENTIAL_EXPIRED) {
		duration_format((uint64_t)(credential->expires_s - now) * (uint64_t)NS_PER_S, left);
		buf_printf(out, ", in %s", left);
	}
	return state;
}

void expiry_log(struct credential_watch *watch, enum meta_source source,
		const struct sources_peer *peer, const struct credential *credential)
{
	_cleanup_(buf_free) struct buf text = {};
	const char *name = meta_source_name(source);

	switch (credential_look(watch, credential, now_s(), clock_boot_ns())) {
	case CREDENTIAL_NO_NEWS:
		break;
	case CREDENTIAL_EXPIRES_SOON:
		expiry_add(&text, peer, credential);
		log_warning("%s: %s; renew it, or this source is lost then", name, buf_str(&text));
		break;
	case CREDENTIAL_HAS_EXPIRED:
		expiry_add(&text, peer, credential);
		log_warning("%s: %s, by this node's clock; renew it", name, buf_str(&text));
		break;
	case CREDENTIAL_RENEWED:
		expiry_add(&text, peer, credential);
		log_info("%s: renewed: %s", name, buf_str(&text));
		break;
	}
}
