// SPDX-License-Identifier: GPL-2.0
#include "taskstats.h"

#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Some thousands of exits between two calls of taskstats_drain(). */
#define EXITS_BUFFER	(16 << 20)

/* Since this version the kernel tells the process of a thread. */
#define VERSION_TGID	12

struct task_source {
	struct nl_sock *queries;
	struct nl_sock *exits;
	int family;
	struct task_time *answer;	/* filled by the pending query */
	bool answered;
	void (*exited)(void *arg, const struct task_time *task);
	void *arg;
};

/* Newer kernels append to the structure; old fields keep their place. */
static int parse_stats(struct nlattr *attr, struct taskstats *stats)
{
	size_t size = nla_len(attr);

	if (size < offsetof(struct taskstats, nvcsw))
		return -1;
	memset(stats, 0, sizeof(*stats));
	memcpy(stats, nla_data(attr), size < sizeof(*stats) ? size :
							      sizeof(*stats));
	return 0;
}

int taskstats_parse(struct nlmsghdr *message, struct task_time *task)
{
	struct nlattr *attrs[TASKSTATS_TYPE_MAX + 1];
	struct nlattr *inner[TASKSTATS_TYPE_MAX + 1];
	struct taskstats stats;
	bool has_process;

	if (genlmsg_parse(message, 0, attrs, TASKSTATS_TYPE_MAX, NULL) ||
	    !attrs[TASKSTATS_TYPE_AGGR_PID] ||
	    nla_parse_nested(inner, TASKSTATS_TYPE_MAX,
			     attrs[TASKSTATS_TYPE_AGGR_PID], NULL) ||
	    !inner[TASKSTATS_TYPE_STATS] ||
	    parse_stats(inner[TASKSTATS_TYPE_STATS], &stats))
		return -1;
	has_process = stats.version >= VERSION_TGID && stats.ac_tgid;
	*task = (struct task_time){
		.tid = stats.ac_pid,
		.process = has_process ? stats.ac_tgid : stats.ac_pid,
		.parent = stats.ac_ppid,
		/* The latter are counted in ticks of the timer. */
		.ns = stats.cpu_run_virtual_total ?
		      stats.cpu_run_virtual_total :
		      (stats.ac_utime + stats.ac_stime) * 1000,
	};
	memcpy(task->name, stats.ac_comm, sizeof(task->name) - 1);
	return 0;
}

static int on_answer(struct nl_msg *msg, void *arg)
{
	struct task_source *source = arg;

	source->answered = !taskstats_parse(nlmsg_hdr(msg), source->answer);
	return NL_OK;
}

static int on_exit_message(struct nl_msg *msg, void *arg)
{
	struct task_source *source = arg;
	struct task_time task;

	if (!taskstats_parse(nlmsg_hdr(msg), &task))
		source->exited(source->arg, &task);
	return NL_OK;
}

static int send_command(struct task_source *source, struct nl_sock *socket,
			int attribute, const void *value, int size)
{
	struct nl_msg *msg = nlmsg_alloc();
	int err = -NLE_NOMEM;

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, source->family,
			       0, 0, TASKSTATS_CMD_GET,
			       TASKSTATS_GENL_VERSION))
		err = nla_put(msg, attribute, size, value);
	if (!err)
		err = nl_send_auto(socket, msg);
	nlmsg_free(msg);
	return err < 0 ? err : 0;
}

int taskstats_query(struct task_source *source, pid_t tid,
		    struct task_time *task)
{
	uint32_t id = tid;

	source->answer = task;
	source->answered = false;
	if (send_command(source, source->queries, TASKSTATS_CMD_ATTR_PID, &id,
			 sizeof(id)))
		return -1;
	return nl_recvmsgs_default(source->queries) || !source->answered ? -1 :
									   0;
}

int taskstats_drain(struct task_source *source,
		    void (*exited)(void *arg, const struct task_time *task),
		    void *arg)
{
	int err, result = 0;

	source->exited = exited;
	source->arg = arg;
	while ((err = nl_recvmsgs_default(source->exits)) != -NLE_AGAIN) {
		/* ENOBUFS is reported once; buffered messages follow. */
		if (err && result)
			return result;
		if (err)
			result = -1;
	}
	return result;
}

static struct nl_sock *open_socket(nl_recvmsg_msg_cb_t received,
				   struct task_source *source)
{
	struct nl_sock *socket = nl_socket_alloc();

	if (!socket)
		die(STATUS_FAILED, "out of memory");
	nl_socket_disable_seq_check(socket);
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, received,
			    source);
	return socket;
}

/* All of them, as the kernel writes and reads it. */
static int read_cpus(char *cpus, size_t size)
{
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	int result = -NLE_NOATTR;

	if (f && fgets(cpus, size, f)) {
		cpus[strcspn(cpus, "\n")] = '\0';
		result = 0;
	}
	if (f)
		fclose(f);
	return result;
}

static int listen_to_exits(struct task_source *source)
{
	char cpus[256];
	int err = genl_connect(source->exits);

	if (!err)
		err = nl_socket_set_buffer_size(source->exits, EXITS_BUFFER, 0);
	if (!err)
		err = read_cpus(cpus, sizeof(cpus));
	if (!err)
		err = send_command(source, source->exits,
				   TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus,
				   strlen(cpus) + 1);
	if (!err)
		err = nl_wait_for_ack(source->exits);
	/* The first messages may come before anyone asks for them. */
	if (!err)
		err = nl_socket_set_nonblocking(source->exits);
	return err;
}

static int connect_source(struct task_source *source)
{
	int err = genl_connect(source->queries);

	if (err)
		return err;
	nl_socket_disable_auto_ack(source->queries);
	source->family = genl_ctrl_resolve(source->queries,
					   TASKSTATS_GENL_NAME);
	return source->family < 0 ? source->family : listen_to_exits(source);
}

static char *explain(int err)
{
	switch (-err) {
	case NLE_PERM:
		return xstrdup("taskstats needs root, or CAP_NET_ADMIN");
	case NLE_OBJ_NOTFOUND:
		return xstrdup("the kernel is without CONFIG_TASKSTATS");
	case NLE_INVAL:
		return xstrdup("taskstats is not for containers");
	default:
		return xprintf("taskstats: %s", nl_geterror(err));
	}
}

struct task_source *taskstats_open(char **why)
{
	struct task_source *source = xmalloc(sizeof(*source));
	int err;

	source->queries = open_socket(on_answer, source);
	source->exits = open_socket(on_exit_message, source);
	err = connect_source(source);
	if (!err)
		return source;
	*why = explain(err);
	taskstats_close(source);
	return NULL;
}

void taskstats_close(struct task_source *source)
{
	if (!source)
		return;
	nl_socket_free(source->queries);
	nl_socket_free(source->exits);
	free(source);
}
