/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that kubectl get -o json or -o yaml wrote, for commands that work on them: read whole,
 * handed over pod by pod, and what is wrong said as `cannot VERB FILE: MEMBER PROBLEM`.
 */
#ifndef APP_QUERY_POD_INPUT_H
#define APP_QUERY_POD_INPUT_H

#include "core/stop/filter.h"
#include "wire/kubernetes/pod.h"

/* Limit of a list of pods; each pod has its own limit, too. */
#define PODINPUT_MAX ((size_t)64 << 20)

struct podinput {
	const char *verb;	     /* what the command cannot do with a file that is wrong */
	const char *path;	     /* "-" is standard input; a pipe or a link will do */
	const struct filter *filter; /* which pods; NULL: all */
	/* By podinput_load(): JSON with a NUL behind it, as it was written, or made of YAML, a line
	 * for each document. */
	char *bytes;
	size_t size;
	bool yaml; /* where something stands in it is not where it stands in the file */
};

/* 0 or a negative errno that was said. */
int podinput_load(struct podinput *input);
/* Frees what was loaded. Fits _cleanup_(podinput_free). */
void podinput_free(struct podinput *input);

/* Says why what is at where in the file ("" for all of it) was not taken: e as podread returns
 * it. */
void podinput_refuse(const struct podinput *input, const char *where, int e,
		     const struct podread_error *error);

/* 0, or a negative errno, which is said then. */
typedef int (*podinput_fn)(void *userdata, const struct podobj_pod *pod);

/* Calls back for the pods of a file that holds one or a list of them, made in the arena, or, where
 * that is NULL, in one for each that is gone when the function returns. Goes on after a pod that is
 * wrong. Says when there is none. 0, or 1 when anything was, which was said: the exit status. */
int podinput_each(struct podinput *input, struct arena *arena, podinput_fn fn, void *userdata);

#endif
