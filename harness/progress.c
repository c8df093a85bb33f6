/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on stderr; see progress.h. */
#include "harness/progress.h"

#include "harness/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_WIDTH = 30, BAR_INTERVAL_MS = 100, LINE_INTERVAL_MS = 10000 };

void progress_begin(struct progress *progress, size_t total, const char *red_word)
{
    *progress = (struct progress){
        .is_terminal = isatty(STDERR_FILENO), .red_word = red_word, .total = total, .started_ms = clock_ms()};
    progress->shown_ms = progress->started_ms;
}

void progress_note(struct progress *progress, enum verdict verdict)
{
    progress->red += verdict_is_red(verdict);
}

void progress_show(struct progress *progress, size_t done)
{
    int64_t now = clock_ms();
    if (now - progress->shown_ms < (progress->is_terminal ? BAR_INTERVAL_MS : LINE_INTERVAL_MS))
        return;
    progress->shown_ms = now;
    double seconds = (double)(now - progress->started_ms) / 1000;
    if (!progress->is_terminal) {
        fprintf(stderr, "%zu of %zu done, %zu %s, %.0f s\n", done, progress->total, progress->red, progress->red_word, seconds);
        return;
    }
    char bar[BAR_WIDTH + 1];
    int  full = (int)(done * BAR_WIDTH / (progress->total ? progress->total : 1));
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %zu/%zu  %zu %s  %.0f s ", bar, done, progress->total, progress->red, progress->red_word, seconds);
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->is_terminal)
        fprintf(stderr, "\r\033[K");
}
