// SPDX-License-Identifier: Apache-2.0
// Serve one program by FUSE, and then stop.
#include "lib/box/hangfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define ROOT_NAME   "memfd:runc"
#define NODE	    2
#define HIGH_FD	    100
#define READ_MAX    131072
/* The kernel wants room for a write of max_write bytes and its header. */
#define REQUEST_MAX (READ_MAX + 4096)

struct hangfs {
	int fd, program, stop;
	bool serves;
	atomic_bool slow;
	pthread_t server;
	char dir[256], elsewhere[256];
	const char *name; /* of the program */
	char argument[32];
	enum hangfs_place place;
	union {
		struct fuse_in_header head;
		char bytes[REQUEST_MAX];
	} in;
	char data[READ_MAX];
};

/* For hangfs_run(), which takes no argument of ours. */
static struct hangfs *current;

static void answer(struct hangfs *fs, int error, const void *body, size_t len)
{
	struct fuse_out_header head = {.len = (uint32_t)(sizeof(head) + len),
				       .error = -error,
				       .unique = fs->in.head.unique};
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)body, len}};
	ssize_t n = writev(fs->fd, parts, len ? 2 : 1);

	(void)n;
}

static struct fuse_attr attr_of(const struct hangfs *fs, uint64_t node)
{
	struct fuse_attr attr = {.ino = node, .mode = S_IFDIR | 0755, .nlink = 2, .blksize = 4096};
	struct stat st;

	if (node == NODE && fstat(fs->program, &st) == 0) {
		attr.mode = S_IFREG | 0755;
		attr.nlink = 1;
		attr.size = (uint64_t)st.st_size;
	}
	return attr;
}

static void answer_init(struct hangfs *fs)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = READ_MAX,
		.max_write = 4096,
	};

	answer(fs, 0, &out, sizeof(out));
}

/* Attributes are asked for each time they are wanted: that is what hangs. */
static void answer_lookup(struct hangfs *fs)
{
	struct fuse_entry_out out = {
		.nodeid = NODE, .entry_valid = 3600, .attr = attr_of(fs, NODE)};

	if (strcmp(fs->in.bytes + sizeof(fs->in.head), fs->name) == 0)
		answer(fs, 0, &out, sizeof(out));
	else
		answer(fs, ENOENT, NULL, 0);
}

static void answer_read(struct hangfs *fs)
{
	struct fuse_read_in want;
	ssize_t n;

	memcpy(&want, fs->in.bytes + sizeof(fs->in.head), sizeof(want));
	while (want.offset && atomic_load(&fs->slow))
		usleep(1000);
	n = pread(fs->program, fs->data, want.size < READ_MAX ? want.size : READ_MAX,
		  (off_t)want.offset);
	answer(fs, n < 0 ? errno : 0, fs->data, n < 0 ? 0 : (size_t)n);
}

static void answer_one(struct hangfs *fs)
{
	struct fuse_attr_out attr = {.attr = attr_of(fs, fs->in.head.nodeid)};
	struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};

	switch (fs->in.head.opcode) {
	case FUSE_INIT:
		answer_init(fs);
		break;
	case FUSE_LOOKUP:
		answer_lookup(fs);
		break;
	case FUSE_GETATTR:
		answer(fs, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fs, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		answer_read(fs);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(fs, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fs, ENOSYS, NULL, 0);
		break;
	}
}

static void *serve(void *userdata)
{
	struct hangfs *fs = userdata;
	struct pollfd p[] = {{.fd = fs->stop, .events = POLLIN}, {.fd = fs->fd, .events = POLLIN}};

	while (poll(p, 2, -1) > 0 || errno == EINTR) {
		ssize_t n;

		/* What was asked before is answered. */
		if (p[0].revents && !(p[1].revents & POLLIN))
			break;
		n = p[1].revents ? read(fs->fd, fs->in.bytes, sizeof(fs->in.bytes) - 1) : 0;
		/* It is not mounted, or the process that asked was killed. */
		if (n < (ssize_t)sizeof(fs->in.head)) {
			usleep(1000);
			continue;
		}
		fs->in.bytes[n] = '\0';
		answer_one(fs);
	}
	return NULL;
}

/* The processes have other descriptors at PAGE_FD and READY_FD. */
static int open_device(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (fd >= 0)
		close(fd);
	return high;
}

const char *hangfs_unavailable(void)
{
	int fd = open_device();

	if (fd < 0)
		return "/dev/fuse cannot be opened";
	close(fd);
	return NULL;
}

int hangfs_open(const struct hangfs_spec *spec, struct hangfs **ret)
{
	struct hangfs *fs = calloc(1, sizeof(*fs));
	int r;

	if (!fs)
		return -ENOMEM;
	fs->fd = open_device();
	fs->program = open(spec->program, O_RDONLY | O_CLOEXEC);
	fs->stop = eventfd(0, EFD_CLOEXEC);
	r = fs->fd < 0 || fs->program < 0 || fs->stop < 0 ? -errno : 0;
	snprintf(fs->dir, sizeof(fs->dir), "%s", spec->dir);
	snprintf(fs->elsewhere, sizeof(fs->elsewhere), "%s", spec->program);
	snprintf(fs->argument, sizeof(fs->argument), "%s", spec->argument);
	fs->place = spec->place;
	atomic_init(&fs->slow, spec->slow);
	fs->name = spec->place == HANGFS_ROOT ? ROOT_NAME : "program";
	if (r == 0)
		r = -pthread_create(&fs->server, NULL, serve, fs);
	fs->serves = r == 0;
	if (r < 0) {
		hangfs_close(fs);
		return r;
	}
	*ret = current = fs;
	return 0;
}

static bool mount_it(void)
{
	char options[96];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0",
		 current->fd);
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("hangfs", current->dir, "fuse", MS_NOSUID | MS_NODEV, options) == 0;
}

static bool become_root(void)
{
	return chdir(current->dir) == 0 && mount(".", "/", NULL, MS_MOVE, NULL) == 0 &&
	       chroot(".") == 0;
}

/* In the process: system calls only, as the program that forked it has threads. */
void hangfs_run(struct page *page)
{
	char *argv[] = {(char *)"program", current->argument, NULL}, *env[] = {NULL};
	char path[sizeof(current->dir) + sizeof(ROOT_NAME) + 1];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", current->dir, current->name);
	if (!mount_it())
		_exit(121);
	if (current->place == HANGFS_DETACHED) {
		fd = (int)syscall(SYS_open_tree, AT_FDCWD, path,
				  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
	} else if (current->place == HANGFS_MOUNTED) {
		execve(path, argv, env);
	} else if (current->place == HANGFS_OPEN) {
		/* Closed after the device, without which the kernel gives up. */
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fcntl(fd, F_DUPFD_CLOEXEC, 2 * HIGH_FD) < 0 || close(fd) < 0)
			_exit(121);
		page_ready(page);
		page_await_go(page, 1);
		execve(current->elsewhere, argv, env);
	} else if (become_root()) {
		execve("/" ROOT_NAME, argv, env);
	}
	_exit(121);
}

void hangfs_go_on(struct hangfs *fs)
{
	atomic_store(&fs->slow, false);
}

static void stop_serving(struct hangfs *fs)
{
	if (!fs->serves)
		return;
	hangfs_go_on(fs);
	eventfd_write(fs->stop, 1);
	pthread_join(fs->server, NULL);
	fs->serves = false;
}

void hangfs_hang(struct hangfs *fs)
{
	stop_serving(fs);
}

bool hangfs_was_asked(const struct hangfs *fs)
{
	struct pollfd p = {.fd = fs->fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0 && p.revents & POLLIN;
}

struct hangfs *hangfs_close(struct hangfs *fs)
{
	if (!fs)
		return NULL;
	stop_serving(fs);
	current = NULL;
	if (fs->fd >= 0)
		close(fs->fd);
	if (fs->program >= 0)
		close(fs->program);
	if (fs->stop >= 0)
		close(fs->stop);
	free(fs);
	return NULL;
}
