// SPDX-License-Identifier: Apache-2.0
/* Counts the stack of BPF programs as check_max_stack_depth() of Linux 6.1's verifier does: the
 * frames of all functions that call one another have 512 bytes together, each rounded up to 32, and
 * there are at most 8 of them. Newer kernels may accept more.
 *
 *   stack-check OBJECT
 *
 * Prints the deepest chain of calls. Exit status 1 when a chain is too deep: each is printed. */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_MAX  512 /* MAX_BPF_STACK */
#define FRAMES_MAX 8   /* MAX_CALL_FRAMES */
#define FRAME_UNIT 32u
#define FUNCS_MAX  128
#define INSN_BYTES sizeof(struct bpf_insn)
#define REGS	   16	   /* as an instruction can name */
#define NOT_STACK  INT_MIN /* of a register */

struct func {
	const char *name; /* of the object's strings */
	size_t section;
	uint64_t at, size; /* bytes in the section */
	unsigned int frame;
	bool called;
	bool calls[FUNCS_MAX];
};

struct object {
	Elf *elf;
	Elf_Data *symbols;
	size_t names; /* section of the symbols' names */
	struct func funcs[FUNCS_MAX];
	size_t n;
};

struct chain {
	size_t funcs[FRAMES_MAX];
	size_t n;
	unsigned int bytes;
	bool cut; /* one call more than there are frames */
};

static int fail(const char *what, const char *about)
{
	fprintf(stderr, "stack-check: %s%s\n", what, about);
	return -1;
}

static bool is_code(Elf *elf, size_t section)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_getscn(elf, section);

	return scn && gelf_getshdr(scn, &header) && header.sh_type == SHT_PROGBITS &&
	       header.sh_flags & SHF_EXECINSTR;
}

static int read_funcs(struct object *o)
{
	GElf_Sym symbol;

	for (int i = 0; gelf_getsym(o->symbols, i, &symbol); i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !is_code(o->elf, symbol.st_shndx))
			continue;
		if (o->n == FUNCS_MAX)
			return fail("too many functions", "");
		o->funcs[o->n++] = (struct func){
			.name = elf_strptr(o->elf, o->names, symbol.st_name),
			.section = symbol.st_shndx,
			.at = symbol.st_value,
			.size = symbol.st_size,
		};
	}
	return o->n ? 0 : fail("the object has no function", "");
}

static int read_symbols(struct object *o)
{
	GElf_Shdr header;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(o->elf, scn))) {
		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		o->symbols = elf_getdata(scn, NULL);
		o->names = header.sh_link;
		return o->symbols ? read_funcs(o) : fail("cannot read the symbols", "");
	}
	return fail("the object has no symbols", "");
}

/* --- the depth of a frame --- */

static void touch(struct func *f, int offset)
{
	if (offset < 0 && (unsigned int)-offset > f->frame)
		f->frame = (unsigned int)-offset;
}

/* The compiler adds the offset of a variable to a copy of r10 right after it is made, and an index
 * to the sum. */
static void compute(struct func *f, const struct bpf_insn *insn, int at[REGS])
{
	int *dst = &at[insn->dst_reg];

	switch (insn->code) {
	case BPF_ALU64 | BPF_MOV | BPF_X:
		*dst = at[insn->src_reg];
		break;
	case BPF_ALU64 | BPF_ADD | BPF_K:
		if (*dst != NOT_STACK)
			touch(f, *dst += insn->imm);
		break;
	case BPF_ALU64 | BPF_ADD | BPF_X:
		break;
	default:
		*dst = NOT_STACK;
		break;
	}
}

/* at[]: how far from the frame pointer each register points. One pass in the order of the code sees
 * the lowest byte of each variable. */
static void follow(struct func *f, const struct bpf_insn *insn, int at[REGS])
{
	int *dst = &at[insn->dst_reg];

	switch (BPF_CLASS(insn->code)) {
	case BPF_ST:
	case BPF_STX:
		if (*dst != NOT_STACK)
			touch(f, *dst + insn->off);
		break;
	case BPF_LDX:
		if (at[insn->src_reg] != NOT_STACK)
			touch(f, at[insn->src_reg] + insn->off);
		*dst = NOT_STACK;
		break;
	case BPF_ALU64:
		compute(f, insn, at);
		break;
	case BPF_ALU:
	case BPF_LD:
		*dst = NOT_STACK;
		break;
	case BPF_JMP:
		for (int i = BPF_REG_0; insn->code == (BPF_JMP | BPF_CALL) && i <= BPF_REG_5; i++)
			at[i] = NOT_STACK;
		break;
	}
}

/* --- calls --- */

/* The symbol that the instruction at that place is relocated by, or false. */
static bool find_relocation(const struct object *o, size_t section, uint64_t at, GElf_Sym *ret)
{
	GElf_Shdr header;
	GElf_Rel rel;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(o->elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_REL ||
		    header.sh_info != section)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getrel(data, i, &rel); i++)
			if (rel.r_offset == at)
				return gelf_getsym(o->symbols, (int)GELF_R_SYM(rel.r_info), ret);
	}
	return false;
}

static int add_call(struct object *o, struct func *f, size_t section, uint64_t at)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->funcs[i].section == section && o->funcs[i].at == at) {
			f->calls[i] = o->funcs[i].called = true;
			return 0;
		}
	return fail("cannot find a function that is called by ", f->name);
}

/* The address of a callback counts as a call. Follows libbpf's bpf_object__reloc_code(); at is the
 * instruction's place in the section, in bytes. */
static int follow_call(struct object *o, struct func *f, const struct bpf_insn *insn, uint64_t at)
{
	bool is_call = insn->code == (BPF_JMP | BPF_CALL);
	GElf_Sym symbol;

	if (is_call && insn->src_reg == 0 && insn->imm == BPF_FUNC_tail_call)
		return fail("cannot count the tail call of ", f->name);
	if (find_relocation(o, f->section, at, &symbol)) {
		if (!is_code(o->elf, symbol.st_shndx))
			return 0;
		return add_call(o, f, symbol.st_shndx,
				symbol.st_value +
					(uint64_t)(is_call ? (insn->imm + 1L) * (long)INSN_BYTES
							   : insn->imm));
	}
	if (is_call && insn->src_reg == BPF_PSEUDO_CALL)
		return add_call(o, f, f->section,
				at + (uint64_t)((insn->imm + 1L) * (long)INSN_BYTES));
	return 0;
}

static int read_code(struct object *o, struct func *f)
{
	Elf_Data *data = elf_getdata(elf_getscn(o->elf, f->section), NULL);
	const struct bpf_insn *insns = data ? data->d_buf : NULL;
	int at[REGS], r = 0;

	if (!insns || f->at + f->size > data->d_size)
		return fail("cannot read the code of ", f->name);
	for (int i = 0; i < REGS; i++)
		at[i] = i == BPF_REG_10 ? 0 : NOT_STACK;
	for (uint64_t i = f->at / INSN_BYTES; r == 0 && i < (f->at + f->size) / INSN_BYTES; i++) {
		bool is_wide = insns[i].code == (BPF_LD | BPF_IMM | BPF_DW);

		if (is_wide || insns[i].code == (BPF_JMP | BPF_CALL))
			r = follow_call(o, f, &insns[i], i * INSN_BYTES);
		follow(f, &insns[i], at);
		i += is_wide;
	}
	return r;
}

/* --- chains --- */

static unsigned int rounded(unsigned int frame)
{
	return frame ? (frame + FRAME_UNIT - 1) / FRAME_UNIT * FRAME_UNIT : FRAME_UNIT;
}

static bool is_deeper(const struct chain *a, const struct chain *b)
{
	return a->cut != b->cut ? a->cut : a->bytes > b->bytes;
}

/* The deepest chain that begins with trail and goes on with function i. */
static void descend(const struct object *o, size_t i, struct chain trail, struct chain *deepest)
{
	trail.cut = trail.n == FRAMES_MAX;
	if (!trail.cut) {
		trail.funcs[trail.n++] = i;
		trail.bytes += rounded(o->funcs[i].frame);
	}
	if (is_deeper(&trail, deepest))
		*deepest = trail;
	for (size_t callee = 0; !trail.cut && callee < o->n; callee++)
		if (o->funcs[i].calls[callee])
			descend(o, callee, trail, deepest);
}

static void print_chain(const struct object *o, const struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++)
		printf("%s%s %u", i ? " + " : "", o->funcs[chain->funcs[i]].name,
		       rounded(o->funcs[chain->funcs[i]].frame));
	if (chain->cut)
		printf(" + ...: more than %d functions that call one another\n", FRAMES_MAX);
	else
		printf(" = %u of %d bytes of stack\n", chain->bytes, STACK_MAX);
}

/* How many chains are too deep. */
static int judge(const struct object *o)
{
	struct chain deepest = {0};
	int bad = 0;

	for (size_t i = 0; i < o->n; i++) {
		struct chain chain = {0};

		if (o->funcs[i].called)
			continue;
		descend(o, i, (struct chain){0}, &chain);
		if (is_deeper(&chain, &deepest))
			deepest = chain;
		if (!chain.cut && chain.bytes <= STACK_MAX)
			continue;
		print_chain(o, &chain);
		bad++;
	}
	if (!bad)
		print_chain(o, &deepest);
	return bad;
}

static int check(int fd)
{
	struct object o = {};
	int r;

	elf_version(EV_CURRENT);
	o.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!o.elf)
		return fail("is no object: ", elf_errmsg(-1));
	r = read_symbols(&o);
	for (size_t i = 0; r == 0 && i < o.n; i++)
		r = read_code(&o, &o.funcs[i]);
	r = r == 0 ? judge(&o) : r;
	elf_end(o.elf);
	return r;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, r;

	if (argc != 2) {
		fprintf(stderr, "usage: stack-check OBJECT\n");
		return 2;
	}
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	r = check(fd);
	close(fd);
	return r ? 1 : 0;
}
