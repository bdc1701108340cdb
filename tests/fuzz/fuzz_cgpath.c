// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a cgroup path: the answer is always one that a caller may rely on, each member in
 * keeping with the others, and every name in it stands in the input. */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/cgroup/path.h"
#include "fuzz/fuzz.h"

struct input {
	const char *bytes;
	size_t len;
};

static bool occurs(const struct input *in, const char *text)
{
	return !*text || memmem(in->bytes, in->len, text, strlen(text));
}

static bool is_lower_hex(const char *text)
{
	return text[strspn(text, "0123456789abcdef")] == '\0';
}

static void check_uid(const struct input *in, const struct cgpath *id)
{
	char escaped[sizeof(id->pod_uid)];
	size_t len = strnlen(id->pod_uid, sizeof(id->pod_uid));

	assert(len == 0 || len == 32 || len == POD_UID_LEN);
	assert(id->static_pod == (len == 32));
	assert(len != 32 || is_lower_hex(id->pod_uid));
	assert(strspn(id->pod_uid, "0123456789abcdef-") == len);
	for (size_t i = 0; i <= len; i++)
		escaped[i] = id->pod_uid[i] == '-' ? '_' : id->pod_uid[i];
	assert(occurs(in, id->pod_uid) || occurs(in, escaped));
}

static void check_container_id(const struct input *in, const struct cgpath *id)
{
	size_t len = strnlen(id->container_id, sizeof(id->container_id));

	assert(len == 0 || len == CGPATH_ID_LEN);
	assert(is_lower_hex(id->container_id));
	assert(occurs(in, id->container_id));
}

/* Which members a kind may and must have. */
static void check_kind(const struct cgpath *id)
{
	bool uid = id->pod_uid[0], cid = id->container_id[0];
	bool qos = id->qos != CGPATH_QOS_UNKNOWN, driver = id->driver != CGPATH_DRIVER_NONE;
	bool runtime = id->runtime != CGPATH_RT_NONE;

	switch (id->kind) {
	case CGPATH_NONE:
	case CGPATH_MOUNT:
		assert(!uid && !cid && !qos && !driver && !runtime);
		break;
	case CGPATH_KUBEPODS_ROOT:
		assert(!uid && !cid && !qos && driver && !runtime);
		break;
	case CGPATH_QOS:
		assert(!uid && !cid && qos && driver && !runtime);
		assert(id->qos != CGPATH_QOS_GUARANTEED);
		break;
	case CGPATH_POD:
		assert(uid && !cid && driver && !runtime);
		break;
	case CGPATH_CONTAINER:
		assert(cid && runtime && uid == driver && (uid || !qos));
		break;
	case CGPATH_CONTAINER_OUTSIDE:
		assert(cid && runtime && !uid && !qos && !driver);
		break;
	case CGPATH_SANDBOX:
		assert(cid && id->runtime == CGPATH_RT_CRIO && uid == driver && (uid || !qos));
		break;
	case CGPATH_CONMON:
		assert(!cid && runtime && uid == driver && (uid || !qos));
		break;
	default:
		assert(!"a kind of the enum");
	}
}

static void check_names(const struct cgpath *id)
{
	assert(cgpath_kind_name(id->kind));
	assert(!cgpath_qos_name(id->qos) == (id->qos == CGPATH_QOS_UNKNOWN));
	assert(!cgpath_runtime_name(id->runtime) == (id->runtime == CGPATH_RT_NONE));
	assert(!cgpath_driver_name(id->driver) == (id->driver == CGPATH_DRIVER_NONE));
}

/* Below a directory of another name a path says the same, but for what stands at the very top. */
static void check_moved(const struct input *in, const struct cgpath *id)
{
	static const char above[] = "/a";
	const size_t n = sizeof(above) - 1;
	_cleanup_(cleanup_free) char *bytes = NULL;
	struct cgpath moved;

	if (id->kind == CGPATH_NONE || in->bytes[0] != '/' || occurs(in, ".."))
		return;
	bytes = malloc(n + in->len);
	if (!bytes)
		return;
	memcpy(bytes, above, n);
	memcpy(bytes + n, in->bytes, in->len);
	cgpath_parse(bytes, n + in->len, &moved);
	assert(moved.kind == id->kind && moved.qos == id->qos && moved.driver == id->driver);
	assert(moved.runtime == id->runtime && moved.static_pod == id->static_pod);
	assert(!strcmp(moved.pod_uid, id->pod_uid));
	assert(!strcmp(moved.container_id, id->container_id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct input in = {(const char *)data, size};
	struct cgpath id;

	memset(&id, 0xa5, sizeof(id));
	cgpath_parse(in.bytes, in.len, &id);
	check_uid(&in, &id);
	check_container_id(&in, &id);
	check_kind(&id);
	check_names(&id);
	check_moved(&in, &id);
	return 0;
}
