/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a process when its container is stopped, as a sentence. */
#ifndef CORE_TREE_WORDS_H
#define CORE_TREE_WORDS_H

#include "base/buf.h"
#include "core/tree/tree.h"

/* Adds a process as comm[number in its pid namespace], in printable characters. */
void tree_add_name(struct buf *out, const struct tree_process *process);

/* Adds the sentence about process i, without its name before it and a full stop behind it. */
void tree_add_words(struct buf *out, const struct tree *tree, size_t i);

#endif
