/* SPDX-License-Identifier: MIT */
/* What a program says of its own tracing. */
#ifndef DFT_APP_INIT_H
#define DFT_APP_INIT_H

/* What a program says that was not preloaded. */
void dft_app_init(const char *log_file, const char *data_dirs, const int *process_id, int bind);

#endif
