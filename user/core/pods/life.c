// SPDX-License-Identifier: Apache-2.0
#include "core/pods/life.h"

#include <stddef.h>

const char *pod_stage_name(enum pod_stage stage)
{
	static const char *const names[POD_STAGE_COUNT] = {
		[POD_STAGE_SYNC] = "sync",
		[POD_STAGE_TERMINATING] = "terminating",
		[POD_STAGE_TERMINATED] = "terminated",
		[POD_STAGE_FINISHED] = "finished",
		[POD_STAGE_FORGOTTEN] = "forgotten",
	};

	return (unsigned int)stage < POD_STAGE_COUNT ? names[stage] : NULL;
}
