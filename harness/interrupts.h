/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C and its kin, for commands that have something to finish: cases in flight, books to close. They ask between two
 * steps whether they were interrupted; nothing is cut short by itself.
 */
#ifndef TOPKCTS_INTERRUPTS_H
#define TOPKCTS_INTERRUPTS_H

/* From here on SIGINT, SIGTERM and SIGHUP are counted; a SIGHUP that was ignored stays so, for nohup. The third is left to the
 * system, which ends the process. Not to be nested. */
void interrupts_catch(void);

/* What was in place before interrupts_catch() is so again; the count stays. */
void interrupts_release(void);

/* How many came since interrupts_catch(): the first asks for an orderly end, the second not to wait for it. */
int interrupts_so_far(void);

#endif
