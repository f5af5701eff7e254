/* SPDX-License-Identifier: MIT */
/* The section of the page about a database of spans. */
#include "report/report_spans.h"

#include <stdio.h>

#include "command/command.h"
#ifdef DFT_HAVE_SQLITE
#include "spans/page.h"
#endif

int dft_report_spans(char **text, const char *path, const char *root, const char *page, int quiet)
{
    *text = NULL;
    if (!path && root) {
        fputs("dftmerge report: --spans-root needs a database: --spans FILE.db\n", stderr);
        return DFT_EXIT_USAGE;
    }
    if (!path)
        return 0;
#ifdef DFT_HAVE_SQLITE
    if (page && dft_spans_is_same_file(path, page)) {
        fprintf(stderr, "dftmerge report: -o %s is the database: choose another file\n", page);
        return DFT_EXIT_BAD;
    }
    return dft_spans_page_make(text, path, root, quiet) ? DFT_EXIT_BAD : 0;
#else
    (void)page;
    (void)quiet;
    fputs("dftmerge report: --spans: this dftmerge was built without SQLite; install it (libsqlite3-dev) and build "
          "again\n",
          stderr);
    return DFT_EXIT_USAGE;
#endif
}
