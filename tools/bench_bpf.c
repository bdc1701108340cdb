// SPDX-License-Identifier: Apache-2.0
/* What the kernel knows of a process's BPF programs and maps: their run time during a command, the
 * totals of graced's event counters. For the benchmark. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graced/event.h"

#define PROGRAMS_MAX 128
#define CPUS_MAX     1024

static const char usage[] =
	"usage: bench_bpf time PID COMMAND...   per program of PID: name, runs, ns while COMMAND ran\n"
	"       bench_bpf counts PID            signals of graced: emitted, lost, suppressed, missed\n"
	"       bench_bpf losses PID            all events of graced: lost or missed\n";

struct program {
	uint32_t id;
	struct bpf_prog_info info;
};

struct programs {
	struct program list[PROGRAMS_MAX];
	size_t n;
};

/* Calls fn with each id of one kind that a descriptor of the process stands for. */
static int each_id(const char *pid, const char *key, void (*fn)(void *arg, uint32_t id), void *arg)
{
	char path[512], line[256];
	struct dirent *entry;
	unsigned int id;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			if (strncmp(line, key, strlen(key)) == 0 &&
			    sscanf(line + strlen(key), ":%u", &id) == 1)
				fn(arg, id);
		if (file)
			fclose(file);
	}
	closedir(dir);
	return 0;
}

/* A program may be known by its own descriptor and by its link's. */
static void add_program(void *arg, uint32_t id)
{
	struct programs *programs = arg;

	for (size_t i = 0; i < programs->n; i++)
		if (programs->list[i].id == id)
			return;
	if (programs->n < PROGRAMS_MAX)
		programs->list[programs->n++].id = id;
}

static void read_programs(struct programs *programs)
{
	for (size_t i = 0; i < programs->n; i++) {
		struct program *p = programs->list + i;
		__u32 size = sizeof(p->info);
		int fd = bpf_prog_get_fd_by_id(p->id);

		memset(&p->info, 0, sizeof(p->info));
		if (fd >= 0)
			bpf_obj_get_info_by_fd(fd, &p->info, &size);
		if (fd >= 0)
			close(fd);
	}
}

static int run(char **argv)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

/* The kernel keeps statistics for as long as stats is open, so an interrupt leaves nothing on. */
static int time_programs(const char *pid, char **argv)
{
	static struct programs before, after;
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (stats < 0 || each_id(pid, "prog_id", add_program, &before) < 0) {
		fprintf(stderr, "bench_bpf: no statistics of process %s\n", pid);
		return 1;
	}
	read_programs(&before);
	after = before;
	if (run(argv) != 0) {
		fprintf(stderr, "bench_bpf: %s failed\n", argv[0]);
		return 1;
	}
	read_programs(&after);
	for (size_t i = 0; i < after.n; i++) {
		const struct bpf_prog_info *a = &before.list[i].info, *b = &after.list[i].info;

		printf("%s %llu %llu\n", b->name[0] ? b->name : "?", b->run_cnt - a->run_cnt,
		       b->run_time_ns - a->run_time_ns);
	}
	return 0;
}

/* Counts events from first on, before end. */
struct counted {
	uint32_t first, end;
	struct graced_stat sum;
};

static void add_type(int fd, uint32_t type, int cpus, struct graced_stat *sum)
{
	static struct graced_stat values[CPUS_MAX];

	if (bpf_map_lookup_elem(fd, &type, values) < 0)
		return;
	for (int i = 0; i < cpus; i++) {
		sum->emitted += values[i].emitted;
		sum->lost += values[i].lost;
		sum->suppressed += values[i].suppressed;
	}
}

static void add_counts(void *arg, uint32_t id)
{
	struct counted *counted = arg;
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id), cpus = libbpf_num_possible_cpus();

	if (fd < 0)
		return;
	if (cpus <= CPUS_MAX && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	    strcmp(info.name, "stats") == 0 && info.value_size == sizeof(struct graced_stat)) {
		counted->sum = (struct graced_stat){};
		for (uint32_t type = counted->first; type < counted->end; type++)
			add_type(fd, type, cpus, &counted->sum);
	}
	close(fd);
}

static int count(const char *pid, struct counted *counted, unsigned long long *ret_missed)
{
	static struct programs programs;

	if (each_id(pid, "map_id", add_counts, counted) < 0 ||
	    each_id(pid, "prog_id", add_program, &programs) < 0) {
		fprintf(stderr, "bench_bpf: no counts of process %s\n", pid);
		return -1;
	}
	read_programs(&programs);
	*ret_missed = 0;
	for (size_t i = 0; i < programs.n; i++)
		*ret_missed += programs.list[i].info.recursion_misses;
	return 0;
}

static int print_counts(const char *pid)
{
	struct counted signals = {.first = GRACED_EV_SIGNAL, .end = GRACED_EV_SIGNAL + 1};
	unsigned long long missed;

	if (count(pid, &signals, &missed) < 0)
		return 1;
	printf("%llu %llu %llu %llu\n", signals.sum.emitted, signals.sum.lost,
	       signals.sum.suppressed, missed);
	return 0;
}

static int print_losses(const char *pid)
{
	struct counted all = {.end = GRACED_EV_COUNT};
	unsigned long long missed;

	if (count(pid, &all, &missed) < 0)
		return 1;
	printf("%llu\n", all.sum.lost + missed);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[1], "time") == 0)
		return time_programs(argv[2], argv + 3);
	if (argc == 3 && strcmp(argv[1], "counts") == 0)
		return print_counts(argv[2]);
	if (argc == 3 && strcmp(argv[1], "losses") == 0)
		return print_losses(argv[2]);
	fputs(usage, stderr);
	return 2;
}
