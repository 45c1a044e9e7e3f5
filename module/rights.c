// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the rights of tasks. A program with more rights than its user must not be
 * delayed by that user's tasks, and must not be sampled for them.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/user_namespace.h>

#include "tense.h"

static bool is_root(const struct cred *cred)
{
	return uid_eq(cred->uid, make_kuid(cred->user_ns, 0));
}

/* The creator of a user namespace has all capabilities in it, but none outside. */
static bool is_in_own_namespace(const struct cred *cred)
{
	return cred->user_ns != &init_user_ns && uid_eq(cred->user_ns->owner, cred->uid);
}

/**
 * tense_is_mine() - whether the calling task's user began the experiment
 * @exp: the experiment
 */
bool tense_is_mine(const struct tense_experiment *exp)
{
	return uid_eq(exp->uid, current_uid());
}

/**
 * tense_has_plain_rights() - whether the calling task has only the rights of its user
 *
 * A set-user-ID program has more. So has a program whose file gave it capabilities,
 * and one that kept root's capabilities. Ambient ones are inherited, not gained.
 */
bool tense_has_plain_rights(void)
{
	const struct cred *cred = current_cred();

	return uid_eq(cred->uid, cred->euid) && uid_eq(cred->uid, cred->suid) &&
	       gid_eq(cred->gid, cred->egid) && gid_eq(cred->gid, cred->sgid) &&
	       (is_root(cred) || is_in_own_namespace(cred) ||
		cap_issubset(cred->cap_permitted, cred->cap_ambient));
}

/* The rule of cap_capable(), for CAP_SYS_PTRACE. */
static bool may_trace_all_in(const struct cred *tracer,
			     const struct user_namespace *ns)
{
	for (; ns != tracer->user_ns; ns = ns->parent) {
		if (ns->level <= tracer->user_ns->level)
			return false;
		if (ns->parent == tracer->user_ns && uid_eq(ns->owner, tracer->euid))
			return true;
	}
	return cap_raised(tracer->cap_effective, CAP_SYS_PTRACE);
}

static bool is_same_user(const struct cred *tracer, const struct cred *cred)
{
	return tracer->user_ns == cred->user_ns &&
	       uid_eq(tracer->uid, cred->uid) && uid_eq(tracer->uid, cred->euid) &&
	       uid_eq(tracer->uid, cred->suid) && gid_eq(tracer->gid, cred->gid) &&
	       gid_eq(tracer->gid, cred->egid) && gid_eq(tracer->gid, cred->sgid) &&
	       cap_issubset(cred->cap_permitted, tracer->cap_permitted);
}

/**
 * tense_may_trace() - whether one task's rights let it trace another one
 * @tracer: rights of the one
 * @cred: rights of the other
 *
 * The rule of ptrace(2), without that of security modules and dumpable(5).
 */
bool tense_may_trace(const struct cred *tracer, const struct cred *cred)
{
	return is_same_user(tracer, cred) || may_trace_all_in(tracer, cred->user_ns);
}
