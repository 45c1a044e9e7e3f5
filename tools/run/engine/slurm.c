// SPDX-License-Identifier: GPL-2.0
#include "slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fatal-signals.h"
#include "base/remove-tree.h"
#include "base/util.h"
#include "batch.h"

/* Asks Slurm every 2 s in the first two minutes, then every 10 s. */
#define ASK_NS		(2 * 1000000000ULL)
#define ASK_LATER_NS	(10 * 1000000000ULL)
#define SOON_NS		(120 * 1000000000ULL)
/* A task may leave the queue before a network file system shows its result. */
#define MISSED_MAX	3
/* Then a command is killed: sbatch would try a full queue for two minutes. */
#define PATIENCE_NS	(20 * 1000000000ULL)
/* So many losses of one batch are no accident. */
#define TRIES_MAX	4

/*
 * The script of a task. Its arguments are the directory of the measurement, and the number
 * of the batch that is task 0: Slurm limits the numbers of tasks. A task without a
 * result is lost, and the last line of its output says why.
 */
static const char task_script[] =
	"#!/bin/bash\n"
	"PATH=/usr/bin:/bin\n"
	"unset BASH_ENV\n"
	"[ -d \"$1\" ] || { echo \"$SLURMD_NODENAME does not see $1\" >&2; exit 1; }\n"
	"batch=$1/batch-$(($2 + SLURM_ARRAY_TASK_ID))\n"
	"for ((i = 0; i < 600; i++)); do\n"
	"\tls \"$batch\" 2>/dev/null | grep -qx command && break\n"
	"\tsleep 0.2\n"
	"done\n"
	"[ -e \"$batch/command\" ] || { echo \"no guest to run\" >&2; exit 1; }\n"
	"out=$batch/try-$SLURM_JOB_ID\n"
	"mkdir \"$out\" || exit\n"
	"echo \"$SLURMD_NODENAME\" >\"$out/node\"\n"
	"bash \"$batch/command\" \"$out\"\n"
	"status=$?\n"
	"if [ $status -ne 0 ]; then\n"
	"\ttail -n 1 \"$out/log\" >&2\n"
	"\texit $status\n"
	"fi\n"
	"sync \"$out\"/* || exit\n"
	"mv -T \"$out\" \"$batch/result\"\n";

struct batch {
	unsigned long job;
	unsigned int task;	/* in the job */
	unsigned int tries;
	unsigned int missed;	/* how often it was neither in the queue nor done */
	bool begun, done;
	char node[64];		/* the last one, or "" */
	char state[32];		/* of the last answer of squeue, or "" */
};

struct slurm {
	char *private;		/* in the shared directory, for this user only */
	char *directory;	/* of the measurement, in private */
	char *script;
	char *options;
	char *needs;		/* what a node must have */
	unsigned int cpus;	/* of a batch */
	struct batch *batches;
	unsigned int count;
	uint64_t began, asked;
	unsigned int refused;	/* submissions, one after the other */
	uint64_t refused_at;
	void (*pipe)(int sig);	/* the disposition of SIGPIPE before */
	bool is_silent;		/* Slurm does not answer */
	bool told_waiting;
};

/*
 * Returns the exit status of a command of Slurm's, which is killed if it takes too long.
 * A question is also killed when its answer is not needed any more.
 */
static int wait_for(pid_t pid, bool question)
{
	uint64_t end = now_ns() + PATIENCE_NS;
	int status;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 ||
	       (ended < 0 && errno == EINTR)) {
		/* Its group, because it may be a script. */
		if (now_ns() > end || (question && fatal_signal_pending()))
			kill(-pid, SIGKILL);
		poll(NULL, 0, 10);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;
}

/* These would hide tasks, or make a command wait. */
static void clear_environment(void)
{
	static const char *const prefixes[] = { "SQUEUE_", "SCANCEL_", "SINFO_", "SBATCH_WAIT" };
	const size_t count = sizeof(prefixes) / sizeof(prefixes[0]);

	for (char **e = environ; *e;) {
		size_t i = 0;

		while (i < count && strncmp(*e, prefixes[i], strlen(prefixes[i])) != 0)
			i++;
		if (i < count) {
			char *name = xprintf("%.*s", (int)strcspn(*e, "="), *e);

			unsetenv(name);
			free(name);
			e = environ;
		} else {
			e++;
		}
	}
}

static void __attribute__((noreturn)) run_command(char *const *argv, bool question,
						  int output)
{
	sigset_t none;

	/* ^C must not end sbatch before it has told the job's number. */
	setpgid(0, 0);
	if (question)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	clear_environment();
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(output, 1);
	dup2(output, 2);
	execvp(argv[0], argv);
	_exit(STATUS_NOT_FOUND);
}

/* Runs a command and returns what it printed, also to standard error, or an error. */
static char *capture(char *const *argv, bool question, int *status)
{
	int fd = memfd_create("output", MFD_CLOEXEC);
	off_t size;
	char *text;
	pid_t pid = fd < 0 ? -1 : fork();

	if (pid < 0) {
		text = xprintf("cannot start it: %s", strerror(errno));
		*status = STATUS_FAILED;
		if (fd >= 0)
			close(fd);
		return text;
	}
	if (pid == 0)
		run_command(argv, question, fd);
	*status = wait_for(pid, question);
	size = lseek(fd, 0, SEEK_END);
	text = xmalloc(size + 1);
	lseek(fd, 0, SEEK_SET);
	if (read_full(fd, text, size))
		size = 0;
	while (size && text[size - 1] == '\n')
		size--;
	text[size] = '\0';
	close(fd);
	return text;
}

/* Returns the value of an option of sbatch, which the caller frees, or NULL. */
static char *find_option(const char *options, const char *name)
{
	size_t length = strlen(name);

	for (const char *word = options; word && *word; word += strcspn(word, ",")) {
		word += *word == ',';
		if (!strncmp(word, name, length) && word[length] == '=')
			return xprintf("%.*s", (int)strcspn(word + length + 1, ","),
				       word + length + 1);
	}
	return NULL;
}

/* Is it the partition asked for, or the default one, which sinfo marks with a star? */
static bool is_in(const char *partition, const char *asked)
{
	return asked ? !strncmp(partition, asked, strlen(asked)) &&
		       strspn(partition + strlen(asked), "*") == strlen(partition) - strlen(asked) :
		       partition[strlen(partition) - 1] == '*';
}

/*
 * Takes a line "PARTITION|ALLOCATED/IDLE/OTHER/ALL" of sinfo: CPUs of a node. Other
 * users may keep theirs for days.
 */
static unsigned int room_of(const char *line, const char *asked, unsigned int cpus)
{
	char partition[64];
	unsigned int idle;

	if (sscanf(line, "%63[^|]|%*u/%u", partition, &idle) != 2 ||
	    !is_in(partition, asked))
		return 0;
	return idle / cpus;
}

unsigned int slurm_room(const char *options, unsigned int cpus)
{
	char *argv[] = { "sinfo", "-h", "-N", "-o", "%P|%C", NULL };
	char *asked = find_option(options, "partition"), *text, *rest;
	char *given = find_option(options, "cpus-per-task");
	unsigned int room = 0;
	int status;

	if (given && atoi(given) > 0)
		cpus = atoi(given);
	free(given);
	text = capture(argv, true, &status);
	if (status)
		warn("--engine slurm: sinfo: %s: one guest at a time; guests=N asks for more",
		     text);
	for (char *line = strtok_r(text, "\n", &rest); line && !status;
	     line = strtok_r(NULL, "\n", &rest))
		room += room_of(line, asked, cpus);
	free(text);
	free(asked);
	return room ? room : 1;
}

#define ARGUMENTS_MAX	64

/* Splits "name=value,flag" into options of sbatch. */
static size_t add_options(char **argv, const char *options)
{
	char *text = xstrdup(options ? options : ""), *rest;
	size_t n = 0;

	for (char *word = strtok_r(text, ",", &rest); word && n < ARGUMENTS_MAX;
	     word = strtok_r(NULL, ",", &rest))
		argv[n++] = xprintf("--%s", word);
	free(text);
	return n;
}

/* No other measurement has this name. */
static char *job_name(const struct slurm *s, const char *option)
{
	return xprintf("%stense-%s", option, strrchr(s->directory, '/') + 1);
}

/* Finds a line "NUMBER" or "NUMBER;CLUSTER": a site may print others before. */
static unsigned long find_job(const char *text)
{
	unsigned long job = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		char *end;

		line += *line == '\n';
		if (*line < '0' || *line > '9')
			continue;
		job = strtoul(line, &end, 10);
		if (*end == '\0' || *end == '\n' || *end == ';')
			return job;
	}
	return 0;
}

/*
 * Submits batches first to first + count - 1 as one job. Returns its number, or 0 after a
 * message.
 */
static unsigned long submit_tasks(const struct slurm *s, unsigned int first,
				  unsigned int count)
{
	char *name = job_name(s, "--job-name=");
	char *array = xprintf("--array=0-%u", count - 1);
	char *chdir = xprintf("--chdir=%s", s->directory);
	char *cpus = xprintf("--cpus-per-task=%u", s->cpus);
	char *base = xprintf("%u", first);
	/*
	 * sbatch obeys the last of two equal options, so that the user cannot override
	 * these. Slurm would requeue a lost task only after two minutes; lose()
	 * submits it at once.
	 */
	char *fixed[] = {
		"--parsable", "--no-requeue", "--export=ALL", "--open-mode=append",
		"--output=task-%A-%a.log", name, array, chdir, s->script,
		s->directory, base, NULL,
	};
	char *argv[2 + ARGUMENTS_MAX + sizeof(fixed) / sizeof(fixed[0])] = { "sbatch", cpus };
	size_t options = add_options(argv + 2, s->options);
	unsigned long job;
	char *text;
	int status;

	memcpy(argv + 2 + options, fixed, sizeof(fixed));
	text = capture(argv, false, &status);
	job = status ? 0 : find_job(text);
	if (!job)
		warn("--engine slurm: Slurm did not take the job: %s: correct the options of --engine slurm, or try again later; guests=N asks for fewer tasks",
		     text);
	for (size_t i = 2; i < 2 + options; i++)
		free(argv[i]);
	free(name);
	free(array);
	free(chdir);
	free(cpus);
	free(base);
	free(text);
	return job;
}

/* Ends the program if somebody else can rename what is in a directory, or in one above. */
static void check_above(const char *path)
{
	char *above = xstrdup(path), *end;
	struct stat st;

	do {
		if (stat(*above ? above : "/", &st))
			die(STATUS_FAILED, "%s: %s", above, strerror(errno));
		if ((st.st_uid && st.st_uid != geteuid()) ||
		    (st.st_mode & 022 && !(st.st_mode & S_ISVTX)))
			die(STATUS_FAILED, "--engine slurm: other users can replace the files in %s, which nodes would run as you: name another directory with --engine slurm:dir=PATH",
			    *above ? above : "/");
		end = strrchr(above, '/');
		if (end)
			*end = '\0';
	} while (end);
	free(above);
}

/*
 * Nodes run what is in the directory as this user, so that nobody else may write there.
 * Returns the path, which the caller frees.
 */
static char *make_private(const char *directory)
{
	char *shared = realpath(directory, NULL);
	char *path = xprintf("%s/tense-%u", shared ? shared : directory,
			     (unsigned int)geteuid());
	struct stat st;

	if (!shared || (mkdir(path, 0700) && errno != EEXIST))
		die(STATUS_FAILED, "--engine slurm: %s: %s: --engine slurm:dir=PATH names a directory that this machine shares with all nodes",
		    directory, strerror(errno));
	if (lstat(path, &st))
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		die(STATUS_FAILED, "--engine slurm: %s is not yours alone: chmod 700 it if it is yours, or name another directory with --engine slurm:dir=PATH",
		    path);
	check_above(shared);
	free(shared);
	return path;
}

static struct slurm *open_one;
static pid_t owner;

/* After die(): nothing stays in the queue. */
static void end_at_exit(void)
{
	if (getpid() == owner)
		slurm_end(open_one);
}

struct slurm *slurm_begin(const struct slurm_ask *ask)
{
	struct slurm *s = xmalloc(sizeof(*s));
	FILE *f;

	*s = (struct slurm){
		.private = make_private(ask->shared),
		.options = ask->options ? xstrdup(ask->options) : NULL,
		.needs = xstrdup(ask->needs),
		.cpus = ask->cpus,
		.began = now_ns(),
	};
	s->directory = xprintf("%s/run-XXXXXX", s->private);
	if (!mkdtemp(s->directory))
		die(STATUS_FAILED, "%s: %s", s->directory, strerror(errno));
	/* A reader of messages that ends must not leave a job in the queue. */
	s->pipe = signal(SIGPIPE, SIG_IGN);
	open_one = s;
	owner = getpid();
	atexit(end_at_exit);
	s->script = xprintf("%s/task", s->directory);
	f = fopen(s->script, "we");
	if (!f || fputs(task_script, f) < 0 || fclose(f))
		die(STATUS_FAILED, "%s: %s", s->script, strerror(errno));
	return s;
}

static bool is_running(const struct batch *b)
{
	return !b->done && !strcmp(b->state, "RUNNING");
}

unsigned int slurm_running(const struct slurm *s)
{
	unsigned int running = 0;

	for (unsigned int i = 0; i < s->count; i++)
		running += is_running(&s->batches[i]);
	return running;
}

const char *slurm_private(const struct slurm *s)
{
	return s->private;
}

const char *slurm_directory(const struct slurm *s)
{
	return s->directory;
}

static char *batch_path(const struct slurm *s, unsigned int number)
{
	return xprintf("%s/batch-%u", s->directory, number);
}

char *slurm_node(const struct slurm *s, unsigned int number)
{
	char *directory = batch_path(s, number);
	char *path = xprintf("%s/result/node", directory);
	char name[64] = "?";
	FILE *f = fopen(path, "re");

	if (f && fscanf(f, "%63s", name) != 1)
		strcpy(name, "?");
	if (f)
		fclose(f);
	free(path);
	free(directory);
	return xstrdup(name);
}

static bool is_done(const struct slurm *s, unsigned int number)
{
	char *path = batch_path(s, number);
	bool done = batch_is_done(path);

	free(path);
	return done;
}

/* A task makes a directory for its output first. */
static bool has_output(const char *directory)
{
	char *pattern = xprintf("%s/try-*", directory);
	glob_t found;
	bool has = !glob(pattern, GLOB_NOSORT, NULL, &found);

	if (has)
		globfree(&found);
	free(pattern);
	return has;
}

bool slurm_has_begun(struct slurm *s, unsigned int number)
{
	struct batch *b;
	char *directory;

	if (number >= s->count)
		return false;
	b = &s->batches[number];
	if (b->begun)
		return true;
	directory = batch_path(s, number);
	/* After a loss, the output of the earlier try is still there. */
	b->begun = b->tries > 1 ? is_running(b) : has_output(directory) || is_done(s, number);
	free(directory);
	return b->begun;
}

char *slurm_batch(const struct slurm *s, unsigned int number)
{
	char *path = batch_path(s, number);

	if (mkdir(path, 0700) && errno != EEXIST)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	return path;
}

static int submit_new(struct slurm *s, unsigned int begun)
{
	unsigned int first = s->count;
	unsigned long job;

	if (begun == first || (s->refused && now_ns() - s->refused_at < ASK_LATER_NS))
		return 0;
	job = submit_tasks(s, first, begun - first);
	if (!job) {
		/* Slurm took others before, so that waiting may help. */
		s->refused_at = now_ns();
		return !first || ++s->refused == TRIES_MAX ? STATUS_FAILED : 0;
	}
	s->refused = 0;
	s->batches = xrealloc(s->batches, begun * sizeof(*s->batches));
	for (; s->count < begun; s->count++)
		s->batches[s->count] = (struct batch){
			.job = job, .task = s->count - first, .tries = 1,
		};
	return 0;
}

/* The states in which Slurm still works on a task. */
static bool is_active(const char *state)
{
	static const char *const states[] = {
		"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED",
		"REQUEUED", "RESIZING", "STOPPED", "SIGNALING", "STAGE_OUT",
		"REQUEUE_HOLD", "REQUEUE_FED",
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(state, states[i]))
			return true;
	return false;
}

static struct batch *find_batch(struct slurm *s, unsigned long job, unsigned int task)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (s->batches[i].job == job && s->batches[i].task == task)
			return &s->batches[i];
	return NULL;
}

/* Takes a line "JOB TASK STATE NODE REASON" of squeue. */
static void take_line(struct slurm *s, const char *line, const char **reason)
{
	char state[32], node[64] = "";
	unsigned long job;
	unsigned int task;
	struct batch *b;

	if (sscanf(line, "%lu|%u|%31[^|]|%63[^|]", &job, &task, state, node) < 3)
		return;
	b = find_batch(s, job, task);
	if (!b)
		return;
	if (!strcmp(state, "PENDING"))
		*reason = strrchr(line, '|') + 1;
	if (*node)
		snprintf(b->node, sizeof(b->node), "%s", node);
	snprintf(b->state, sizeof(b->state), "%s", state);
}

static char *list_jobs(const struct slurm *s)
{
	char *list = xstrdup("");
	unsigned long last = 0;

	for (unsigned int i = 0; i < s->count; i++) {
		char *longer;

		/* Slurm may have refused to take a batch again. */
		if (!s->batches[i].job || s->batches[i].job == last || s->batches[i].done)
			continue;
		last = s->batches[i].job;
		longer = xprintf("%s%s%lu", list, *list ? "," : "", last);
		free(list);
		list = longer;
	}
	return list;
}

/* Asks for the state of all tasks. Returns false if Slurm does not answer. */
static bool ask(struct slurm *s)
{
	char *jobs = list_jobs(s), *text, *rest;
	char *argv[] = { "squeue", "-h", "-r", "-t", "all", "-o", "%F|%K|%T|%N|%r",
			 "-j", jobs, NULL };
	const char *reason = NULL;
	unsigned int running = 0;
	int status = 0;

	text = *jobs ? capture(argv, true, &status) : xstrdup("");
	/* A job that ended some time ago is not known. */
	if (status && strstr(text, "Invalid job id"))
		status = 0;
	if (status && !s->is_silent && !fatal_signal_pending())
		warn("--engine slurm: squeue: %s: waiting for Slurm", text);
	s->is_silent = status;
	for (unsigned int i = 0; i < s->count && !status; i++)
		s->batches[i].state[0] = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line && !status;
	     line = strtok_r(NULL, "\n", &rest))
		take_line(s, line, &reason);
	for (unsigned int i = 0; i < s->count; i++)
		running += s->batches[i].done || is_running(&s->batches[i]);
	if (!status && reason && !running && !s->told_waiting &&
	    now_ns() - s->began > 10 * ASK_NS) {
		warn("--engine slurm: the job is still in the queue (Slurm's reason: %s): ^C cancels it",
		     reason);
		s->told_waiting = true;
	}
	free(text);
	free(jobs);
	return !status;
}

static char *last_words(const struct slurm *s, const struct batch *b)
{
	char *path = xprintf("%s/task-%lu-%u.log", s->directory, b->job, b->task);
	char line[300] = "", *text;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
	free(path);
	text = xprintf("%s%s", *line ? ": " : "", line);
	return text;
}

/* Returns advice for an end that another try would repeat, or NULL. */
static const char *find_advice(const char *state)
{
	if (!strcmp(state, "CANCELLED"))
		return "its job was cancelled: run the command again";
	if (!strcmp(state, "TIMEOUT"))
		return "its time limit was over: --engine slurm:time=MINUTES gives more";
	if (!strcmp(state, "OUT_OF_MEMORY"))
		return "it had too little memory: --engine slurm:mem=SIZE gives more";
	return NULL;
}

static int lose(struct slurm *s, unsigned int number)
{
	struct batch *b = &s->batches[number];
	const char *advice = find_advice(b->state);
	char *words = last_words(s, b);
	int status = 0;

	if (advice) {
		warn("--engine slurm: batch %u has no result, because %s", number,
		     advice);
		status = STATUS_FAILED;
	} else if (b->tries == TRIES_MAX) {
		warn("--engine slurm: batch %u failed %u times, the last time on node %s%s: do all nodes share %s, and do they have %s?",
		     number, b->tries, *b->node ? b->node : "?", words,
		     s->directory, s->needs);
		status = STATUS_FAILED;
	} else {
		warn("--engine slurm: node %s lost batch %u%s%s%s%s: tense submits it again",
		     *b->node ? b->node : "?", number, *b->state ? " (" : "",
		     b->state, *b->state ? ")" : "", words);
		b->job = submit_tasks(s, number, 1);
		b->task = 0;
		b->begun = false;
		b->tries++;
		b->missed = 0;
	}
	free(words);
	return status;
}

static int look_after(struct slurm *s, unsigned int number)
{
	struct batch *b = &s->batches[number];

	b->done = b->done || is_done(s, number);
	if (b->done || is_active(b->state)) {
		b->missed = 0;
		return 0;
	}
	return ++b->missed < MISSED_MAX ? 0 : lose(s, number);
}

int slurm_watch(struct slurm *s, unsigned int begun)
{
	uint64_t now = now_ns();
	int status = submit_new(s, begun);

	if (status || now - s->asked < (now - s->began < SOON_NS ? ASK_NS : ASK_LATER_NS))
		return status;
	s->asked = now;
	if (!ask(s))
		return 0;
	for (unsigned int i = 0; i < s->count && !status; i++)
		status = look_after(s, i);
	return status;
}

/* By its name, because sbatch may have been killed before it told the job's number. */
static void cancel(const struct slurm *s)
{
	char *name = job_name(s, "--name="), *text;
	char *argv[] = { "scancel", "--quiet", "--me", name, NULL };
	int status;

	text = capture(argv, false, &status);
	if (status)
		warn("--engine slurm: the job may go on: scancel: %s", text);
	free(text);
	free(name);
}

void slurm_end(struct slurm *s)
{
	if (!s)
		return;
	open_one = NULL;
	for (unsigned int i = 0; i < s->count; i++)
		s->batches[i].done = s->batches[i].done || is_done(s, i);
	cancel(s);
	/* A task that just ends may still write: its files go in another pass. */
	for (int i = 0; i < 20 && !access(s->directory, F_OK); i++) {
		remove_tree(s->directory);
		if (i)
			usleep(100000);
	}
	if (!access(s->directory, F_OK))
		warn("cannot remove %s: a task may still write there: remove it later",
		     s->directory);
	signal(SIGPIPE, s->pipe);
	free(s->batches);
	free(s->script);
	free(s->options);
	free(s->needs);
	free(s->directory);
	free(s->private);
	free(s);
}
