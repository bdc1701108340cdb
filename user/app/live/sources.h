/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of metadata that a command has open, and how they fare. */
#ifndef APP_LIVE_SOURCES_H
#define APP_LIVE_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "app/config/options.h"
#include "base/buf.h"
#include "core/names/credential.h"
#include "io/fetch/fetch.h"
#include "io/sources/cri/cri.h"
#include "io/sources/files/files.h"
#include "io/sources/files/homes.h"
#include "io/sources/kubelet/kubelet.h"
#include "io/sources/units/units.h"

struct sources {
	const struct options *options;
	sd_event *event;
	struct source_sink sink;
	struct fetch *fetch; /* NULL until a source needs it */
	struct source_cri *cri;
	struct source_kubelet *kubelet, *api;
	struct source_units *units;
	struct source_files *files;
	struct source_homes *homes;
	struct fetch_why lacks; /* why no HTTP request can be made; "" */
	sd_event_source *again; /* looks for a runtime or a kubelet that was not there */
};

/* Bits 1 << enum meta_source of those that are queried with these options. */
uint32_t sources_asked(const struct options *options);

/* The source that is queried about a pod; NULL: no source is. */
struct source_kubelet *sources_of_pod(const struct sources *sources, const char *pod_uid);

/*
 * Opens what the options name and what is there; a source that is down is no error. options, event
 * and the sink's userdata are borrowed. once: for a command that looks once and ends, see
 * source_homes_options. -errno, logged; sources_close() is to be called either way.
 */
int sources_open(sd_event *event, const struct options *options, const struct source_sink *sink,
		 bool once, struct sources *ret);
void sources_close(struct sources *sources);

/* How one of them fares; SOURCE_OFF for one that is not open, with a
 * text where something else than the source keeps it from that. Log directories are not theirs. */
void sources_get_state(const struct sources *sources, enum meta_source source,
		       struct source_state *ret);
/* Each has answered its first query, or is down. */
bool sources_settled(const struct sources *sources);

/* Adds "the token in /etc/graced/token expires at 2026-11-24T14:00:00Z, in 23h59m", "… expired at
 * …" or "… does not say when it expires". Returns the state. */
enum credential_state sources_add_expiry(struct buf *out, const struct sources_peer *peer,
					 const struct credential *credential);

/* Logs a warning once a day at most while it expires soon, one when it has expired and after each
 * day of that, and that it was renewed. */
void sources_log_expiry(struct credential_watch *watch, enum meta_source source,
			const struct sources_peer *peer, const struct credential *credential);

#endif
