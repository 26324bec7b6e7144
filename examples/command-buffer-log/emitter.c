#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static FILE *log_file;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t log_count;

static uint64_t log_now(void) {
    struct timespec now;
#ifdef __APPLE__
    clock_gettime(CLOCK_UPTIME_RAW, &now);
#else
    clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void log_open(const char *path, const char *program, int pid) {
    log_file = fopen(path, "w");
    if (log_file) fprintf(log_file, "{\"format\":\"command-buffer-log/1\",\"program\":\"%s\",\"pid\":%d}\n", program, pid);
}

/* encode, commit and completed are log_now(); GPU times are GPUStartTime and GPUEndTime, in seconds.
   [buffer addCompletedHandler:^(id<MTLCommandBuffer> done) {
       log_buffer(encode, commit, done.GPUStartTime, done.GPUEndTime, "gemm", dispatches); }]; */
static void log_buffer(uint64_t encode, uint64_t commit, double gpu_start, double gpu_end, const char *kernel, int dispatches) {
    uint64_t completed = log_now();
    pthread_mutex_lock(&log_lock);
    if (log_file)
        fprintf(log_file, "{\"command_buffer\":%llu,\"encode\":%llu,\"commit\":%llu,\"gpu_start\":%.0f,\"gpu_end\":%.0f,"
            "\"completed\":%llu,\"encoders\":[{\"kind\":\"compute\",\"kernels\":{\"%s\":%d}}]}\n",
            (unsigned long long)++log_count, (unsigned long long)encode, (unsigned long long)commit, gpu_start * 1e9,
            gpu_end * 1e9, (unsigned long long)completed, kernel, dispatches);
    pthread_mutex_unlock(&log_lock);
}

static void log_close(void) {
    if (!log_file) return;
    fprintf(log_file, "{\"end\":%llu,\"command_buffers\":%llu}\n", (unsigned long long)log_now(), (unsigned long long)log_count);
    fclose(log_file);
}
