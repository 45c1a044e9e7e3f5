// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Replaces elf_error.o of libelf.a in libtense-functions.so. The original keeps
 * its number in thread-local memory, in a way that only executables can. So the
 * archive could not be linked into a library. No one asks for the number here.
 */
void __libelf_seterrno(int value);

void __libelf_seterrno(int value)
{
	(void)value;
}
