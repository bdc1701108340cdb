/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the container runtime interface that does what the kubelet does to pods: for the
 * runtime of a test. Containers get the labels and annotations the kubelet gives them. Each call
 * waits for its answer; 0 or -errno, -EREMOTEIO with the runtime's words on stderr.
 */
#ifndef TESTS_LIB_RUNTIME_CRI_H
#define TESTS_LIB_RUNTIME_CRI_H

struct runtime_cri;

#define RUNTIME_ID_SIZE 65

struct runtime_pod {
	const char *namespace_, *name;
	const char *handler; /* "runc", "crun" */
	unsigned int grace_s;
	char uid[40];
	char cgroup_parent[160];  /* the pod's cgroup, from the hierarchy's root */
	char id[RUNTIME_ID_SIZE]; /* the sandbox's, once it is started */
};

struct runtime_container {
	const struct runtime_pod *pod;
	const char *name, *image;
	const char *const *args; /* NULL: the image's */
	unsigned int attempt;
	const char *hook; /* the JSON of its preStop handler; NULL: none */
	char id[RUNTIME_ID_SIZE];
};

/* A connection, to be used by one thread at a time. -ELIBACC: there is no libcurl. */
int runtime_cri_open(const char *socket, struct runtime_cri **ret);
/* NULL is fine; returns NULL. */
struct runtime_cri *runtime_cri_free(struct runtime_cri *cri);

/* Waits at most PATIENCE_S until the runtime answers. */
int runtime_cri_await(struct runtime_cri *cri);

int runtime_cri_run_pod(struct runtime_cri *cri, struct runtime_pod *pod);
int runtime_cri_create(struct runtime_cri *cri, struct runtime_container *container);
int runtime_cri_start(struct runtime_cri *cri, const char *id);
/* Stop signal, and SIGKILL when it still runs after this time. */
int runtime_cri_stop(struct runtime_cri *cri, const char *id, unsigned int timeout_s);
/* Waits until a container has ended by itself; its exit code, or -errno. */
int runtime_cri_wait(struct runtime_cri *cri, const char *id);
int runtime_cri_remove(struct runtime_cri *cri, const char *id);
int runtime_cri_stop_pod(struct runtime_cri *cri, const char *id);
/* 1: the sandbox is ready; 0: it is there, and not; or -errno. */
int runtime_cri_pod_is_ready(struct runtime_cri *cri, const char *id);
int runtime_cri_remove_pod(struct runtime_cri *cri, const char *id);
/* Runs a command in a container to its end. */
int runtime_cri_exec(struct runtime_cri *cri, const char *id, const char *const *argv);

#endif
