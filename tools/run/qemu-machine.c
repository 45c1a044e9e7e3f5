// SPDX-License-Identifier: GPL-2.0
#include "qemu-machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* A descriptor as a file. */
#define DESCRIPTOR	"/dev/fd/%d"

/*
 * The clock of the local APIC's timer runs at 1 GHz. Without these options, the kernel
 * measures that for 0.1 s, and looks for four serial ports instead of one.
 */
#define MACHINE_OPTIONS	"tense.lapic=1000000000 8250.nr_uarts=1 "

/*
 * The counter is in nanoseconds, which the kernel would find out with an error.
 * Programs are where they were in the other run, even if something else is not.
 * pmtmr=0: the kernel would check the timer of ACPI, which it does not use. The check reads the
 * counter for 4.5 ms, and the emulator reads it slowly.
 */
#define COUNTED_OPTIONS	"tsc_early_khz=1000000 norandmaps pmtmr=0 "

/*
 * The emulator takes a step for each byte of an instruction that copies or fills memory: 10 kB
 * counted as 10000 instructions. Without these flags, glibc copies in wide registers, and the
 * kernel copies 8 bytes at a time. Only an emulator that counts is new enough to know fsrs.
 */
#define EMULATED_CPU	"max,-erms,-fsrm"
#define COUNTED_CPU	EMULATED_CPU ",-fsrs"

/*
 * The kernel tries its timer against the counter, which goes on while the host
 * runs something else: it would find a timer that does not work.
 */
#define TIMED_OPTIONS	"no_timer_check "

/* A page that nobody has where a machine starts. */
#define TURNS_ADDRESS	"0x50000"
#define TURNS_OPTION	"tense.turns=" TURNS_ADDRESS " "

/* The root changes for nobody: what was looked up once stays known. */
#define ROOT_OPTIONS	"trans=virtio,version=9p2000.L,msize=512000,cache=loose,access=any"

struct list {
	char **argv;
	size_t n;
};

static void add(struct list *l, char *text)
{
	l->argv = xrealloc(l->argv, (l->n + 2) * sizeof(*l->argv));
	l->argv[l->n++] = text;
	l->argv[l->n] = NULL;
}

static void add_option(struct list *l, const char *name, char *value)
{
	add(l, xstrdup(name));
	add(l, value);
}

/* A comma in a value is written twice. */
static char *escape(const char *text)
{
	char *copy = xmalloc(2 * strlen(text) + 1), *to = copy;

	for (; *text; text++) {
		if (*text == ',')
			*to++ = ',';
		*to++ = *text;
	}
	return copy;
}

static void add_files(struct list *l, const char *path, char *tag,
		      const char *mode)
{
	char *escaped = escape(path);

	add_option(l, "-fsdev", xprintf("local,id=%s,path=%s,security_model=none,multidevs=remap%s",
					tag, escaped, mode));
	add_option(l, "-device", xprintf("virtio-9p-pci,fsdev=%s,mount_tag=%s",
					 tag, tag));
	free(escaped);
	free(tag);
}

/*
 * With counted instructions a port is a file. A write to it is complete before
 * the next instruction, not when another thread gets to it.
 */
static void add_ports(struct list *l, const struct qemu_machine *m)
{
	/* A guest that resumes has the ports that it had when it booted. */
	int nr_ports = m->start == QEMU_BOOT ? m->nr_ports : QEMU_PORTS;

	add_option(l, "-device", xprintf("virtio-serial-pci,max_ports=%d%s",
					 PORT_FIRST + CHANNELS_MAX, m->counted ?
					 ",ioeventfd=off" : ""));
	for (int i = 0; i < nr_ports; i++) {
		add_option(l, "-chardev", i >= m->nr_ports ?
			   xprintf("file,id=port%d,path=/dev/null", i) : m->counted ?
			   xprintf("file,id=port%d,path=" DESCRIPTOR, i,
				   m->ports[i]) :
			   xprintf("socket,id=port%d,fd=%d", i, m->ports[i]));
		add_option(l, "-device",
			   xprintf("virtserialport,chardev=port%d,nr=%d", i,
				   PORT_FIRST + i));
	}
}

/* The CPUs of a counted guest take turns. The plugin tells how long each waited for its turn. */
static bool take_turns(const struct qemu_machine *m)
{
	return m->counted && m->cpus > 1;
}

static char *root_options(const struct qemu_machine *m)
{
	if (m->counted)
		return xstrdup("rdinit=" PACKED_INIT);
	if (!m->init)
		return xstrdup("");
	return xprintf("root=%s rootfstype=9p rootflags=%s ro init=\"%s\"",
		       TAG_ROOT, ROOT_OPTIONS, m->init);
}

static void add_kernel(struct list *l, const struct qemu_machine *m)
{
	char *root = root_options(m);

	add_option(l, "-kernel", xstrdup(m->kernel));
	if (m->counted && m->start != QEMU_LOAD)
		add_option(l, "-initrd", xprintf(DESCRIPTOR, m->initramfs));
	add_option(l, "-append",
		   xprintf("console=ttyS0 quiet panic=-1 " MACHINE_OPTIONS "%s %s%s%s",
			   m->kvm_cpu ? "" : "tsc=reliable ",
			   m->counted ? COUNTED_OPTIONS : TIMED_OPTIONS,
			   take_turns(m) ? TURNS_OPTION : "", root));
	free(root);
}

/* A machine that resumes has copies of the pages that it writes to. */
#define SHARED	"share=on"
#define COPIED	"share=off,readonly=on,rom=off,reserve=off"

/* The guest sees the memory, and so does the plugin, which only several CPUs have. */
static void add_memory(struct list *l, const struct qemu_machine *m)
{
	add_option(l, "-object",
		   xprintf("memory-backend-file,id=memory,size=%lluM,%s,mem-path=" DESCRIPTOR,
			   m->memory_mib, m->start == QEMU_LOAD ? COPIED : SHARED,
			   m->start == QEMU_BOOT ? m->memory : m->booted[QEMU_MEMORY]));
}

unsigned long long qemu_archive_mib(const struct qemu_machine *m)
{
	unsigned long long mib = 1;

	/* Devices have sizes that are powers of two. */
	while (mib < m->memory_mib)
		mib *= 2;
	return mib;
}

/* By pvpanic, the guest stops the machine. In ivshmem, a resumed guest finds its archive. */
static void add_waiting(struct list *l, const struct qemu_machine *m)
{
	char *commands;

	add_option(l, "-device", xstrdup("pvpanic-pci"));
	add_option(l, "-object",
		   xprintf("memory-backend-file,id=archive,size=%lluM,%s,mem-path=" DESCRIPTOR,
			   qemu_archive_mib(m), m->start == QEMU_LOAD ? COPIED : SHARED,
			   m->start == QEMU_LOAD ? m->initramfs : m->archive));
	add_option(l, "-device", xstrdup("ivshmem-plain,memdev=archive,master=on"));
	/* The guest stops the machine once. A later panic ends it. */
	add_option(l, "-action", xstrdup(m->start == QEMU_SAVE ? "panic=pause" : "panic=shutdown"));
	/* A machine that is loaded is to run. */
	add_option(l, "-global", xstrdup("migration.store-global-state=off"));
	if (m->start == QEMU_SAVE) {
		add_option(l, "-chardev", xprintf("socket,id=monitor,fd=%d", m->monitor));
	} else {
		commands = escape(m->commands);
		add_option(l, "-chardev",
			   xprintf("file,id=monitor,path=/dev/null,input-path=%s", commands));
		free(commands);
		add_option(l, "-incoming", xstrdup("defer"));
	}
	add_option(l, "-mon", xstrdup("chardev=monitor,mode=control"));
}

/*
 * One thread for all CPUs, and nothing by the host's clocks or random numbers;
 * a buffer for translated code that does not depend on the host's memory.
 */
static void add_counting(struct list *l, const struct qemu_machine *m)
{
	char *turns;

	add_option(l, "-accel", xstrdup("tcg,thread=single,tb-size=256"));
	add_option(l, "-icount", xprintf("shift=%d,sleep=off", QEMU_SHIFT));
	add_option(l, "-rtc", xstrdup("base=2024-01-01,clock=vm"));
	add_option(l, "-seed", xprintf("%u", m->seed));
	add_memory(l, m);
	if (!take_turns(m))
		return;
	turns = escape(m->turns);
	add_option(l, "-plugin",
		   xprintf("%s,memory=" DESCRIPTOR ",at=" TURNS_ADDRESS ",ns=%d",
			   turns, m->memory, 1 << QEMU_SHIFT));
	free(turns);
}

static void add_guest(struct list *l, const struct qemu_machine *m)
{
	/* First of the virtual devices, of which PORT_DEVICE has the number. */
	add_ports(l, m);
	add_files(l, "/", xstrdup(TAG_ROOT), ",readonly=on");
	for (int i = 0; m->writable[i]; i++)
		add_files(l, m->writable[i], xprintf(TAG_WRITABLE, i), "");
}

char **qemu_machine_command(const struct qemu_machine *m)
{
	struct list l = { 0 };

	add(&l, xstrdup(m->emulator));
	add_option(&l, "-M", xprintf("q35,i8042=off,sata=off,smm=off,vmport=off,usb=off%s",
				     m->counted ?
				     ",hpet=off,memory-backend=memory" : ""));
	if (m->counted)
		add_counting(&l, m);
	else
		add_option(&l, "-accel", xstrdup(m->kvm_cpu ? "kvm" :
						 "tcg,thread=multi"));
	add_option(&l, "-cpu", xstrdup(m->counted ? COUNTED_CPU :
				       m->kvm_cpu ? m->kvm_cpu : EMULATED_CPU));
	add_option(&l, "-smp", xprintf("%u", m->cpus));
	add_option(&l, "-m", xprintf("%lluM", m->memory_mib));
	add(&l, xstrdup("-nodefaults"));
	add(&l, xstrdup("-no-user-config"));
	add(&l, xstrdup("-no-reboot"));
	add_option(&l, "-display", xstrdup("none"));
	add_option(&l, "-chardev", m->counted ?
		   xprintf("file,id=log,append=on,path=" DESCRIPTOR, 1) :
		   xstrdup("stdio,id=log,signal=off"));
	add_option(&l, "-serial", xstrdup("chardev:log"));
	if (m->counted)
		add_ports(&l, m);
	if (m->start != QEMU_BOOT)
		add_waiting(&l, m);
	if (!m->counted && m->init)
		add_guest(&l, m);
	add_kernel(&l, m);
	return l.argv;
}
