// A program that uses Metal, in one of the ways that its first argument names.
#define _GNU_SOURCE
#include <spawn.h>
#include "../../include/metalens_probe.h"
#include "metal.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static Metal device, queue, gemm, softmax;
static const MTLSize ONE = {1, 1, 1}, EIGHT = {8, 1, 1};
static int told;

static void when_told(void *block, id object) { (void)block, (void)object; __atomic_add_fetch(&told, 1, __ATOMIC_RELAXED); }
static struct Descriptor plain = {0, sizeof(struct Block), NULL, NULL};
static struct Block handler = {_NSConcreteGlobalBlock, 1 << 28, 0, when_told, &plain};

static Metal made;
static void when_made(void *block, id pipeline, id error) {
    (void)block, (void)error;
    __atomic_store_n(&made, (Metal)pipeline, __ATOMIC_RELEASE);
}
static struct Block maker = {_NSConcreteGlobalBlock, 1 << 28, 0, when_made, &plain};

static Metal kernel(const char *name) {
    Metal function = [device newFunctionWithName:name];
    Metal pipeline = [device newComputePipelineStateWithFunction:function error:NULL];
    [function release];
    return pipeline;
}
static void setup(void) {
    device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    gemm = kernel("gemm");
    softmax = kernel("softmax");
}
static void dispatch(Metal encoder, Metal pipeline, int times) {
    [encoder setComputePipelineState:pipeline];
    for (int time = 0; time < times; time++) [encoder dispatchThreadgroups:(MTLSize){time + 1, 2, 3} threadsPerThreadgroup:EIGHT];
}
static void commit(Metal buffer) {
    standin_before_commit();
    [buffer commit];
}
static Metal one(Metal pipeline, int times) {
    Metal buffer = [queue commandBuffer];
    Metal encoder = [buffer computeCommandEncoder];
    dispatch(encoder, pipeline, times);
    [encoder endEncoding];
    commit(buffer);
    return buffer;
}
static void wait_for(Metal buffer) { [buffer waitUntilCompleted]; }

static void eager(void) { for (int step = 0; step < 20; step++) POOL(wait_for(one(step % 2 ? gemm : softmax, 1))); }
static void batched(void) { for (int step = 0; step < 5; step++) wait_for(one(gemm, 40)); }
static void pipelined(void) {
    Metal buffers[30];
    for (int step = 0; step < 30; step++) buffers[step] = one(step % 3 ? gemm : softmax, 3);
    for (int step = 0; step < 30; step++) wait_for(buffers[step]);
}
// Waits as MLX does: for a value of an event that a command buffer signals.
static void events(void) {
    Metal event = [device newSharedEvent], other = [device newSharedEvent];
    if (![other waitUntilSignaledValue:0 timeoutMS:1]) abort();
    for (int step = 1; step <= 100; step++) {
        Metal buffer = [queue commandBuffer];
        Metal encoder = [buffer computeCommandEncoder];
        dispatch(encoder, gemm, 1);
        [encoder endEncoding];
        [buffer encodeSignalEvent:event value:2 * step];
        commit(buffer);
        // The value is one that the event jumps over.
        if (step % 2 == 0 && ![event waitUntilSignaledValue:2 * step - 1 timeoutMS:~0ul]) abort();
    }
}
static void *of_thread(void *number) {
    standin_thread((int)(long)number);
    for (int step = 0; step < 50; step++) POOL(wait_for(one(step % 2 ? gemm : softmax, 4)));
    return NULL;
}
static void threads(void) {
    pthread_t started[8];
    for (long thread = 0; thread < 8; thread++) pthread_create(&started[thread], NULL, of_thread, (void *)(thread + 2));
    for (int thread = 0; thread < 8; thread++) pthread_join(started[thread], NULL);
}
static void mixed(void) {
    Metal buffer = [queue commandBufferWithUnretainedReferences];
    Metal text = [[NSString alloc] initWithUTF8String:"step \"one\""];
    [buffer setLabel:text];
    [buffer addScheduledHandler:&handler];
    [buffer addCompletedHandler:&handler];
    Metal encoder = [buffer computeCommandEncoderWithDispatchType:1];
    [encoder setLabel:text];
    dispatch(encoder, gemm, 2);
    dispatch(encoder, softmax, 1);
    dispatch(encoder, gemm, 1);
    [encoder dispatchThreads:(MTLSize){64, 1, 1} threadsPerThreadgroup:EIGHT];
    [encoder dispatchThreadgroupsWithIndirectBuffer:nil indirectBufferOffset:256 threadsPerThreadgroup:EIGHT];
    [encoder executeCommandsInBuffer:nil withRange:(NSRange){3, 7}];
    [encoder endEncoding];
    Metal blit = [buffer blitCommandEncoder];
    [blit endEncoding];

    PipelineDescriptor *descriptor = [PipelineDescriptor alloc];
    descriptor->vertexFunction = [device newFunctionWithName:"corners"];
    descriptor->fragmentFunction = [device newFunctionWithName:"shade"];
    Metal shading = [device newRenderPipelineStateWithDescriptor:descriptor error:NULL];
    Metal render = [buffer renderCommandEncoderWithDescriptor:nil];
    [render setRenderPipelineState:shading];
    [render drawPrimitives:3 vertexStart:1 vertexCount:6];
    [render drawIndexedPrimitives:3 indexCount:6 indexType:1 indexBuffer:nil indexBufferOffset:64 instanceCount:2 baseVertex:-5 baseInstance:9];
    [render endEncoding];
    Metal parallel = [buffer parallelRenderCommandEncoderWithDescriptor:nil];
    Metal parts[2] = {[parallel renderCommandEncoder], [parallel renderCommandEncoder]};
    for (int part = 0; part < 2; part++) {
        [parts[part] setRenderPipelineState:shading];
        [parts[part] drawPrimitives:3 vertexStart:0 vertexCount:3];
        [parts[part] endEncoding];
    }
    [parallel endEncoding];

    descriptor = [PipelineDescriptor alloc];
    descriptor->computeFunction = [device newFunctionWithName:"described"];
    Metal described = [device newComputePipelineStateWithDescriptor:descriptor options:0 reflection:NULL error:NULL];
    Metal function = [device newFunctionWithName:"asynchronous"];
    [device newComputePipelineStateWithFunction:function completionHandler:&maker];
    while (!__atomic_load_n(&made, __ATOMIC_ACQUIRE)) usleep(100);
    Metal labeled = [device newUnseenPipelineWithLabel:"by its label"], unseen = [device newUnseenPipelineWithLabel:NULL];
    Metal last = [buffer computeCommandEncoder];
    dispatch(last, described, 1);
    dispatch(last, made, 1);
    dispatch(last, labeled, 1);
    dispatch(last, unseen, 1);
    // The address of a freed pipeline belongs to another one. It takes more than one, since glibc
    // keeps a few for allocations of another kind.
    Metal freed[16], second = nil;
    for (int one = 0; one < 16; one++) freed[one] = kernel("freed");
    for (int one = 0; one < 16; one++) dispatch(last, freed[one], 1);
    for (int one = 0; one < 16; one++) [freed[one] release];
    for (int attempt = 0, is_known = 0; attempt < 1000 && !is_known; attempt++) {
        second = [device newUnseenPipelineWithLabel:NULL];
        for (int one = 0; one < 16; one++) is_known |= freed[one] == second;
    }
    dispatch(last, second, 1);
    [last endEncoding];
    commit(buffer);
    wait_for(buffer);
    standin_drain();
    if (told != 2) abort();
}
static void failing(void) {
    wait_for(one(gemm, 1));
    Metal buffer = [queue commandBuffer];
    Metal encoder = [buffer computeCommandEncoder];
    dispatch(encoder, softmax, 2);
    [encoder endEncoding];
    [buffer fail];
    commit(buffer);
    wait_for(buffer);
}
static void exception(void) {
    for (int step = 0; step < 40; step++) {
        Metal buffer = [queue commandBuffer];
        Metal encoder = [buffer computeCommandEncoder];
        [encoder setComputePipelineState:gemm];
        @try {
            [encoder dispatchThreadgroups:(MTLSize){666, 1, 1} threadsPerThreadgroup:ONE];
            abort();
        } @catch (id thrown) {
            if (thrown != encoder) abort();
        }
        [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
        [encoder endEncoding];
        commit(buffer);
        wait_for(buffer);
    }
}
#define THROWS(name, call) do { \
    int caught = 0; \
    standin_throws = name; \
    @try { (void)(call); } @catch (id thrown) { caught = 1; } \
    if (!caught) abort(); \
} while (0)
/// Each of Metal's methods throws once, and then does its work.
static void throwing(void) {
    THROWS("commandBuffer", [queue commandBuffer]);
    Metal buffer = [queue commandBuffer], event = [device newSharedEvent];
    THROWS("encoder", [buffer computeCommandEncoder]);
    THROWS("encoder", [buffer computeCommandEncoderWithDispatchType:1]);
    THROWS("encoder", [buffer blitCommandEncoder]);
    Metal encoder = [buffer computeCommandEncoder];
    THROWS("setComputePipelineState", [encoder setComputePipelineState:gemm]);
    [encoder setComputePipelineState:gemm];
    THROWS("dispatch", [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE]);
    THROWS("dispatch", [encoder dispatchThreads:ONE threadsPerThreadgroup:ONE]);
    THROWS("dispatch indirect", [encoder dispatchThreadgroupsWithIndirectBuffer:nil indirectBufferOffset:0 threadsPerThreadgroup:ONE]);
    THROWS("execute", [encoder executeCommandsInBuffer:nil withRange:((NSRange){0, 1})]);
    THROWS("endEncoding", [encoder endEncoding]);
    [encoder endEncoding];
    THROWS("encodeSignalEvent", [buffer encodeSignalEvent:event value:1]);
    THROWS("waitUntilSignaledValue", [event waitUntilSignaledValue:1 timeoutMS:9]);
    THROWS("commit", [buffer commit]);
    commit(buffer);
    THROWS("waitUntilCompleted", [buffer waitUntilCompleted]);
    wait_for(buffer);
    Metal new_queue = [device newMTL4CommandQueue], four = [device newCommandBuffer], options = [MTL4CommitOptions alloc];
    THROWS("begin", [four beginCommandBufferWithAllocator:nil]);
    [four beginCommandBufferWithAllocator:nil];
    THROWS("commit4", [new_queue commit:(const id *)&four count:1]);
    THROWS("commit4", [new_queue commit:(const id *)&four count:1 options:options]);
    // The same one twice.
    Metal twice[2] = {four, four};
    [new_queue commit:(const id *)twice count:2];
    standin_drain();
}
static void metal4(void) {
    Metal new_queue = [device newMTL4CommandQueue], compiler = [device newCompilerWithDescriptor:nil error:NULL];
    PipelineDescriptor *descriptor = [PipelineDescriptor alloc];
    descriptor->computeFunctionDescriptor = [device newFunctionWithName:"metal_four"];
    Metal four = [compiler newComputePipelineStateWithDescriptor:descriptor compilerTaskOptions:nil error:NULL];
    Metal buffers[2] = {[device newCommandBuffer], [device newCommandBuffer]};
    Metal kept = [MTL4CommitOptions alloc];
    int with_handler = 0;
    // As above.
    Metal others[16];
    for (int other = 0; other < 16; other++) others[other] = [MTL4CommitOptions alloc];
    for (int other = 0; other < 16; other++) [others[other] release];
    for (int step = 0; step < 12; step++) {
        int count = step % 4 == 3 ? 2 : 1;
        for (int which = 0; which < count; which++) {
            [buffers[which] beginCommandBufferWithAllocator:nil];
            Metal encoder = [buffers[which] computeCommandEncoder];
            dispatch(encoder, which ? gemm : four, step + 1);
            [encoder endEncoding];
            [buffers[which] endCommandBuffer];
        }
        standin_before_commit();
        if (step % 3 == 0) {
            [new_queue commit:(const id *)buffers count:count];
        } else if (step % 3 == 1) {
            [kept addFeedbackHandler:&handler];
            [new_queue commit:(const id *)buffers count:count options:kept];
            with_handler++;
        } else {
            // Options that are freed, so that the next ones have their address.
            Metal options = [MTL4CommitOptions alloc];
            [options addFeedbackHandler:&handler];
            [new_queue commit:(const id *)buffers count:count options:options];
            with_handler++;
            standin_drain();
            [options release];
        }
        standin_drain();
    }
    if (told != with_handler) abort();
}
static void many_labels(void) {
    const char *names[] = {"a", "b", "c", "d", "e", "f"};
    Metal buffer = [queue commandBuffer];
    Metal encoder = [buffer computeCommandEncoder];
    for (int name = 0; name < 6; name++) dispatch(encoder, kernel(names[name]), 1);
    [encoder endEncoding];
    Metal second = [buffer computeCommandEncoder];
    [second setLabel:[[NSString alloc] initWithUTF8String:"mine"]];
    dispatch(second, gemm, 1);
    [second endEncoding];
    [[buffer blitCommandEncoder] endEncoding];
    commit(buffer);
    wait_for(buffer);
}
// Encoders of each form.
static void passes(void) {
    for (int step = 0; step < 10; step++) {
        Metal buffer = [queue commandBuffer];
        Metal encoders[3] = {[buffer computeCommandEncoder], [buffer computeCommandEncoderWithDispatchType:1], [buffer computeCommandEncoderWithDescriptor:nil]};
        for (int encoder = 0; encoder < 3; encoder++) {
            dispatch(encoders[encoder], encoder ? gemm : softmax, encoder + 1);
            [encoders[encoder] endEncoding];
        }
        [[buffer blitCommandEncoder] endEncoding];
        [[buffer blitCommandEncoderWithDescriptor:nil] endEncoding];
        [[buffer renderCommandEncoderWithDescriptor:nil] endEncoding];
        commit(buffer);
        wait_for(buffer);
    }
}
static void odd(void) {
    Metal other = [device newCommandQueueWithMaxCommandBufferCount:3];
    double answer = ((double (*)(id, SEL))class_getMethodImplementation(object_getClass(other), @selector(commandBuffer)))(other, @selector(commandBuffer));
    if (answer != 1.5) abort();
    eager();
}
static void wait_for_child(pid_t child) {
    int status = 0;
    uint64_t start = standin_now();
    waitpid(child, &status, 0);
    // It exits at once.
    if (status || standin_now() - start > 1500000000) abort();
}
extern char **environ;
static char *inherited[1000];
static void forking(void) {
    // Before the first command buffer.
    pid_t first = fork();
    if (!first) exit(0);
    wait_for_child(first);
    for (int step = 0; step < 3; step++) wait_for(one(gemm, 1));
    standin_drain();
    pid_t child = fork();
    if (!child) {
        // The child encodes as before. Its GPU thread is gone, so it must not wait.
        Metal buffer = [queue commandBuffer];
        Metal encoder = [buffer computeCommandEncoder];
        dispatch(encoder, softmax, 5);
        [encoder endEncoding];
        commit(buffer);
        exit(getenv("METALENS_PROBE_LOG") || getenv("LD_PRELOAD") ? 1 : 0);
    }
    wait_for_child(child);
    for (int step = 0; step < 3; step++) wait_for(one(softmax, 2));
}
/// Starts a program that fails if the probe is in it, with the environment as it was before the first
/// command buffer. Then such a program replaces this one.
static void replaced(void) {
    char *shell[] = {"/bin/sh", "-c", "! grep -q metalens_probe /proc/self/maps", NULL};
    char **copy = calloc(1000, sizeof *copy);
    for (int at = 0; at < 999 && inherited[at]; at++) copy[at] = inherited[at];
    for (int step = 0; step < 3; step++) wait_for(one(gemm, 1));
    standin_drain();
    pid_t child;
    if (posix_spawn(&child, shell[0], NULL, NULL, shell, copy)) abort();
    wait_for_child(child);
    execve("/no/such/program", shell, copy);
    for (int step = 0; step < 2; step++) wait_for(one(gemm, 1));
    standin_drain();
    execve(shell[0], shell, copy);
    abort();
}
static void leaving(void) {
    for (int step = 0; step < 200; step++) one(gemm, 1);
    exit(0);
}
static void crashing(void) {
    for (int step = 0; step < 50; step++) wait_for(one(gemm, 1));
    standin_drain();
    // The probe's writer needs a moment.
    usleep(300000);
    one(gemm, 1);
    abort();
}
static void inside(void) {
    __typeof__(&metalens_start) start = dlsym(RTLD_DEFAULT, "metalens_start");
    __typeof__(&metalens_stop) stop = dlsym(RTLD_DEFAULT, "metalens_stop");
    __typeof__(&metalens_phase_begin) phase_begin = dlsym(RTLD_DEFAULT, "metalens_phase_begin");
    __typeof__(&metalens_phase_end) phase_end = dlsym(RTLD_DEFAULT, "metalens_phase_end");
    if (!start) { eager(); return; }
    if (start(NULL) != 22 || start("/nonexistent/log.jsonl") != 2) abort();
    // A first log, of which nothing is in the second.
    if (start(getenv("STANDIN_LOG")) != 0) abort();
    wait_for(one(gemm, 1));
    stop();
    wait_for(one(gemm, 1));
    if (start(getenv("STANDIN_LOG")) != 0 || start(getenv("STANDIN_LOG")) != 16) abort();
    phase_begin("outer");
    phase_begin("inner");
    for (int step = 0; step < 20; step++) wait_for(one(step % 2 ? gemm : softmax, 1));
    phase_end("inner");
    phase_end("outer");
    phase_end("outer");
    phase_begin("open");
    stop();
    stop();
}
// Prints nanoseconds per dispatch, and per command buffer with one dispatch: of the fastest round.
static void cost(void) {
    double least = 1e9;
    for (int round = 0; round < 50; round++) {
        Metal buffer = [queue commandBuffer];
        Metal encoder = [buffer computeCommandEncoder];
        [encoder setComputePipelineState:gemm];
        uint64_t start = standin_now();
        for (int time = 0; time < 20000; time++) [encoder dispatchThreadgroups:ONE threadsPerThreadgroup:ONE];
        double spent = (standin_now() - start) / 2e4;
        if (spent < least) least = spent;
        [encoder endEncoding];
        commit(buffer);
        wait_for(buffer);
    }
    printf("dispatch %.1f ns\n", least);
    least = 1e9;
    for (int round = 0; round < 200; round++) {
        standin_drain();
        uint64_t start = standin_now();
        for (int step = 0; step < 10; step++) POOL(one(gemm, 1));
        double spent = (standin_now() - start) / 10.0;
        if (spent < least) least = spent;
    }
    printf("buffer %.1f ns\n", least);
}

int main(int count, char **arguments) {
    static const struct { const char *name; void (*run)(void); } WAYS[] = {
        {"eager", eager}, {"events", events}, {"batched", batched}, {"pipelined", pipelined}, {"threads", threads},
        {"mixed", mixed}, {"failing", failing}, {"exception", exception}, {"throwing", throwing}, {"metal4", metal4},
        {"labels", many_labels}, {"passes", passes}, {"odd", odd}, {"fork", forking}, {"exit", leaving},
        {"abort", crashing}, {"replaced", replaced}, {"inside", inside}, {"cost", cost},
    };
    if (count < 2) return 2;
    for (int at = 0; at < 999 && environ[at]; at++) inherited[at] = strdup(environ[at]);
    standin_thread(1);
    setup();
    for (size_t way = 0; way < sizeof WAYS / sizeof *WAYS; way++) {
        if (!strcmp(WAYS[way].name, arguments[1])) {
            POOL(WAYS[way].run());
            // All handlers are called, however slow this machine is.
            standin_drain();
            return 0;
        }
    }
    return 2;
}
