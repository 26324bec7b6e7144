// See metal.h. Names without a prefix of Apple's are the "chip" (GPU…), those with an underscore
// the common classes that it inherits from, and Debug… a layer of validation around them.
#define _GNU_SOURCE
#include "metal.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static FILE *truth, *calls;
static __thread int thread_number;
static __thread uint64_t before_commit;

uint64_t standin_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
void standin_thread(int number) { thread_number = number; }
void standin_before_commit(void) { before_commit = standin_now(); }

__attribute__((constructor)) static void begin(void) {
    truth = fopen(getenv("STANDIN_TRUTH") ? getenv("STANDIN_TRUTH") : "/dev/null", "we");
    if (getenv("STANDIN_CALLS")) calls = fopen(getenv("STANDIN_CALLS"), "we");
}

const char *standin_throws;

// Notes a call of the client: on its thread, with what can be compared between runs.
static void called(const char *format, ...) {
    if (!calls || !thread_number) return;
    if (standin_throws && !strncmp(format, standin_throws, strlen(standin_throws))) {
        standin_throws = NULL;
        @throw [NSObject alloc];
    }
    pthread_mutex_lock(&lock);
    fprintf(calls, "%d ", thread_number);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(calls, format, arguments);
    va_end(arguments);
    fputc('\n', calls);
    fflush(calls);
    pthread_mutex_unlock(&lock);
}

// Handlers that a library outside of the client adds are not the client's calls.
static void called_with_block(const char *name, struct Block *block) {
    Dl_info info;
    if (!dladdr(block->invoke, &info) || strstr(info.dli_fname, "metalens_probe")) return;
    called(name);
}

// Blocks.
void *_NSConcreteStackBlock[32], *_NSConcreteGlobalBlock[32];
static void *malloc_block[32];
enum { NEEDS_FREE = 1 << 24, HAS_HELPERS = 1 << 25, IS_GLOBAL = 1 << 28 };

void *_Block_copy(const void *original) {
    struct Block *block = (struct Block *)original;
    if (!block || block->flags & IS_GLOBAL) return block;
    if (block->flags & NEEDS_FREE) {
        __atomic_add_fetch(&block->reserved, 1, __ATOMIC_RELAXED);
        return block;
    }
    struct Block *copy = malloc(block->descriptor->size);
    memcpy(copy, block, block->descriptor->size);
    copy->class = malloc_block;
    copy->flags |= NEEDS_FREE;
    copy->reserved = 1;
    if (copy->flags & HAS_HELPERS) block->descriptor->copy(copy, block);
    return copy;
}

void _Block_release(const void *copy) {
    struct Block *block = (struct Block *)copy;
    if (!block || !(block->flags & NEEDS_FREE)) return;
    if (__atomic_sub_fetch(&block->reserved, 1, __ATOMIC_ACQ_REL)) return;
    if (block->flags & HAS_HELPERS) block->descriptor->dispose(block);
    free(block);
}

// Autorelease pools: the objects of a thread, and nil where a pool begins. Without a pool an object leaks,
// as with Apple's runtime.
static __thread id *pooled;
static __thread int pooled_count, pooled_room;
static void add_pooled(id object) {
    if (pooled_count == pooled_room) pooled = realloc(pooled, (pooled_room = 2 * pooled_room + 64) * sizeof *pooled);
    pooled[pooled_count++] = object;
}
void *objc_autoreleasePoolPush(void) { add_pooled(nil); return (void *)(long)pooled_count; }
void objc_autoreleasePoolPop(void *mark) {
    while (pooled_count >= (long)mark) {
        NSObject *object = pooled[--pooled_count];
        if (object) [object release];
    }
    if (!pooled_count) { free(pooled); pooled = NULL; pooled_room = 0; }
}

static void call_block(struct Block *block, id object) { ((void (*)(void *, id))block->invoke)(block, object); }

@implementation NSObject
+ (id)alloc {
    NSObject *object = class_createInstance(self, 0);
    object->references = 1;
    return object;
}
- (id)init { return self; }
- (id)retain { __atomic_add_fetch(&references, 1, __ATOMIC_RELAXED); return self; }
- (void)release { if (!__atomic_sub_fetch(&references, 1, __ATOMIC_ACQ_REL)) [self dealloc]; }
- (id)autorelease { if (pooled_count) add_pooled(self); return self; }
- (void)dealloc { object_dispose(self); }
// GCC's runtime sends this to classes.
+ (id)self { return self; }
@end

@implementation NSString
- (id)initWithUTF8String:(const char *)bytes { text = strdup(bytes); return self; }
- (const char *)UTF8String { return text; }
- (void)dealloc { free(text); [super dealloc]; }
@end
static id string(const char *bytes) { return [[NSString alloc] initWithUTF8String:bytes]; }

@interface Failure : NSObject { @public NSString *text; }
@end
@implementation Failure
- (id)localizedDescription { return text; }
- (void)dealloc { [text release]; [super dealloc]; }
@end

@interface Function : NSObject { @public NSString *name; }
@end
@implementation Function
- (id)name { return name; }
- (void)dealloc { [name release]; [super dealloc]; }
@end

@implementation PipelineDescriptor
- (id)computeFunction { return computeFunction; }
- (id)vertexFunction { return vertexFunction; }
- (id)fragmentFunction { return fragmentFunction; }
- (id)computeFunctionDescriptor { return computeFunctionDescriptor; }
@end

@interface GPUPipeline : NSObject { @public char *name; NSString *label; }
@end
@implementation GPUPipeline
- (id)label { return label; }
- (void)dealloc { free(name); [label release]; [super dealloc]; }
@end
static GPUPipeline *pipeline(const char *first, const char *second) {
    GPUPipeline *made = [GPUPipeline alloc];
    if (asprintf(&made->name, "%s%s%s", first, second ? "/" : "", second ? second : "") < 0) abort();
    return made;
}

// What one encoder did, and what one buffer holds of it.
struct Work { char kind[16], label[64]; struct { char name[64]; int count; } kernels[32]; int kernelCount; };

@interface _MTLSharedEvent : NSObject { @public uint64_t signaled; }
@end
@interface GPUSharedEvent : _MTLSharedEvent
@end
@implementation _MTLSharedEvent
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
    called("waitUntilSignaledValue %lu %lu", value, milliseconds);
    pthread_mutex_lock(&lock);
    while (signaled < value) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return YES;
}
@end
@implementation GPUSharedEvent
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds { return [super waitUntilSignaledValue:value timeoutMS:milliseconds]; }
@end

@interface _MTLCommandBuffer : NSObject {
    @public _MTLSharedEvent *event;
    uint64_t value;
    struct Work *work[64];
    int workCount, failing, done, isSubmitted;
    struct Block *scheduled[8], *completed[8];
    int scheduledCount, completedCount;
    uint64_t before, inside, gpuStart, gpuEnd;
    NSString *label;
    Failure *failure;
}
@end
@interface GPUCommandBuffer : _MTLCommandBuffer
@end
@interface GPU4CommandBuffer : _MTLCommandBuffer
@end
@interface _MTLCommandEncoder : NSObject { @public struct Work *work; GPUPipeline *pipeline; NSString *label; int hasEnded; }
@end
@interface _MTLComputeEncoder : _MTLCommandEncoder
@end
@interface GPUComputeEncoder : _MTLComputeEncoder
@end
@interface GPURenderEncoder : _MTLCommandEncoder
@end
@interface GPUParallelEncoder : _MTLCommandEncoder
@end



static void count_work(_MTLCommandEncoder *encoder, const char *name) {
    pthread_mutex_lock(&lock);
    struct Work *work = encoder->work;
    int at = 0;
    while (at < work->kernelCount && strcmp(work->kernels[at].name, name)) at++;
    if (at == work->kernelCount) snprintf(work->kernels[work->kernelCount++].name, 64, "%s", name);
    work->kernels[at].count++;
    pthread_mutex_unlock(&lock);
}

static id encoder(_MTLCommandBuffer *buffer, Class class, const char *kind) {
    _MTLCommandEncoder *made = [class alloc];
    made->work = calloc(1, sizeof(struct Work));
    snprintf(made->work->kind, 16, "%s", kind);
    buffer->work[buffer->workCount++] = made->work;
    [made autorelease];
    @try {
        called("encoder");
    } @catch (id thrown) {
        made->hasEnded = 1;
        @throw thrown;
    }
    return made;
}
@implementation _MTLCommandEncoder
- (id)label { return label; }
- (void)setLabel:(NSString *)text {
    called("setLabel %s", text->text);
    [label release];
    label = [text retain];
    snprintf(work->label, 64, "%s", text->text);
}
- (void)endEncoding { called("endEncoding"); hasEnded = 1; }
- (void)dealloc {
    // A command buffer does not keep its encoders.
    if (!hasEnded) {
        fputs("Command encoder released without endEncoding\n", stderr);
        abort();
    }
    [label release];
    [super dealloc];
}
@end

@implementation _MTLComputeEncoder
- (void)setComputePipelineState:(GPUPipeline *)set { pipeline = set; }
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
    called("dispatch %lu,%lu,%lu %lu,%lu,%lu", groups.width, groups.height, groups.depth, threads.width, threads.height, threads.depth);
    count_work(self, pipeline ? pipeline->name : "(unknown function)");
}
- (void)endEncoding { [super endEncoding]; }
@end

@implementation GPUComputeEncoder
- (void)setComputePipelineState:(GPUPipeline *)set {
    called("setComputePipelineState %s", set->name);
    [super setComputePipelineState:set];
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
    if (groups.width == 666) @throw self;
    [super dispatchThreadgroups:groups threadsPerThreadgroup:threads];
}
// A method that is made of another one.
- (void)dispatchThreads:(MTLSize)all threadsPerThreadgroup:(MTLSize)threads {
    MTLSize groups = {all.width / threads.width, all.height, all.depth};
    [self dispatchThreadgroups:groups threadsPerThreadgroup:threads];
}
- (void)dispatchThreadgroupsWithIndirectBuffer:(id)buffer indirectBufferOffset:(NSUInteger)offset threadsPerThreadgroup:(MTLSize)threads {
    called("dispatch indirect %lu %lu,%lu,%lu", offset, threads.width, threads.height, threads.depth);
    count_work(self, pipeline->name);
}
- (void)executeCommandsInBuffer:(id)buffer withRange:(NSRange)range {
    called("execute %lu %lu", range.location, range.length);
    count_work(self, "(indirect commands)");
}
- (void)endEncoding { [super endEncoding]; }
@end

@implementation GPURenderEncoder
- (void)setRenderPipelineState:(GPUPipeline *)set { called("setRenderPipelineState %s", set->name); pipeline = set; }
- (void)drawPrimitives:(NSUInteger)type vertexStart:(NSUInteger)start vertexCount:(NSUInteger)count {
    called("draw %lu %lu %lu", type, start, count);
    count_work(self, pipeline->name);
}
- (void)drawIndexedPrimitives:(NSUInteger)type indexCount:(NSUInteger)count indexType:(NSUInteger)index indexBuffer:(id)buffer indexBufferOffset:(NSUInteger)offset instanceCount:(NSUInteger)instances baseVertex:(long)vertex baseInstance:(NSUInteger)instance {
    called("draw indexed %lu %lu %lu %lu %lu %ld %lu", type, count, index, offset, instances, vertex, instance);
    count_work(self, pipeline->name);
}
@end

@implementation GPUParallelEncoder
- (id)renderCommandEncoder {
    GPURenderEncoder *part = [GPURenderEncoder alloc];
    part->work = work;
    called("part");
    return [part autorelease];
}
@end

// The GPU: a thread that takes one commit after the other.
struct Commit { _MTLCommandBuffer *buffers[8]; int count; struct Block *handlers[64]; int handlerCount; uint64_t before, inside; struct Commit *next; };
static struct Commit *first, **last = &first;
static int underway;

@interface Feedback : NSObject { @public uint64_t gpuStart, gpuEnd; Failure *failure; }
@end
@implementation Feedback
- (double)GPUStartTime { return gpuStart / 1e9; }
- (double)GPUEndTime { return gpuEnd / 1e9; }
- (id)error { return failure; }
@end

static void tell_truth(struct Commit *commit, uint64_t start, uint64_t end, const char *error) {
    if (!truth) abort();
    pthread_mutex_lock(&lock);
    fprintf(truth, "%lu %lu %lu %lu %s", commit->before, commit->inside, start, end, error ? error : "-");
    for (int buffer = 0; buffer < commit->count; buffer++) {
        _MTLCommandBuffer *of = commit->buffers[buffer];
        for (int at = 0; at < of->workCount; at++) {
            struct Work *work = of->work[at];
            fprintf(truth, " %s:", work->kind);
            for (int kernel = 0; kernel < work->kernelCount; kernel++)
                fprintf(truth, "%s%s=%d", kernel ? "," : "", work->kernels[kernel].name, work->kernels[kernel].count);
            if (work->label[0]) fprintf(truth, "#%s", work->label);
        }
    }
    fputc('\n', truth);
    fflush(truth);
    pthread_mutex_unlock(&lock);
}

static void sleep_for(long nanoseconds) {
    struct timespec time = {0, nanoseconds};
    nanosleep(&time, NULL);
}

static void *gpu(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!first) pthread_cond_wait(&changed, &lock);
        struct Commit *commit = first;
        first = commit->next;
        if (!first) last = &first;
        pthread_mutex_unlock(&lock);

        _MTLCommandBuffer *buffer = commit->buffers[0];
        for (int at = 0; at < buffer->scheduledCount; at++) call_block(buffer->scheduled[at], buffer);
        uint64_t start = standin_now();
        sleep_for(getenv("STANDIN_SLOW") ? 5000000 : 20000);
        uint64_t end = standin_now();
        if (buffer->failing) {
            buffer->failure = [Failure alloc];
            buffer->failure->text = string("out-of-\"memory\"");
            start = end = 0;
        }
        buffer->gpuStart = start;
        buffer->gpuEnd = end;
        tell_truth(commit, start, end, buffer->failing ? "error" : NULL);

        // Waiting ends before handlers are called, which is the harder order for the probe.
        pthread_mutex_lock(&lock);
        for (int at = 0; at < commit->count; at++) commit->buffers[at]->done = 1;
        if (buffer->event) buffer->event->signaled = buffer->value;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        for (int at = 0; at < buffer->completedCount; at++) call_block(buffer->completed[at], buffer);
        if (commit->handlerCount) {
            Feedback *feedback = [Feedback alloc];
            feedback->gpuStart = start;
            feedback->gpuEnd = end;
            feedback->failure = buffer->failure;
            for (int at = 0; at < commit->handlerCount; at++) {
                call_block(commit->handlers[at], feedback);
                _Block_release(commit->handlers[at]);
            }
            [feedback release];
        }
        for (int at = 0; at < commit->count; at++) [commit->buffers[at] release];
        free(commit);
        pthread_mutex_lock(&lock);
        underway--;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void submit(const id *buffers, int count, MTL4CommitOptions *options) {
    struct Commit *commit = calloc(1, sizeof *commit);
    commit->inside = standin_now();
    commit->before = before_commit ? before_commit : commit->inside;
    before_commit = 0;
    commit->count = count;
    // Handlers of options are for one commit.
    if (options) {
        commit->handlerCount = options->handlerCount;
        memcpy(commit->handlers, options->handlers, sizeof options->handlers);
        options->handlerCount = 0;
    }
    for (int at = 0; at < count; at++) commit->buffers[at] = [buffers[at] retain];
    static int is_running;
    pthread_mutex_lock(&lock);
    if (!is_running) {
        pthread_t thread;
        pthread_create(&thread, NULL, gpu, NULL);
        is_running = 1;
    }
    *last = commit;
    last = &commit->next;
    underway++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void standin_drain(void) {
    pthread_mutex_lock(&lock);
    while (underway) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

@implementation _MTLCommandBuffer
- (void)addScheduledHandler:(void *)handler {
    called_with_block("addScheduledHandler", handler);
    scheduled[scheduledCount++] = _Block_copy(handler);
}
- (void)addCompletedHandler:(void *)handler {
    called_with_block("addCompletedHandler", handler);
    completed[completedCount++] = _Block_copy(handler);
}
- (void)commit {
    called("commit");
    id own = self;
    submit(&own, 1, nil);
}
- (void)waitUntilCompleted {
    called("waitUntilCompleted");
    pthread_mutex_lock(&lock);
    while (!done) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}
- (void)encodeSignalEvent:(id)set value:(uint64_t)to {
    called("encodeSignalEvent %lu", to);
    event = set;
    value = to;
}
- (double)GPUStartTime { return gpuStart / 1e9; }
- (double)GPUEndTime { return gpuEnd / 1e9; }
- (id)error { return failure; }
- (id)label { return label; }
- (void)setLabel:(NSString *)text { called("buffer label %s", text->text); [label release]; label = [text retain]; }
- (void)fail { failing = 1; }
- (void)dealloc {
    for (int at = 0; at < scheduledCount; at++) _Block_release(scheduled[at]);
    for (int at = 0; at < completedCount; at++) _Block_release(completed[at]);
    for (int at = 0; at < workCount; at++) free(work[at]);
    [label release];
    [failure release];
    [super dealloc];
}
@end

@implementation GPUCommandBuffer
- (id)computeCommandEncoder { return [self computeCommandEncoderWithDispatchType:0]; }
- (id)computeCommandEncoderWithDispatchType:(NSUInteger)type { (void)type; return encoder(self, objc_getClass("GPUComputeEncoder"), "compute"); }
- (id)computeCommandEncoderWithDescriptor:(id)descriptor { (void)descriptor; return encoder(self, objc_getClass("GPUComputeEncoder"), "compute"); }
- (id)blitCommandEncoderWithDescriptor:(id)descriptor { (void)descriptor; return encoder(self, objc_getClass("_MTLCommandEncoder"), "blit"); }
- (id)device { return [MTLCreateSystemDefaultDevice() retain]; }
- (id)blitCommandEncoder { return encoder(self, objc_getClass("_MTLCommandEncoder"), "blit"); }
- (id)renderCommandEncoderWithDescriptor:(id)descriptor { (void)descriptor; return encoder(self, objc_getClass("GPURenderEncoder"), "render"); }
- (id)parallelRenderCommandEncoderWithDescriptor:(id)descriptor { (void)descriptor; return encoder(self, objc_getClass("GPUParallelEncoder"), "render"); }
- (void)commit { [super commit]; }
- (void)waitUntilCompleted { [super waitUntilCompleted]; }
@end

@implementation GPU4CommandBuffer
- (id)computeCommandEncoder { return encoder(self, objc_getClass("GPUComputeEncoder"), "compute"); }
- (void)beginCommandBufferWithAllocator:(id)allocator {
    (void)allocator;
    called("begin");
    for (int at = 0; at < workCount; at++) free(work[at]);
    workCount = 0;
    done = 0;
}
- (void)endCommandBuffer { called("end"); }
@end

@implementation MTL4CommitOptions
- (void)addFeedbackHandler:(void *)handler {
    called_with_block("addFeedbackHandler", handler);
    handlers[handlerCount++] = _Block_copy(handler);
}
- (void)dealloc {
    for (int at = 0; at < handlerCount; at++) _Block_release(handlers[at]);
    [super dealloc];
}
@end

@interface GPU4CommandQueue : NSObject
@end
@implementation GPU4CommandQueue
- (void)commit:(const id *)buffers count:(NSUInteger)count { [self commit:buffers count:count options:nil]; }
- (void)commit:(const id *)buffers count:(NSUInteger)count options:(id)options {
    called("commit4 %lu", count);
    submit(buffers, (int)count, options);
}
@end

@interface _MTLCommandQueue : NSObject
@end
@interface GPUCommandQueue : _MTLCommandQueue
@end
@implementation _MTLCommandQueue
- (id)commandBuffer { return [self commandBufferWithDescriptor:nil]; }
- (id)commandBufferWithUnretainedReferences { return [self commandBufferWithDescriptor:nil]; }
- (id)commandBufferWithDescriptor:(id)descriptor { (void)descriptor; called("commandBuffer"); return [[GPUCommandBuffer alloc] autorelease]; }
@end
@implementation GPUCommandQueue
- (id)commandBufferWithDescriptor:(id)descriptor { return [super commandBufferWithDescriptor:descriptor]; }
@end

// A queue of another kind: its method has the name, and other types.
@interface OddQueue : NSObject
@end
@implementation OddQueue
- (double)commandBuffer { return 1.5; }
@end

@interface Compiler : NSObject
@end
@implementation Compiler
- (id)newComputePipelineStateWithDescriptor:(PipelineDescriptor *)descriptor compilerTaskOptions:(id)options error:(id *)error {
    (void)options, (void)error;
    return pipeline(((Function *)descriptor->computeFunctionDescriptor)->name->text, NULL);
}
@end

@interface _MTLDevice : NSObject
- (id)newComputePipelineStateWithFunction:(id)function options:(NSUInteger)options reflection:(id *)reflection error:(id *)error;
@end
@interface GPUDevice : _MTLDevice
@end
struct Later { Function *function; struct Block *handler; };
static void *make_later(void *argument) {
    struct Later *later = argument;
    sleep_for(1000000);
    id made = pipeline(later->function->name->text, NULL);
    ((void (*)(void *, id, id))later->handler->invoke)(later->handler, made, nil);
    _Block_release(later->handler);
    [later->function release];
    free(later);
    return NULL;
}
@implementation _MTLDevice
- (id)name { static id name; if (!name) name = string("Stand-in GPU"); return name; }
- (id)newCommandQueue { called("newCommandQueue"); return [GPUCommandQueue alloc]; }
- (id)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count { (void)count; return [OddQueue alloc]; }
- (id)newSharedEvent { called("newSharedEvent"); return [GPUSharedEvent alloc]; }
- (id)newMTL4CommandQueue { return [GPU4CommandQueue alloc]; }
- (id)newCommandBuffer { called("newCommandBuffer"); return [GPU4CommandBuffer alloc]; }
- (id)newCompilerWithDescriptor:(id)descriptor error:(id *)error { (void)descriptor, (void)error; return [Compiler alloc]; }
- (id)newFunctionWithName:(const char *)name { Function *made = [Function alloc]; made->name = string(name); return made; }
- (id)newComputePipelineStateWithFunction:(id)function error:(id *)error {
    return [self newComputePipelineStateWithFunction:function options:0 reflection:NULL error:error];
}
- (id)newComputePipelineStateWithFunction:(Function *)function options:(NSUInteger)options reflection:(id *)reflection error:(id *)error {
    (void)options, (void)reflection, (void)error;
    called("pipeline %s", function->name->text);
    return pipeline(function->name->text, NULL);
}
- (void)newComputePipelineStateWithFunction:(Function *)function completionHandler:(void *)handler {
    called("pipeline later %s", function->name->text);
    struct Later *later = malloc(sizeof *later);
    *later = (struct Later){[function retain], _Block_copy(handler)};
    pthread_t thread;
    pthread_create(&thread, NULL, make_later, later);
    pthread_detach(thread);
}
- (id)newComputePipelineStateWithDescriptor:(PipelineDescriptor *)descriptor options:(NSUInteger)options reflection:(id *)reflection error:(id *)error {
    (void)options, (void)reflection, (void)error;
    return pipeline(((Function *)descriptor->computeFunction)->name->text, NULL);
}
- (id)newRenderPipelineStateWithDescriptor:(PipelineDescriptor *)descriptor error:(id *)error {
    (void)error;
    return pipeline(((Function *)descriptor->vertexFunction)->name->text, ((Function *)descriptor->fragmentFunction)->name->text);
}
- (id)newUnseenPipelineWithLabel:(const char *)label {
    GPUPipeline *made = pipeline(label ? label : "(unknown function)", NULL);
    made->label = label ? string(label) : nil;
    return made;
}
@end
@implementation GPUDevice
- (id)newComputePipelineStateWithFunction:(id)function options:(NSUInteger)options reflection:(id *)reflection error:(id *)error {
    return [super newComputePipelineStateWithFunction:function options:options reflection:reflection error:error];
}
@end

// The layer of validation: each object holds the one that does the work.
@interface Debug : NSObject { @public Metal base; }
@end
@interface DebugDevice : Debug
@end
@interface DebugQueue : Debug
@end
@interface DebugCommandBuffer : Debug
@end
@interface DebugComputeEncoder : Debug
@end
@interface DebugSharedEvent : Debug
@end
static id wrap(Class class, id base) { Debug *made = [class alloc]; made->base = base; return made; }
@implementation Debug
- (id)label { return [base label]; }
- (void)setLabel:(id)label { [base setLabel:label]; }
- (id)name { return [base name]; }
- (void)dealloc { [base release]; [super dealloc]; }
@end
@implementation DebugDevice
- (id)newCommandQueue { return wrap(objc_getClass("DebugQueue"), [base newCommandQueue]); }
- (id)newSharedEvent { return wrap(objc_getClass("DebugSharedEvent"), [base newSharedEvent]); }
- (id)newFunctionWithName:(const char *)name { return [base newFunctionWithName:name]; }
- (id)newComputePipelineStateWithFunction:(id)function error:(id *)error { return [base newComputePipelineStateWithFunction:function error:error]; }
@end
@implementation DebugQueue
- (id)commandBuffer { return [wrap(objc_getClass("DebugCommandBuffer"), [[base commandBuffer] retain]) autorelease]; }
@end
@implementation DebugCommandBuffer
- (id)computeCommandEncoder { return [wrap(objc_getClass("DebugComputeEncoder"), [[base computeCommandEncoder] retain]) autorelease]; }
- (void)addScheduledHandler:(void *)handler { [base addScheduledHandler:handler]; }
- (void)addCompletedHandler:(void *)handler { [base addCompletedHandler:handler]; }
- (void)commit { [base commit]; }
- (void)waitUntilCompleted { [base waitUntilCompleted]; }
- (void)encodeSignalEvent:(id)event value:(uint64_t)value { [base encodeSignalEvent:((Debug *)event)->base value:value]; }
- (double)GPUStartTime { return [base GPUStartTime]; }
- (double)GPUEndTime { return [base GPUEndTime]; }
@end
@implementation DebugSharedEvent
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds { return [base waitUntilSignaledValue:value timeoutMS:milliseconds]; }
@end
@implementation DebugComputeEncoder
- (void)setComputePipelineState:(id)pipeline { [base setComputePipelineState:pipeline]; }
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads { [base dispatchThreadgroups:groups threadsPerThreadgroup:threads]; }
- (void)dispatchThreads:(MTLSize)all threadsPerThreadgroup:(MTLSize)threads { [base dispatchThreads:all threadsPerThreadgroup:threads]; }
- (void)endEncoding { [base endEncoding]; }
@end

Metal MTLCreateSystemDefaultDevice(void) {
    static id device;
    pthread_mutex_lock(&lock);
    if (!device) device = getenv("STANDIN_WRAP") ? wrap(objc_getClass("DebugDevice"), [GPUDevice alloc]) : [GPUDevice alloc];
    pthread_mutex_unlock(&lock);
    return [device retain];
}
