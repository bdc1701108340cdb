// SPDX-License-Identifier: Apache-2.0
/* Claims about io/kernel/programs: which programs are loaded, and what is said of a refused one. */
#include "io/kernel/programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graced/event.h"
#include "graced.skel.h"
#include "lib/claim.h"

#include "graced.skel.h"

struct stage {
	struct btf *kernel;
	struct programs *programs;
	struct graced_bpf *skel;
};

static char said[65536];

static void hear(const char *format, va_list args)
{
	size_t len = strlen(said);

	vsnprintf(said + len, sizeof(said) - len, format, args);
}

/* An object of two programs, which write into the values of a map. */
static void open_stage(struct stage *s)
{
	struct bpf_program *program;

	*s = (struct stage){};
	said[0] = 0;
	assert_int_equal(types_open(&s->kernel), 0);
	assert_int_equal(programs_new(s->kernel, &s->programs), 0);
	s->skel = graced_bpf__open();
	assert_non_null(s->skel);
	bpf_object__for_each_program(program, s->skel->obj)
		bpf_program__set_autoload(program, program == s->skel->progs.set_stop ||
							   program == s->skel->progs.on_deliver);
}

static void close_stage(struct stage *s)
{
	programs_free(s->programs);
	graced_bpf__destroy(s->skel);
	btf__free(s->kernel);
}

static void assert_is(int fd, const char *name)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	assert_string_equal(info.name, name);
	assert_true(info.xlated_prog_len > 2 * sizeof(struct bpf_insn));
	close(fd);
}

static void each_program_is_loaded_once(void **state)
{
	struct stage s;

	open_stage(&s);
	assert_int_equal(graced_bpf__load(s.skel), 0);
	assert_int_equal(programs_load(s.programs, hear), 0);
	assert_int_equal(bpf_program__fd(s.skel->progs.set_stop), -ENOENT);
	assert_is(programs_take_fd(s.programs, "set_stop"), "set_stop");
	assert_is(programs_take_fd(s.programs, "on_deliver"), "on_deliver");
	assert_int_equal(programs_take_fd(s.programs, "set_stop"), -1);
	assert_int_equal(programs_take_fd(s.programs, "on_signal"), -1);
	assert_string_equal(said, "");
	close_stage(&s);
}

static void a_refused_one_is_named(void **state)
{
	struct stage s;

	open_stage(&s);
	bpf_map__set_value_size(s.skel->maps.watched, 8);
	assert_int_equal(graced_bpf__load(s.skel), 0);
	assert_int_equal(programs_load(s.programs, hear), -EACCES);
	assert_non_null(strstr(said, "set_stop"));
	assert_non_null(strstr(said, "invalid access to map value"));
	assert_int_equal(programs_take_fd(s.programs, "set_stop"), -1);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each program is loaded, once, and others are not",
		      each_program_is_loaded_once),
		CLAIM("one that the kernel refuses is named, with what the verifier says of it",
		      a_refused_one_is_named),
	};

	return cmocka_run_group_tests_name("programs", tests, NULL, NULL);
}
