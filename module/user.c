// SPDX-License-Identifier: GPL-2.0
/*
 * Limits on the experiments, tasks, areas and surveys of each user. A user is a real user
 * id. Inside a user namespace, it is the owner of the outermost one, because user
 * ids cost nothing in there; rights.c goes by the ids. An experiment and its tasks count
 * for the user of its first task, whatever ids they have later. CAP_SYS_RESOURCE lifts the
 * limits.
 *
 * Deadlines need no limit. Each task and each clock has one deadline. The timers in
 * the queues are the kernel's own objects and have limits of their own.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "tense.h"

struct tense_user {
	struct hlist_node node;
	kuid_t uid;
	unsigned int experiments;
	unsigned int refs;	/* experiments and areas; freed at 0 */
	atomic_t used[TENSE_USER_THINGS];
};

static DEFINE_HASHTABLE(users, 6);
/*
 * Protects the table, and experiments and refs of all users. No other lock of the module
 * is taken under it. Never taken in interrupts.
 */
static DEFINE_SPINLOCK(users_lock);

static unsigned int experiments_max = 1024;
module_param(experiments_max, uint, 0644);
MODULE_PARM_DESC(experiments_max, "Experiments that a user may have at a time");

static unsigned int limit[TENSE_USER_THINGS] = {
	[TENSE_USER_TASKS] = 32768,
	[TENSE_USER_AREAS] = 16384,
	[TENSE_USER_SURVEYS] = 64,
};

module_param_named(tasks_max, limit[TENSE_USER_TASKS], uint, 0644);
MODULE_PARM_DESC(tasks_max, "Threads that a user may have in experiments");
module_param_named(areas_max, limit[TENSE_USER_AREAS], uint, 0644);
MODULE_PARM_DESC(areas_max, "Threads of a user that may have mapped their area");

module_param_named(surveys_max, limit[TENSE_USER_SURVEYS], uint, 0644);
MODULE_PARM_DESC(surveys_max, "Experiments of a user that may be sampled");

static kuid_t current_user_id(void)
{
	struct user_namespace *ns = current_user_ns();

	if (ns == &init_user_ns)
		return current_uid();
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns->owner;
}

static bool is_allowed(unsigned int used, unsigned int most)
{
	return used <= most || capable(CAP_SYS_RESOURCE);
}

static struct tense_user *find(kuid_t uid)
{
	struct tense_user *user;

	lockdep_assert_held(&users_lock);

	hash_for_each_possible(users, user, node, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

/**
 * tense_user_get() - count one more experiment for the calling task's user
 *
 * May sleep.
 *
 * Return: the user, for tense_user_put(), or -ENOMEM or -EMFILE.
 */
struct tense_user *tense_user_get(void)
{
	struct tense_user *user, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->uid = current_user_id();

	spin_lock(&users_lock);
	user = find(new->uid);
	if (!is_allowed(user ? user->experiments + 1 : 1,
			READ_ONCE(experiments_max))) {
		user = ERR_PTR(-EMFILE);
	} else if (user) {
		user->experiments++;
		user->refs++;
	} else {
		new->experiments = 1;
		new->refs = 1;
		hash_add(users, &new->node, __kuid_val(new->uid));
		swap(user, new);
	}
	spin_unlock(&users_lock);
	kfree(new);
	return user;
}

static void drop(struct tense_user *user, unsigned int experiments)
{
	spin_lock(&users_lock);
	user->experiments -= experiments;
	if (--user->refs)
		user = NULL;
	else
		hash_del(&user->node);
	spin_unlock(&users_lock);
	kfree(user);
}

/**
 * tense_user_put() - an experiment ends
 * @user: the experiment's user
 */
void tense_user_put(struct tense_user *user)
{
	drop(user, 1);
}

/**
 * tense_user_hold() - take a reference for an object that outlasts its experiment
 * @user: the experiment's user; the caller holds another reference
 */
void tense_user_hold(struct tense_user *user)
{
	spin_lock(&users_lock);
	user->refs++;
	spin_unlock(&users_lock);
}

/**
 * tense_user_drop() - release a reference of tense_user_hold()
 * @user: the user, which may be freed
 */
void tense_user_drop(struct tense_user *user)
{
	drop(user, 0);
}

/**
 * tense_user_take() - count one more thing for a user
 * @user: the user
 * @thing: kind of thing
 *
 * Return: 0, or -EDQUOT if the user has too many.
 */
int tense_user_take(struct tense_user *user, enum tense_user_thing thing)
{
	int used = atomic_read(&user->used[thing]);

	/* A failing call must not add anything: other tasks' calls could fail by it. */
	do {
		if (!is_allowed(used + 1, READ_ONCE(limit[thing])))
			return -EDQUOT;
	} while (!atomic_try_cmpxchg(&user->used[thing], &used, used + 1));
	return 0;
}

/**
 * tense_user_give() - count one thing less for a user
 * @user: the user
 * @thing: kind of thing
 */
void tense_user_give(struct tense_user *user, enum tense_user_thing thing)
{
	atomic_dec(&user->used[thing]);
}

/* Runs when the module is unloaded. A user that is left has a lost experiment. */
void tense_users_end(void)
{
	WARN_ON_ONCE(!hash_empty(users));
}
