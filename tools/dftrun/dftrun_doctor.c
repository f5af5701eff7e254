/* SPDX-License-Identifier: MIT */
/* dftrun --doctor: why is nothing recorded? Looks at everything that can keep calls from being
 * recorded, and says of each what to do.
 *
 * The library itself reports what it thinks of its settings: a small program runs with the
 * user's variables, and the messages of the library are read. So the doctor and the library never
 * disagree. COMMAND is inspected first, and runs once when it can. */
#include "dftrun/dftrun_doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dftrun/dftrun_checks.h"
#include "dftrun/dftrun_doctor_command.h"
#include "dftrun/dftrun_doctor_folder.h"
#include "dftrun/dftrun_doctor_library.h"
#include "dftrun/dftrun_doctor_limits.h"
#include "dftrun/dftrun_doctor_run.h"
#include "dftrun/dftrun_doctor_settings.h"
#include "dftrun/dftrun_trial.h"

/* Checks the trial with the user's own variables. */
static void check_settings(struct dft_checks *checks, const struct dft_run *run, int has_library)
{
    struct dft_trial trial = {0};
    int error = has_library ? dft_trial_begin(&trial) : -ENOENT;

    if (!error)
        error = dft_trial_run(&trial, run, 1);
    trial.error = error;
    dft_doctor_settings(checks, &trial);
    dft_trial_end(&trial);
}

static int report(const struct dft_run *run, struct dft_checks *checks)
{
    int code = dft_checks_number(checks, DFT_CHECK_WRONG) != 0;
    int error = dft_checks_print(checks);

    if (!error && run->json) {
        error = dft_checks_write(checks, run->json);
        if (error)
            fprintf(stderr, "dftrun: --json %s cannot be written: %s\n", run->json, strerror(-error));
    } else if (error) {
        fprintf(stderr, "dftrun: the list cannot be printed: %s\n", strerror(-error));
    }
    dft_checks_fini(checks);
    return error ? DFTRUN_OWN : code;
}

int dft_doctor(struct dft_run *run, int error)
{
    struct dft_checks checks = {0};
    int can_run = 0, has_library;

    if (*run->command) {
        dft_program_inspect(&run->program, run->command[0]);
        can_run = dft_doctor_command(&checks, run);
    }
    has_library = dft_doctor_library(&checks, run, error);
    dft_doctor_preloads(&checks, run);
    check_settings(&checks, run, has_library);
    dft_doctor_folder(&checks, run);
    dft_doctor_limits(&checks);
    if (can_run && has_library)
        dft_doctor_run(&checks, run);
    return report(run, &checks);
}
