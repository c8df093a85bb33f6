/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a merge, in the order in which they run. Inside of store_merge.c only; the texts are in
 * store_merge_sql.c. */
#ifndef TOPKCTS_STORE_MERGE_SQL_H
#define TOPKCTS_STORE_MERGE_SQL_H

enum merge_step {
    MERGE_ADD_DEVICES,
    MERGE_MAP_DEVICES,
    MERGE_ADD_CASES,
    MERGE_MAP_CASES,
    MERGE_ADD_SERIES,
    MERGE_MAP_SERIES,
    MERGE_CONFLICTING_RUNS, /* a query: what, key, stored, found, replaced */
    MERGE_MAP_KNOWN_RUNS,
    MERGE_ADD_RUNS,
    MERGE_MAP_NEW_RUNS,
    MERGE_CONFLICTING_DEVICES,   /* a query */
    MERGE_CONFLICTING_PROVIDERS, /* a query */
    MERGE_TOUCH_EXCLUDED,
    MERGE_EXCLUDE_RUNS,
    MERGE_CLOSE_RUNS,
    MERGE_ADD_RUN_DEVICES,
    MERGE_MAP_RUN_DEVICES,
    MERGE_ADD_RUN_PROVIDERS,
    MERGE_MAP_RUN_PROVIDERS,
    MERGE_ADD_WARNINGS,
    MERGE_FIND_OVERLAP,
    MERGE_FIND_DIFFERENT,
    MERGE_CONFLICTING_RESULTS, /* a query */
    MERGE_ADD_RESULTS,
    MERGE_TOUCH_REPLACED,
    MERGE_DROP_FAILURES,
    MERGE_DROP_SAMPLES,
    MERGE_DROP_LOGS,
    MERGE_RAISE_STARTS,
    MERGE_REPLACE_RESULTS,
    MERGE_TOUCH_REPLACEMENTS,
    MERGE_ADD_FAILURES,
    MERGE_ADD_SAMPLES,
    MERGE_ADD_LOGS,
    MERGE_DROP_PARTIAL_GUARDS, /* of which the source knows more */
    MERGE_ADD_GUARDS,
    MERGE_ADD_GUARD_CELLS,
    MERGE_ADD_GUARD_LEGS,
    MERGE_EXCLUDE_GUARDS,
    MERGE_DROP_LATEST,
    MERGE_REBUILD_LATEST,
    MERGE_RAISE_LATEST,
    MERGE_LAST = MERGE_RAISE_LATEST,
    MERGE_STEP_COUNT
};

/* Makes the temporary tables that the steps share, and empties them. */
extern const char merge_tables_sql[];

extern const char *const merge_step_sql[MERGE_STEP_COUNT];

#endif
