// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the kubelet's shutdown state file: refused, or two times that are written again as
 * the same two. */
#include <assert.h>
#include <errno.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/kubernetes/kubelet_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_free) struct buf out = {};
	struct shutstate state, again;
	int r = shutstate_read((const char *)data, size, &state);

	assert(r == 0 || r == -EBADMSG || r == -EFBIG || r == -ENOMEM);
	if (r < 0)
		return 0;
	assert(shutstate_write(&out, &state) == 0);
	assert(shutstate_read(out.data, out.len, &again) == 0);
	assert(state.started == again.started && state.ended == again.ended);
	assert(!state.started || state.start_wall_ns == again.start_wall_ns);
	assert(!state.ended || state.end_wall_ns == again.end_wall_ns);
	return 0;
}
