// SPDX-License-Identifier: GPL-2.0
#include "module.h"

#include "../guest/guest.h"

int module_load(void)
{
	return load_module();
}

int module_unload(void)
{
	return unload_module_soon();
}

const char *module_complaint(void)
{
	return kernel_complaint();
}
