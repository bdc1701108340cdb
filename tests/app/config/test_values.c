// SPDX-License-Identifier: Apache-2.0
/* Claims about app/config/values: what a single setting takes. */
#include "app/config/values.h"

#include "lib/claim.h"

static void test_sender(void **state)
{
	static const struct {
		const char *value;
		bool taken;
	} want[] = {
		{"runc", true},
		{"fifteen bytes..", true},
		{"sixteen bytes...", false},
		{"", false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct config config = {};

		if (!value_sender(&config, want[i].value, 0) != want[i].taken)
			fail_msg("'%s'", want[i].value);
	}
}

static void test_kubernetes(void **state)
{
	static const struct {
		const char *value;
		unsigned int minor; /* 0: refused */
	} want[] = {
		{"1.20", 20},
		{"1.36", 36},
		{"v1.30", 30},
		{"1.26.3", 26},
		{"v1.30.0", 30},
		{"v1.30.14+k3s1", 30},
		{"v1.27.3-gke.100", 27},
		{"v1.29.0-eks-036c24b", 29},
		{"1.31.0-rc.0+12", 31},
		{"1.30+k3s1", 30},
		{"", 0},
		{"v", 0},
		{"vv1.30", 0},
		{"V1.30", 0},
		{"1", 0},
		{"1.", 0},
		{"2.30", 0},
		{"30", 0},
		{"1.19", 0},
		{"1.37.1", 0},
		{"1.030", 0},
		{"1.30.", 0},
		{"1.30.01", 0},
		{"1.30.1.2", 0},
		{"1.30.x", 0},
		{"1.30x", 0},
		{"1.30+", 0},
		{"1.30 ", 0},
		{" 1.30", 0},
		{"1.30+a b", 0},
		{"1.+30", 0},
		{"1.18446744073709551646", 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		unsigned int minor = 0;
		bool taken = !value_version(want[i].value, &minor);

		if (taken != (want[i].minor > 0) || minor != want[i].minor)
			fail_msg("'%s': %d, %u", want[i].value, taken, minor);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a sender's name that no process can have is refused", test_sender),
		CLAIM("a version is taken as kubectl version prints it", test_kubernetes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
