// SPDX-License-Identifier: GPL-2.0
/*
 * forbid-filters seccomp|all COMMAND...: runs a command that may set no seccomp filters by
 * seccomp(2), or in any way, as in some containers.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Skips so many instructions if the value is another one. */
#define UNLESS(value, skip) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define RETURN(what)	BPF_STMT(BPF_RET | BPF_K, what)

static struct sock_filter code[] = {
	LOAD(nr),
	UNLESS(SYS_prctl, 3),
	LOAD(args[0]),
	UNLESS(PR_SET_SECCOMP, 1),
	RETURN(SECCOMP_RET_ERRNO | EPERM),
#define SECCOMP_PART	5	/* works alone, too */
	LOAD(nr),
	UNLESS(SYS_seccomp, 1),
	RETURN(SECCOMP_RET_ERRNO | EPERM),
	RETURN(SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv)
{
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "seccomp"))
		program = (struct sock_fprog) {
			program.len - SECCOMP_PART, code + SECCOMP_PART
		};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("forbid-filters");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
