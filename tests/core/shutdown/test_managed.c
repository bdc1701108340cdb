// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown/managed: what a rule may say, and which of several matches. */
#include "core/shutdown/managed.h"

#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

#define LONG_256                                                           \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_read(void **state)
{
	static const struct {
		const char *text;
		struct managed_rule rule;
	} rows[] = {
		{"scope=docker priority=100", {.scope = MANAGED_DOCKER, .priority = 100}},
		{"scope=docker\npriority=100", {.scope = MANAGED_DOCKER, .priority = 100}},
		{"priority=-2147483648 scope=containers",
		 {.scope = MANAGED_CONTAINERS, .priority = INT32_MIN}},
		{"priority=2147483647 scope=podman",
		 {.scope = MANAGED_PODMAN, .priority = INT32_MAX}},
		{"scope=containerd priority=0", {.scope = MANAGED_CONTAINERD}},
		{"scope=ecs priority=0", {.scope = MANAGED_ECS}},
		{"unit=web-*.service priority=0", {.unit = "web-*.service"}},
		{"unit=db.slice priority=7", {.unit = "db.slice", .priority = 7}},
		{"unit=web-* priority=7", {.unit = "web-*", .priority = 7}},
		{"scope=services unit=a.service priority=1",
		 {.scope = MANAGED_SERVICES, .unit = "a.service", .priority = 1}},
		{"label=com.example.tier=db priority=1",
		 {.label = "com.example.tier=db", .priority = 1}},
		{"label=tier priority=1", {.label = "tier", .priority = 1}},
		{"label=note=a b, c=d\npriority=1", {.label = "note=a b, c=d", .priority = 1}},
		{"  scope=docker   priority=1 ", {.scope = MANAGED_DOCKER, .priority = 1}},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct managed_rule rule = {};
		const char *wants = managed_parse(rows[i].text, &rule);

		if (wants)
			fail_msg("%s: wants %s", rows[i].text, wants);
		assert_memory_equal(&rule, &rows[i].rule, sizeof(rule));
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *wants;
	} rows[] = {
		{"", "at least one of scope, unit and label"},
		{"priority=1", "at least one of scope, unit and label"},
		{"scope=docker", "priority"},
		{"unit=a.service label=x", "priority"},
		{"scope=docker priority=1 colour=red", "each once"},
		{"scope=docker priority=1 docker", "each once"},
		{"scope=docker scope=podman priority=1", "each once"},
		{"Scope=docker priority=1", "each once"},
		{"scope=pods priority=1", "without one"},
		{"scope=kubepods priority=1", "without one"},
		{"scope=all priority=1", "a scope of"},
		{"scope= priority=1", "a scope of"},
		{"scope=services priority=1", "unit beside"},
		{"scope=services unit=a.service label=x priority=1", "labels are Docker's"},
		{"scope=podman label=x priority=1", "labels are Docker's"},
		{"unit=nginx priority=1", "with its end"},
		{"unit= priority=1", "with its end"},
		{"unit=.service priority=1", "with its end"},
		{"unit=/system.slice/a.service priority=1", "with its end"},
		{"unit=" LONG_256 ".service priority=1", "with its end"},
		{"label= priority=1", "a label"},
		{"label==x priority=1", "a label"},
		{"label=" LONG_256 " priority=1", "a label"},
		{"label=" LONG_256 LONG_256 " priority=1", "each once"},
		{"scope=docker priority=", "a priority"},
		{"scope=docker priority=high", "a priority"},
		{"scope=docker priority=1.5", "a priority"},
		{"scope=docker priority=2147483648", "a priority"},
		{"scope=docker priority=-2147483649", "a priority"},
		{"scope=docker priority=99999999999", "a priority"},
		{"scope=docker priority=--1", "a priority"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct managed_rule rule = {.priority = 7};
		const char *wants = managed_parse(rows[i].text, &rule);

		if (!wants || !strstr(wants, rows[i].wants))
			fail_msg("'%s': wants '%s'", rows[i].text, wants ? wants : "nothing");
		assert_int_equal(rule.priority, 7);
	}
}

#define HEX	  "0123456789abcdef"
#define ID	  HEX HEX HEX HEX
#define CTR	  .runtime = CGPATH_RT_DOCKER, .path = "/system.slice/docker-" ID ".scope"
#define POD	  .runtime = CGPATH_RT_PODMAN, .path = "/machine.slice/libpod-" ID ".scope"
#define QUAD	  .runtime = CGPATH_RT_PODMAN, .path = "/system.slice/web.service/libpod-payload-" ID
#define TASK	  .runtime = CGPATH_RT_CONTAINERD, .path = "/default/web"
#define SVC(name) .is_service = true, .path = "/system.slice/" name

static int found(const char *const *texts, const struct managed_subject *subject)
{
	struct managed_rule rules[4];
	const struct managed_rule *rule;
	size_t n = 0;

	for (; n < LEN(rules) && texts[n]; n++)
		assert_null(managed_parse(texts[n], &rules[n]));
	rule = managed_find(rules, n, subject);
	return rule ? (int)(rule - rules) : -1;
}

static void test_matched(void **state)
{
	static const struct {
		struct managed_subject subject;
		const char *rules[4];
		int found;
	} rows[] = {
		{{CTR}, {}, -1},
		{{CTR}, {"scope=docker priority=1"}, 0},
		{{CTR}, {"scope=containers priority=1"}, 0},
		{{CTR}, {"scope=podman priority=1"}, -1},
		{{CTR}, {"scope=podman priority=1", "scope=docker priority=2"}, 1},
		{{CTR}, {"scope=docker priority=1", "scope=containers priority=2"}, 0},
		{{POD}, {"scope=podman priority=1"}, 0},
		{{POD}, {"unit=machine.slice priority=1"}, 0},
		{{POD}, {"unit=libpod-*.scope priority=1"}, 0},
		{{POD}, {"unit=libpod-* priority=1"}, 0},
		{{POD}, {"unit=machine-*.slice priority=1"}, -1},
		{{QUAD}, {"unit=web.service priority=1"}, 0},
		{{QUAD}, {"scope=services unit=web.service priority=1"}, -1},
		{{TASK}, {"scope=containerd priority=1"}, 0},
		{{TASK}, {"unit=* priority=1"}, -1},
		{{SVC("web-1.service")}, {"unit=web-*.service priority=1"}, 0},
		{{SVC("web-1.service")}, {"unit=web-?.service priority=1"}, 0},
		{{SVC("web-1.service")}, {"unit=web-[2-9].service priority=1"}, -1},
		{{SVC("web-1.service")}, {"unit=web-1.servic* priority=1"}, 0},
		{{SVC("web.slice/web-1.service")}, {"unit=web.slice priority=1"}, 0},
		{{SVC("web.slice/web-a.slice/x.service")}, {"unit=web-a.slice priority=1"}, 0},
		{{SVC("web-1.service")}, {"scope=containers priority=1"}, -1},
		{{SVC("web-1.service")}, {"scope=docker priority=1"}, -1},
		{{SVC("web-1.service"), .runtime = CGPATH_RT_DOCKER},
		 {"scope=docker priority=1"},
		 -1},
		{{SVC("web-1.service")}, {"scope=services unit=* priority=1"}, 0},
		{{SVC("web-1.service")}, {"unit=system.slice priority=1"}, 0},
		/* A backslash is part of the name, as systemd escapes it. */
		{{SVC("a\\x2db.service")}, {"unit=a\\x2db.service priority=1"}, 0},
		{{SVC("a\\x2db.service")}, {"unit=a\\x2d*.service priority=1"}, 0},
		{{SVC("ax2db.service")}, {"unit=a\\x2db.service priority=1"}, -1},
		/* The kernel has files of that name. */
		{{SVC("_cpu.service")}, {"unit=cpu.service priority=1"}, 0},
		{{SVC("_cpu.service")}, {"unit=_cpu.service priority=1"}, -1},
		/* A label that is known, of that very rule. */
		{{CTR}, {"label=tier=db priority=1"}, -1},
		{{CTR, .labels = 1}, {"label=tier=db priority=1"}, 0},
		{{CTR, .labels = 2}, {"label=tier=db priority=1", "label=tier priority=2"}, 1},
		{{CTR, .labels = 2}, {"label=tier=db priority=1", "scope=docker priority=2"}, 1},
		/* All conditions. */
		{{POD, .labels = 1}, {"scope=docker label=tier=db priority=1"}, -1},
		{{CTR, .labels = 1}, {"scope=docker label=tier=db priority=1"}, 0},
		{{CTR}, {"scope=docker label=tier=db priority=1"}, -1},
		{{CTR}, {"scope=docker unit=system.slice priority=1"}, 0},
		{{CTR}, {"scope=docker unit=machine.slice priority=1"}, -1},
		{{CTR, .labels = 1}, {"unit=machine.slice label=tier priority=1"}, -1},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		int at = found(rows[i].rules, &rows[i].subject);

		if (at != rows[i].found)
			fail_msg("row %zu: rule %d, not %d", i, at, rows[i].found);
	}
}

/* Only by its own name. */
static void test_guarded(void **state)
{
	static const struct {
		const char *path, *name;
	} rows[] = {
		{"/init.scope", "init.scope"},
		{"/system.slice/systemd-logind.service", "systemd-logind.service"},
		{"/system.slice/systemd-journald.service", "systemd-journald.service"},
		{"/system.slice/dbus.service", "dbus.service"},
		{"/system.slice/dbus-broker.service", "dbus-broker.service"},
		{"/system.slice/ssh.service", "ssh.service"},
		{"/system.slice/system-sshd.slice/sshd@3-10.0.0.1:22.service",
		 "sshd@3-10.0.0.1:22.service"},
		{"/user.slice/user-1000.slice/session-3.scope", "session-3.scope"},
		{"/user.slice/user-1000.slice/user@1000.service", "user@1000.service"},
		{"/user.slice/user-1000.slice/docker-" ID ".scope", "user-1000.slice"},
		{"/user.slice/user-1000.slice/docker-" ID ".scope", "user.slice"},
		{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"},
		{"/system.slice/docker.service", "docker.service"},
		{"/system.slice/containerd.service", "containerd.service"},
		{"/system.slice/crio.service", "crio.service"},
		{"/system.slice/kubelet.service", "kubelet.service"},
		{"/system.slice/cri-docker.service", "cri-docker.service"},
		{"/system.slice/k3s.service", "k3s.service"},
		{"/system.slice/k3s-agent.service", "k3s-agent.service"},
		{"/system.slice/rke2-server.service", "rke2-server.service"},
		{"/system.slice/rke2-agent.service", "rke2-agent.service"},
		{"/system.slice/k0sworker.service", "k0sworker.service"},
		{"/system.slice/k0scontroller.service", "k0scontroller.service"},
		{"/system.slice/snap.docker.dockerd.service", "snap.docker.dockerd.service"},
		{"/system.slice/snap.microk8s.daemon-kubelite.service",
		 "snap.microk8s.daemon-kubelite.service"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const char *const wide[] = {"unit=* priority=1", "unit=*.slice priority=1",
					    "scope=containers priority=1", NULL};
		const char *const slice[] = {"unit=system.slice priority=1", NULL};
		char text[128];
		const char *const own[] = {text, NULL};

		for (int service = 0; service < 2; service++) {
			const struct managed_subject subject = {.path = rows[i].path,
								.is_service = service};

			snprintf(text, sizeof(text), "unit=%s priority=1", rows[i].name);
			assert_int_equal(found(wide, &subject), -1);
			assert_int_equal(found(slice, &subject), -1);
			if (found(own, &subject) != 0)
				fail_msg("%s is not named by %s", rows[i].path, text);
			/* A pattern of it does not name it. */
			text[strlen(text) - strlen(" priority=1") - 1] = '*';
			assert_int_equal(found(own, &subject), -1);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a rule has a priority and at least one condition", test_read),
		CLAIM("what is no rule is refused, by what is wanted instead", test_refused),
		CLAIM("the first rule matches all of whose conditions hold", test_matched),
		CLAIM("who may log in, systemd and what runs containers is matched by its own "
		      "name alone",
		      test_guarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
