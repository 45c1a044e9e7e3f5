// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stands in for elf_error.o of libelf.a in libtense-functions.so. That one keeps
 * its number in thread-local memory in a way that only executables can, so
 * that the archive could not be linked into a library. Nobody asks for it here.
 */
void __libelf_seterrno(int value);

void __libelf_seterrno(int value)
{
	(void)value;
}
