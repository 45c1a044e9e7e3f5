// SPDX-License-Identifier: GPL-2.0
#include "qemu-machine.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

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

static void add_ports(struct list *l, const struct qemu_machine *m)
{
	add_option(l, "-device", xprintf("virtio-serial-pci,max_ports=%d",
					 PORT_FIRST + CHANNELS_MAX));
	for (int i = 0; i < m->nr_ports; i++) {
		add_option(l, "-chardev", xprintf("socket,id=port%d,fd=%d", i,
						  m->ports[i]));
		add_option(l, "-device",
			   xprintf("virtserialport,chardev=port%d,nr=%d", i,
				   PORT_FIRST + i));
	}
}

static void add_kernel(struct list *l, const struct qemu_machine *m)
{
	char *root = m->init ?
		xprintf("root=%s rootfstype=9p rootflags=%s ro init=\"%s\"",
			TAG_ROOT, ROOT_OPTIONS, m->init) : xstrdup("");

	add_option(l, "-kernel", xstrdup(m->kernel));
	add_option(l, "-append",
		   xprintf("console=ttyS0 quiet panic=-1 %s %s",
			   m->kvm_cpu ? "" : "tsc=reliable", root));
	free(root);
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
	add_option(&l, "-M", xstrdup("q35,i8042=off,sata=off,smm=off,vmport=off,usb=off"));
	add_option(&l, "-accel", xstrdup(m->kvm_cpu ? "kvm" :
						      "tcg,thread=multi"));
	add_option(&l, "-cpu", xstrdup(m->kvm_cpu ? m->kvm_cpu : "max"));
	add_option(&l, "-smp", xprintf("%u", m->cpus));
	add_option(&l, "-m", xprintf("%lluM", m->memory_mib));
	add(&l, xstrdup("-nodefaults"));
	add(&l, xstrdup("-no-user-config"));
	add(&l, xstrdup("-no-reboot"));
	add_option(&l, "-display", xstrdup("none"));
	add_option(&l, "-chardev", xstrdup("stdio,id=log,signal=off"));
	add_option(&l, "-serial", xstrdup("chardev:log"));
	if (m->init)
		add_guest(&l, m);
	add_kernel(&l, m);
	return l.argv;
}
