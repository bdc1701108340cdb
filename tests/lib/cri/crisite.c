// SPDX-License-Identifier: Apache-2.0
/* Sets the stage of a runtime and its source, and logs what it reports. */
#include "lib/cri/crisite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/claim.h"

int crisite_set_up(void **state)
{
	static struct crisite site;
	char path[108];
	void *asker;

	site = (struct crisite){.timeout_ns = 10000 * ASKER_MS};
	if (asker_set_up(&asker) < 0)
		return -1;
	site.asker = asker;
	site.containers = calloc(CRISITE_MAX, sizeof(*site.containers));
	strcpy(site.dir, "/tmp/graced-cri-XXXXXX");
	if (!site.containers || !mkdtemp(site.dir))
		return -1;
	snprintf(path, sizeof(path), "%s/runtime.sock", site.dir);
	cripeer_init(&site.peer, site.asker->event, path);
	*state = &site;
	return 0;
}

int crisite_tear_down(void **state)
{
	struct crisite *site = *state;
	void *asker = site->asker;
	char command[128];

	source_cri_free(site->cri);
	cripeer_done(&site->peer);
	free(site->containers);
	snprintf(command, sizeof(command), "rm -rf -- %s", site->dir);
	return system(command) != 0 ? -1 : asker_tear_down(&asker);
}

static struct crisite_container *by_id(const struct crisite *site, const char *id)
{
	unsigned long number = strtoul(id, NULL, 10);

	assert_true(number < CRISITE_MAX);
	return site->containers + number;
}

static void on_pod(void *userdata, const struct meta_pod *pod)
{
	struct crisite *site = userdata;

	assert_int_equal(pod->source, META_CRI);
	assert_true(pod->name[0] && pod->namespace_[0]);
	for (unsigned int i = 0; i < site->pods; i++)
		if (i == LEN(site->uids) || strcmp(site->uids[i], pod->uid) == 0)
			return;
	if (site->pods < LEN(site->uids))
		strcpy(site->uids[site->pods], pod->uid);
	site->pods++;
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct crisite *site = userdata;
	struct crisite_container *c = by_id(site, container->id);

	assert_int_equal(container->source, META_CRI);
	c->known |= container->known;
	c->kind = container->kind;
	site->signals += container->stop_signal && !c->stop_signal;
	if (container->stop_signal)
		c->stop_signal = container->stop_signal;
	if (container->name[0])
		snprintf(c->name, sizeof(c->name), "%.63s", container->name);
	if (container->known & META_CTR_EXIT)
		c->exit_code = container->exit_code;
}

static void on_done(void *userdata, enum meta_source source, const char *key,
		    enum meta_result result)
{
	struct crisite *site = userdata;

	assert_int_equal(source, META_CRI);
	site->done++;
	by_id(site, key)->done[result]++;
}

void crisite_open(struct crisite *site, const char *endpoint)
{
	const struct source_sink sink = {site, on_pod, on_container, on_done, NULL};
	struct source_cri_options options = {
		.endpoint = endpoint,
		.search = site->search,
		.timeout_ns = site->timeout_ns,
		.retry_min_ns = 10 * ASKER_MS,
		.retry_max_ns = 50 * ASKER_MS,
	};

	site->search[0] = site->peer.path;
	site->search[1] = site->second;
	if (!site->deaf && !site->peer.listener)
		cripeer_listen(&site->peer);
	assert_int_equal(source_cri_new(site->asker->event, site->asker->fetch, &options, &sink,
					&site->cri),
			 0);
}

void crisite_await(struct crisite *site, enum source_status status)
{
	struct source_state state;

	for (source_cri_get_state(site->cri, &state); state.status != status;
	     source_cri_get_state(site->cri, &state))
		asker_turn(site->asker);
}

void crisite_await_up(struct crisite *site)
{
	crisite_await(site, SOURCE_UP);
}

bool crisite_has(const struct crisite *site, unsigned int number)
{
	return site->containers[number].kind != META_KIND_UNKNOWN;
}

const struct crisite_container *crisite_get(const struct crisite *site, unsigned int number)
{
	assert_true(crisite_has(site, number));
	return site->containers + number;
}

unsigned int crisite_done(const struct crisite *site, unsigned int number, enum meta_result result)
{
	return site->containers[number].done[result];
}

void crisite_find(struct crisite *site, unsigned int number)
{
	char id[META_ID_MAX];

	source_cri_find(site->cri, cripeer_id(number, id));
}

void crisite_expect(struct crisite *site, unsigned int number, enum meta_result result)
{
	unsigned int before = crisite_done(site, number, result), done = site->done;

	crisite_find(site, number);
	while (site->done == done)
		asker_turn(site->asker);
	assert_int_equal(site->done, done + 1);
	assert_int_equal(crisite_done(site, number, result), before + 1);
}
