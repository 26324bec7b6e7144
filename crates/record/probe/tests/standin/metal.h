// A stand-in for Metal on GCC's Objective-C runtime, for tests of the probe. It computes nothing:
// its GPU is a thread that sleeps. It writes the truth about what it did.
#include <objc/objc.h>
#include <objc/runtime.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned long NSUInteger;
typedef struct { NSUInteger width, height, depth; } MTLSize;
typedef struct { NSUInteger location, length; } NSRange;

// A block, as its ABI lays it out.
struct Descriptor { unsigned long reserved, size; void (*copy)(void *, const void *); void (*dispose)(const void *); };
struct Block { void *class; int flags, reserved; void *invoke; struct Descriptor *descriptor; };
void *_Block_copy(const void *block);
void _Block_release(const void *block);
extern void *_NSConcreteStackBlock[32], *_NSConcreteGlobalBlock[32];

void *objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void *mark);
#define POOL(body) do { void *mark = objc_autoreleasePoolPush(); body; objc_autoreleasePoolPop(mark); } while (0)

__attribute__((objc_root_class))
@interface NSObject { Class isa; int references; }
+ (id)alloc;
- (id)init;
- (id)retain;
- (void)release;
- (id)autorelease;
- (void)dealloc;
@end

@interface NSString : NSObject { @public char *text; }
- (id)initWithUTF8String:(const char *)bytes;
- (const char *)UTF8String;
@end

@protocol Metal
- (id)newCommandQueue;
- (id)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count;
- (id)newFunctionWithName:(const char *)name;
- (id)newComputePipelineStateWithFunction:(id)function error:(id *)error;
- (id)newComputePipelineStateWithFunction:(id)function options:(NSUInteger)options reflection:(id *)reflection error:(id *)error;
- (void)newComputePipelineStateWithFunction:(id)function completionHandler:(void *)handler;
- (id)newComputePipelineStateWithDescriptor:(id)descriptor options:(NSUInteger)options reflection:(id *)reflection error:(id *)error;
- (id)newRenderPipelineStateWithDescriptor:(id)descriptor error:(id *)error;
- (id)newUnseenPipelineWithLabel:(const char *)label;
- (id)newMTL4CommandQueue;
- (id)newCommandBuffer;
- (id)newCompilerWithDescriptor:(id)descriptor error:(id *)error;
- (id)newComputePipelineStateWithDescriptor:(id)descriptor compilerTaskOptions:(id)options error:(id *)error;
- (id)commandBuffer;
- (id)commandBufferWithUnretainedReferences;
- (id)commandBufferWithDescriptor:(id)descriptor;
- (id)computeCommandEncoder;
- (id)computeCommandEncoderWithDispatchType:(NSUInteger)type;
- (id)blitCommandEncoder;
- (id)renderCommandEncoderWithDescriptor:(id)descriptor;
- (id)parallelRenderCommandEncoderWithDescriptor:(id)descriptor;
- (id)renderCommandEncoder;
- (void)setComputePipelineState:(id)pipeline;
- (void)setRenderPipelineState:(id)pipeline;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads;
- (void)dispatchThreads:(MTLSize)all threadsPerThreadgroup:(MTLSize)threads;
- (void)dispatchThreadgroupsWithIndirectBuffer:(id)buffer indirectBufferOffset:(NSUInteger)offset threadsPerThreadgroup:(MTLSize)threads;
- (void)executeCommandsInBuffer:(id)buffer withRange:(NSRange)range;
- (void)drawPrimitives:(NSUInteger)type vertexStart:(NSUInteger)start vertexCount:(NSUInteger)count;
- (void)drawIndexedPrimitives:(NSUInteger)type indexCount:(NSUInteger)count indexType:(NSUInteger)index indexBuffer:(id)buffer indexBufferOffset:(NSUInteger)offset instanceCount:(NSUInteger)instances baseVertex:(long)vertex baseInstance:(NSUInteger)instance;
- (void)endEncoding;
- (void)addScheduledHandler:(void *)handler;
- (void)addCompletedHandler:(void *)handler;
- (void)commit;
- (void)waitUntilCompleted;
- (id)newSharedEvent;
- (void)encodeSignalEvent:(id)event value:(uint64_t)value;
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
- (double)GPUStartTime;
- (double)GPUEndTime;
- (id)error;
- (id)label;
- (void)setLabel:(id)label;
- (id)name;
- (void)beginCommandBufferWithAllocator:(id)allocator;
- (void)endCommandBuffer;
- (void)commit:(const id *)buffers count:(NSUInteger)count;
- (void)commit:(const id *)buffers count:(NSUInteger)count options:(id)options;
- (void)addFeedbackHandler:(void *)handler;
- (void)fail;
- (id)computeCommandEncoderWithDescriptor:(id)descriptor;
- (id)blitCommandEncoderWithDescriptor:(id)descriptor;
@end
typedef NSObject<Metal> *Metal;

Metal MTLCreateSystemDefaultDevice(void);

// A descriptor of pipelines, of Metal or Metal 4.
@interface PipelineDescriptor : NSObject {
    @public id computeFunction, vertexFunction, fragmentFunction, computeFunctionDescriptor;
}
@end
@interface MTL4CommitOptions : NSObject { @public struct Block *handlers[64]; int handlerCount; }
- (void)addFeedbackHandler:(void *)handler;
@end

// For clients: the current time, the number of this thread in the list of calls, and that the
// commit that comes next on this thread begins now.
uint64_t standin_now(void);
void standin_thread(int number);
void standin_before_commit(void);
// The next call whose note begins so throws, once.
extern const char *standin_throws;
// Waits until the GPU has nothing to do.
void standin_drain(void);
