/* SPDX-License-Identifier: Apache-2.0 */
/* The options of all commands, by groups of which each command takes some. */
#ifndef APP_CONFIG_OPTIONS_H
#define APP_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engine/engine.h"
#include "core/stop/filter.h"
#include "io/sources/kubelet/kubelet.h"

#define OPTIONS_NESTED_MAX 64
#define OPTIONS_ROOTS_MAX  64
#define OPTIONS_NODE_SIZE  256 /* of the node's name */

/* Groups of options; a command takes some of them. */
enum options_group {
	OPTIONS_FORMAT = 1 << 0,  /* -o */
	OPTIONS_FILTER = 1 << 1,  /* which records, how many */
	OPTIONS_ENGINE = 1 << 2,  /* what the engine takes into account */
	OPTIONS_HOST = 1 << 3,	  /* where to look on this host */
	OPTIONS_LIVE = 1 << 4,	  /* what a live trace needs */
	OPTIONS_RECORD = 1 << 5,  /* --record */
	OPTIONS_SUBJECT = 1 << 6, /* which containers, and one signal */
	OPTIONS_AUDIT = 1 << 7,	  /* --exit-zero */
	OPTIONS_EXPLAIN = 1 << 8, /* --kubernetes, --job */
	OPTIONS_POD = 1 << 9,	  /* which pods */
	OPTIONS_PODS = 1 << 10,	  /* --watch, --socket */
	OPTIONS_PLAN = 1 << 11,	  /* --kubernetes, what is planned for, by what */
	OPTIONS_CHECK = 1 << 12,  /* --kubernetes, --kubelet-config */
};

/* What commands that take OPTIONS_HOST say of the sources of names in their --help. */
#define OPTIONS_SOURCES_HELP                                                                            \
	"      --cri-endpoint SOCKET     the container runtime's (default: found by itself) or none\n"  \
	"      --kubelet-url URL         the kubelet's API: grace periods, deletions (default: none)\n" \
	"      --kubelet-ca FILE         certificates that vouch for the kubelet's\n"                   \
	"      --kubelet-server-name NAME  whom its certificate must name (default: the URL's host)\n"  \
	"      --kubelet-token-file FILE   a token for it, sent over https alone\n"                     \
	"      --docker-root DIR         Docker's files (default /var/lib/docker)\n"                    \
	"      --podman-root DIR         Podman's (default /var/lib/containers/storage)\n"              \
	"      --containerd-state DIR    containerd's (default /run/containerd)\n"

/* A server that lists pods, and how to query it. */
struct sources_peer {
	const char *url; /* NULL: not queried */
	const char *ca, *server_name, *token_file, *client_file;
	uint64_t interval_ns; /* 0: the default */
};

/* Where the sources of metadata are. Strings are borrowed; NULL is the default, or none where there
 * is no default. */
struct sources_options {
	const char *cri_endpoint; /* socket; NULL: searched for; "none": not queried */
	const char *docker_root, *podman_root, *containerd_state;
	struct sources_peer kubelet, api;
};

struct options {
	const char *command; /* its name, for messages */
	bool json;
	struct filter filter;
	uint64_t count; /* rows to print, 0: no end */

	struct engine_config engine; /* without its lists */
	bool scope_given, grace_given;
	const char *nested[OPTIONS_NESTED_MAX + 1]; /* NULL-ended */
	size_t n_nested;
	const char *roots[OPTIONS_ROOTS_MAX + 1]; /* of containers; likewise */
	size_t n_roots;

	uint64_t duration_ns;  /* 0: until a signal comes */
	const char *record;    /* file to write observations to, "-" is stdout; NULL: none */
	const char *node_name; /* NULL: NODE_NAME, then the host name */
	const char *hierarchy;
	size_t ring_bytes;
	const char *log_dir;
	bool no_names;
	struct sources_options sources;
	bool exit_zero;
	unsigned int kubernetes_minor; /* of 1.<minor> */
	const char *job;	       /* file with a Job, "-" is stdin; NULL: none */
	bool watch;
	const char *socket; /* of the daemon; NULL: the default */
	bool if_node_dies;
	const char *kubelet_config; /* of the kubelet; NULL: the default */
	const char *pods;	    /* file with pods, "-" is stdin; NULL: none */
	uint64_t monitor_grace_ns;  /* in whole seconds; 0: as the version has it */
	bool out_of_service;
	uint64_t taint_after_ns; /* in whole seconds */
	bool taint_after_given;
	bool taint_no_execute; /* unless another effect was given */
	bool no_group_dead;
	bool debug;

	int first; /* index of the first argument that is no option */
};

/*
 * Parses argv for a command that takes these groups; strings point into it. True: go on. False: the
 * command ends with *ret_status, after --help (which prints usage) or wrong use (which is told).
 */
bool options_parse(int argc, char **argv, unsigned int groups, const char *usage,
		   struct options *ret, int *ret_status);

/* As options_parse() leaves them when no argument is given. */
void options_init(struct options *ret, const char *command);

/* Takes one option by its long name; the value stays the caller's. NULL, or what is wanted
 * instead. */
const char *options_take(struct options *o, const char *name, const char *value);

/* The minor of a Kubernetes version like 1.30 or v1.30.4+k3s1, of those whose rules are known:
 * NULL, or what is wanted instead. */
const char *options_take_kubernetes(const char *value, unsigned int *ret_minor);

/* Whether a value can be the place of files, or of a runtime's socket: NULL, or what is wanted. */
const char *options_want_path(const char *value);
const char *options_want_endpoint(const char *value);

/* How these options query the kubelet or the API server (META_API). node holds the node's name,
 * which the result borrows from it or from o. */
struct podsrc_kubelet_options options_of_lister(const struct options *o, enum meta_source source,
						char node[static OPTIONS_NODE_SIZE]);

/* Whether the options of the kubelet or of the API server make sense together: NULL, or what does
 * not, in *ret_why. */
const char *options_refuse_lister(const struct options *o, enum meta_source source,
				  struct podsrc_kubelet_why *ret_why);

#endif
