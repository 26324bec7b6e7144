/* Lets a program under valgrind write the number of blocks that it has run so far to valgrind's log:
 * it changes to any folder. No other part of metalens calls chdir. */
#include <valgrind/valgrind.h>

int chdir(const char *path) {
    (void)path;
    return (int)VALGRIND_MONITOR_COMMAND("v.info stats");
}
