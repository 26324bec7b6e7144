// Notes this program's Metal command buffers and writes them as a command-buffer log, which
// metalens reads. Load the library, whose path `metalens probe` prints, with dlopen, and never close it;
// or link with what `cargo build --release -p metalens-probe` makes.
#ifndef METALENS_PROBE_H
#define METALENS_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif

// Begins a log at a path, which is replaced. Call it before the program makes its pipelines: the
// functions of those made before are unknown. Returns 0, or a number of errno.h: EBUSY while a log is
// written, ENODEV without Metal, EINVAL for NULL, else why the file cannot be made.
int metalens_start(const char *path);

// Ends the log. Waits a second at most for command buffers that are not complete.
void metalens_stop(void);

// Begins and ends a part of the program's work, by name. Phases can be nested. An end belongs to
// the last begin of the same name, on the same thread if there is one.
void metalens_phase_begin(const char *name);
void metalens_phase_end(const char *name);

#ifdef __cplusplus
}
#endif

#endif
