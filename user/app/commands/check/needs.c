// SPDX-License-Identifier: Apache-2.0
/* The table of features and capabilities, found by running with each of them dropped. */
#include "app/commands/check/needs.h"

#include <linux/capability.h>

#define BIT(capability) (1ull << (capability))

const struct need needs[] = {
	{"tracing", BIT(CAP_BPF) | BIT(CAP_PERFMON), true,
	 "no BPF program can be loaded: trace, record and run do not start"},
	{"inits from before", BIT(CAP_SYS_PTRACE), false,
	 "their executables cannot be seen (/proc/PID/exe)"},
	{"audit", BIT(CAP_SYS_PTRACE), false,
	 "it answers unknown where it has to look into other users' processes"},
	{"cgroups by id", BIT(CAP_DAC_READ_SEARCH), false,
	 "one is found only by walking all of them (no open_by_handle_at)"},
	{"cost of BPF", BIT(CAP_SYS_ADMIN), false,
	 "it is not measured, and the budget of run covers the daemon alone"},
};

const size_t needs_n = sizeof(needs) / sizeof(*needs);

uint64_t needs_all(void)
{
	uint64_t all = 0;

	for (size_t i = 0; i < needs_n; i++)
		all |= needs[i].capabilities;
	return all;
}

uint64_t needs_lacking(uint64_t wanted, uint64_t have)
{
	if (have & BIT(CAP_SYS_ADMIN))
		have |= BIT(CAP_BPF) | BIT(CAP_PERFMON);
	return wanted & ~have;
}

const char *needs_name(unsigned int capability)
{
	switch (capability) {
	case CAP_BPF:
		return "CAP_BPF";
	case CAP_PERFMON:
		return "CAP_PERFMON";
	case CAP_SYS_PTRACE:
		return "CAP_SYS_PTRACE";
	case CAP_DAC_READ_SEARCH:
		return "CAP_DAC_READ_SEARCH";
	case CAP_SYS_ADMIN:
		return "CAP_SYS_ADMIN";
	default:
		return NULL;
	}
}

void needs_add_names(struct buf *out, uint64_t capabilities)
{
	const char *separator = "";

	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++) {
		const char *name = capabilities & BIT(i) ? needs_name(i) : NULL;

		if (!name)
			continue;
		buf_adds(out, separator);
		buf_adds(out, name);
		separator = ", ";
	}
}
