// SPDX-License-Identifier: Apache-2.0
// When the parent of a container's init waits for it is recorded, exactly, where the kernel allows
// it.
#include "lib/box/send.h"
#include "lib/claim.h"
#include "graced/event.h"
#include "graced.skel.h"
#include "lib/kernel/kernhalf.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/kernel/priv.h"

static int setup(void **state)
{
	return kernhalf_open(state, "reaps");
}

static void start(struct kernhalf *k, const struct box_spec *spec, struct box *ret)
{
	assert_int_equal(box_start(&k->tree, spec, ret), 0);
	assert_true(ret->proc.ready);
}

static void ask(struct kernhalf *k, const struct box *box)
{
	struct sent sent;

	assert_int_equal(send_signal(&k->tree, SEND_HOST, NULL, box->init_pid, SIGTERM, &sent), 0);
}

static struct kernhalf *need_reaps(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct kern_flavours flavours;

	kern_get_flavours(k->kern, &flavours);
	if (!flavours.reap) {
		fprintf(stderr, "skipped: this kernel lets no program see release_task()\n");
		skip();
	}
	return k;
}

static void expect_due(struct kernhalf *k, unsigned int n)
{
	assert_int_equal(k->kern->bss->reaps_due, n);
	assert_int_equal(kernhalf_entries(k, "reaps"), n);
}

/* In what was read last. */
static void expect_reaped(struct kernhalf *k, const char *dir, pid_t pid, uint64_t start_ns,
			  uint64_t from_ns, uint64_t to_ns)
{
	assert_int_equal(k->n_reaps, 1);
	assert_int_equal(k->reaps[0].hdr.watch_id, kernhalf_id(dir));
	assert_int_equal(k->reaps[0].pid, pid);
	assert_int_equal(k->reaps[0].start_ns, start_ns);
	assert_in_range(k->reaps[0].hdr.at_ns, from_ns, to_ns);
	expect_due(k, 0);
}

/* Waits until it has ended, without taking it away. */
static void await_end(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void a_parent_that_waits_late_is_recorded_when_it_does(void **state)
{
	struct kernhalf *k = need_reaps(state);
	static const char *const manners[][4] = {{"workload", "graceful"}, {"stopper", "go"}};
	struct box beside;

	start(k, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &beside);
	for (size_t i = 0; i < LEN(manners); i++) {
		struct box_spec spec = {.prog = manners[i][0], .argv = manners[i] + 1};
		struct proc_end ended;
		uint64_t start_ns, before_ns;
		struct box box;

		start(k, &spec, &box);
		kernhalf_drain(k);
		ask(k, &box);
		await_end(box.init_pid);
		/* Who enters its cgroup now is the first of another life. */
		kernhalf_end_children(beside.dir, 3, 0);
		kernhalf_drain(k);
		assert_int_equal(k->n_exits, 1);
		assert_int_equal(k->n_reaps, 0);
		expect_due(k, 1);
		start_ns = k->exits[0].proc.start_ns;
		before_ns = page_clock_ns();
		assert_int_equal(proc_wait(&box.proc, &ended), 0);
		kernhalf_drain(k);
		expect_reaped(k, box.dir, box.init_pid, start_ns, before_ns, page_clock_ns());
		assert_int_equal(box_remove(&box), 0);
		expect_due(k, 0);
	}
	assert_int_equal(box_remove(&beside), 0);
}

enum waits {
	AT_ONCE, /* blocked in waitpid() before its child ends */
	NOT,
	AUTOMATIC, /* SIGCHLD is ignored: the kernel takes the child away */
};

/* A container's init whose parent is not this process but a child of it. */
struct family {
	char dir[HIER_PATH_MAX];
	struct shared {
		struct page page; /* go 1: init is set */
		pid_t init;
		uint64_t waited_ns;
	} * shared;
	pid_t parent;
	int init_fd;
};

static void be_parent(const struct family *f, enum waits waits) __attribute__((noreturn));
static void be_parent(const struct family *f, enum waits waits)
{
	char exe[HIER_PATH_MAX];
	struct proc_spec spec = {
		.exe = exe,
		.argv = BOX_ARGV("graceful"),
		.cgroups = {f->dir},
	};
	struct proc proc;

	snprintf(exe, sizeof(exe), "%s/workload", getenv("HELPERS"));
	if (waits == AUTOMATIC)
		signal(SIGCHLD, SIG_IGN);
	if (proc_start(&spec, &proc) < 0)
		_exit(1);
	f->shared->init = proc.pid;
	page_go(&f->shared->page, 1);
	if (waits == AT_ONCE && waitpid(proc.pid, NULL, 0) == proc.pid) {
		f->shared->waited_ns = page_clock_ns();
		page_go(&f->shared->page, 2);
	}
	for (;;)
		pause();
}

/* Its cgroup is in the pod of a box. */
static void begin_family(struct kernhalf *k, const struct box *pod_of, enum waits waits,
			 struct family *f)
{
	snprintf(f->dir, sizeof(f->dir), "%.400s/%064d", pod_of->pod_dir, 7);
	assert_int_equal(hier_make(&k->tree.hier, f->dir, false), 0);
	f->shared = mmap(NULL, sizeof(*f->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(f->shared != MAP_FAILED);
	f->parent = fork();
	if (f->parent == 0)
		be_parent(f, waits);
	page_await_go(&f->shared->page, 1);
	f->init_fd = (int)syscall(SYS_pidfd_open, f->shared->init, 0);
	assert_true(f->init_fd >= 0);
	kernhalf_drain(k);
}

static void end_init(const struct family *f)
{
	struct pollfd fd = {.fd = f->init_fd, .events = POLLIN};

	assert_int_equal(kill(f->shared->init, SIGTERM), 0);
	assert_int_equal(poll(&fd, 1, 30000), 1);
}

static void end_parent(struct family *f)
{
	assert_int_equal(kill(f->parent, SIGKILL), 0);
	assert_int_equal(waitpid(f->parent, NULL, 0), f->parent);
	close(f->init_fd);
	munmap(f->shared, sizeof(*f->shared));
}

static void a_parent_that_waits_at_once_is_recorded(void **state)
{
	struct kernhalf *k = need_reaps(state);
	const struct graced_ev_exit *ev = &k->exits[0];
	struct family f;
	struct box box;

	start(k, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	begin_family(k, &box, AT_ONCE, &f);
	end_init(&f);
	page_await_go(&f.shared->page, 2);
	kernhalf_drain(k);
	assert_int_equal(k->n_exits, 1);
	expect_reaped(k, f.dir, f.shared->init, ev->proc.start_ns, ev->hdr.at_ns,
		      f.shared->waited_ns);
	end_parent(&f);
	assert_int_equal(cg_remove(f.dir), 0);
	assert_int_equal(box_remove(&box), 0);
}

static void a_child_that_nobody_need_wait_for_is_recorded(void **state)
{
	struct kernhalf *k = need_reaps(state);
	const struct graced_ev_exit *ev = &k->exits[0];
	struct family f;
	struct box box;

	start(k, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	begin_family(k, &box, AUTOMATIC, &f);
	end_init(&f);
	while (kill(f.shared->init, 0) == 0)
		usleep(1000);
	kernhalf_drain(k);
	assert_int_equal(k->n_exits, 1);
	expect_reaped(k, f.dir, f.shared->init, ev->proc.start_ns, ev->hdr.at_ns, page_clock_ns());
	end_parent(&f);
	assert_int_equal(cg_remove(f.dir), 0);
	assert_int_equal(box_remove(&box), 0);
}

/* The init passes to this process when its parent dies. */
static void who_inherits_an_init_is_recorded_when_it_waits(void **state)
{
	struct kernhalf *k = need_reaps(state);
	uint64_t start_ns, before_ns;
	struct family f;
	struct box box;
	pid_t init;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	start(k, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	begin_family(k, &box, NOT, &f);
	init = f.shared->init;
	end_init(&f);
	end_parent(&f);
	await_end(init);
	kernhalf_drain(k);
	assert_int_equal(k->n_reaps, 0);
	expect_due(k, 1);
	start_ns = k->exits[0].proc.start_ns;
	before_ns = page_clock_ns();
	assert_int_equal(waitpid(init, NULL, 0), init);
	kernhalf_drain(k);
	expect_reaped(k, f.dir, init, start_ns, before_ns, page_clock_ns());
	assert_int_equal(cg_remove(f.dir), 0);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static void a_zombie_is_forgotten_with_its_cgroup(void **state)
{
	struct kernhalf *k = need_reaps(state);
	struct family f;
	struct box box;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	start(k, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	for (int by_hand = 0; by_hand < 2; by_hand++) {
		pid_t init;

		begin_family(k, &box, NOT, &f);
		init = f.shared->init;
		end_init(&f);
		end_parent(&f);
		await_end(init);
		expect_due(k, 1);
		if (by_hand)
			assert_int_equal(kern_watch_delete(k->kern, kernhalf_id(f.dir)), 0);
		else
			assert_int_equal(cg_remove(f.dir), 0);
		expect_due(k, 0);
		assert_int_equal(waitpid(init, NULL, 0), init);
		kernhalf_drain(k);
		assert_int_equal(k->n_reaps, 0);
	}
	assert_int_equal(cg_remove(f.dir), 0);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

/* The later of two dead inits of one cgroup is reported. */
static void a_container_has_one_zombie_to_be_recorded(void **state)
{
	struct kernhalf *k = need_reaps(state);
	uint64_t start_ns, before_ns;
	struct family f;
	struct box box;
	pid_t inits[2];

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	start(k, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	for (int i = 0; i < 2; i++) {
		begin_family(k, &box, NOT, &f);
		inits[i] = f.shared->init;
		end_init(&f);
		end_parent(&f);
		await_end(inits[i]);
		kernhalf_drain(k);
		expect_due(k, 1);
	}
	start_ns = k->exits[0].proc.start_ns;
	assert_int_equal(waitpid(inits[0], NULL, 0), inits[0]);
	kernhalf_drain(k);
	assert_int_equal(k->n_reaps, 0);
	before_ns = page_clock_ns();
	assert_int_equal(waitpid(inits[1], NULL, 0), inits[1]);
	kernhalf_drain(k);
	expect_reaped(k, f.dir, inits[1], start_ns, before_ns, page_clock_ns());
	assert_int_equal(cg_remove(f.dir), 0);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

/* Traces until the process has ended, and waits for it as tracers may. */
static void be_tracer(pid_t pid, struct page *page) __attribute__((noreturn));
static void be_tracer(pid_t pid, struct page *page)
{
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		_exit(1);
	page_go(page, 1);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)WSTOPSIG(status));
	_exit(WIFEXITED(status) ? 0 : 1);
}

static void a_tracer_that_waits_is_no_parent(void **state)
{
	struct kernhalf *k = need_reaps(state);
	uint64_t start_ns, before_ns;
	struct proc_end ended;
	struct page *page;
	pid_t tracer;
	struct box box;
	int status;

	page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	start(k, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	kernhalf_drain(k);
	tracer = fork();
	if (tracer == 0)
		be_tracer(box.init_pid, page);
	page_await_go(page, 1);
	ask(k, &box);
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_int_equal(status, 0);
	await_end(box.init_pid);
	kernhalf_drain(k);
	assert_int_equal(k->n_reaps, 0);
	start_ns = k->exits[0].proc.start_ns;
	before_ns = page_clock_ns();
	assert_int_equal(proc_wait(&box.proc, &ended), 0);
	kernhalf_drain(k);
	expect_reaped(k, box.dir, box.init_pid, start_ns, before_ns, page_clock_ns());
	munmap(page, PAGE_BYTES);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a parent that waits at once is recorded, exactly",
		      a_parent_that_waits_at_once_is_recorded),
		CLAIM("a parent that waits late is recorded when it does, exactly",
		      a_parent_that_waits_late_is_recorded_when_it_does),
		CLAIM("a child whose parent does not want to know is recorded",
		      a_child_that_nobody_need_wait_for_is_recorded),
		CLAIM("when a parent dies, the wait of the one that inherits is recorded",
		      who_inherits_an_init_is_recorded_when_it_waits),
		CLAIM("a zombie is forgotten with its cgroup",
		      a_zombie_is_forgotten_with_its_cgroup),
		CLAIM("each container has one zombie to be recorded",
		      a_container_has_one_zombie_to_be_recorded),
		CLAIM("a tracer that waits is no parent", a_tracer_that_waits_is_no_parent),
	};

	return cmocka_run_group_tests_name("reaps", tests, setup, kernhalf_close);
}
