/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's trace points: each charge, change of percent, deadline that fires,
 * and task that the gate stops or releases.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tense

#if !defined(TENSE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TENSE_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(tense_charge,
	TP_PROTO(unsigned int experiment, int pid, int cpu, u64 real, u64 charged,
		 u64 lvt, u64 gvt, u64 ran),
	TP_ARGS(experiment, pid, cpu, real, charged, lvt, gvt, ran),
	TP_STRUCT__entry(
		__field(unsigned int, experiment)
		__field(int, pid)
		__field(int, cpu)
		__field(u64, real)
		__field(u64, charged)
		__field(u64, lvt)
		__field(u64, gvt)
		__field(u64, ran)
	),
	TP_fast_assign(
		__entry->experiment = experiment;
		__entry->pid = pid;
		__entry->cpu = cpu;
		__entry->real = real;
		__entry->charged = charged;
		__entry->lvt = lvt;
		__entry->gvt = gvt;
		__entry->ran = ran;
	),
	TP_printk("experiment=%u pid=%d cpu=%d real=%llu charged=%llu lvt=%llu gvt=%llu ran=%llu",
		  __entry->experiment, __entry->pid, __entry->cpu,
		  __entry->real, __entry->charged, __entry->lvt, __entry->gvt,
		  __entry->ran)
);

TRACE_EVENT(tense_percent,
	TP_PROTO(unsigned int experiment, int pid, u32 percent, u64 lvt),
	TP_ARGS(experiment, pid, percent, lvt),
	TP_STRUCT__entry(
		__field(unsigned int, experiment)
		__field(int, pid)
		__field(u32, percent)
		__field(u64, lvt)
	),
	TP_fast_assign(
		__entry->experiment = experiment;
		__entry->pid = pid;
		__entry->percent = percent;
		__entry->lvt = lvt;
	),
	TP_printk("experiment=%u pid=%d percent=%u lvt=%llu",
		  __entry->experiment, __entry->pid, __entry->percent,
		  __entry->lvt)
);

TRACE_EVENT(tense_deadline,
	TP_PROTO(unsigned int experiment, int pid, u64 when, u64 gvt),
	TP_ARGS(experiment, pid, when, gvt),
	TP_STRUCT__entry(
		__field(unsigned int, experiment)
		__field(int, pid)
		__field(u64, when)
		__field(u64, gvt)
	),
	TP_fast_assign(
		__entry->experiment = experiment;
		__entry->pid = pid;
		__entry->when = when;
		__entry->gvt = gvt;
	),
	TP_printk("experiment=%u pid=%d when=%llu gvt=%llu",
		  __entry->experiment, __entry->pid, __entry->when,
		  __entry->gvt)
);

TRACE_EVENT(tense_gate,
	TP_PROTO(unsigned int experiment, int pid, bool shut, u64 lvt, u64 gvt),
	TP_ARGS(experiment, pid, shut, lvt, gvt),
	TP_STRUCT__entry(
		__field(unsigned int, experiment)
		__field(int, pid)
		__field(bool, shut)
		__field(u64, lvt)
		__field(u64, gvt)
	),
	TP_fast_assign(
		__entry->experiment = experiment;
		__entry->pid = pid;
		__entry->shut = shut;
		__entry->lvt = lvt;
		__entry->gvt = gvt;
	),
	TP_printk("experiment=%u pid=%d %s lvt=%llu gvt=%llu",
		  __entry->experiment, __entry->pid,
		  __entry->shut ? "shut" : "open", __entry->lvt, __entry->gvt)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
