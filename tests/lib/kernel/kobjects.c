// SPDX-License-Identifier: Apache-2.0
// List the kernel's BPF objects by id, and whose they are by /proc/<pid>/fdinfo.
#include "lib/kernel/kobjects.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/room.h"

static const struct {
	int (*next)(uint32_t, uint32_t *);
	int (*open)(uint32_t);
	const char *fdinfo; /* the line that has the id */
	const char *target; /* what the descriptor is a link to */
} kinds[KOBJECT_TYPES] = {
	[KOBJECT_PROGRAM] = {bpf_prog_get_next_id, bpf_prog_get_fd_by_id,
			     "prog_id:", "anon_inode:bpf-prog"},
	[KOBJECT_MAP] = {bpf_map_get_next_id, bpf_map_get_fd_by_id,
			 "map_id:", "anon_inode:bpf-map"},
	[KOBJECT_LINK] = {bpf_link_get_next_id, bpf_link_get_fd_by_id,
			  "link_id:", "anon_inode:bpf_link"},
	[KOBJECT_BTF] = {bpf_btf_get_next_id, bpf_btf_get_fd_by_id, "btf_id:", "anon_inode:btf"},
};

/* What an object says of itself. */
struct about {
	char name[16];
	uint32_t btf;
};

static int add(struct kobjects *objects, enum kobject_type type, uint32_t id)
{
	if (!ROOM_FOR_ONE(objects->list, objects->n, objects->room, 128))
		return -ENOMEM;
	objects->list[objects->n++] = (struct kobject){.type = type, .id = id};
	return 0;
}

void kobjects_free(struct kobjects *objects)
{
	free(objects->list);
	*objects = (struct kobjects){};
}

static bool ask_program(int fd, struct about *ret)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len) < 0)
		return false;
	memcpy(ret->name, info.name, sizeof(ret->name));
	ret->btf = info.btf_id;
	return true;
}

static bool ask_map(int fd, struct about *ret)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len) < 0)
		return false;
	memcpy(ret->name, info.name, sizeof(ret->name));
	ret->btf = info.btf_id;
	return true;
}

static bool ask(enum kobject_type type, uint32_t id, struct about *ret);

static bool ask_link(int fd, struct about *ret)
{
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len) < 0)
		return false;
	return ask(KOBJECT_PROGRAM, info.prog_id, ret);
}

/* False when it is gone. */
static bool ask(enum kobject_type type, uint32_t id, struct about *ret)
{
	int fd = kinds[type].open(id);
	bool there = fd >= 0;

	*ret = (struct about){};
	if (!there)
		return false;
	if (type == KOBJECT_PROGRAM)
		there = ask_program(fd, ret);
	else if (type == KOBJECT_MAP)
		there = ask_map(fd, ret);
	else if (type == KOBJECT_LINK)
		there = ask_link(fd, ret);
	close(fd);
	return there;
}

static void name_all(struct kobjects *objects)
{
	size_t kept = 0;

	for (size_t i = 0; i < objects->n; i++) {
		struct kobject *o = objects->list + i;
		struct about about;

		if (!ask(o->type, o->id, &about))
			continue;
		memcpy(o->name, about.name, sizeof(o->name));
		objects->list[kept++] = *o;
	}
	objects->n = kept;
}

int kobjects_all(struct kobjects *ret)
{
	struct kobjects all = {};
	int r = 0;

	for (int type = 0; !r && type < KOBJECT_TYPES; type++)
		for (uint32_t id = 0; !r && kinds[type].next(id, &id) == 0;)
			r = add(&all, (enum kobject_type)type, id);
	if (r) {
		kobjects_free(&all);
		return r;
	}
	name_all(&all);
	*ret = all;
	return 0;
}

static uint32_t read_id(pid_t pid, const char *fd, const char *before)
{
	char path[64], line[256];
	uint32_t id = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", (int)pid, fd);
	file = fopen(path, "re");
	while (file && !id && fgets(line, sizeof(line), file))
		if (strncmp(line, before, strlen(before)) == 0)
			id = (uint32_t)strtoul(line + strlen(before), NULL, 10);
	if (file)
		fclose(file);
	return id;
}

static int add_descriptor(struct kobjects *objects, pid_t pid, const char *fd)
{
	char path[64], target[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", (int)pid, fd);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return 0;
	for (int type = 0; type < KOBJECT_TYPES; type++) {
		uint32_t id = 0;

		if (strcmp(target, kinds[type].target) == 0)
			id = read_id(pid, fd, kinds[type].fdinfo);
		if (id)
			return add(objects, (enum kobject_type)type, id);
	}
	return 0;
}

/* A process that is gone has none. */
static int add_process(struct kobjects *objects, pid_t pid)
{
	struct dirent *entry;
	char path[32];
	int r = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && !r && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			r = add_descriptor(objects, pid, entry->d_name);
	if (dir)
		closedir(dir);
	return r;
}

static int add_processes(struct kobjects *objects)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int r = dir ? 0 : -errno;

	while (dir && !r && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			r = add_process(objects, (pid_t)strtol(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
	return r;
}

/* The BTF of all that there is, whose own descriptor may be closed by now. */
static int add_used_btf(struct kobjects *ret, const struct kobjects *all)
{
	int r = 0;

	for (size_t i = 0; !r && i < all->n; i++) {
		struct about about;

		if (ask(all->list[i].type, all->list[i].id, &about) && about.btf)
			r = add(ret, KOBJECT_BTF, about.btf);
	}
	return r;
}

int kobjects_of(pid_t pid, struct kobjects *ret)
{
	struct kobjects objects = {};
	int r = add_process(&objects, pid);

	if (r) {
		kobjects_free(&objects);
		return r;
	}
	name_all(&objects);
	r = add_used_btf(&objects, &objects);
	*ret = objects;
	return r;
}

static bool has(const struct kobjects *objects, enum kobject_type type, uint32_t id)
{
	for (size_t i = 0; i < objects->n; i++)
		if (objects->list[i].type == type && objects->list[i].id == id)
			return true;
	return false;
}

static bool has_name(const struct kobjects *objects, enum kobject_type type, const char *name)
{
	for (size_t i = 0; i < objects->n; i++)
		if (objects->list[i].type == type && strcmp(objects->list[i].name, name) == 0)
			return true;
	return false;
}

int kobjects_left(const struct kobjects *before, const struct kobjects *ours, struct kobjects *ret)
{
	struct kobjects all = {}, held = {}, left = {};
	int r = kobjects_all(&all);

	if (!r)
		r = add_used_btf(&held, &all);
	if (!r)
		r = add_processes(&held);
	for (size_t i = 0; !r && i < all.n; i++) {
		const struct kobject *o = all.list + i;

		if (has(before, o->type, o->id) || has(&held, o->type, o->id) ||
		    !has_name(ours, o->type, o->name))
			continue;
		r = add(&left, o->type, o->id);
	}
	kobjects_free(&all);
	kobjects_free(&held);
	if (r) {
		kobjects_free(&left);
		return r;
	}
	name_all(&left);
	*ret = left;
	return 0;
}

size_t kobjects_count(const struct kobjects *objects, enum kobject_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < objects->n; i++)
		n += objects->list[i].type == type;
	return n;
}
