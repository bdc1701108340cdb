// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/kubelet when somebody is in a hurry. */
#include "io/sources/kubelet/kubelet.h"

#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/daemon/kubescene.h"
#include "lib/net/tlsc.h"

static void test_hurry(void **state)
{
	const uint64_t second = 1000 * ASKER_MS;
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	s.options.gap_ns = ASKER_MS;
	unlink(kubescene_token);
	kubescene_start(&s);
	while (kubescene_state(&s).failures < 1)
		kubescene_turn(&s);
	for (uint64_t n = 1; n <= 4; n++) {
		uint64_t from_ns = clock_boot_ns();

		source_kubelet_hurry(s.k);
		source_kubelet_hurry(s.k);
		while (kubescene_state(&s).failures == n)
			kubescene_turn(&s);
		assert_true(clock_boot_ns() < from_ns + second / 2);
	}
	/* It is in a hurry no more. */
	got = kubescene_state(&s);
	assert_int_equal(got.failures, 5);
	assert_true(got.retry_ns > clock_boot_ns() + 15 * second);
	kubescene_close(&s);
}

/* Taking 10 MB takes a while, and keeps the next question away for three times as long. */
static void test_hurry_slow(void **state)
{
	uint64_t from_ns = clock_boot_ns(), took_ns;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	s.options.gap_ns = ASKER_MS;
	s.options.timeout_ns = 50000 * ASKER_MS;
	kubescene_play_pods(&s, 0, 500, 20000);
	assert_int_equal(kubescene_first(&s).status, SOURCE_UP);
	took_ns = clock_boot_ns() - from_ns;
	source_kubelet_refresh(s.k, "a");
	source_kubelet_hurry(s.k);
	from_ns = clock_boot_ns();
	while (kubepeer_asked(&s.peer) < 2)
		kubescene_turn(&s);
	assert_true(clock_boot_ns() - from_ns < took_ns);
	kubescene_close(&s);
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("while it is down it is asked as often as somebody is in a hurry", test_hurry),
		BOTH("then it need not rest from a long answer either", test_hurry_slow),
	};

	return cmocka_run_group_tests_name("io/sources/kubelet", tests, kubescene_set_up,
					   kubescene_tear_down);
}
