// SPDX-License-Identifier: Apache-2.0
/* How the settings of the sources of metadata take their values. */
#include <string.h>

#include "app/config/take.h"
#include "base/duration.h"
#include "base/time.h"

#define WAIT_MAX     (30 * NS_PER_S)
#define INTERVAL_MIN NS_PER_S

static const char *take_path(const char **ret, const char *value)
{
	*ret = value;
	return options_want_path(value);
}

static const char *take_text(const char **ret, const char *value, const char *wanted)
{
	if (!*value)
		return wanted;
	*ret = value;
	return NULL;
}

const char *config_take_name_wait(struct config *c, const char *value, size_t index)
{
	uint64_t ns;

	if (duration_parse(value, &ns) < 0 || !ns || ns > WAIT_MAX)
		return "a duration like 250ms, above 0 and at most 30s";
	c->options.engine.name_wait_ns = ns;
	return NULL;
}

const char *config_take_docker_root(struct config *c, const char *value, size_t index)
{
	return take_path(&c->options.sources.docker_root, value);
}

const char *config_take_podman_root(struct config *c, const char *value, size_t index)
{
	return take_path(&c->options.sources.podman_root, value);
}

const char *config_take_containerd_state(struct config *c, const char *value, size_t index)
{
	return take_path(&c->options.sources.containerd_state, value);
}

const char *config_take_cri_endpoint(struct config *c, const char *value, size_t index)
{
	c->options.sources.cri_endpoint = value;
	return options_want_endpoint(value);
}

static const char *take_url(struct sources_peer *peer, const char *value, const char *wanted)
{
	if (strncmp(value, "https://", 8) != 0 && strncmp(value, "http://", 7) != 0)
		return wanted;
	peer->url = value;
	return NULL;
}

static const char *take_interval(struct sources_peer *peer, const char *value)
{
	uint64_t ns;

	if (duration_parse(value, &ns) < 0 || ns < INTERVAL_MIN)
		return "a duration like 30s, at least 1s";
	peer->interval_ns = ns;
	return NULL;
}

/* The settings of one of struct sources_options' peers. */
#define TAKE(peer, setting, ...)                                                        \
	const char *config_take_##peer##_##setting(struct config *c, const char *value, \
						   size_t index)                        \
	{                                                                               \
		struct sources_peer *p = &c->options.sources.peer;                      \
                                                                                        \
		(void)index;                                                            \
		return __VA_ARGS__;                                                     \
	}
#define TAKE_PEER(peer, wanted)                                                     \
	TAKE(peer, url, take_url(p, value, wanted))                                 \
	TAKE(peer, ca, take_path(&p->ca, value))                                    \
	TAKE(peer, server_name, take_text(&p->server_name, value, "a host's name")) \
	TAKE(peer, token_file, take_path(&p->token_file, value))                    \
	TAKE(peer, interval, take_interval(p, value))

TAKE_PEER(kubelet, "a URL like https://127.0.0.1:10250")
TAKE_PEER(api, "a URL like https://10.96.0.1:443")
TAKE(api, client_file, take_path(&p->client_file, value))
