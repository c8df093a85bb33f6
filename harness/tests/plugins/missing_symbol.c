/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared object that is no plugin: it exports a function, of another name.
 */
#include "host_select.h"

const char *another_symbol(void);

const char *another_symbol(void)
{
    return "topk_provider_entry is not exported here";
}
