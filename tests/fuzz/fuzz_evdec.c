// SPDX-License-Identifier: Apache-2.0
/* Any bytes at all for the ring's decoder. Where it accepts them, the observation has a type and
 * every string in it ends. */
#include <assert.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/kernel/event.h"

static void check_proc(const struct graced_proc *proc)
{
	assert(memchr(proc->comm, '\0', sizeof(proc->comm)));
	assert(memchr(proc->exe, '\0', sizeof(proc->exe)));
}

static void check_signal(const struct obs_signal *signal)
{
	check_proc(&signal->target);
	check_proc(&signal->sender);
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		check_proc(&signal->ancestors[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct evdec *dec;
	static struct obs obs;

	if (!dec && evdec_new(2, &dec) < 0)
		return 0;
	memset(&obs, 0xff, sizeof(obs));
	if (evdec_decode(dec, data, size, &obs) < 0)
		return 0;

	assert(obs.type > OBS_NONE && obs.type < OBS_TYPE_COUNT);
	if (obs.type == OBS_CGROUP_NEW)
		assert(memchr(obs.cgroup.path, '\0', GRACED_NAME_LEN));
	if (obs.type == OBS_INIT)
		check_proc(&obs.init.proc);
	if (obs.type == OBS_SIGNAL)
		check_signal(&obs.signal);
	if (obs.type == OBS_EXIT)
		check_proc(&obs.exit.proc);
	if (obs.type == OBS_OOM)
		check_proc(&obs.oom.victim);
	return 0;
}
