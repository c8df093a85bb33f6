/* SPDX-License-Identifier: Apache-2.0 */
/* The interval behind a flaky rate, against values worked out by hand from Wilson's formula. */
#include "harness/history.h"

#include <criterion/criterion.h>
#include <math.h>

static void assert_interval(int64_t k, int64_t n, double low, double high)
{
    double got_low, got_high;
    history_interval(k, n, &got_low, &got_high);
    cr_assert_lt(fabs(got_low - low), 5e-4, "%d of %d: low %f", (int)k, (int)n, got_low);
    cr_assert_lt(fabs(got_high - high), 5e-4, "%d of %d: high %f", (int)k, (int)n, got_high);
}

Test(history, the_interval_is_wilsons)
{
    assert_interval(1, 10, 0.0179, 0.4042);
    assert_interval(5, 10, 0.2366, 0.7634);
    assert_interval(3, 20, 0.0524, 0.3604);
}

Test(history, the_interval_means_something_at_both_ends)
{
    assert_interval(0, 3, 0, 0.5615);
    assert_interval(3, 3, 0.4385, 1);
    assert_interval(0, 0, 0, 1);
}
