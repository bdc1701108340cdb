// SPDX-License-Identifier: Apache-2.0
// Who of a node's pods graced plan takes for deaf, by real inits in real cgroups.
#include "lib/claim.h"
#include "lib/kernel/audited.h"
#include "lib/run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHELL                                                                               \
	"printf 'apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: KubeletConfiguration\\n" \
	"shutdownGracePeriod: 30s\\nshutdownGracePeriodCriticalPods: 10s\\n' |"             \
	" %s \"$GRACED\" plan -o json --kubelet.config /dev/stdin --pods %s"

/* As kubectl prints a pod with a container for each box. */
static void add_pod(FILE *out, const char *name, const struct box *const *boxes, size_t n)
{
	fprintf(out,
		"{\"metadata\":{\"namespace\":\"shop\",\"name\":\"%s\"},\"spec\":{\"nodeName\":\"n\","
		"\"priority\":0,\"terminationGracePeriodSeconds\":15},\"status\":{\"phase\":"
		"\"Running\",\"containerStatuses\":[",
		name);
	for (size_t i = 0; i < n; i++)
		fprintf(out,
			"%s{\"name\":\"c%zu\",\"containerID\":\"containerd://%s\",\"state\":{"
			"\"running\":{}}}",
			i ? "," : "", i, boxes[i]->id);
	fputs("]}}", out);
}

static void plan(const char *path, const char *as, struct run_result *ret)
{
	char shell[512];
	const struct run_spec spec = {.exe = "/bin/sh", .args = BOX_ARGV("-c", shell)};

	snprintf(shell, sizeof(shell), SHELL, as, path);
	assert_int_equal(run(&spec, ret), 0);
	if (ret->status || ret->err_len)
		fail_msg("status %d: %s", ret->status, ret->err);
}

static void check_line(const char *line, const char *wanted)
{
	json_t *rec = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);

	assert_non_null(rec);
	judge_match(rec, wanted);
	json_decref(rec);
}

struct stage {
	struct box deaf, hears;
	char path[64];
};

static void open_stage(struct fixture *f, struct stage *s)
{
	static const char gone[] = "00000000000000000000000000000000"
				   "00000000000000000000000000000000";
	struct box away = {};
	FILE *out;

	audited_start(f, &(struct audited_role){{"deaf"}, .prog = "workload"}, &s->deaf);
	audited_start(f, &(struct audited_role){{"graceful"}, .prog = "workload"}, &s->hears);
	memcpy(away.id, gone, sizeof(gone));
	snprintf(s->path, sizeof(s->path), "/tmp/graced-plan-%d.json", (int)getpid());
	out = fopen(s->path, "we");
	assert_non_null(out);
	fputs("{\"kind\":\"List\",\"items\":[", out);
	add_pod(out, "1-deaf", (const struct box *[]){&s->hears, &s->deaf}, 2);
	fputs(",", out);
	add_pod(out, "2-hears", (const struct box *[]){&s->hears}, 1);
	fputs(",", out);
	add_pod(out, "3-away", (const struct box *[]){&away, &s->hears}, 2);
	fputs("]}", out);
	assert_int_equal(fclose(out), 0);
}

static void close_stage(struct stage *s)
{
	unlink(s->path);
	box_remove(&s->deaf);
	box_remove(&s->hears);
}

static void who_is_deaf_here_is_named_and_what_it_wastes(void **state)
{
	struct fixture *f = *state;
	struct run_result result;
	const char *line;
	struct stage s;

	if (!f)
		skip();
	open_stage(f, &s);
	plan(s.path, "", &result);
	line = result.out;
	check_line(line, "{'deaf':true,'deaf_containers':['c1'],'wasted_ns':15000000000,"
			 "'shutdown':{'deaf':1,'wasted_ns':15000000000,'deaf_unknown':1}}");
	line = strchr(line, '\n') + 1;
	check_line(line, "{'deaf':false,'deaf_containers':[],'wasted_ns':0}");
	line = strchr(line, '\n') + 1;
	check_line(line, "{'deaf':null,'deaf_containers':null,'wasted_ns':null}");
	run_done(&result);
	close_stage(&s);
}

static void without_a_look_at_the_host_nobody_is_known_to_be_deaf(void **state)
{
	struct fixture *f = *state;
	struct run_result result;
	struct stage s;

	if (!f)
		skip();
	open_stage(f, &s);
	plan(s.path, "unshare -m sh -c 'umount -l /sys/fs/cgroup; exec \"$@\"' sh", &result);
	check_line(result.out, "{'deaf':null,'deaf_containers':null,'wasted_ns':null,"
			       "'shutdown':{'deaf':null,'wasted_ns':null,'deaf_unknown':3}}");
	run_done(&result);
	plan(s.path, "unshare -p -f --mount-proc", &result);
	check_line(result.out, "{'deaf':null,'deaf_containers':null,'wasted_ns':null}");
	run_done(&result);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("who is deaf on this host is named, and how long it wastes",
		      who_is_deaf_here_is_named_and_what_it_wastes),
		CLAIM("without a look at the host nobody is known to be deaf, and it is no error",
		      without_a_look_at_the_host_nobody_is_known_to_be_deaf),
	};

	return cmocka_run_group_tests(tests, audited_setup, audited_teardown);
}
