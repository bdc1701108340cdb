// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/kubelet: what it reports of pods, and when it asks. */
#include "io/sources/kubelet/kubelet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/daemon/kubescene.h"
#include "lib/net/tlsc.h"
#include "lib/pods/podgen.h"

static void play_backwards(struct kubescene *s, unsigned int first, unsigned int count)
{
	_cleanup_(buf_free) struct buf list = {};

	buf_adds(&list, "{\"items\":[");
	for (unsigned int i = count; i-- > 0;) {
		podgen_pod(&list, first + i, KUBESCENE_SMALL);
		buf_adds(&list, i ? "," : "]}");
	}
	kubescene_play_body(s, list.data, list.len, 0);
}

static void test_pods(void **state)
{
	char uid[POD_UID_MAX], expected[64];
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play_pods(&s, 0, 20, KUBESCENE_SMALL);
	got = kubescene_first(&s);
	assert_int_equal(got.status, SOURCE_UP);
	assert_int_equal(got.failures, 0);
	assert_string_equal(got.text, "20 pods");
	assert_int_equal(s.pods, 20);
	assert_int_equal(s.containers, 80);
	assert_int_equal(s.gone, 0);
	assert_int_equal(s.lists, 1);

	/* The first one is gone, one is new, and they come in another order. */
	play_backwards(&s, 1, 20);
	podgen_uid(20, uid);
	kubescene_refresh(&s, uid);
	snprintf(expected, sizeof(expected), "%s found\n", uid);
	assert_string_equal(buf_str(&s.done), expected);
	assert_int_equal(s.pods, 40);
	assert_int_equal(s.gone, 1);
	podgen_uid(0, uid);
	assert_string_equal(s.last_gone, uid);
	assert_int_equal(s.lists, 2);
	assert_int_equal(s.gone_before_list, 1);

	/* Once. */
	buf_reset(&s.done);
	kubescene_refresh(&s, uid);
	snprintf(expected, sizeof(expected), "%s missing\n", uid);
	assert_string_equal(buf_str(&s.done), expected);
	assert_int_equal(s.gone, 1);

	kubescene_play_body(&s, "{\"items\":null}", 14, 0);
	kubescene_refresh(&s, uid);
	got = kubescene_state(&s);
	assert_string_equal(got.text, "0 pods");
	assert_int_equal(got.lookups[META_FOUND], 1);
	assert_int_equal(got.lookups[META_ABSENT], 2);
	kubescene_close(&s);
}

/* As a kubelet lists them that has not heard of the API. */
static void test_restart(void **state)
{
#define STATIC                                                                                       \
	"{\"metadata\":{\"uid\":\"0123456789abcdef0123456789abcdef\",\"name\":\"s\",\"annotations\"" \
	":{\"kubernetes.io/config.source\":\"file\"}}}"
	static const char *const lists[] = {"{\"items\":null}", "{\"items\":[" STATIC "]}",
					    "{\"items\":[]}"};
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play_pods(&s, 0, 20, KUBESCENE_SMALL);
	kubescene_first(&s);
	kubescene_refresh(&s, "a");
	for (size_t i = 0; i < LEN(lists); i++) {
		kubescene_play_body(&s, lists[i], strlen(lists[i]), 0);
		kubescene_refresh(&s, "a");
		assert_int_equal(kubescene_state(&s).status, SOURCE_UP);
		assert_int_equal(s.gone, 0);
	}
	assert_int_equal(s.lists, 2);
	kubescene_play_pods(&s, 2, 18, KUBESCENE_SMALL);
	kubescene_refresh(&s, "a");
	assert_int_equal(s.gone, 2);
	assert_int_equal(s.lists, 3);
	kubescene_close(&s);
}

static void test_static_gone(void **state)
{
	static const char list[] = "{\"items\":[" STATIC "]}";
	static const char two[] =
		"{\"items\":[" STATIC
		",{\"metadata\":{\"uid\":\"1123456789abcdef0123456789abcdef\",\"annotations\":"
		"{\"kubernetes.io/config.source\":\"file\"}}}]}";
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play_body(&s, list, strlen(list), 0);
	kubescene_first(&s);
	kubescene_play_body(&s, "{\"items\":[]}", 12, 0);
	kubescene_refresh(&s, "a");
	assert_int_equal(s.gone, 0);
	assert_int_equal(s.lists, 1);
	kubescene_play_body(&s, two, strlen(two), 0);
	kubescene_refresh(&s, "a");
	kubescene_play_body(&s, list, strlen(list), 0);
	kubescene_refresh(&s, "a");
	assert_int_equal(s.gone, 1);
	assert_string_equal(s.last_gone, "1123456789abcdef0123456789abcdef");
	kubescene_close(&s);
}

#define STATIC_POD(digit, seen)                                                                  \
	"{\"metadata\":{\"uid\":\"0123456789abcdef0123456789abcde" digit "\",\"name\":\"s" digit \
	"\",\"annotations\":{\"kubernetes.io/config.source\":\"file\","                          \
	"\"kubernetes.io/config.seen\":\"2026-03-01T10:00:0" seen "Z\"}}}"
#define API_POD(digit, seen)                                                        \
	"{\"metadata\":{\"uid\":\"94dc9966-1111-4222-8333-44444444444" digit        \
	"\",\"name\":\"a" digit "\",\"annotations\":{\"kubernetes.io/config.source" \
	"\":\"api\",\"kubernetes.io/config.seen\":\"2026-03-01T10:00:0" seen "Z\"}}}"

/* The next list, and how many pods are gone and lists complete after it. */
struct listed {
	const char *pods;
	unsigned int gone, lists;
};

static void expect_lists(void **state, const struct listed *rows, size_t n)
{
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	for (size_t i = 0; i < n; i++) {
		char body[2048];
		int len = snprintf(body, sizeof(body), "{\"items\":[%s]}", rows[i].pods);

		assert_in_range(len, 0, sizeof(body) - 1);
		kubescene_play_body(&s, body, (size_t)len, 0);
		if (i == 0)
			kubescene_first(&s);
		else
			kubescene_refresh(&s, "a");
		print_message("# list %zu: %u gone, %u lists\n", i, s.gone, s.lists);
		assert_int_equal(s.gone, rows[i].gone);
		assert_int_equal(s.lists, rows[i].lists);
	}
	kubescene_close(&s);
}

/* The kubelet that has listed the API's pods runs on: it knows that there are none any more. */
static void test_api_pods_gone(void **state)
{
	static const struct listed rows[] = {
		{STATIC_POD("1", "1") "," STATIC_POD("2", "1") "," API_POD("1", "2"), 0, 1},
		{STATIC_POD("1", "1") "," STATIC_POD("2", "1"), 1, 2},
		{STATIC_POD("2", "1"), 2, 3},
		{"", 2, 3},
	};

	expect_lists(state, rows, LEN(rows));
}

/* A kubelet that has just started lists static pods alone, however often it is asked, and one of
 * these may be new. */
static void test_restarted(void **state)
{
	static const struct listed rows[] = {
		{STATIC_POD("1", "1") "," STATIC_POD("2", "1") "," API_POD("1", "2"), 0, 1},
		{"", 0, 1},
		{STATIC_POD("1", "5"), 0, 1},
		{STATIC_POD("1", "5") "," STATIC_POD("2", "5"), 0, 1},
		{STATIC_POD("1", "5") "," STATIC_POD("2", "5"), 0, 1},
		{STATIC_POD("3", "5"), 0, 1},
	};

	expect_lists(state, rows, LEN(rows));
}

/* On a node of static pods alone nothing but its first list shows that the kubelet was restarted. */
static void test_restarted_with_static_pods(void **state)
{
	static const struct listed rows[] = {
		{STATIC_POD("1", "1") "," STATIC_POD("2", "1") "," STATIC_POD("3", "1"), 0, 1},
		{STATIC_POD("1", "5") "," STATIC_POD("2", "5"), 0, 1},
		{STATIC_POD("1", "5") "," STATIC_POD("2", "5"), 1, 2},
		{STATIC_POD("2", "5"), 2, 3},
		{"", 2, 3},
		{STATIC_POD("2", "7") "," STATIC_POD("4", "7"), 2, 3},
		{STATIC_POD("4", "7"), 3, 4},
	};

	expect_lists(state, rows, LEN(rows));
}

/* It adds the pods that it was given one by one: the first list may have some of them only. */
static void test_part_of_the_pods(void **state)
{
	static const struct listed rows[] = {
		{STATIC_POD("1", "1") "," API_POD("1", "2") "," API_POD("2", "2") "," API_POD("3",
											      "2"),
		 0, 1},
		{STATIC_POD("1", "5") "," API_POD("3", "6"), 0, 1},
		{STATIC_POD("1", "5") "," API_POD("2", "6") "," API_POD("3", "6"), 1, 2},
		{STATIC_POD("1", "5") "," API_POD("3", "6"), 2, 3},
	};

	expect_lists(state, rows, LEN(rows));
}

static void test_mirrors(void **state)
{
#define MIRROR(hash)                                                                           \
	"{\"metadata\":{\"uid\":\"94dc9966-1111-4222-8333-444444444444\",\"name\":\"m\","      \
	"\"annotations\":{\"kubernetes.io/config.mirror\":\"x\",\"kubernetes.io/config.hash\"" \
	":\"" hash "\"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"
	static const char list[] = "{\"items\":[" MIRROR("0123456789abcdef0123456789abcdef") "]}";
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play_body(&s, list, strlen(list), 0);
	assert_int_equal(kubescene_first(&s).status, SOURCE_UP);
	assert_int_equal(s.pods + s.containers, 0);
	kubescene_refresh(&s, "0123456789abcdef0123456789abcdef");
	assert_string_equal(buf_str(&s.done), "0123456789abcdef0123456789abcdef missing\n");
	kubescene_close(&s);
}

static void test_cut(void **state)
{
	_cleanup_(buf_free) struct buf list = {};
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play_pods(&s, 0, 20, KUBESCENE_SMALL);
	kubescene_first(&s);

	/* By the network: nothing of it counts. */
	podgen_list(&list, 20, 20, KUBESCENE_SMALL);
	kubescene_play_body(&s, list.data, list.len / 2, list.len / 2);
	kubescene_refresh(&s, "a");
	got = kubescene_state(&s);
	print_message("# %s\n", got.text);
	assert_int_equal(got.status, SOURCE_DOWN);
	assert_int_equal(s.pods, 20);
	assert_int_equal(s.gone, 0);
	assert_string_equal(buf_str(&s.done), "a failed\n");

	/* By who wrote it: what came stands. It asks again by itself. */
	kubescene_play_body(&s, list.data, list.len / 2, 0);
	while (kubescene_state(&s).failures == 1)
		kubescene_turn(&s);
	got = kubescene_state(&s);
	print_message("# %s\n", got.text);
	assert_int_equal(got.status, SOURCE_DOWN);
	assert_non_null(strstr(got.text, "breaks off after"));
	assert_true(s.pods > 20 && s.pods < 40);
	assert_int_equal(s.gone, 0);
	assert_int_equal(s.lists, 1);

	kubescene_play_pods(&s, 0, 10, KUBESCENE_SMALL);
	while (kubescene_state(&s).status == SOURCE_DOWN)
		kubescene_turn(&s);
	assert_int_equal(s.gone, 10);
	kubescene_close(&s);
}

static void test_silence(void **state)
{
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	for (int i = 0; i < 3; i++) {
		kubescene_open(&s, *state);
		s.options.timeout_ns = 300 * ASKER_MS;
		/* After the question, in the middle of an answer, before TLS. */
		if (i < 2)
			kubescene_play(&s, "server",
				       i ? KUBESCENE_HEAD "Content-Length: 9\r\n\r\n{" : "",
				       i ? strlen(KUBESCENE_HEAD "Content-Length: 9\r\n\r\n{") : 0,
				       true);
		got = kubescene_first(&s);
		print_message("# %s\n", got.text);
		assert_int_equal(got.status, SOURCE_DOWN);
		assert_non_null(strstr(got.text, "no whole answer came"));
		kubescene_close(&s);
	}
}

/* 500 pods, 10 MB. */
static void test_large(void **state)
{
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	s.options.timeout_ns = 50000 * ASKER_MS;
	kubescene_play_pods(&s, 0, 500, 20000);
	assert_true(s.answer.len > 10000000);
	got = kubescene_first(&s);
	print_message("# %s\n", got.text);
	assert_int_equal(got.status, SOURCE_UP);
	assert_int_equal(s.pods, 500);
	assert_int_equal(s.containers, 2000);
	/* In slices, between which the loop turns. */
	assert_true(s.turns_with_pods > 4);
	kubescene_close(&s);
}

static void test_too_large(void **state)
{
	_cleanup_(buf_free) struct buf list = {};
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	s.options.timeout_ns = 50000 * ASKER_MS;
	podgen_list(&list, 0, 24, 1 << 20);
	kubescene_play_body(&s, list.data, list.len, 0);
	got = kubescene_first(&s);
	print_message("# %s\n", got.text);
	assert_int_equal(got.status, SOURCE_DOWN);
	assert_non_null(strstr(got.text, "16 MiB"));
	assert_int_equal(s.pods, 0);
	kubescene_close(&s);
}

static void test_coalescing(void **state)
{
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play_pods(&s, 0, 1, KUBESCENE_SMALL);
	kubescene_start(&s);
	/* The first question is not yet asked. */
	for (unsigned int i = 0; i < 300; i++) {
		char uid[POD_UID_MAX];

		podgen_uid(i % 280, uid);
		source_kubelet_refresh(s.k, uid);
	}
	assert_int_equal(s.n_done, 280 - SOURCE_KUBELET_LOOKUPS_MAX);
	while (s.n_done < 280)
		kubescene_turn(&s);
	assert_int_equal(kubepeer_asked(&s.peer), 1);
	got = kubescene_state(&s);
	assert_int_equal(got.lookups[META_FOUND], 1);
	assert_int_equal(got.lookups[META_ABSENT], 255);
	assert_int_equal(got.lookups[META_SHED], 24);

	/* One that comes while a question is under way is for the next one. */
	buf_reset(&s.done);
	source_kubelet_refresh(s.k, "a");
	while (kubepeer_asked(&s.peer) == 1)
		kubescene_turn(&s);
	source_kubelet_refresh(s.k, "b");
	source_kubelet_refresh(s.k, "b");
	while (s.n_done < 281)
		kubescene_turn(&s);
	assert_string_equal(buf_str(&s.done), "a missing\n");
	while (s.n_done < 282)
		kubescene_turn(&s);
	assert_string_equal(buf_str(&s.done), "a missing\nb missing\n");
	assert_int_equal(kubepeer_asked(&s.peer), 3);

	/* Likewise one that comes while others are reported. */
	s.ask_again = "d";
	source_kubelet_refresh(s.k, "c");
	source_kubelet_refresh(s.k, "e");
	while (s.n_done < 285)
		kubescene_turn(&s);
	assert_string_equal(buf_str(&s.done) + 20, "c missing\ne missing\nd missing\n");
	assert_int_equal(kubepeer_asked(&s.peer), 5);
	source_kubelet_refresh(s.k, "0123456789012345678901234567890123456789");
	assert_int_equal(s.n_done, 286);
	kubescene_close(&s);
}

static void test_same_pod(void **state)
{
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play_pods(&s, 0, 1, KUBESCENE_SMALL);
	kubescene_first(&s);
	assert_int_equal(kubepeer_asked(&s.peer), 1);
	/* It is reported once, when the newer question is answered ... */
	source_kubelet_refresh(s.k, "f");
	while (kubepeer_asked(&s.peer) == 1)
		kubescene_turn(&s);
	source_kubelet_refresh(s.k, "f");
	source_kubelet_refresh(s.k, "g");
	while (s.n_done < 2)
		kubescene_turn(&s);
	assert_string_equal(buf_str(&s.done), "f missing\ng missing\n");
	assert_int_equal(kubepeer_asked(&s.peer), 3);
	/* ... and once more when the sink itself asks for it. */
	s.ask_again = "h";
	source_kubelet_refresh(s.k, "h");
	while (s.n_done < 4)
		kubescene_turn(&s);
	assert_string_equal(buf_str(&s.done) + 20, "h missing\nh missing\n");
	assert_int_equal(kubepeer_asked(&s.peer), 5);
	kubescene_close(&s);
}

static void test_interval(void **state)
{
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	s.options.interval_ns = ASKER_MS;
	kubescene_play_pods(&s, 0, 1, KUBESCENE_SMALL);
	kubescene_start(&s);
	while (s.pods < 5)
		kubescene_turn(&s);
	assert_int_equal(s.gone, 0);
	kubescene_close(&s);
}

static void test_back_off(void **state)
{
	const uint64_t second = 1000 * ASKER_MS;
	uint64_t not_before = clock_boot_ns();
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	unlink(kubescene_token);
	kubescene_start(&s);
	for (uint64_t n = 1; n <= 2; n++) {
		while (kubescene_state(&s).failures < n)
			kubescene_turn(&s);
		got = kubescene_state(&s);
		assert_true(got.retry_ns >= not_before + (second << (n - 1)));
		assert_true(got.retry_ns <= clock_boot_ns() + (second << (n - 1)));
		not_before = got.retry_ns;
	}
	kubescene_write(kubescene_token, KUBESCENE_TOKEN, strlen(KUBESCENE_TOKEN));
	kubescene_play_pods(&s, 0, 3, KUBESCENE_SMALL);
	while (kubescene_state(&s).status == SOURCE_DOWN)
		kubescene_turn(&s);
	got = kubescene_state(&s);
	assert_int_equal(got.failures, 0);
	assert_int_equal(got.retry_ns, 0);
	assert_int_equal(s.pods, 3);
	kubescene_close(&s);
}

static void test_ends(void **state)
{
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	for (int i = 0; i < 4; i++) {
		kubescene_open(&s, *state);
		kubescene_play_pods(&s, 0, 200, 20000);
		kubescene_start(&s);
		source_kubelet_refresh(s.k, "a");
		/* Before the question, while it is asked, and while the answer is read. */
		while ((i == 1 && kubepeer_accepted(&s.peer) == 0) ||
		       (i == 2 && kubepeer_asked(&s.peer) == 0) || (i == 3 && s.pods == 0))
			kubescene_turn(&s);
		s.k = source_kubelet_free(s.k);
		for (int n = 0; n < 3; n++)
			kubescene_turn(&s);
		assert_int_equal(s.n_done, 0);
		kubescene_close(&s);
	}
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("pods are reported, found, and reported once to be gone", test_pods),
		BOTH("while none of the API's pods is listed they are not gone", test_restart),
		BOTH("on a node of static pods alone one is gone when others are listed, and an "
		     "empty list proves nothing",
		     test_static_gone),
		BOTH("pods of the API and static ones are gone once the kubelet that listed them "
		     "lists others that it saw then",
		     test_api_pods_gone),
		BOTH("a kubelet that started since lists static pods alone: none is gone",
		     test_restarted),
		BOTH("nor is one that its first list with pods of the API lacks",
		     test_part_of_the_pods),
		BOTH("on a node of static pods alone one that its second list lacks is gone",
		     test_restarted_with_static_pods),
		BOTH("a pod that says it is a mirror is ignored", test_mirrors),
		BOTH("an answer cut in half takes nothing back", test_cut),
		BOTH("silence ends, wherever it begins", test_silence),
		BOTH("500 pods in 10 MB are reported in slices", test_large),
		BOTH("more than 16 MiB are no answer", test_too_large),
		BOTH("one question is asked for all who wait, after they began to",
		     test_coalescing),
		BOTH("a pod that is asked for again is reported once, by the newer answer",
		     test_same_pod),
		BOTH("it asks by itself, again and again", test_interval),
		BOTH("while it is down it asks less and less often, and comes back", test_back_off),
		BOTH("it can end at any time", test_ends),
	};

	return cmocka_run_group_tests_name("io/sources/kubelet", tests, kubescene_set_up,
					   kubescene_tear_down);
}
