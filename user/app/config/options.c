// SPDX-License-Identifier: Apache-2.0
/* Parses the options of all commands by one table. */
#include "app/config/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/log/say.h"
#include "base/duration.h"
#include "base/signame.h"
#include "base/time.h"
#include "core/kubelet/explain.h"
#include "io/proc/clock.h"

#define RING_MAX (1ul << 30)

static const struct sources_peer *peer_of(const struct options *o, enum meta_source source)
{
	return source == META_API ? &o->sources.api : &o->sources.kubelet;
}

struct podsrc_kubelet_options options_of_lister(const struct options *o, enum meta_source source,
						char node[static OPTIONS_NODE_SIZE])
{
	const struct sources_peer *peer = peer_of(o, source);
	struct podsrc_kubelet_options ret = {
		.url = peer->url,
		.ca_file = peer->ca,
		.server_name = peer->server_name,
		.token_file = peer->token_file,
		.client_file = peer->client_file,
		.interval_ns = peer->interval_ns,
	};

	if (source != META_API)
		return ret;
	clock_node_name(node, OPTIONS_NODE_SIZE);
	ret.api_node = o->node_name ? o->node_name : node;
	return ret;
}

const char *options_want_path(const char *value)
{
	return value[0] == '/' ? NULL : "an absolute path";
}

const char *options_want_endpoint(const char *value)
{
	const char *path = strncmp(value, "unix://", 7) == 0 ? value + 7 : value;

	if (strcmp(value, "none") == 0 || path[0] == '/')
		return NULL;
	return "a socket's absolute path, with or without unix://, or none";
}

const char *options_refuse_lister(const struct options *o, enum meta_source source,
				  struct podsrc_kubelet_why *ret_why)
{
	const struct sources_peer *peer = peer_of(o, source);
	char node[OPTIONS_NODE_SIZE];
	struct podsrc_kubelet_options options = options_of_lister(o, source, node);

	if (!peer->url && (peer->ca || peer->server_name || peer->token_file || peer->client_file))
		return "a CA, a server's name, a token or a client certificate is given, and no URL";
	if (!peer->url || podsrc_kubelet_judge(&options, ret_why) != -EINVAL)
		return NULL;
	return ret_why->text;
}

/* Each takes an option's argument: NULL, or what the option wants instead. */
typedef const char *(*take_fn)(struct options *o, const char *value);

static const char *take_output(struct options *o, const char *value)
{
	if (strcmp(value, "table") && strcmp(value, "json"))
		return "table or json";
	o->json = value[0] == 'j';
	return NULL;
}

static const char *take_name(const char **ret, const char *value)
{
	if (!*value)
		return "a name";
	*ret = value;
	return NULL;
}

static const char *take_namespace(struct options *o, const char *value)
{
	return take_name(&o->filter.namespace_, value);
}

static const char *take_pod(struct options *o, const char *value)
{
	return take_name(&o->filter.pod, value);
}

static const char *take_container(struct options *o, const char *value)
{
	return take_name(&o->filter.container, value);
}

static const char *take_sender(struct options *o, const char *value)
{
	/* A longer one could never match: the kernel keeps 15 bytes of a name. */
	if (strlen(value) >= GRACED_COMM_LEN)
		return "a name of at most 15 bytes";
	return take_name(&o->filter.sender_comm, value);
}

static const char *take_signal(struct options *o, const char *value)
{
	while (true) {
		size_t n = strcspn(value, ",");
		char name[32] = "";
		uint32_t number;

		if (n >= sizeof(name))
			return "names or numbers of signals";
		memcpy(name, value, n);
		if (signame_parse(name, &number) < 0)
			return "names or numbers of signals";
		o->filter.sigmask |= 1ull << (number - 1);
		if (!value[n])
			return NULL;
		value += n + 1;
	}
}

static const char *take_outcome(struct options *o, const char *value)
{
	o->filter.outcome = outcome_from_name(value);
	return o->filter.outcome < OUTCOME_COUNT
		       ? NULL
		       : "graceful, terminated, killed, oom-killed, crashed, completed, failed or "
			 "unknown";
}

static bool parse_number(const char *value, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	*ret = strtoull(value, &end, 10);
	return !errno && !*end;
}

static const char *take_count(struct options *o, const char *value)
{
	return parse_number(value, &o->count) && o->count ? NULL : "a number above 0";
}

static const char *take_scope(struct options *o, const char *value)
{
	const char *name;

	for (unsigned int i = 0; (name = engine_scope_name(i)); i++) {
		if (strcmp(name, value))
			continue;
		o->engine.scope = i;
		o->scope_given = true;
		return NULL;
	}
	return "pods, containers, services or all";
}

static const char *take_grace(struct options *o, const char *value)
{
	o->grace_given = true;
	return duration_parse(value, &o->engine.assumed_grace_ns) < 0 ? "a duration like 30s"
								      : NULL;
}

static const char *take_nested(struct options *o, const char *value)
{
	if (value[0] != '/' || o->n_nested == OPTIONS_NESTED_MAX)
		return "the path of a cgroup (64 of them at most)";
	o->nested[o->n_nested++] = value;
	return NULL;
}

static const char *take_root(struct options *o, const char *value)
{
	if (value[0] != '/' || o->n_roots == OPTIONS_ROOTS_MAX)
		return "the path of a cgroup (64 of them at most)";
	o->roots[o->n_roots++] = value;
	return NULL;
}

static const char *take_duration(struct options *o, const char *value)
{
	return duration_parse(value, &o->duration_ns) < 0 || !o->duration_ns ? "a duration like 10s"
									     : NULL;
}

/* "65536", "64Ki", "1Mi" or "1Gi". */
static bool parse_bytes(const char *value, uint64_t *ret)
{
	static const char letters[] = "KMG";
	size_t digits = strspn(value, "0123456789");
	const char *letter = value[digits] ? strchr(letters, value[digits]) : NULL;
	char number[24] = "";
	uint64_t units;

	if (digits >= sizeof(number) || (value[digits] && !letter) ||
	    (letter && strcmp(value + digits + 1, "i") != 0))
		return false;
	memcpy(number, value, digits);
	return parse_number(number, &units) &&
	       !__builtin_mul_overflow(units, letter ? 1ull << (10 * (letter - letters + 1)) : 1,
				       ret);
}

static const char *take_ring_size(struct options *o, const char *value)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes;

	if (!parse_bytes(value, &bytes) || bytes < page || bytes > RING_MAX || bytes & (bytes - 1))
		return "a power of two like 256Ki or 1Mi, at least one page and at most 1Gi";
	o->ring_bytes = bytes;
	return NULL;
}

/* How long the number is that stands there, 0 for none; no number begins with a 0 too many. */
static size_t version_number(const char *at)
{
	size_t n = strspn(at, "0123456789");

	return n > 1 && *at == '0' ? 0 : n;
}

/* "+k3s1", "-gke.100", "-rc.0+1234" */
static bool is_version_suffix(const char *at)
{
	if (*at != '+' && *at != '-')
		return false;
	while (isalnum((unsigned char)at[1]) || (at[1] && strchr("+-._", at[1])))
		at++;
	return !at[1] && isalnum((unsigned char)*at);
}

const char *options_take_kubernetes(const char *value, unsigned int *ret_minor)
{
	static const char wanted[] = "a version from 1.20 to 1.36, like 1.30 or v1.30.4";
	const char *at = value + (*value == 'v');
	unsigned long minor;
	size_t n;

	if (strncmp(at, "1.", 2) != 0)
		return wanted;
	at += 2;
	n = version_number(at);
	minor = strtoul(at, NULL, 10);
	if (n == 0 || minor < EXPLAIN_MINOR_MIN || minor > EXPLAIN_MINOR_MAX)
		return wanted;
	at += n;
	if (*at == '.') {
		n = version_number(at + 1);
		if (n == 0)
			return wanted;
		at += 1 + n;
	}
	if (*at && !is_version_suffix(at))
		return wanted;
	*ret_minor = (unsigned int)minor;
	return NULL;
}

static const char *take_kubernetes(struct options *o, const char *value)
{
	return options_take_kubernetes(value, &o->kubernetes_minor);
}

static bool parse_seconds(const char *value, uint64_t *ret_ns)
{
	uint64_t ns;

	if (duration_parse(value, &ns) < 0 || ns % NS_PER_S)
		return false;
	*ret_ns = ns;
	return true;
}

static const char *take_monitor_grace(struct options *o, const char *value)
{
	return parse_seconds(value, &o->monitor_grace_ns) && o->monitor_grace_ns
		       ? NULL
		       : "whole seconds like 40s";
}

static const char *take_taint_after(struct options *o, const char *value)
{
	o->taint_after_given = true;
	return parse_seconds(value, &o->taint_after_ns) ? NULL : "whole seconds like 2m";
}

static const char *take_taint_effect(struct options *o, const char *value)
{
	if (strcmp(value, "NoExecute") && strcmp(value, "NoSchedule"))
		return "NoExecute or NoSchedule";
	o->taint_no_execute = strcmp(value, "NoExecute") == 0;
	return NULL;
}

#define KEPT(flag, is_text, groups, member)                         \
	{                                                           \
		.name = flag, .argument = is_text, .group = groups, \
		.offset = offsetof(struct options, member)          \
	}
#define FLAG(flag, groups, member) KEPT(flag, false, groups, member)
#define TEXT(flag, groups, member) KEPT(flag, true, groups, member)
#define SOURCE(flag, member, judge)                                               \
	{                                                                         \
		.name = flag, .argument = true, .group = OPTIONS_HOST,            \
		.offset = offsetof(struct options, sources.member), .want = judge \
	}

static const struct spec {
	const char *name;
	char letter; /* 0: none */
	bool argument;
	unsigned int group;
	take_fn take;				/* NULL: a text or a flag, kept at offset */
	size_t offset;				/* in struct options */
	const char *(*want)(const char *value); /* a text's form; NULL: any but "" */
} specs[] = {
	{"output", 'o', true, OPTIONS_FORMAT, take_output, 0, NULL},
	{"namespace", 'n', true, OPTIONS_FILTER | OPTIONS_SUBJECT | OPTIONS_POD, take_namespace, 0,
	 NULL},
	{"pod", 'p', true, OPTIONS_FILTER | OPTIONS_SUBJECT | OPTIONS_POD, take_pod, 0, NULL},
	{"container", 'c', true, OPTIONS_FILTER | OPTIONS_SUBJECT, take_container, 0, NULL},
	{"signal", 's', true, OPTIONS_FILTER | OPTIONS_SUBJECT, take_signal, 0, NULL},
	{"sender", 0, true, OPTIONS_FILTER, take_sender, 0, NULL},
	{"outcome", 0, true, OPTIONS_FILTER, take_outcome, 0, NULL},
	FLAG("signals", OPTIONS_FILTER, filter.signals),
	{"count", 0, true, OPTIONS_FILTER, take_count, 0, NULL},
	{"scope", 0, true, OPTIONS_ENGINE, take_scope, 0, NULL},
	{"assume-grace", 0, true, OPTIONS_ENGINE, take_grace, 0, NULL},
	{"nested-node", 0, true, OPTIONS_ENGINE | OPTIONS_SUBJECT, take_nested, 0, NULL},
	{"container-root", 0, true, OPTIONS_ENGINE | OPTIONS_SUBJECT, take_root, 0, NULL},
	{"duration", 0, true, OPTIONS_LIVE, take_duration, 0, NULL},
	TEXT("hierarchy", OPTIONS_HOST, hierarchy),
	{"ring-size", 0, true, OPTIONS_LIVE, take_ring_size, 0, NULL},
	TEXT("log-dir", OPTIONS_HOST, log_dir),
	FLAG("no-names", OPTIONS_HOST, no_names),
	SOURCE("cri-endpoint", cri_endpoint, options_want_endpoint),
	SOURCE("docker-root", docker_root, options_want_path),
	SOURCE("podman-root", podman_root, options_want_path),
	SOURCE("containerd-state", containerd_state, options_want_path),
	SOURCE("kubelet-url", kubelet.url, NULL),
	SOURCE("kubelet-ca", kubelet.ca, options_want_path),
	SOURCE("kubelet-server-name", kubelet.server_name, NULL),
	SOURCE("kubelet-token-file", kubelet.token_file, options_want_path),
	FLAG("no-group-dead", OPTIONS_LIVE, no_group_dead),
	FLAG("debug", OPTIONS_HOST, debug),
	TEXT("record", OPTIONS_RECORD, record),
	FLAG("exit-zero", OPTIONS_AUDIT, exit_zero),
	{"kubernetes", 0, true, OPTIONS_EXPLAIN | OPTIONS_PLAN | OPTIONS_CHECK, take_kubernetes, 0,
	 NULL},
	TEXT("job", OPTIONS_EXPLAIN, job),
	FLAG("watch", OPTIONS_PODS, watch),
	TEXT("socket", OPTIONS_PODS, socket),
	FLAG("if-node-dies", OPTIONS_PLAN, if_node_dies),
	TEXT("pods", OPTIONS_PLAN, pods),
	TEXT("kubelet-config", OPTIONS_PLAN | OPTIONS_CHECK, kubelet_config),
	{"node-monitor-grace-period", 0, true, OPTIONS_PLAN, take_monitor_grace, 0, NULL},
	FLAG("out-of-service", OPTIONS_PLAN, out_of_service),
	{"out-of-service-after", 0, true, OPTIONS_PLAN, take_taint_after, 0, NULL},
	{"out-of-service-effect", 0, true, OPTIONS_PLAN, take_taint_effect, 0, NULL},
};

#define N_SPECS (sizeof(specs) / sizeof(*specs))

/* What getopt_long() returns for specs[i], apart from all letters. */
#define SPEC_BASE 256

struct tables {
	struct option longs[N_SPECS + 2];
	char shorts[2 * N_SPECS + 4];
};

static void build_tables(unsigned int groups, struct tables *ret)
{
	size_t n = 0, s = 0;

	memset(ret, 0, sizeof(*ret));
	ret->shorts[s++] = ':';
	ret->shorts[s++] = 'h';
	ret->longs[n++] = (struct option){"help", no_argument, NULL, 'h'};
	for (size_t i = 0; i < N_SPECS; i++) {
		int has = specs[i].argument ? required_argument : no_argument;

		if (!(specs[i].group & groups))
			continue;
		ret->longs[n++] = (struct option){specs[i].name, has, NULL, SPEC_BASE + (int)i};
		if (!specs[i].letter)
			continue;
		ret->shorts[s++] = specs[i].letter;
		if (specs[i].argument)
			ret->shorts[s++] = ':';
	}
}

static const struct spec *spec_of(int c)
{
	if (c >= SPEC_BASE)
		return specs + (c - SPEC_BASE);
	for (size_t i = 0; i < N_SPECS; i++)
		if (specs[i].letter == c)
			return specs + i;
	return NULL;
}

/* The word of the command line that getopt_long() stumbled over. */
static int refuse(const struct options *o, char **argv, int c)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		return say_usage(o->command, "%s needs an argument", word);
	if (optopt > 0 && optopt < SPEC_BASE)
		return say_usage(o->command, "there is no option -%c here", optopt);
	return say_usage(o->command, "there is no option %s here", word);
}

/* NULL, or what is wanted instead. */
static const char *apply(struct options *o, const struct spec *spec, const char *value)
{
	void *member = (char *)o + spec->offset;
	const char *wants;

	if (spec->take)
		return spec->take(o, value);
	if (!spec->argument) {
		*(bool *)member = true;
		return NULL;
	}
	wants = spec->want ? spec->want(value) : NULL;
	return wants ? wants : take_name(member, value);
}

/* One option: 0 to go on, or the exit status. */
static int take(struct options *o, char **argv, int c)
{
	const struct spec *spec = spec_of(c);
	const char *wants;

	if (!spec)
		return refuse(o, argv, c);
	wants = apply(o, spec, optarg);
	if (!wants)
		return 0;
	return say_usage(o->command, "--%s wants %s, not '%s'", spec->name, wants, optarg);
}

const char *options_take(struct options *o, const char *name, const char *value)
{
	for (size_t i = 0; i < N_SPECS; i++)
		if (strcmp(specs[i].name, name) == 0)
			return apply(o, specs + i, value);
	return "another name";
}

void options_init(struct options *ret, const char *command)
{
	memset(ret, 0, sizeof(*ret));
	ret->command = command;
	ret->filter.outcome = OUTCOME_COUNT;
	ret->engine.scope = SCOPE_CONTAINERS;
	ret->log_dir = "/var/log";
	ret->kubernetes_minor = EXPLAIN_MINOR_MAX;
	ret->taint_no_execute = true;
}

bool options_parse(int argc, char **argv, unsigned int groups, const char *usage,
		   struct options *ret, int *ret_status)
{
	struct podsrc_kubelet_why buffer;
	struct tables tables;
	const char *why;
	int c;

	options_init(ret, argv[0]);
	build_tables(groups, &tables);
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			*ret_status = 0;
			return false;
		}
		*ret_status = take(ret, argv, c);
		if (*ret_status)
			return false;
	}
	ret->first = optind;
	why = options_refuse_lister(ret, META_KUBELET, &buffer);
	if (why)
		*ret_status = say_usage(ret->command, "--kubelet-url: %s", why);
	return !why;
}
