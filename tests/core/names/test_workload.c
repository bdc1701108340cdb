// SPDX-License-Identifier: Apache-2.0
/* Claims about core/names/workload: pods are called after what people made. */
#include <string.h>

#include "core/names/workload.h"
#include "lib/claim.h"

struct row {
	struct workload_facts facts;
	const char *want;
};

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char got[META_NAME_MAX] = "?";

		print_message("# %s, of %s %s\n", rows[i].facts.pod, rows[i].facts.owner_kind,
			      rows[i].facts.owner);
		workload_name(&rows[i].facts, got);
		assert_string_equal(got, rows[i].want);
	}
}

#define OWNED(kind, name) .pod = "p-x2x4z", .owner_kind = kind, .owner = name
#define D20		  "ddddddddddddddddddd-"

static void an_owner_is_the_workload_and_its_own_maker_before_it(void **state)
{
	static const struct row rows[] = {
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .template_hash = "5d78c9869d"}, "web"},
		{{OWNED("ReplicaSet", "web-5d78c9869d")}, "web"},
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .template_hash = ""}, "web"},
		{{OWNED("ReplicaSet", "web-1234567890"), .template_hash = "1234567890"}, "web"},
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .template_hash = "other"},
		 "web-5d78c9869d"},
		{{OWNED("ReplicaSet", "web-frontend")}, "web-frontend"},
		{{OWNED("ReplicaSet", "web-bcd")}, "web-bcd"},
		{{OWNED("ReplicaSet", "web-456789bcdf4")}, "web-456789bcdf4"},
		{{OWNED("ReplicaSet", "5d78c9869d")}, "5d78c9869d"},
		{{OWNED("ReplicaSet", "-5d78c9869d")}, "-5d78c9869d"},
		{{OWNED("ReplicaSet", "web-")}, "web-"},
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .owner_api = "apps/v1"}, "web"},
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .owner_api = ""}, "web"},
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .owner_api = "apps.kruise.io/v1"},
		 "web-5d78c9869d"},
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .owner_api = "v1"}, "web-5d78c9869d"},
		{{OWNED("Job", "backup-28391040"), .owner_api = "batch/v1"}, "backup"},
		{{OWNED("Job", "backup-28391040"), .owner_api = "batch.volcano.sh/v1alpha1"},
		 "backup-28391040"},
		{{OWNED("DaemonSet", "kube-proxy"), .revision_hash = "x"}, "kube-proxy"},
		{{OWNED("StatefulSet", "db-0")}, "db-0"},
		{{OWNED("Job", "backup-28391040")}, "backup"},
		{{OWNED("Job", "backup-1610000000")}, "backup"},
		{{OWNED("Job", "backup-20240101")}, "backup-20240101"},
		{{OWNED("Job", "backup-283910400")}, "backup-283910400"},
		{{OWNED("Job", "backup-2839104")}, "backup-2839104"},
		{{OWNED("Job", "backup-99999999999999999999")}, "backup-99999999999999999999"},
		{{OWNED("Job", "28391040")}, "28391040"},
		{{OWNED("Spark", "x-5d78c9869d")}, "x-5d78c9869d"},
		{{OWNED(NULL, "mine")}, "mine"},
	};

	check(rows, LEN(rows));
}

static void without_an_owner_labels_and_names_tell_it(void **state)
{
	static const struct row rows[] = {
		{{.pod = "web-5d78c9869d-x2x4z", .template_hash = "5d78c9869d"}, "web"},
		{{.pod = "web-1234567890-x2x4z", .template_hash = "1234567890"}, "web"},
		{{.pod = "web-5d78c9869d-x2x4z", .template_hash = "else"}, "web-5d78c9869d"},
		{{.pod = "mine", .template_hash = "5d78c9869d"}, "mine"},
		{{.pod = "web-5d78c9869d-x2x4z"}, "web"},
		{{.pod = "web-5d78c9869d-x2x4a"}, "web-5d78c9869d-x2x4a"},
		{{.pod = "web-frontend-x2x4z"}, "web-frontend-x2x4z"},
		{{.pod = "5d78c9869d-x2x4z"}, "5d78c9869d-x2x4z"},
		{{.pod = "db-0", .statefulset_pod = "db-0", .revision_hash = "db-5d78c9869d"},
		 "db"},
		{{.pod = "db-12", .statefulset_pod = "db-12"}, "db"},
		{{.pod = "db", .statefulset_pod = "db"}, "db"},
		{{.pod = "kube-proxy-x2x4z", .revision_hash = "5d78c9869d"}, "kube-proxy"},
		{{.pod = "kube-proxy", .revision_hash = "5d78c9869d"}, "kube-proxy"},
		{{.pod = "backup-28391040-x2x4z", .job = "backup-28391040"}, "backup"},
		{{.pod = "once-x2x4z", .job = "once"}, "once"},
		{{.pod = "each-3-x2x4z", .job = "each"}, "each"},
		{{.pod = "bare"}, "bare"},
		{{.pod = "web-5d78c9869d"}, "web-5d78c9869d"},
		{{.pod = "web-5d78c-x2x4z", .template_hash = "5d78c9869d"}, "web-5d78c"},
		{{.pod = "db-0"}, "db-0"},
	};

	check(rows, LEN(rows));
}

static void a_static_pod_is_called_without_its_node(void **state)
{
	static const struct row rows[] = {
		{{.pod = "etcd-node-1", .node = "node-1", .is_static = true}, "etcd"},
		{{.pod = "etcd-node-1", .node = "Node-1", .is_static = true}, "etcd"},
		{{.pod = "etcd-node-1", .node = "node-1", .owner_kind = "Node", .owner = "node-1"},
		 "etcd"},
		{{.pod = "etcd-node-1", .node = "node-1"}, "etcd-node-1"},
		{{.pod = "etcd-node-1", .node = "node-2", .is_static = true}, "etcd-node-1"},
		{{.pod = "etcd-node-1", .is_static = true}, "etcd-node-1"},
		{{.pod = "etcd-node-1", .node = "", .is_static = true}, "etcd-node-1"},
		{{.pod = "node-1", .node = "node-1", .is_static = true}, "node-1"},
		{{.pod = "-node-1", .node = "node-1", .is_static = true}, "-node-1"},
		{{.pod = "xnode-1", .node = "node-1", .is_static = true}, "xnode-1"},
		{{.pod = "1", .node = "node-1", .is_static = true}, "1"},
	};

	check(rows, LEN(rows));
}

static void a_name_cut_to_fit_loses_what_is_left_of_its_hash(void **state)
{
	/* Generated names keep 58 bytes and get five more. */
	static const struct row rows[] = {
		{{.pod = D20 D20 "deploymen-5d78c98x2x4z", .template_hash = "5d78c9869d"},
		 D20 D20 "deploymen-5d78c98x2x4z"},
		{{.pod = D20 D20 "deployment-5d78c98x2x4z", .template_hash = "5d78c9869d"},
		 D20 D20 "deployment"},
		{{.pod = D20 D20 "deploym-5d78c9869d-x2x4z", .template_hash = "5d78c9869d"},
		 D20 D20 "deploym"},
		{{.pod = D20 D20 "deploymen-5d78c98-x2x4z", .template_hash = "5d78c9869d"},
		 D20 D20 "deploymen"},
		{{.pod = D20 D20 "deployment-of-wonx2x4z", .template_hash = "5d78c9869d"},
		 D20 D20 "deployment-of-wonx2x4z"},
		{{.pod = D20 D20 "deployment-of-wondx2x4z", .template_hash = "5d78c9869d"},
		 D20 D20 "deployment-of-wond"},
		{{.pod = D20 D20 "daemonset-of-wonddx2x4z", .revision_hash = "5d78c9869d"},
		 D20 D20 "daemonset-of-wondd"},
		{{.pod = D20 D20 "daemonset-of-wonddx2x4z-and-on", .revision_hash = "5d78c9869d"},
		 D20 D20 "daemonset-of-wonddx2x4z-and-on"},
	};

	check(rows, LEN(rows));
}

static void no_facts_give_no_name_and_any_text_fits(void **state)
{
	char long_name[512], got[META_NAME_MAX];
	struct workload_facts facts = {};

	workload_name(&facts, got);
	assert_string_equal(got, "");
	facts = (struct workload_facts){.pod = "", .template_hash = "x", .revision_hash = "y"};
	workload_name(&facts, got);
	assert_string_equal(got, "");

	memset(long_name, 'a', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	facts = (struct workload_facts){.owner_kind = "Any", .owner = long_name};
	workload_name(&facts, got);
	assert_int_equal(strlen(got), META_NAME_MAX - 1);
	/* An e with an acute accent lies across the end. */
	memcpy(long_name + META_NAME_MAX - 2, "\xc3\xa9", 2);
	workload_name(&facts, got);
	assert_int_equal(strlen(got), META_NAME_MAX - 2);
}

static void the_kind_is_the_owners_or_what_made_it(void **state)
{
	static const struct row rows[] = {
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .template_hash = "5d78c9869d"},
		 "Deployment"},
		/* It only looks so. */
		{{OWNED("ReplicaSet", "web-5d78c9869d")}, ""},
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .template_hash = "other"}, "ReplicaSet"},
		{{OWNED("ReplicaSet", "web-frontend")}, "ReplicaSet"},
		{{OWNED("ReplicaSet", "web-5d78c9869d"), .owner_api = "apps.kruise.io/v1"},
		 "ReplicaSet"},
		{{OWNED("Job", "backup-28391040"), .owner_api = "batch/v1"}, "CronJob"},
		{{OWNED("Job", "backup-20240101")}, "Job"},
		{{OWNED("Job", "backup-28391040"), .owner_api = "batch.volcano.sh/v1alpha1"},
		 "Job"},
		{{OWNED("DaemonSet", "kube-proxy"), .revision_hash = "x"}, "DaemonSet"},
		{{OWNED("StatefulSet", "db")}, "StatefulSet"},
		{{OWNED("Spark", "x-5d78c9869d")}, "Spark"},
		{{OWNED(NULL, "x")}, ""},
		{{OWNED("Node", "n1"), .node = "n1"}, "StaticPod"},
		{{.pod = "etcd-n1", .node = "n1", .is_static = true}, "StaticPod"},
		{{.pod = "alone"}, "Pod"},
		{{OWNED("Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			"x")},
		 "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char got[META_KIND_MAX] = "?";

		print_message("# %s %s\n", rows[i].facts.owner_kind, rows[i].facts.owner);
		workload_kind(&rows[i].facts, got);
		assert_string_equal(got, rows[i].want);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an owner is the workload, and its own maker before it",
		      an_owner_is_the_workload_and_its_own_maker_before_it),
		CLAIM("without an owner, labels and names tell the workload",
		      without_an_owner_labels_and_names_tell_it),
		CLAIM("a static pod is called without its node",
		      a_static_pod_is_called_without_its_node),
		CLAIM("a name that was cut to fit loses what is left of its hash",
		      a_name_cut_to_fit_loses_what_is_left_of_its_hash),
		CLAIM("no facts give no name, and any text fits",
		      no_facts_give_no_name_and_any_text_fits),
		CLAIM("the kind is the owner's or that of what made it, and not known where guessed",
		      the_kind_is_the_owners_or_what_made_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
