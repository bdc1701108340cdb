// SPDX-License-Identifier: Apache-2.0
// A random tree of processes that keeps the truth about itself: see lib/box/grove.h.
//
//   grove FILE SEED
//
// Says "ready" when all of it is there; what each does of itself is counted from go 1.
#include "lib/box/grove.h"
#include "lib/box/page.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define LOOK_MS 10
#define MS	1000000ULL

static struct page *page;
static struct grove *grove;
static uint64_t random_state;

/* State of this process. */
static int self;
static const struct grove_plan *plan;
static volatile uint64_t leave_at;
static volatile bool has_forwarded;

/* --- the plan --- */

static uint32_t below(uint32_t n)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(random_state >> 33) % n;
}

/* The first of them is as likely as all others. */
static uint32_t mostly_first(uint32_t n)
{
	return below(2) ? 0 : below(n);
}

static uint32_t some_signal(void)
{
	static const uint32_t sigs[] = {SIGTERM, SIGTERM, SIGKILL, SIGKILL,
					SIGINT,	 SIGQUIT, SIGUSR1, SIGHUP};

	return sigs[below(8)];
}

static void draw_node(uint32_t i)
{
	struct grove_plan *p = &grove->plans[i];

	*p = (struct grove_plan){
		.parent = i ? (below(3) ? below(i) : i - 1) : 0,
		.manner = below(GROVE_MANNERS),
		.forward = below(GROVE_FORWARDS),
		.follow = mostly_first(GROVE_FOLLOW_COUNT),
		.act = mostly_first(GROVE_ACTS),
		.forward_sig = below(4) ? SIGTERM : some_signal(),
		.leave_ms = below(120),
		.act_ms = below(400),
		.act_other = below(grove->n),
		.act_sig = some_signal(),
	};
	if (!i && below(2))
		p->follow = GROVE_PASSES_ON;
	/* Its end is what an init may pass on. */
	if (i == 1 && p->act == GROVE_RESTS)
		p->act = below(GROVE_ACTS);
	p->group = i && below(6) ? grove->plans[p->parent].group : i;
	/* abort() of a PID 1 ends in another way on each machine. */
	if (!i && p->act == GROVE_ABORTS)
		p->act = GROVE_RESTS;
}

static void draw(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	below(1);
	grove->n = 2 + below(GROVE_NODES - 1);
	for (uint32_t i = 0; i < grove->n; i++)
		draw_node(i);
}

/* --- notes --- */

static struct grove_note *note(struct grove_note n)
{
	uint32_t slot = __atomic_fetch_add(&grove->used, 1, __ATOMIC_ACQ_REL), kind = n.kind;

	if (slot >= GROVE_NOTES)
		return NULL;
	n.kind = GROVE_NONE;
	n.node = self;
	if (!n.before_ns)
		n.before_ns = page_clock_ns();
	grove->notes[slot] = n;
	__atomic_store_n(&grove->notes[slot].kind, kind, __ATOMIC_RELEASE);
	return &grove->notes[slot];
}

static struct grove_note *note_sent(int other, int sig)
{
	return note((struct grove_note){.kind = GROVE_SENT, .other = other, .number = sig});
}

static void note_result(struct grove_note *n, int result)
{
	if (!n)
		return;
	n->value = result;
	n->after_ns = page_clock_ns();
}

static void leave(uint32_t kind, int other, int code) __attribute__((noreturn));
static void leave(uint32_t kind, int other, int code)
{
	note((struct grove_note){.kind = kind, .other = other, .number = code});
	_exit(code);
}

/* --- signals --- */

static void send_to(int other, int sig)
{
	struct grove_note *n = note_sent(other, sig);

	note_result(n, kill(grove->pids[other], sig));
}

static void send_to_group(int sig)
{
	struct grove_note *notes[GROVE_NODES];
	int result;

	for (uint32_t i = 0; i < grove->n; i++)
		notes[i] = grove->plans[i].group == plan->group ? note_sent((int)i, sig) : NULL;
	result = kill(0, sig);
	for (uint32_t i = 0; i < grove->n; i++)
		note_result(notes[i], result);
}

/* Once: one that sends its group a signal receives that, too. */
static void forward(void)
{
	bool all = plan->forward == GROVE_TO_ALL;

	if (has_forwarded || plan->forward == GROVE_TO_NONE)
		return;
	has_forwarded = true;
	if (plan->forward == GROVE_TO_GROUP) {
		send_to_group((int)plan->forward_sig);
		return;
	}
	for (uint32_t i = (uint32_t)self + 1, n = 0; i < grove->n && (all || !n); i++) {
		if (grove->plans[i].parent != (uint32_t)self)
			continue;
		send_to((int)i, (int)plan->forward_sig);
		n++;
	}
}

static void heard(int sig)
{
	int saved = errno;

	forward();
	if (plan->manner == GROVE_LEAVES && !leave_at)
		leave_at = page_clock_ns() + plan->leave_ms * MS;
	if (plan->manner == GROVE_RERAISES) {
		signal(sig, SIG_DFL);
		send_to(self, sig);
	}
	errno = saved;
}

static void mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(how, &set, NULL);
}

static void set_manner(void)
{
	if (plan->manner == GROVE_BLOCKS)
		mask(SIG_BLOCK);
	else if (plan->manner == GROVE_IGNORES)
		signal(SIGTERM, SIG_IGN);
	else if (plan->manner != GROVE_DEFAULT)
		signal(SIGTERM, heard);
}

/* --- a node's life --- */

static int node_of(pid_t pid)
{
	for (uint32_t i = 0; i < grove->n; i++)
		if (grove->pids[i] == pid)
			return (int)i;
	return -1;
}

static int first_child(void)
{
	for (uint32_t i = (uint32_t)self + 1; i < grove->n; i++)
		if (grove->plans[i].parent == (uint32_t)self)
			return (int)i;
	return -1;
}

static void reap(void)
{
	int status, other;
	uint64_t before = page_clock_ns();
	pid_t pid = waitpid(-1, &status, WNOHANG);

	for (; pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
		other = node_of(pid);
		note_result(note((struct grove_note){.kind = GROVE_REAPED,
						     .other = other,
						     .number = status,
						     .before_ns = before}),
			    0);
		if (other == first_child() && plan->follow == GROVE_PASSES_ON)
			leave(GROVE_PASSED, other,
			      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
		if (other == first_child() && plan->follow == GROVE_FOLLOWS)
			leave(GROVE_LEFT, -1, grove_code(self));
		before = page_clock_ns();
	}
}

static void crash(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void act(void)
{
	switch (plan->act) {
	case GROVE_EXITS:
		leave(GROVE_LEFT, -1, grove_code(self));
	case GROVE_KILLS:
		send_to((int)plan->act_other, (int)plan->act_sig);
		break;
	case GROVE_FAULTS:
		crash();
		break;
	case GROVE_ABORTS:
		send_to(self, SIGABRT);
		break;
	default:
		break;
	}
}

static void live(void) __attribute__((noreturn));
static void live(void)
{
	const struct timespec nap = {.tv_nsec = LOOK_MS * MS};
	uint64_t act_at;
	bool acted = false;

	page_await_go(page, 1);
	act_at = page_clock_ns() + plan->act_ms * MS;
	for (;;) {
		reap();
		if (leave_at && page_clock_ns() >= leave_at)
			leave(GROVE_LEFT, -1, grove_code(self));
		if (!acted && page_clock_ns() >= act_at) {
			acted = true;
			act();
		}
		nanosleep(&nap, NULL);
	}
}

static void grow(int node) __attribute__((noreturn));
static void grow(int node)
{
	self = node;
	plan = &grove->plans[node];
	grove->pids[node] = getpid();
	if (plan->group == (uint32_t)node)
		setpgid(0, 0);
	for (uint32_t i = (uint32_t)node + 1; i < grove->n; i++)
		if (grove->plans[i].parent == (uint32_t)node && fork() == 0)
			grow((int)i);
	set_manner();
	if (__atomic_add_fetch(&grove->ready, 1, __ATOMIC_ACQ_REL) == grove->n)
		page_ready(page);
	live();
}

/* It only ends a nap. */
static void on_child(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	struct sigaction interrupt = {.sa_handler = on_child};
	int fd = argc > 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;

	page = page_attach();
	grove = mmap(NULL, sizeof(*grove), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || grove == MAP_FAILED)
		return 2;
	sigaction(SIGCHLD, &interrupt, NULL);
	draw(strtoull(argv[2], NULL, 10));
	grow(0);
}
