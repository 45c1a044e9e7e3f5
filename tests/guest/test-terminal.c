// SPDX-License-Identifier: GPL-2.0
/*
 * `tense run` on a terminal: what the command sees of it, keys that send
 * signals, window sizes, job control, and the settings afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tap.h"

/* For what hangs: nothing here takes that long. */
#define PATIENCE_MS	60000

struct session {
	pid_t pid;
	int master;
	char text[65536];	/* all that came */
	size_t len;
	size_t seen;		/* up to the last that was expected */
};

static void start(struct session *s, char *const *argv)
{
	struct winsize size = { .ws_row = 33, .ws_col = 77 };

	memset(s, 0, sizeof(*s));
	s->pid = forkpty(&s->master, NULL, NULL, &size);
	if (s->pid < 0)
		exit(1);
	if (s->pid)
		return;
	setenv("PS1", "$ ", 1);
	setenv("TERM", "dumb", 1);
	setenv("TENSE_CPUS", "1", 1);
	execvp(argv[0], argv);
	_exit(98);
}

static void start_shell_command(struct session *s, const char *command)
{
	start(s, (char *[]){ TENSE, "run", "--backend", BACKEND, "--real", "sh",
			     "-c", (char *)command, NULL });
}

/* Waits for a text after the last one. */
static bool expect(struct session *s, const char *text)
{
	struct pollfd p = { .fd = s->master, .events = POLLIN };
	ssize_t n;

	for (;;) {
		char *found = strstr(s->text + s->seen, text);

		if (found) {
			s->seen = found + strlen(text) - s->text;
			return true;
		}
		if (s->len == sizeof(s->text) - 1 ||
		    poll(&p, 1, PATIENCE_MS) != 1)
			break;
		n = read(s->master, s->text + s->len,
			 sizeof(s->text) - 1 - s->len);
		if (n <= 0)
			break;
		s->len += n;
	}
	printf("# no '%s' in '%s'\n", text, s->text + s->seen);
	return false;
}

static void type(struct session *s, const char *text)
{
	if (write(s->master, text, strlen(text)) != (ssize_t)strlen(text))
		printf("# cannot type\n");
}

static int end(struct session *s)
{
	struct pollfd p = { .fd = s->master, .events = POLLIN };
	int status;

	/* To the end, or the writer waits. */
	while (poll(&p, 1, PATIENCE_MS) == 1 &&
	       read(s->master, s->text, sizeof(s->text)) > 0)
		;
	if (!p.revents) {
		printf("# it does not end\n");
		kill(s->pid, SIGKILL);
	}
	close(s->master);
	waitpid(s->pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Until the terminal is as told, or a long time has passed. */
static bool becomes_raw(struct session *s, bool raw)
{
	struct termios t;

	for (int i = 0; i < PATIENCE_MS / 50; i++) {
		if (tcgetattr(s->master, &t) == 0 &&
		    !(t.c_lflag & ICANON) == raw)
			return true;
		poll(NULL, 0, 50);
	}
	return false;
}

static bool same(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag &&
	       a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag &&
	       !memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc));
}

static void test_sight(void)
{
	struct session s;

	start_shell_command(&s, "test -t 0 && test -t 1 && test -t 2 && "
			    "stty size && stty -a && tty && : </dev/tty && "
			    "echo controlled");
	ok(expect(&s, "33 77\r\n"), "a terminal of the same size");
	ok(expect(&s, " icanon"), "in its usual mode");
	ok(expect(&s, "/dev/pts/0"), "with a name");
	ok(expect(&s, "controlled\r\n"), "that controls the command");
	is_i64(end(&s), 0, "exit status");
}

static void test_keys(void)
{
	struct session s;

	start_shell_command(&s, "echo up; cat; echo down");
	ok(expect(&s, "up\r\n"), "output");
	type(&s, "line\r");
	ok(expect(&s, "line\r\nline\r\n"), "echo and a line of input");
	type(&s, "\004");
	ok(expect(&s, "down\r\n"), "^D ends the input");
	is_i64(end(&s), 0, "and the command");

	/* A shell would lose SIGINT between its output and its exec. */
	start_shell_command(&s, "exec perl -e '$| = 1; print qq(up\\n); "
			    "sleep 1000'");
	ok(expect(&s, "up\r\n"), "output");
	type(&s, "\003");
	ok(expect(&s, "^C"), "^C is shown");
	is_i64(end(&s), 130, "and interrupts");

	start_shell_command(&s, "trap 'stty size' WINCH; echo up; "
			    "while :; do sleep 0.05; done");
	ok(expect(&s, "up\r\n"), "output");
	ioctl(s.master, TIOCSWINSZ,
	      &(struct winsize){ .ws_row = 40, .ws_col = 100 });
	ok(expect(&s, "40 100\r\n"), "a new window size arrives");
	type(&s, "\003");
	is_i64(end(&s), 130, "and ^C as well");
}

static void test_settings(void)
{
	struct termios before, after;
	struct session s;
	char slave[64];
	int keep;

	/* A shell that is not interactive leaves the terminal alone. */
	start(&s, (char *[]){ "sh", "-c", "read line; " TENSE
		" run --backend uml --real sh -c 'echo up; read x; exit 3'; "
		"echo status=$?; read line; " TENSE
		" run --backend uml --real sh -c 'echo up; kill -9 $$'; "
		"echo status=$?; read line; " TENSE
		" run --backend uml --real nothing; echo status=$?; read line",
		NULL });
	ptsname_r(s.master, slave, sizeof(slave));
	keep = open(slave, O_RDWR | O_NOCTTY);
	tcgetattr(keep, &before);
	type(&s, "\r");
	ok(expect(&s, "up\r\n"), "output");
	ok(becomes_raw(&s, true), "keys go to the command");
	type(&s, "\r");
	ok(expect(&s, "status=3\r\n"), "exit status");
	tcgetattr(keep, &after);
	ok(same(&before, &after), "the settings are as before");
	type(&s, "\r");
	ok(expect(&s, "status=137\r\n"), "killed");
	tcgetattr(keep, &after);
	ok(same(&before, &after), "the settings are as before");
	type(&s, "\r");
	ok(expect(&s, "status=127\r\n"), "not found");
	tcgetattr(keep, &after);
	ok(same(&before, &after), "the settings are as before");
	type(&s, "\r");
	close(keep);
	end(&s);
}

static void test_output_only(void)
{
	struct session s;

	start(&s, (char *[]){ "sh", "-c", "echo in | " TENSE
		" run --backend uml --real sh -c 'cat; test -t 1 && echo tty;"
		" test -t 0 || echo no tty'", NULL });
	ok(expect(&s, "in\r\ntty\r\nno tty\r\n"),
	   "a terminal for output only");
	is_i64(end(&s), 0, "exit status");

	start(&s, (char *[]){ "sh", "-c", TENSE
		" run --backend uml --real sh -c 'echo up >&2; cat' | tr a b",
		NULL });
	ok(expect(&s, "up\r\n"), "a terminal for input and errors only");
	type(&s, "aaa\r\004");
	ok(expect(&s, "bbb"), "input goes its way");
	is_i64(end(&s), 0, "exit status");

	/*
	 * "up" is the child's word, that both are ready. The shell waits for
	 * its child before it acts on its own signal.
	 */
	start(&s, (char *[]){ "sh", "-c", "exec " TENSE " run --backend uml "
		"--real sh -c 'trap \"echo got\" INT; sh -c \"trap \\\"echo child; "
		"exit 5\\\" INT; echo up; while :; do sleep 0.05; done\"; "
		"exit 4' </dev/null", NULL });
	ok(expect(&s, "up\r\n"), "a terminal that keeps its keys");
	type(&s, "\003");
	ok(expect(&s, "child\r\n"), "^C goes to the command's children");
	ok(expect(&s, "got\r\n"), "and to the command");
	is_i64(end(&s), 4, "exit status");
}

static void test_job_control(void)
{
	struct session s;

	start(&s, (char *[]){ "bash", "--norc", "--noprofile", "-i", NULL });
	ok(expect(&s, "$ "), "a shell");
	type(&s, TENSE " run --backend uml --real sh -c 'echo u''p; cat; echo "
	     "down'\r");
	ok(expect(&s, "up\r\n"), "output");
	type(&s, "one\r");
	ok(expect(&s, "one\r\none\r\n"), "input");
	type(&s, "\032");
	ok(expect(&s, "Stopped"), "^Z stops it");
	ok(expect(&s, "$ "), "back in the shell");
	type(&s, "echo stat''us=$?\r");
	ok(expect(&s, "status=147\r\n"), "whose status tells so");
	type(&s, "fg\r");
	ok(expect(&s, "down'\r\n"), "to the foreground again");
	ok(becomes_raw(&s, true), "with the keys");
	type(&s, "two\r");
	ok(expect(&s, "two\r\ntwo\r\n"), "where it goes on");
	type(&s, "\003");
	ok(expect(&s, "$ "), "^C");
	type(&s, "echo stat''us=$?\r");
	ok(expect(&s, "status=130\r\n"), "interrupts it");

	type(&s, TENSE " run --backend uml --real sh -c 'echo b''g; sleep 1' &\r");
	/* The line's end may be processed twice. */
	ok(expect(&s, "bg\r"), "in the background it runs and prints");
	type(&s, "wait; echo wait''ed=$?\r");
	ok(expect(&s, "waited=0\r\n"), "and leaves the keys to the shell");
	type(&s, "exit\r");
	end(&s);
}

/* The process has exactly one child. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
		 (int)pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &child) != 1)
		printf("# no child of %d\n", (int)pid);
	if (f)
		fclose(f);
	return child;
}

/* A guest that hangs does not read keys, and no key sends tense a signal. */
static void test_hung_guest(void)
{
	static const struct {
		const char *key;
		int status;
		const char *name;
	} keys[] = { { "\003", 130, "^C" }, { "\034", 131, "^\\" } };
	struct session s;
	pid_t guest;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		start_shell_command(&s, "echo up; sleep 1000");
		ok(expect(&s, "up\r\n"), "output");
		guest = child_of(s.pid);
		if (guest > 0)
			kill(guest, SIGSTOP);
		type(&s, keys[i].key);
		ok(expect(&s, " did not react to SIG"), "%s kills a hung guest",
		   keys[i].name);
		is_i64(end(&s), keys[i].status, "exit status");
	}

	/* The key is not the command's interrupt, and the guest reacts. */
	start_shell_command(&s, "stty -isig; echo up; head -c 4 | od -An -c; "
			    "sleep 7; echo down");
	ok(expect(&s, "up\r\n"), "output");
	type(&s, "\003a\003\r");
	ok(expect(&s, "003   a 003  \\n"), "^C may be a byte like any other");
	ok(expect(&s, "down\r\n"), "the command goes on");
	is_i64(end(&s), 0, "exit status");
}

int main(void)
{
	test_sight();
	test_hung_guest();
	test_keys();
	test_settings();
	test_output_only();
	test_job_control();
	return done();
}
