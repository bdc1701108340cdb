// SPDX-License-Identifier: Apache-2.0
/* Opens and closes the sources of metadata. */
#include "app/live/sources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/log/log.h"
#include "app/log/say.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"

/* What was not there at the start, a runtime or the kubelet, is looked for this often. */
#define LOOK_AGAIN_US 5000000
#define LOOK_GRAIN_US 1000000

static int want_fetch(struct sources *s)
{
	int r;

	if (s->fetch || s->lacks.text[0])
		return s->fetch ? 0 : -ELIBACC;
	r = fetch_new(s->event, &s->fetch, &s->lacks);

	if (r < 0)
		log_warning("%s: neither the runtime nor the kubelet nor the API server is queried",
			    s->lacks.text);
	return r;
}

static bool cri_wanted(const struct options *o)
{
	return !o->sources.cri_endpoint || strcmp(o->sources.cri_endpoint, "none") != 0;
}

static bool any_is_there(const char *const *sockets)
{
	for (; *sockets; sockets++)
		if (host_is_socket(*sockets))
			return true;
	return false;
}

/* libcurl is loaded for a runtime that is there, and not before: it takes more memory than all the
 * rest of a trace. */
static int open_cri(struct sources *s)
{
	struct source_cri_options options = {
		.endpoint = s->options->sources.cri_endpoint,
		.node = s->options->node_name,
	};
	int r;

	if (!options.endpoint && !any_is_there(source_cri_places))
		return -ENOENT;
	r = want_fetch(s);
	return r < 0 ? r : source_cri_new(s->event, s->fetch, &options, &s->sink, &s->cri);
}

static int open_peer(struct sources *s, enum meta_source source, struct source_kubelet **ret)
{
	char name[OPTIONS_NODE_SIZE];
	struct source_kubelet_options options = options_of_lister(s->options, source, name);
	struct source_kubelet_why why;
	int r;

	if (!options.url && !options.sockets)
		return 0;
	if (!options.url && !options.socket && !any_is_there(options.sockets))
		return -ENOENT;
	r = want_fetch(s);
	if (r == -ELIBACC)
		return 0;
	if (r >= 0)
		r = source_kubelet_new(s->event, s->fetch, &options, &s->sink, ret, &why);
	if (r == -EINVAL)
		say("%s", why.text);
	return r;
}

/* Opens what is searched for and was not there. 1: some of it still is not. */
static int open_found(struct sources *s)
{
	bool missing = false;
	int r = 0;

	if (!s->kubelet)
		r = open_peer(s, META_KUBELET, &s->kubelet);
	missing |= r == -ENOENT;
	if (r < 0 && r != -ENOENT)
		return r;
	r = !s->cri && cri_wanted(s->options) ? open_cri(s) : 0;
	missing |= r == -ENOENT;
	if (r == -EINVAL)
		say("'%s' is no socket's absolute path", s->options->sources.cri_endpoint);
	/* Names are not worth a trace that does not begin. */
	if (r < 0 && r != -ENOENT && r != -ELIBACC)
		return r;
	return missing;
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	int r = open_found(userdata);

	if (r <= 0)
		return 0;
	return timer_after(source, LOOK_AGAIN_US);
}

static int search(struct sources *s)
{
	int r = open_found(s);

	if (r <= 0)
		return r;
	return sd_event_add_time_relative(s->event, &s->again, CLOCK_MONOTONIC, LOOK_AGAIN_US,
					  LOOK_GRAIN_US, on_again, s);
}

/* The usual place of an engine that is not installed is no mistake. */
static void warn_missing(const char *flag, const char *directory, const char *usual)
{
	if (directory && strcmp(directory, usual) != 0 && access(directory, F_OK) < 0)
		log_warning("--%s: there is no %s", flag, directory);
}

static int open_files(struct sources *s)
{
	const struct sources_options *o = &s->options->sources;
	struct source_files_options options = {
		.docker_root = o->docker_root,
		.podman_root = o->podman_root,
		.containerd_state = o->containerd_state,
		.rules = o->rules,
		.n_rules = o->n_rules,
	};

	warn_missing("names.docker-root", o->docker_root, "/var/lib/docker");
	warn_missing("names.podman-root", o->podman_root, "/var/lib/containers/storage");
	warn_missing("names.containerd-state", o->containerd_state, "/run/containerd");
	return source_files_new(&options, &s->files);
}

int sources_open(sd_event *event, const struct options *options, const struct source_sink *sink,
		 bool once, struct sources *ret)
{
	const struct source_homes_options homes = {.at_once = once};
	int r;

	*ret = (struct sources){.options = options, .event = event, .sink = *sink};
	r = open_files(ret);
	if (r >= 0)
		r = source_homes_new(event, &homes, sink, &ret->homes);
	if (r >= 0)
		r = open_peer(ret, META_API, &ret->api);
	if (r >= 0 && options->engine.scope >= SCOPE_SERVICES)
		r = source_units_new(event, NULL, sink, &ret->units);
	return r < 0 ? r : search(ret);
}

void sources_close(struct sources *s)
{
	s->again = sd_event_source_disable_unref(s->again);
	s->units = source_units_free(s->units);
	s->api = source_kubelet_free(s->api);
	s->kubelet = source_kubelet_free(s->kubelet);
	s->cri = source_cri_free(s->cri);
	s->homes = source_homes_free(s->homes);
	s->files = source_files_free(s->files);
	s->fetch = fetch_free(s->fetch);
}

struct source_kubelet *sources_of_pod(const struct sources *s, const char *pod_uid)
{
	return meta_lister(sources_asked(s->options), meta_is_static_uid(pod_uid)) == META_API
		       ? s->api
		       : s->kubelet;
}

uint32_t sources_asked(const struct options *o)
{
	uint32_t asked = 1u << META_DOCKER | 1u << META_PODMAN | 1u << META_CONTAINERD;

	if (o->no_names)
		return 0;
	if (cri_wanted(o))
		asked |= 1u << META_CRI;
	if (o->sources.kubelet.url || options_want_kubelet_socket(o))
		asked |= 1u << META_KUBELET;
	if (o->sources.api.url)
		asked |= 1u << META_API;
	if (o->engine.scope >= SCOPE_SERVICES)
		asked |= 1u << META_SYSTEMD;
	return asked;
}

void sources_get_state(const struct sources *s, enum meta_source source, struct source_state *ret)
{
	const struct options *o = s->options;

	*ret = (struct source_state){};
	if (source == META_CRI && s->cri)
		source_cri_get_state(s->cri, ret);
	else if (source == META_KUBELET && s->kubelet)
		source_kubelet_get_state(s->kubelet, ret);
	else if (source == META_API && s->api)
		source_kubelet_get_state(s->api, ret);
	else if (source == META_SYSTEMD && s->units)
		source_units_get_state(s->units, ret);
	else if (source == META_CRI || (source == META_KUBELET && o->sources.kubelet.url) ||
		 (source == META_API && o->sources.api.url))
		snprintf(ret->text, sizeof(ret->text), "%s", s->lacks.text);
	else if (source == META_KUBELET)
		ret->addressless = true;
	else if (s->files)
		source_files_get_state(s->files, source, ret);
}

bool sources_settled(const struct sources *s)
{
	static const enum meta_source slow[] = {META_CRI, META_KUBELET, META_API, META_SYSTEMD};
	struct source_state state;

	for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++) {
		sources_get_state(s, slow[i], &state);
		if (state.status == SOURCE_STARTING || (state.status == SOURCE_UP && state.waiting))
			return false;
	}
	return true;
}

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

enum credential_state sources_add_expiry(struct buf *out, const struct sources_peer *peer,
					 const struct credential *credential)
{
	int64_t now = now_s();
	enum credential_state state = credential_judge(credential, now);
	char left[DURATION_SIZE];

	add_name(out, peer, credential);
	if (state == CREDENTIAL_UNKNOWN) {
		buf_adds(out, " does not say when it expires");
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

void sources_log_expiry(struct credential_watch *watch, enum meta_source source,
			const struct sources_peer *peer, const struct credential *credential)
{
	_cleanup_(buf_free) struct buf text = {};
	const char *name = meta_source_name(source);

	switch (credential_look(watch, credential, now_s(), clock_boot_ns())) {
	case CREDENTIAL_NO_NEWS:
		break;
	case CREDENTIAL_EXPIRES_SOON:
		sources_add_expiry(&text, peer, credential);
		log_warning("%s: %s; renew it, or this source is lost then", name, buf_str(&text));
		break;
	case CREDENTIAL_HAS_EXPIRED:
		sources_add_expiry(&text, peer, credential);
		log_warning("%s: %s, by this node's clock; renew it", name, buf_str(&text));
		break;
	case CREDENTIAL_RENEWED:
		sources_add_expiry(&text, peer, credential);
		log_info("%s: renewed: %s", name, buf_str(&text));
		break;
	}
}
