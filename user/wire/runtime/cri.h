/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container runtime interface of Kubernetes (kubernetes/cri-api, pkg/apis/runtime/v1/api.proto)
 * as gRPC carries it: questions to a runtime written, its answers read into core/names/meta's terms.
 *
 * Nothing in an answer is trusted. An item whose ID is not 1 to META_ID_MAX - 1 of [0-9A-Za-z_.-]
 * is skipped. A text that is longer than its member, holds a NUL or is not UTF-8 is dropped ("" is
 * left, which says nothing) and counted as refused, since a name cut short could be somebody
 * else's; only an image's and the runtime's own name are cut instead, between characters. Any other
 * character is data. A pod UID is 36 characters with dashes or 32 hexadecimal digits, and is given
 * as cgroup paths have it, in lower case; what has none is reported without its pod. One item is
 * read at a time, in no more than CRI_MEMORY_MAX bytes, however it is nested.
 *
 * Where one fact is given twice, metadata stands before labels: the kubelet writes both alike
 * (pkg/kubelet/kuberuntime/labels.go), but a runtime requires metadata and reserves the name by it,
 * and labels are any client's free text. Containers have no metadata of their pod, and the labels
 * are all there is; the kubelet does not copy the pod's own labels to them, so that only a sandbox
 * has the workload.
 */
#ifndef WIRE_RUNTIME_CRI_H
#define WIRE_RUNTIME_CRI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/names/meta.h"

enum cri_version { CRI_V1, CRI_V1ALPHA2, CRI_VERSION_COUNT };

enum cri_method {
	CRI_VERSION,	  /* no key */
	CRI_SANDBOXES,	  /* ListPodSandbox; key: a sandbox's ID, or NULL for all */
	CRI_CONTAINERS,	  /* ListContainers; key: a container's ID, or NULL for all */
	CRI_STATUS,	  /* ContainerStatus; key: the container's ID */
	CRI_IMAGE_STATUS, /* verbose; key: cri_item.image_key */
	CRI_EVENTS,	  /* GetContainerEvents, a stream that does not end; no key */
	CRI_STOP,	  /* StopContainer; cri_request_stop() */
	CRI_EXEC,	  /* ExecSync; cri_request_exec() */
	CRI_STOP_SANDBOX, /* StopPodSandbox; key: the sandbox's ID */
	CRI_METHOD_COUNT,
};

#define CRI_KEY_MAX    512		   /* the longest image_key and its NUL */
#define CRI_ITEM_MAX   ((size_t)512 << 10) /* a longer item is skipped; pods end at 256 KiB */
#define CRI_MEMORY_MAX ((size_t)2 << 20)

/* --- questions ------------------------------------------------------------------------------- */

/* "v1", "v1alpha2"; NULL for none. */
const char *cri_version_name(enum cri_version version);

/* What to POST to: "/runtime.v1.RuntimeService/Version"; NULL for none. */
const char *cri_method_path(enum cri_version version, enum cri_method method);

/* Adds the question with gRPC's prefix of 5 bytes, the whole body of the request. -EINVAL: no key
 * where one is needed, one where none is taken, or one longer than CRI_KEY_MAX - 1; or buf's error.
 */
int cri_request(struct buf *buf, enum cri_method method, const char *key);

/* The same for CRI_STOP: the stop signal now, and SIGKILL when it still runs after timeout_s
 * seconds; 0: SIGKILL at once. -EINVAL as above, or for more seconds than INT64_MAX; or buf's
 * error. The answer has no fields. */
int cri_request_stop(struct buf *buf, const char *id, uint64_t timeout_s);

/* The same for CRI_EXEC: runs a command in a container to its end. The n arguments, one at least,
 * stand one behind the other, each with its NUL. -EINVAL as above; or buf's error. */
int cri_request_exec(struct buf *buf, const char *id, const char *args, size_t n);

/* --- answers --------------------------------------------------------------------------------- */

struct cri_runtime {
	char name[64];	  /* "containerd", "cri-o" */
	char version[64]; /* the runtime's */
	char api[32];	  /* of the interface: "v1" */
};

/* Reads the reply of CRI_VERSION. -EBADMSG, -ENOMEM. */
int cri_read_version(const void *payload, size_t len, struct cri_runtime *ret);

/* The numbers of ContainerState; a sandbox is running (ready) or exited (not). */
enum cri_state {
	CRI_STATE_CREATED,
	CRI_STATE_RUNNING,
	CRI_STATE_EXITED,
	CRI_STATE_UNKNOWN, /* also any other number */
};

/*
 * A sandbox or a container, by container.kind; source is META_CRI in both parts. pod.uid is ""
 * where the pod is unknown. A sandbox's pod has the workload, and whether it is static; a
 * container's has the grace period, where the kubelet noted it
 * (io.kubernetes.pod.terminationGracePeriod). A container has the attempt and, where the kubelet
 * made it, whether there is a preStop hook; from a status also the stop signal, where the runtime
 * reports it (KEP-4960), and how it ended.
 */
struct cri_item {
	struct meta_pod pod;
	struct meta_container container;
	enum cri_state state;
	char sandbox_id[META_ID_MAX]; /* a container's sandbox; a sandbox's own ID */
	char image_key[CRI_KEY_MAX];  /* what to query CRI_IMAGE_STATUS with; "" for a sandbox */
	uint32_t refused;	      /* texts dropped */
};

/*
 * A list, read in slices: payload must stay until the end. All that cri_walk_start() fills may be
 * read. node is what static pods have at the end of their names; NULL where it is not known.
 */
struct cri_walk {
	enum cri_method method; /* CRI_SANDBOXES or CRI_CONTAINERS */
	const char *node;
	const uint8_t *payload;
	size_t len;
	size_t at;	  /* how far it has been read */
	uint64_t items;	  /* given */
	uint64_t skipped; /* no ID, malformed, or too long */
	uint64_t refused; /* texts dropped from those given */
};

void cri_walk_start(struct cri_walk *walk, enum cri_method method, const char *node,
		    const void *payload, size_t len);

enum cri_walked { CRI_WALK_END, CRI_WALK_ITEM, CRI_WALK_SKIPPED };

/* The next field of the list: one of enum cri_walked; *ret is written for an item only. An unknown
 * field is skipped, too, but not counted. A caller bounds its turn by how often it calls and how
 * far walk->at has come. -EBADMSG: from here on the list makes no sense; what was given before
 * stands. -ENOMEM: calling again tries the same entry. */
int cri_walk_next(struct cri_walk *walk, struct cri_item *ret);

/* Reads CRI_STATUS. -ENOENT: no status; -EBADMSG: it is malformed, or its ID is; -EMSGSIZE: longer
 * than CRI_ITEM_MAX, or needs more than CRI_MEMORY_MAX; -ENOMEM. */
int cri_read_status(const void *payload, size_t len, struct cri_item *ret);

enum cri_hook_type {
	CRI_HOOK_NONE,
	CRI_HOOK_EXEC,
	CRI_HOOK_SLEEP,
	CRI_HOOK_HTTP, /* httpGet */
	CRI_HOOK_TCP,  /* tcpSocket, which the kubelet does not run */
};

#define CRI_HOOK_TEXT_MAX ((size_t)64 << 10) /* of its JSON */
#define CRI_HOOK_ARGS_MAX 1024

/* A preStop hook. */
struct cri_hook {
	enum cri_hook_type type;
	struct buf args; /* EXEC: as cri_request_exec() takes them */
	size_t n_args;
	uint64_t sleep_s; /* SLEEP */
};

/* Reads from CRI_STATUS the hook that the kubelet noted at the container as JSON
 * (io.kubernetes.container.preStopHandler), NONE without a note. -ENOENT: no status; -EBADMSG: it
 * is malformed, or the hook is; -E2BIG: the hook exceeds the bounds; -EMSGSIZE, -ENOMEM as above.
 * cri_hook_done() frees the memory of the result. */
int cri_read_hook(const void *payload, size_t len, struct cri_hook *ret);
void cri_hook_done(struct cri_hook *hook);

/* The exit code in CRI_EXEC. -EBADMSG, -EMSGSIZE, -ENOMEM as above. */
int cri_read_exec(const void *payload, size_t len, int32_t *ret_code);

/* The stop signal in the image's configuration, from a verbose CRI_IMAGE_STATUS: containerd and
 * CRI-O report it as JSON (imageSpec.config.StopSignal under the key "info"); 0 if the image names
 * none, which means SIGTERM. -ENOENT: the image is missing, or its configuration is; -EBADMSG:
 * malformed, or no signal; -EMSGSIZE as above; -ENOMEM. */
int cri_read_image(const void *payload, size_t len, uint32_t *ret_signal);

/* The numbers of ContainerEventType. */
enum cri_event_type {
	CRI_EVENT_CREATED,
	CRI_EVENT_STARTED,
	CRI_EVENT_STOPPED,
	CRI_EVENT_DELETED,
};

/* What happened to a container or a sandbox, whose ID is id. The runtime may report their state
 * with it: a container's with its sandbox's, or the sandbox's alone. */
struct cri_event {
	char id[META_ID_MAX];
	enum cri_event_type type;
	int64_t wall_ns; /* when; 0: unknown */
	bool has_container;
	bool has_sandbox;
	struct cri_item container; /* container.container.id is id */
	struct cri_item sandbox;
};

/* Reads one message of CRI_EVENTS. -EBADMSG: malformed, no ID, or unknown type; -EMSGSIZE, -ENOMEM
 * as above. */
int cri_read_event(const void *payload, size_t len, const char *node, struct cri_event *ret);

#endif
