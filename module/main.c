// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and unloads the module. It checks the window, registers the hooks with the
 * scheduler, and creates /dev/tense.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "tense.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static int __init tense_module_init(void)
{
	int err;

	if (tense_window < TENSE_WINDOW_MIN_NS ||
	    tense_window > TENSE_WINDOW_MAX_NS) {
		pr_err("tense: window=%lu is not in %d..%d ns\n", tense_window,
		       TENSE_WINDOW_MIN_NS, TENSE_WINDOW_MAX_NS);
		return -EINVAL;
	}
	tense_counter_init();
	err = tense_register(&tense_hooks);
	if (err)
		return err;
	err = misc_register(&tense_device);
	if (err)
		tense_unregister(&tense_hooks);
	return err;
}

static void __exit tense_module_exit(void)
{
	misc_deregister(&tense_device);
	tense_unregister(&tense_hooks);
	/* Tasks and experiments are freed after a grace period. */
	rcu_barrier();
	tense_users_end();
}

module_init(tense_module_init);
module_exit(tense_module_exit);
MODULE_DESCRIPTION("Virtual time for experiments");
MODULE_AUTHOR("Tense developers");
MODULE_LICENSE("GPL");
