// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/hostfdN: descriptors that the UML process inherited, as devices.
 *
 * hostfd.fds=5,7 on the kernel command line makes /dev/hostfd0 of the host's
 * descriptor 5 and /dev/hostfd1 of 7. A descriptor may be a pipe, a terminal, a
 * socket or a file. Reads, writes, seeks and poll pass through, block only the
 * guest's process, and end when a signal arrives. The last close in the guest
 * closes the host's descriptor, which tells the process at its other end. From
 * then on the device is dead.
 */

#define pr_fmt(fmt) "hostfd: " fmt

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/miscdevice.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <init.h>
#include <irq_kern.h>
#include <os.h>
#include "hostfd.h"
#include "hostfd_splice.h"

/* Size of a pipe by default. */
#define HOSTFD_CHUNK	65536

struct hostfd {
	struct miscdevice misc;
	char name[12];
	int index;
	int fd;			/* the host's, -1 when closed */
	int flags;		/* from hostfd_user_probe() */
	int users;		/* open files; under hostfd_mutex */
	spinlock_t lock;	/* protects armed and fired */
	int armed;		/* events that are asked for */
	int fired;		/* events that came since they were asked for */
	wait_queue_head_t wait;
};

static int fds[HOSTFD_MAX];
static int nr_fds;
module_param_array(fds, int, &nr_fds, 0444);
MODULE_PARM_DESC(fds, "descriptors of the host that become /dev/hostfd0, 1, ...");

static struct hostfd hostfds[HOSTFD_MAX];
static DEFINE_MUTEX(hostfd_mutex);
static int event_fd = -1;
static int helper_pid = -1;

/* Caller holds h->lock. */
static void hostfd_rearm(struct hostfd *h)
{
	lockdep_assert_held(&h->lock);
	/* If the descriptor cannot be armed, let waiters look again. */
	if (hostfd_user_arm(h->fd, h->index, h->armed)) {
		h->fired |= HOSTFD_ERR;
		h->armed = 0;
		wake_up_interruptible(&h->wait);
	}
}

/*
 * A waiter may clear an event that another waiter was about to see. The first
 * one also asks for the event again, and the host reports it again while it is
 * there.
 */
static void hostfd_arm(struct hostfd *h, int events)
{
	unsigned long flags;

	spin_lock_irqsave(&h->lock, flags);
	h->fired &= ~(events | HOSTFD_HUP | HOSTFD_ERR);
	h->armed |= events;
	hostfd_rearm(h);
	spin_unlock_irqrestore(&h->lock, flags);
}

static void hostfd_fire(struct hostfd *h, int events)
{
	unsigned long flags;

	spin_lock_irqsave(&h->lock, flags);
	h->fired |= events;
	/* After a hangup or an error no other event comes. */
	if (events & (HOSTFD_HUP | HOSTFD_ERR))
		h->armed = 0;
	h->armed &= ~events;
	if (h->armed)
		hostfd_rearm(h);
	spin_unlock_irqrestore(&h->lock, flags);
	wake_up_interruptible(&h->wait);
}

static irqreturn_t hostfd_interrupt(int irq, void *data)
{
	struct hostfd_event event;

	/* The helper writes whole events. */
	while (os_read_file(event_fd, &event, sizeof(event)) == sizeof(event))
		hostfd_fire(&hostfds[event.index], event.events);
	return IRQ_HANDLED;
}

static int hostfd_wait(struct kiocb *iocb, struct hostfd *h, int event)
{
	if ((iocb->ki_filp->f_flags & O_NONBLOCK) ||
	    (iocb->ki_flags & IOCB_NOWAIT) || !(h->flags & HOSTFD_POLL))
		return -EAGAIN;

	hostfd_arm(h, event);
	return wait_event_interruptible(h->wait, READ_ONCE(h->fired) &
					(event | HOSTFD_HUP | HOSTFD_ERR));
}

static ssize_t hostfd_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct hostfd *h = iocb->ki_filp->private_data;
	size_t len = min_t(size_t, iov_iter_count(to), HOSTFD_CHUNK);
	size_t bad;
	ssize_t n;
	void *buf;

	if (!len)
		return 0;

	/* Data that was read cannot be put back. */
	bad = fault_in_iov_iter_writeable(to, len);
	if (bad == len)
		return -EFAULT;
	len -= bad;

	buf = kmalloc(len, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;

	for (;;) {
		n = hostfd_user_read(h->fd, h->flags, buf, len);
		if (n != -EAGAIN)
			break;
		n = hostfd_wait(iocb, h, HOSTFD_IN);
		if (n)
			break;
	}
	if (n > 0 && copy_to_iter(buf, n, to) != n)
		n = -EFAULT;
	kfree(buf);
	return n;
}

/* Writes all of the buffer, as pipes do, unless a signal or error stops it. */
static ssize_t hostfd_write_buf(struct kiocb *iocb, struct hostfd *h,
				const void *buf, size_t len)
{
	size_t done = 0;
	ssize_t n = 0;

	while (done < len) {
		n = hostfd_user_write(h->fd, h->flags, buf + done, len - done);
		if (n == -EAGAIN)
			n = hostfd_wait(iocb, h, HOSTFD_OUT);
		if (n == -EPIPE)
			send_sig(SIGPIPE, current, 0);
		if (n < 0)
			break;
		done += n;
	}
	return done ? done : n;
}

static ssize_t hostfd_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct hostfd *h = iocb->ki_filp->private_data;
	size_t size = min_t(size_t, iov_iter_count(from), HOSTFD_CHUNK);
	ssize_t done = 0, n = 0;
	size_t len;
	void *buf;

	if (!size)
		return 0;

	buf = kmalloc(size, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;

	while (iov_iter_count(from)) {
		len = copy_from_iter(buf, min(iov_iter_count(from), size),
				     from);
		if (!len) {
			n = -EFAULT;
			break;
		}
		n = hostfd_write_buf(iocb, h, buf, len);
		if (n < 0)
			break;
		done += n;
		if (n < len)
			break;
	}
	kfree(buf);
	return done ? done : n;
}

static __poll_t hostfd_poll(struct file *file, poll_table *wait)
{
	struct hostfd *h = file->private_data;
	__poll_t mask = 0;
	int want = 0, ready;

	if (!(h->flags & HOSTFD_POLL))
		return DEFAULT_POLLMASK;

	poll_wait(file, &h->wait, wait);
	ready = hostfd_user_poll(h->fd);
	if (ready & HOSTFD_IN)
		mask |= EPOLLIN | EPOLLRDNORM;
	if (ready & HOSTFD_OUT)
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (ready & HOSTFD_HUP)
		mask |= EPOLLHUP;
	if (ready & HOSTFD_ERR)
		mask |= EPOLLERR;

	if (poll_requested_events(wait) & (EPOLLIN | EPOLLRDNORM))
		want |= HOSTFD_IN;
	if (poll_requested_events(wait) & (EPOLLOUT | EPOLLWRNORM))
		want |= HOSTFD_OUT;
	/* A poll for no events still waits for the hangup, which must be armed. */
	if (!(ready & (HOSTFD_HUP | HOSTFD_ERR)) && (!want || (want & ~ready)))
		hostfd_arm(h, want & ~ready);
	return mask;
}

static loff_t hostfd_llseek(struct file *file, loff_t offset, int whence)
{
	struct hostfd *h = file->private_data;

	if (!(h->flags & HOSTFD_SEEK))
		return -ESPIPE;
	return hostfd_user_seek(h->fd, offset, whence);
}

static int hostfd_fsync(struct file *file, loff_t start, loff_t end,
			int datasync)
{
	struct hostfd *h = file->private_data;

	return hostfd_user_sync(h->fd, datasync);
}

static int hostfd_open(struct inode *inode, struct file *file)
{
	struct hostfd *h = container_of(file->private_data, struct hostfd,
					misc);
	int err = 0;

	if (((file->f_mode & FMODE_READ) && !(h->flags & HOSTFD_READ)) ||
	    ((file->f_mode & FMODE_WRITE) && !(h->flags & HOSTFD_WRITE)))
		return -EACCES;

	mutex_lock(&hostfd_mutex);
	if (h->fd < 0)
		err = -ENXIO;
	else
		h->users++;
	mutex_unlock(&hostfd_mutex);
	if (err)
		return err;

	/* The host keeps the position. */
	file->f_mode &= ~(FMODE_PREAD | FMODE_PWRITE);
	file->private_data = h;
	return 0;
}

static int hostfd_release(struct inode *inode, struct file *file)
{
	struct hostfd *h = file->private_data;

	mutex_lock(&hostfd_mutex);
	if (!--h->users) {
		os_close_file(h->fd);
		h->fd = -1;
	}
	mutex_unlock(&hostfd_mutex);
	return 0;
}

static const struct file_operations hostfd_fops = {
	.open = hostfd_open,
	.release = hostfd_release,
	.read_iter = hostfd_read_iter,
	.write_iter = hostfd_write_iter,
	.splice_read = hostfd_splice_read,
	.splice_write = iter_file_splice_write,
	.poll = hostfd_poll,
	.llseek = hostfd_llseek,
	.fsync = hostfd_fsync,
};

static int __init hostfd_add(struct hostfd *h, int index, int fd)
{
	int flags;

	h->index = index;
	h->fd = fd;
	spin_lock_init(&h->lock);
	init_waitqueue_head(&h->wait);

	/* Events may come from here on. */
	flags = hostfd_user_probe(fd, index);
	if (flags < 0)
		return flags;
	h->flags = flags;

	snprintf(h->name, sizeof(h->name), "hostfd%d", index);
	h->misc.minor = MISC_DYNAMIC_MINOR;
	h->misc.name = h->name;
	h->misc.fops = &hostfd_fops;
	/* Every user of the guest may use the descriptors that were passed to it. */
	h->misc.mode = 0666;
	return misc_register(&h->misc);
}

static int __init hostfd_init(void)
{
	int i, err, irq;

	if (!nr_fds)
		return 0;

	helper_pid = hostfd_user_start(&event_fd);
	if (helper_pid < 0)
		return helper_pid;

	irq = um_request_irq(UM_IRQ_ALLOC, event_fd, IRQ_READ,
			     hostfd_interrupt, 0, "hostfd", NULL);
	if (irq < 0)
		return irq;

	for (i = 0; i < nr_fds; i++) {
		err = hostfd_add(&hostfds[i], i, fds[i]);
		if (err)
			pr_err("descriptor %d: error %d\n", fds[i], -err);
	}
	return 0;
}
device_initcall(hostfd_init);

static void hostfd_exit(void)
{
	if (helper_pid > 0)
		os_kill_process(helper_pid, 1);
}

__uml_exitcall(hostfd_exit);
