/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * Names of executables, their first 15 bytes, as two numbers: what both halves ask of them. A name
 * says something of a process only where a container cannot have chosen it.
 */
#ifndef GRACED_RUNTIME_H
#define GRACED_RUNTIME_H

static inline int graced_is_letter(__u8 c)
{
	return c >= 'a' && c <= 'z';
}

/*
 * Drops what renames a runtime: "memfd:" of a copy that it made of itself in memory, and the dot of
 * a program that was moved behind a wrapper, as in ".runc-wrapped".
 */
static inline void graced_name_plain(__u64 *low, __u64 *high)
{
	const __u64 memfd = 0x3a64666d656d; /* "memfd:" */

	if ((*low & 0xffffffffffff) == memfd) {
		*low = *low >> 48 | *high << 16;
		*high >>= 48;
	}
	if ((*low & 0xff) == '.') {
		*low = *low >> 8 | *high << 56;
		*high >>= 8;
	}
}

/*
 * Whether a plain name is that of a program which makes containers: runc, crun, youki and criu,
 * also as in "runc.amd64" and "runc_cloned:/proc/self/exe".
 */
static inline int graced_makes_containers(__u64 low)
{
	const __u32 runc = 0x636e7572, crun = 0x6e757263, criu = 0x75697263;
	const __u64 youki = 0x696b756f79;

	if ((__u32)low == runc || (__u32)low == crun || (__u32)low == criu)
		return !graced_is_letter((__u8)(low >> 32));
	return (low & 0xffffffffff) == youki && !graced_is_letter((__u8)(low >> 40));
}

#endif
