/* SPDX-License-Identifier: Apache-2.0 */
/* When the token or client certificate of a source expires, in words and in the log. */
#ifndef APP_LIVE_EXPIRY_H
#define APP_LIVE_EXPIRY_H

#include "app/live/sources.h"
#include "base/buf.h"
#include "core/names/credential.h"

/* Adds "the token in /etc/graced/token expires at 2026-11-24T14:00:00Z, in 23h59m", "… expired at
 * …" or "… does not tell when it expires". The state. */
enum credential_state expiry_add(struct buf *out, const struct sources_peer *peer,
				 const struct credential *credential);

/* Logs a warning once a day at most while it expires soon, one when it has expired and after each
 * day of that, and that it was renewed. */
void expiry_log(struct credential_watch *watch, enum meta_source source,
		const struct sources_peer *peer, const struct credential *credential);

#endif
