/* SPDX-License-Identifier: Apache-2.0 */
/* What a tree of processes warns of: pairs of a process that is killed unasked or too soon, and the
 * one that does not pass the signal on to it, or kills it. */
#ifndef CORE_TREE_PAIRS_H
#define CORE_TREE_PAIRS_H

#include "core/stop/audit_record.h"
#include "core/tree/tree.h"

/* Bits 1 << enum audit_warning. The first pair of each becomes ret[warning - AUDIT_PAIR_FIRST]; its
 * strings are the tree's. Nothing that is not known is among them. */
uint32_t tree_pairs(const struct tree *tree, struct audit_pair ret[static AUDIT_PAIRS]);

#endif
