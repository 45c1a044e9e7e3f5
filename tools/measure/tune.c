// SPDX-License-Identifier: GPL-2.0
#include "tune.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "command.h"
#include "environment.h"
#include "settings.h"
#include "units.h"

#define CPUS	"/sys/devices/system/cpu"

static const char *const time_daemons[] = {
	"chrony.service", "chronyd.service", "ntp.service", "ntpd.service",
	"ntpsec.service", "openntpd.service", "systemd-timesyncd.service", NULL
};

/* Counts the settings of a kind, and how many of them could not be changed. */
struct refused {
	size_t count;
	size_t seen;
	int error;		/* errno of the first failure */
};

static struct {
	struct machine machine;
	struct journal journal;
	struct changes changes;
	bool active;
} tuning;

struct machine machine_here(void)
{
	const char *root = getenv("TENSE_SYSROOT");
	const char *systemctl = getenv("TENSE_SYSTEMCTL");
	const char *state = getenv("TENSE_STATE");

	return (struct machine){
		.root = root ? root : "",
		.systemctl = systemctl && *systemctl ? systemctl : "systemctl",
		.state = state && *state ? state : "/var/lib/tense",
	};
}

/* Names this boot, "" where the kernel does not. The caller frees it. */
static char *boot_of(const struct machine *machine)
{
	char *path = xprintf("%s/proc/sys/kernel/random/boot_id",
			     machine->root);
	char *boot = setting_read(path);

	free(path);
	if (!boot)
		return xstrdup("");
	boot[strcspn(boot, "\n")] = '\0';
	return boot;
}

/* Notes a change before it is made. Takes the texts. */
static int note(bool unit, char *name, char *found, const char *set)
{
	struct changes *changes = &tuning.changes;

	changes_add(changes, unit, name, found, xstrdup(set));
	return journal_add(&tuning.journal,
			   &changes->list[changes->count - 1]);
}

/* Takes path. */
static void set_file(char *path, const char *value, struct refused *refused)
{
	char *found = command_signal_pending() ? NULL : setting_read(path);
	int err;

	if (!found || setting_is(found, value)) {
		refused->seen += found != NULL;
		free(found);
		free(path);
		return;
	}
	refused->seen++;
	err = note(false, path, found, value);
	if (!err)
		err = setting_write(path, value);
	if (err && !refused->count++)
		refused->error = errno;
}

static void report(const struct refused *refused, const char *what)
{
	if (refused->count)
		warn("--tune: %s stays as it is, %zu of %zu: %s", what,
		     refused->count, refused->seen,
		     strerror(refused->error));
}

/* A file of each entry of a directory whose name begins so and has a number. */
static void set_each(const char *directory, const char *begin,
		     const char *file, const char *value,
		     struct refused *refused)
{
	char *path = xprintf("%s" CPUS "%s", tuning.machine.root, directory);
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, versionsort);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		size_t size = strlen(begin);

		if (!strncmp(name, begin, size) && name[size] >= '0' &&
		    name[size] <= '9')
			set_file(xprintf("%s/%s/%s", path, name, file), value,
				 refused);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(path);
}

static void set_one(const char *file, const char *value,
		    struct refused *refused)
{
	set_file(xprintf("%s" CPUS "%s", tuning.machine.root, file), value,
		 refused);
}

/* The one for all CPUs would also change those that were off already. */
static size_t tune_turbo(void)
{
	struct refused refused = { 0 };

	set_one("/intel_pstate/no_turbo", "1\n", &refused);
	set_each("/cpufreq", "policy", "boost", "0\n", &refused);
	if (!refused.seen)
		set_one("/cpufreq/boost", "0\n", &refused);
	report(&refused, "turbo");
	return refused.seen;
}

/*
 * The preference first: the governor takes it along, and with some drivers does
 * not bring it back.
 */
static size_t tune_frequency(void)
{
	struct refused preference = { 0 }, governor = { 0 };

	set_each("", "cpu", "cpufreq/energy_performance_preference",
		 "performance\n", &preference);
	report(&preference, "the CPUs' energy preference");
	set_each("", "cpu", "cpufreq/scaling_governor", "performance\n",
		 &governor);
	report(&governor, "the CPUs' governor");
	return governor.seen;
}

static void change_unit(const char *name, bool active)
{
	const char *found = active ? "inactive" : "active";
	const char *set = active ? "active" : "inactive";
	char *why;

	if (command_signal_pending())
		return;
	if (note(true, xstrdup(name), xstrdup(found), set)) {
		warn("--tune: %s stays %s: %s", name, found, strerror(errno));
	} else if (unit_set(tuning.machine.systemctl, name, active, &why)) {
		warn("--tune: %s stays %s: %s", name, found, why);
		free(why);
	}
}

/* Tense does not see other disciplines of the clock, as by a host. */
static void tune_time(void)
{
	const struct unit_state *there = NULL;
	struct unit_states states;
	bool active = false;
	char *why;

	if (clock_synchronised())
		return;
	if (units_look(tuning.machine.systemctl, time_daemons, &states, &why)) {
		warn("--tune: time synchronisation stays off: %s", why);
		free(why);
		return;
	}
	for (size_t i = 0; i < states.count; i++) {
		active |= states.list[i].active;
		if (states.list[i].loaded)
			there = &states.list[i];
	}
	if (!active && there)
		change_unit(there->name, true);
	else if (!active)
		warn("--tune: time synchronisation stays off: none is installed, as by systemd-timesyncd");
	units_free(&states);
}

static void tune_daemons(const struct daemon_list *daemons)
{
	const char **units = daemon_list_units(daemons);
	struct unit_states states;
	char *why;
	int err = units_look(tuning.machine.systemctl, units, &states, &why);

	free(units);
	if (err) {
		warn("--tune: daemons stay as they are: %s", why);
		free(why);
		return;
	}
	for (size_t i = 0; i < states.count; i++)
		if (states.list[i].active)
			change_unit(states.list[i].name, false);
	units_free(&states);
}

static const char *value_of(const struct change *change, char *text)
{
	text[strcspn(text, "\n")] = '\0';
	return change->unit && !strcmp(text, "active") ? "started" :
	       change->unit ? "stopped" : text;
}

/* True if nothing is left to do about it. */
static bool put_back(const struct machine *machine,
		     const struct change *change, FILE *told)
{
	char *why, *found = xstrdup(change->found), *set = xstrdup(change->set);
	enum put_back result = setting_put_back(change, machine->systemctl,
						&why);

	if (result == PUT_BACK && told)
		fprintf(told, "%s: %s, was %s\n", change->name,
			value_of(change, found), value_of(change, set));
	else if (result == PUT_BACK_OTHER)
		warn("%s: stays '%s', which somebody else set it to: it was '%s' before",
		     change->name, why, value_of(change, found));
	else if (result == PUT_BACK_GONE)
		warn("%s: is not put back: %s", change->name, why);
	else if (result == PUT_BACK_FAILED)
		warn("%s: cannot be put back: %s", change->name, why);
	free(found);
	free(set);
	free(why);
	return result != PUT_BACK_FAILED;
}

/* The last one first: files can be of settings that depend on each other. */
static int put_all_back(const struct machine *machine,
			const struct journal *journal,
			const struct changes *changes, FILE *told)
{
	size_t failed = 0;

	for (size_t i = changes->count; i-- > 0;)
		failed += !put_back(machine, &changes->list[i], told);
	if (failed) {
		warn("tense measure --restore tries again; what is to be put back is in %s",
		     journal->path);
		return -1;
	}
	if (!journal_remove(journal))
		return 0;
	warn("%s: %s", journal->path, strerror(errno));
	return -1;
}

/* *count is how many changes had been left. */
static int put_leftovers_back(const struct machine *machine,
			      const struct journal *journal, FILE *told,
			      size_t *count)
{
	char *boot = boot_of(machine);
	struct changes changes;
	bool left;
	int err = journal_read(journal, boot, &changes, &left);

	if (!err && left)
		err = put_all_back(machine, journal, &changes, told);
	*count = changes.count;
	changes_free(&changes);
	free(boot);
	return err;
}

int tune_restore(const struct machine *machine)
{
	struct journal journal;
	size_t count = 0;
	int err = 0;

	if (!journal_open(&journal, machine->state, false)) {
		err = put_leftovers_back(machine, &journal, stdout, &count);
	} else if (errno == EWOULDBLOCK) {
		warn("--restore: a tense measure --tune is running: it puts everything back when it ends");
		err = -1;
	} else if (errno != ENOENT) {
		warn("%s: %s", machine->state, strerror(errno));
		err = -1;
	}
	journal_close(&journal);
	if (!err && !count)
		puts("nothing to put back");
	return err;
}

/* 0, 1 if nothing can be changed, -1 if nothing may be. */
static int begin_journal(const struct machine *machine)
{
	struct journal *journal = &tuning.journal;
	size_t count;
	char *boot;
	int err;

	if (journal_open(journal, machine->state, true)) {
		if (errno == EWOULDBLOCK) {
			warn("--tune: another tense measure --tune is running: wait until it has ended");
			return -1;
		}
		warn("--tune: nothing is changed, as what is found cannot be noted in %s: %s",
		     machine->state, strerror(errno));
		return 1;
	}
	if (put_leftovers_back(machine, journal, NULL, &count))
		return -1;
	if (count)
		warn("--tune: what a measurement that was killed had changed was put back first");
	boot = boot_of(machine);
	err = journal_begin(journal, boot);
	free(boot);
	if (!err)
		return 0;
	warn("--tune: nothing is changed: %s: %s", journal->path,
	     strerror(errno));
	return 1;
}

/* Signals that are handled, unlike those ignored, are as always in a command. */
static void go_on(int signal)
{
	(void)signal;
}

static void end_at_exit(void)
{
	tune_end();
}

int tune_begin(const struct machine *machine, const struct daemon_list *daemons)
{
	struct sigaction action;
	int err;

	if (daemon_list_check(daemons, machine->systemctl))
		return -1;
	tuning.machine = *machine;
	err = begin_journal(machine);
	if (err) {
		journal_close(&tuning.journal);
		return err < 0 ? -1 : 0;
	}
	tuning.active = true;
	/* Do not die of a closed pipe: the changes have to be undone. */
	if (!sigaction(SIGPIPE, NULL, &action) &&
	    action.sa_handler == SIG_DFL) {
		action.sa_handler = go_on;
		sigaction(SIGPIPE, &action, NULL);
	}
	atexit(end_at_exit);
	tune_time();
	tune_daemons(daemons);
	if (!(tune_turbo() + tune_frequency()) && !command_signal_pending())
		warn("--tune: the CPUs' frequency stays as it is: the kernel has no settings of it, as in most virtual machines");
	return 0;
}

const struct changes *tune_changes(void)
{
	return &tuning.changes;
}

int tune_end(void)
{
	int err;

	if (!tuning.active)
		return 0;
	tuning.active = false;
	err = put_all_back(&tuning.machine, &tuning.journal, &tuning.changes,
			   NULL);
	journal_close(&tuning.journal);
	return err;
}
