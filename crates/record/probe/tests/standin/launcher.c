// Starts other programs, and has nothing to do with Metal: what `python3` of a framework, `timeout` and
// `torchrun` do.
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **arguments) {
    int children = count > 1 ? arguments[1][0] - '0' : 0;
    if (count < 3) return 2;
    if (!children) {
        execve(arguments[2], arguments + 2, environ);
        return 3;
    }
    pid_t pids[9];
    int status, failed = 0;
    for (int child = 0; child < children; child++)
        failed |= posix_spawn(&pids[child], arguments[2], NULL, NULL, arguments + 2, environ);
    for (int child = 0; child < children; child++) failed |= waitpid(pids[child], &status, 0) < 0 || status;
    return failed ? 4 : 0;
}
