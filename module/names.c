// SPDX-License-Identifier: GPL-2.0
/*
 * Names of experiments. By a name, processes that have no common ancestor in an
 * experiment find the same one. A name belongs to a real user id in a user namespace:
 * an equal name of another user is another experiment.
 *
 * A name lasts until all tasks of the experiment are exiting or have left. It needs
 * no file that a killed process could leave behind.
 *
 * experiment.c calls tense_name_find() and tense_name_set() under join_mutex, so that
 * two tasks cannot give the same name to two experiments.
 */
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "tense.h"

/* Protects the list and the names in it. Taken before exp->lock. */
static DEFINE_SPINLOCK(names_lock);
static LIST_HEAD(names);

/**
 * tense_name_is_valid() - whether an experiment may have a name
 * @text: the name
 */
bool tense_name_is_valid(const char *text)
{
	size_t i;

	/* isalnum() accepts letters of Latin-1. */
	for (i = 0; text[i]; i++) {
		if (!isascii(text[i]) ||
		    (!isalnum(text[i]) && !strchr("._-", text[i])))
			return false;
	}
	return i > 0 && i <= TENSE_NAME_MAX;
}

/* Whether the calling task's user has given this name to the experiment. */
static bool is_named(const struct tense_experiment *exp, const char *text)
{
	const struct tense_name *name = &exp->name;

	lockdep_assert_held(&names_lock);

	return !list_empty(&name->node) && tense_is_mine(exp) &&
	       name->ns == current_user_ns() && !strcmp(name->text, text);
}

/*
 * Whether a task that is not exiting is in the experiment. When a killed task leaves,
 * its parent already knows that it is dead, and may want the name for a new one.
 */
static bool is_alive(struct tense_experiment *exp)
{
	struct tense_task *t;
	bool alive = false;

	raw_spin_lock_irq(&exp->lock);
	list_for_each_entry(t, &exp->tasks, node) {
		alive = !(READ_ONCE(t->task->flags) & PF_EXITING);
		if (alive)
			break;
	}
	raw_spin_unlock_irq(&exp->lock);
	return alive;
}

/**
 * tense_name_set() - name a new experiment, which no task has joined yet
 * @exp: the experiment
 * @text: a valid name, which tense_name_find() does not find
 */
void tense_name_set(struct tense_experiment *exp, const char *text)
{
	struct tense_name *name = &exp->name;

	name->ns = get_user_ns(current_user_ns());
	strscpy(name->text, text, sizeof(name->text));
	spin_lock(&names_lock);
	list_add_tail(&name->node, &names);
	spin_unlock(&names_lock);
}

/**
 * tense_name_is() - whether the calling task's user has given this name
 * @exp: the experiment
 * @text: the name
 */
bool tense_name_is(struct tense_experiment *exp, const char *text)
{
	bool is;

	spin_lock(&names_lock);
	is = is_named(exp, text);
	spin_unlock(&names_lock);
	return is;
}

/* Returns the experiment with a reference, or NULL. */
static struct tense_experiment *find(const char *text)
{
	struct tense_experiment *exp;

	lockdep_assert_held(&names_lock);

	list_for_each_entry(exp, &names, name.node) {
		if (!is_named(exp, text))
			continue;
		if (is_alive(exp) && refcount_inc_not_zero(&exp->refs))
			return exp;
		/* A sibling of its last task may still join it, but not by name. */
		list_del_init(&exp->name.node);
		return NULL;
	}
	return NULL;
}

/**
 * tense_name_find() - find an experiment of the calling task's user
 * @text: the name
 *
 * Return: the experiment with a reference, or NULL.
 */
struct tense_experiment *tense_name_find(const char *text)
{
	struct tense_experiment *exp;

	spin_lock(&names_lock);
	exp = find(text);
	spin_unlock(&names_lock);
	return exp;
}

/**
 * tense_name_remove() - free the name of an experiment for another one
 * @exp: has lost its last reference, and may have a name
 */
void tense_name_remove(struct tense_experiment *exp)
{
	spin_lock(&names_lock);
	list_del_init(&exp->name.node);
	spin_unlock(&names_lock);
}

/**
 * tense_name_end() - put the namespace of a name
 * @exp: is about to be freed, and is not in the list of names
 */
void tense_name_end(struct tense_experiment *exp)
{
	if (exp->name.ns)
		put_user_ns(exp->name.ns);
}
