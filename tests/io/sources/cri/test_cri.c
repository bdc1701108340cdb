// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/cri: what a runtime has is reported, what is asked for is answered once. */
#include "io/sources/cri/cri.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/sources/cri/call.h"
#include "lib/claim.h"
#include "lib/cri/crisite.h"

/* Only lists of everything. */
static unsigned int count_lists(const struct crisite *site, enum cri_method method)
{
	return site->peer.asked[method] - site->peer.singly[method];
}

static void test_all_is_reported(void **state)
{
	struct crisite *site = *state;
	const struct crisite_container *c;
	struct source_state got;

	site->peer.image_signal = "SIGQUIT";
	for (unsigned int pod = 1; pod <= 3; pod++) {
		cripeer_add(&site->peer, pod * 10, "", pod);
		cripeer_add(&site->peer, pod * 10 + 1, "web", pod);
		cripeer_add(&site->peer, pod * 10 + 2, "old", pod)->state = CRI_STATE_EXITED;
	}
	cripeer_add(&site->peer, 41, "own", 4)->stop_signal = 9; /* HUP, of CRI's */
	crisite_open(site, NULL);
	crisite_await_up(site);
	while (site->signals < 4)
		asker_turn(site->asker);
	for (unsigned int pod = 1; pod <= 3; pod++) {
		c = crisite_get(site, pod * 10);
		assert_int_equal(c->kind, META_KIND_SANDBOX);
		c = crisite_get(site, pod * 10 + 1);
		assert_string_equal(c->name, "web");
		assert_int_equal(c->stop_signal, SIGQUIT);
		assert_string_equal(crisite_get(site, pod * 10 + 2)->name, "old");
	}
	assert_int_equal(site->pods, 4);
	assert_int_equal(count_lists(site, CRI_SANDBOXES), 1);
	assert_int_equal(count_lists(site, CRI_CONTAINERS), 1);
	/* Those that run, and each image once. */
	assert_int_equal(site->peer.asked[CRI_STATUS], 4);
	assert_int_equal(site->peer.asked[CRI_IMAGE_STATUS], 1);
	source_cri_get_state(site->cri, &got);
	assert_string_equal(got.where, site->peer.path);
	assert_string_equal(got.text, "peer 1.0, CRI v1");
	assert_int_equal(got.failures, 0);
	assert_int_equal(site->done, 0);
}

static void test_find(void **state)
{
	struct crisite *site = *state;
	struct source_state got;
	char id[META_ID_MAX];

	crisite_open(site, NULL);
	crisite_await_up(site);
	cripeer_add(&site->peer, 1, "", 7);
	cripeer_add(&site->peer, 2, "web", 7);
	crisite_expect(site, 2, META_FOUND);
	assert_string_equal(crisite_get(site, 2)->name, "web");
	assert_int_equal(crisite_get(site, 2)->stop_signal, SIGTERM);
	assert_int_equal(site->pods, 1);
	crisite_expect(site, 1, META_FOUND);
	assert_int_equal(crisite_get(site, 1)->kind, META_KIND_SANDBOX);
	crisite_expect(site, 3, META_ABSENT);
	/* Nobody else's by their prefix, and nothing odd, is asked for. */
	source_cri_find(site->cri, "");
	source_cri_find(site->cri, "a/b");
	memset(id, 'a', sizeof(id));
	source_cri_find(site->cri, strndupa(id, 64));
	assert_int_equal(site->done, 5);
	while (site->done < 6)
		asker_turn(site->asker);
	source_cri_get_state(site->cri, &got);
	assert_int_equal(got.lookups[META_FOUND], 2);
	assert_int_equal(got.lookups[META_ABSENT], 4);
}

static void test_early(void **state)
{
	struct crisite *site = *state;

	cripeer_add(&site->peer, 2, "web", 7);
	crisite_open(site, NULL);
	/* One that waits for the list, and one that is in it and asked for twice. */
	while (!site->peer.asked[CRI_VERSION])
		asker_turn(site->asker);
	crisite_find(site, 2);
	crisite_find(site, 2);
	crisite_find(site, 3);
	while (site->done < 3)
		asker_turn(site->asker);
	assert_int_equal(crisite_done(site, 2, META_FOUND), 2);
	assert_int_equal(crisite_done(site, 3, META_ABSENT), 1);
}

static void test_late(void **state)
{
	struct crisite *site = *state;

	crisite_open(site, NULL);
	crisite_await_up(site);
	crisite_expect(site, 5, META_ABSENT);
	cripeer_add(&site->peer, 5, "", 9);
	while (!crisite_has(site, 5))
		asker_turn(site->asker);
	assert_int_equal(site->done, 1);
}

static void test_alpha(void **state)
{
	struct crisite *site = *state;
	struct source_state got;

	site->peer.no_v1 = true;
	cripeer_add(&site->peer, 2, "web", 7);
	crisite_open(site, NULL);
	crisite_await_up(site);
	source_cri_get_state(site->cri, &got);
	assert_string_equal(got.text, "peer 1.0, CRI v1alpha2");
	crisite_expect(site, 2, META_FOUND);
}

static void test_exit(void **state)
{
	struct crisite *site = *state;
	struct cripeer_container *c;

	crisite_open(site, NULL);
	crisite_await_up(site);
	cripeer_add(&site->peer, 1, "web", 7);
	source_cri_exit(site->cri, site->peer.containers[0].id);
	while (!site->peer.asked[CRI_STATUS])
		asker_turn(site->asker);
	c = site->peer.containers;
	c->state = CRI_STATE_EXITED;
	c->exit_code = 143;
	while (!crisite_has(site, 1) || !(crisite_get(site, 1)->known & META_CTR_EXIT))
		asker_turn(site->asker);
	assert_int_equal(crisite_get(site, 1)->exit_code, 143);
	assert_int_equal(site->done, 0);
}

static void test_off(void **state)
{
	struct crisite *site = *state;

	site->deaf = true;
	crisite_open(site, NULL);
	crisite_await(site, SOURCE_OFF);
	crisite_find(site, 1);
	assert_int_equal(crisite_done(site, 1, META_ABSENT), 1);
	cripeer_add(&site->peer, 1, "web", 7);
	cripeer_listen(&site->peer);
	crisite_await_up(site);
	crisite_expect(site, 1, META_FOUND);
}

static void test_no_cri(void **state)
{
	struct crisite *site = *state;

	site->peer.no_v1 = site->peer.no_v1alpha2 = true;
	crisite_open(site, NULL);
	crisite_await(site, SOURCE_OFF);
	source_cri_free(site->cri);
	site->cri = NULL;
	crisite_open(site, site->peer.path);
	crisite_await(site, SOURCE_DOWN);
}

static void test_second_place(void **state)
{
	struct crisite *site = *state;
	struct source_state got;
	struct cripeer other;
	char path[108];

	site->peer.no_v1 = site->peer.no_v1alpha2 = true;
	snprintf(path, sizeof(path), "%s/other.sock", site->dir);
	cripeer_init(&other, site->asker->event, path);
	cripeer_listen(&other);
	cripeer_add(&other, 1, "web", 7);
	site->second = path;
	crisite_open(site, NULL);
	crisite_await_up(site);
	source_cri_get_state(site->cri, &got);
	assert_string_equal(got.where, path);
	crisite_expect(site, 1, META_FOUND);
	site->cri = source_cri_free(site->cri);
	cripeer_done(&other);
}

static void test_endpoint(void **state)
{
	struct crisite *site = *state;
	char url[128];

	snprintf(url, sizeof(url), "unix://%s", site->peer.path);
	crisite_open(site, url);
	crisite_await_up(site);
	assert_int_equal(source_cri_new(site->asker->event, site->asker->fetch,
					&(struct source_cri_options){.endpoint = "run/x.sock"},
					&(struct source_sink){}, &site->cri),
			 -EINVAL);
	assert_int_equal(source_cri_new(site->asker->event, site->asker->fetch,
					&(struct source_cri_options){.endpoint = "tcp://1.2.3.4"},
					&(struct source_sink){}, &site->cri),
			 -EINVAL);
}

static void test_together(void **state)
{
	struct crisite *site = *state;
	unsigned int singly;

	crisite_open(site, NULL);
	crisite_await_up(site);
	for (unsigned int i = 1; i <= 500; i++) {
		cripeer_add(&site->peer, i, "web", i);
		crisite_find(site, i);
	}
	crisite_find(site, 501);
	while (site->done < 501)
		asker_turn(site->asker);
	for (unsigned int i = 1; i <= 500; i++) {
		assert_int_equal(crisite_done(site, i, META_FOUND), 1);
		assert_string_equal(crisite_get(site, i)->name, "web");
	}
	assert_int_equal(crisite_done(site, 501, META_ABSENT), 1);
	singly = site->peer.singly[CRI_CONTAINERS];
	print_message("# %u lists, %u single requests\n", count_lists(site, CRI_CONTAINERS),
		      singly);
	assert_in_range(count_lists(site, CRI_CONTAINERS), 2, 20);
	assert_in_range(singly, 1, 200);
	/* Their stop signals come afterwards, paced. */
	while (site->signals < 500)
		asker_turn(site->asker);
}

/* As a process of its own, which does not wait for the client's turns. */
static pid_t play_apart(const struct crisite *site, unsigned int n)
{
	struct cripeer own;
	sd_event *event;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sd_event_new(&event) < 0)
		_exit(1);
	cripeer_init(&own, event, site->peer.path);
	for (unsigned int i = 1; i <= n; i++)
		cripeer_add(&own, i, "web", i);
	cripeer_listen(&own);
	_exit(sd_event_loop(event) < 0);
}

static void test_long_lists(void **state)
{
	struct crisite *site = *state;
	pid_t pid = play_apart(site, 500);

	site->deaf = true;
	crisite_open(site, NULL);
	crisite_await_up(site);
	for (unsigned int round = 1; round <= 40; round++) {
		for (unsigned int i = 1; i <= 60; i++)
			crisite_find(site, i);
		while (site->done < 60 * round)
			asker_turn(site->asker);
	}
	for (unsigned int i = 1; i <= 60; i++)
		assert_int_equal(crisite_done(site, i, META_FOUND), 40);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_shed(void **state)
{
	struct crisite *site = *state;

	site->timeout_ns = 200 * ASKER_MS;
	crisite_open(site, NULL);
	crisite_await_up(site);
	for (unsigned int i = 0; i < CRI_METHOD_COUNT; i++)
		site->peer.act[i] = CRIPEER_SILENT;
	for (unsigned int i = 1; i <= 4200; i++)
		crisite_find(site, i);
	assert_int_equal(site->done, 104);
	for (unsigned int i = 4097; i <= 4200; i++)
		assert_int_equal(crisite_done(site, i, META_SHED), 1);
	while (site->done < 4200)
		asker_turn(site->asker);
	for (unsigned int i = 1; i <= 4096; i++)
		assert_int_equal(crisite_done(site, i, META_FAILED), 1);
}

/* As many at once as are asked for singly, among answers long enough to come in pieces. */
static void test_side_by_side(void **state)
{
	enum { AT_ONCE = 12, ROUNDS = 50 };
	struct crisite *site = *state;
	struct source_state got;

	site->timeout_ns = 5000 * ASKER_MS;
	site->peer.annotations = 20000;
	for (unsigned int i = 1; i <= AT_ONCE; i++)
		cripeer_add(&site->peer, i, "web", i);
	crisite_open(site, NULL);
	crisite_await_up(site);
	for (unsigned int round = 1; round <= ROUNDS; round++) {
		for (unsigned int i = 1; i <= AT_ONCE; i++)
			crisite_find(site, i);
		while (site->done < round * AT_ONCE)
			asker_turn(site->asker);
	}
	source_cri_get_state(site->cri, &got);
	assert_int_equal(got.lookups[META_FOUND], ROUNDS * AT_ONCE);
	assert_int_equal(got.failures, 0);
}

static void test_freed(void **state)
{
	struct crisite *site = *state;

	crisite_open(site, NULL);
	crisite_await_up(site);
	site->peer.act[CRI_CONTAINERS] = CRIPEER_SILENT;
	for (unsigned int i = 1; i <= 20; i++)
		crisite_find(site, i);
	while (!site->peer.singly[CRI_CONTAINERS])
		asker_turn(site->asker);
	site->cri = source_cri_free(site->cri);
	asker_turn(site->asker);
	assert_int_equal(site->done, 0);
}

static const struct sock_row {
	const char *what, *script; /* in a directory of one's own, P is the socket's path */
	int error;
} socks[] = {
	{"one's own", "mv s p", 0},
	{"for everybody to write", "mv s p; chmod 666 p", -EPERM},
	{"for a group", "mv s p; chmod 660 p", 0},
	{"somebody else's", "mv s p; chown 12345 p", -EPERM},
	{"a file", "touch p", -ENOTSOCK},
	{"nothing", "true", -ENOENT},
	{"a link", "ln -s s p", 0},
	{"links", "ln -s $PWD/q p; ln -s s q", 0},
	{"a circle of links", "ln -s q p; ln -s p q", -ELOOP},
	{"a link that somebody else made", "ln -s s p; chown -h 12345 p", -EPERM},
	{"in a directory of everybody's", "mv s p; chmod 777 .", -EPERM},
	{"in a sticky directory of everybody's", "mv s p; chmod 1777 .", 0},
	{"a link in a sticky directory of everybody's", "ln -s s p; chmod 1777 .", -EPERM},
	{"a link into a directory of everybody's", "mkdir d; mv s d; chmod 777 d; ln -s d/s p",
	 -EPERM},
	{"in somebody else's directory", "mv s p; chown 12345 .", -EPERM},
};

static void test_socks(void **state)
{
	struct crisite *site = *state;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < LEN(socks); i++) {
		char dir[80], path[96], command[512], why[160];
		struct socket_id sock;
		int r;

		snprintf(dir, sizeof(dir), "%s/%zu", site->dir, i);
		snprintf(path, sizeof(path), "%s/s", dir);
		assert_int_equal(mkdir(dir, 0755), 0);
		memcpy(site->peer.path, path, sizeof(path));
		cripeer_listen(&site->peer);
		snprintf(command, sizeof(command), "cd %s && { %s; }", dir, socks[i].script);
		assert_int_equal(system(command), 0);
		snprintf(path, sizeof(path), "%s/p", dir);
		r = socket_check(path, &sock, why);
		print_message("# %s: %s\n", socks[i].what, r ? why : "may be asked");
		assert_int_equal(r, socks[i].error);
		cripeer_die(&site->peer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CRISITE("all that a runtime has is reported, stop signals by and by",
			test_all_is_reported),
		CRISITE("a container or sandbox that is asked for is reported, and its end once",
			test_find),
		CRISITE("a look-up before all is reported is answered from the list", test_early),
		CRISITE("what was absent is reported when it comes", test_late),
		CRISITE("an older runtime is asked in its own version", test_alpha),
		CRISITE("how a container ended is reported as soon as the runtime knows",
			test_exit),
		CRISITE("no socket is no failure, and one that comes is connected to", test_off),
		CRISITE("a runtime without CRI is no failure unless it is configured", test_no_cri),
		CRISITE("behind a runtime without CRI another is found", test_second_place),
		CRISITE("an endpoint is an absolute path, with or without unix://", test_endpoint),
		CRISITE("a crowd is answered by a list", test_together),
		CRISITE("lists of some length come whole, time and again", test_long_lists),
		CRISITE("of too many that wait the last are shed, and each is reported once",
			test_shed),
		CRISITE("answers that come side by side are all whole", test_side_by_side),
		CRISITE("a source that is freed reports nothing more", test_freed),
		CRISITE("a socket that others can have put there is not believed", test_socks),
	};

	return cmocka_run_group_tests_name("io/sources/cri", tests, NULL, NULL);
}
