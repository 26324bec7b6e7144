//! The methods of Metal that are hooked, by what implements them.
#![expect(
    unsafe_code,
    reason = "the macro for a method declares its replacement"
)]

use metalens_command_log::Kind;

use crate::calls::Act;
use crate::hooks::{Method, Role};
use crate::pipelines::Source;

/// Declares a method that is hooked: what is done, its selector, and its types. `@` is a word, which
/// every integer, address and object of these methods is; `size` and `range` are structs.
macro_rules! method {
    (many $act:expr, $selector:literal) => {
        method!(build many $act, $selector, "v", (); [] [])
    };
    ($act:expr, $selector:literal $(, @$word:ident)* $(, size $size:ident)* $(, range $range:ident)*) => {
        method!(build few $act, $selector, "v", ();
            [$($word)*] [$($size: crate::hooks::Size)* $($range: crate::hooks::Range)*])
    };
    ($act:expr, $selector:literal $(, @$word:ident)* => object) => {
        method!(build few $act, $selector, "w", usize; [$($word)*] [])
    };
    ($act:expr, $selector:literal $(, @$word:ident)* => truth) => {
        method!(build few $act, $selector, "B", u8; [$($word)*] [])
    };
    (build $levels:ident $act:expr, $selector:literal, $result_type:literal, $result:ty;
        [$($word:ident)*] [$($by_value:ident: $type:ty)*]) => {{
        static ORIGINALS: [std::sync::atomic::AtomicUsize; crate::hooks::LEVELS] =
            [const { std::sync::atomic::AtomicUsize::new(0) }; crate::hooks::LEVELS];

        unsafe extern "C-unwind" fn hook<const LEVEL: usize>(
            object: usize, selector: usize $(, $word: usize)* $(, $by_value: $type)*
        ) -> $result {
            type Original =
                unsafe extern "C-unwind" fn(usize, usize $(, method!(word $word))* $(, $type)*) -> $result;
            let mut words = [$($word),*];
            let call = crate::calls::before($act, object, &mut words);
            let [$($word),*] = words;
            // SAFETY: the hook is in place only after its original was stored, and the types were
            // compared with what the runtime says of the method.
            let original = unsafe {
                std::mem::transmute::<usize, Original>(
                    ORIGINALS[LEVEL].load(std::sync::atomic::Ordering::Acquire),
                )
            };
            let result = match call.replaced() {
                Some(word) => <$result as crate::hooks::Returned>::from_word(word),
                // SAFETY: the arguments are those that the hook was called with.
                None => unsafe { original(object, selector $(, $word)* $(, $by_value)*) },
            };
            crate::calls::after(call, object, crate::hooks::Returned::word(&result));
            result
        }

        crate::hooks::Method {
            selector: $selector,
            types: concat!($result_type $(, method!(letter w $word))* $(, method!(letter s $by_value))*),
            functions: method!($levels hook),
            originals: &ORIGINALS,
        }
    }};
    (few $hook:ident) => {
        method!(levels $hook 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (many $hook:ident) => {
        method!(levels $hook 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
            27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47)
    };
    (levels $hook:ident $($level:literal)*) => {
        &[$(crate::hooks::Function($hook::<$level> as *const std::ffi::c_void)),*]
    };
    (word $word:ident) => { usize };
    (letter w $name:ident) => { "w" };
    (letter s $name:ident) => { "s" };
}

/// Returns the methods to hook for a role.
pub(crate) fn tables(role: Role) -> [&'static [Method]; 2] {
    match role {
        Role::Device => [DEVICE, MAKER],
        Role::PipelineMaker => [MAKER, &[]],
        Role::Queue => [QUEUE, &[]],
        Role::CommandBuffer => [BUFFER, &[]],
        Role::SharedEvent => [EVENT, &[]],
        Role::Encoder => [ENCODER, &[]],
        Role::Pipeline => [PIPELINE, FREED],
    }
}

/// Methods of devices. Those of makers of pipelines come with them.
static DEVICE: &[Method] = &[
    method!(Act::Queue, c"newCommandQueue" => object),
    method!(Act::Queue, c"newCommandQueueWithMaxCommandBufferCount:", @a => object),
    method!(Act::Queue, c"newCommandQueueWithDescriptor:", @a => object),
    method!(Act::Queue, c"newMTL4CommandQueue" => object),
    method!(Act::Queue, c"newMTL4CommandQueueWithDescriptor:error:", @a, @b => object),
    method!(Act::Buffer4, c"newCommandBuffer" => object),
    method!(Act::Event, c"newSharedEvent" => object),
    method!(Act::Maker, c"newCompilerWithDescriptor:error:", @a, @b => object),
    method!(Act::Maker, c"newArchiveWithURL:error:", @a, @b => object),
];

/// Methods of devices, compilers and archives, which make pipelines.
static MAKER: &[Method] = &[
    method!(Act::Pipeline(Source::Function), c"newComputePipelineStateWithFunction:error:", @a, @b => object),
    method!(Act::Pipeline(Source::Function),
        c"newComputePipelineStateWithFunction:options:reflection:error:", @a, @b, @c, @d => object),
    method!(Act::PipelineLater(Source::Function, 2),
        c"newComputePipelineStateWithFunction:completionHandler:", @a, @b),
    method!(Act::PipelineLater(Source::Function, 3),
        c"newComputePipelineStateWithFunction:options:completionHandler:", @a, @b, @c),
    method!(Act::Pipeline(Source::Descriptor), c"newComputePipelineStateWithDescriptor:error:", @a, @b => object),
    method!(Act::Pipeline(Source::Descriptor),
        c"newComputePipelineStateWithDescriptor:options:reflection:error:", @a, @b, @c, @d => object),
    method!(Act::PipelineLater(Source::Descriptor, 3),
        c"newComputePipelineStateWithDescriptor:options:completionHandler:", @a, @b, @c),
    method!(Act::Pipeline(Source::Descriptor), c"newRenderPipelineStateWithDescriptor:error:", @a, @b => object),
    method!(Act::Pipeline(Source::Descriptor),
        c"newRenderPipelineStateWithDescriptor:options:reflection:error:", @a, @b, @c, @d => object),
    method!(Act::PipelineLater(Source::Descriptor, 2),
        c"newRenderPipelineStateWithDescriptor:completionHandler:", @a, @b),
    method!(Act::PipelineLater(Source::Descriptor, 3),
        c"newRenderPipelineStateWithDescriptor:options:completionHandler:", @a, @b, @c),
    method!(Act::Pipeline(Source::Descriptor),
        c"newRenderPipelineStateWithTileDescriptor:options:reflection:error:", @a, @b, @c, @d => object),
    method!(Act::PipelineLater(Source::Descriptor, 3),
        c"newRenderPipelineStateWithTileDescriptor:options:completionHandler:", @a, @b, @c),
    method!(Act::Pipeline(Source::Descriptor),
        c"newRenderPipelineStateWithMeshDescriptor:options:reflection:error:", @a, @b, @c, @d => object),
    method!(Act::PipelineLater(Source::Descriptor, 3),
        c"newRenderPipelineStateWithMeshDescriptor:options:completionHandler:", @a, @b, @c),
    // Metal 4.
    method!(Act::Pipeline(Source::Descriptor),
        c"newComputePipelineStateWithDescriptor:compilerTaskOptions:error:", @a, @b, @c => object),
    method!(Act::Pipeline(Source::Descriptor),
        c"newComputePipelineStateWithDescriptor:dynamicLinkingDescriptor:compilerTaskOptions:error:",
        @a, @b, @c, @d => object),
    method!(Act::Pipeline(Source::Descriptor),
        c"newComputePipelineStateWithDescriptor:dynamicLinkingDescriptor:error:", @a, @b, @c => object),
    method!(Act::PipelineLater(Source::Descriptor, 2),
        c"newComputePipelineStateWithDescriptor:compilerTaskOptions:completionHandler:", @a, @b, @c => object),
    method!(Act::PipelineLater(Source::Descriptor, 2),
        c"newComputePipelineStateWithDescriptor:dynamicLinkingDescriptor:compilerTaskOptions:completionHandler:",
        @a, @b, @c, @d => object),
    method!(Act::Pipeline(Source::Descriptor),
        c"newRenderPipelineStateWithDescriptor:compilerTaskOptions:error:", @a, @b, @c => object),
    method!(Act::Pipeline(Source::Descriptor),
        c"newRenderPipelineStateWithDescriptor:dynamicLinkingDescriptor:compilerTaskOptions:error:",
        @a, @b, @c, @d => object),
    method!(Act::Pipeline(Source::Descriptor),
        c"newRenderPipelineStateWithDescriptor:dynamicLinkingDescriptor:error:", @a, @b, @c => object),
    method!(Act::PipelineLater(Source::Descriptor, 2),
        c"newRenderPipelineStateWithDescriptor:compilerTaskOptions:completionHandler:", @a, @b, @c => object),
    method!(Act::PipelineLater(Source::Descriptor, 2),
        c"newRenderPipelineStateWithDescriptor:dynamicLinkingDescriptor:compilerTaskOptions:completionHandler:",
        @a, @b, @c, @d => object),
    method!(Act::Pipeline(Source::Second),
        c"newRenderPipelineStateBySpecializationWithDescriptor:pipeline:error:", @a, @b, @c => object),
    method!(Act::PipelineLater(Source::Second, 2),
        c"newRenderPipelineStateBySpecializationWithDescriptor:pipeline:completionHandler:", @a, @b, @c => object),
    method!(Act::Pipeline(Source::Descriptor),
        c"newMachineLearningPipelineStateWithDescriptor:error:", @a, @b => object),
    method!(Act::PipelineLater(Source::Descriptor, 2),
        c"newMachineLearningPipelineStateWithDescriptor:completionHandler:", @a, @b => object),
];

/// Methods of pipelines.
static PIPELINE: &[Method] = &[
    method!(Act::Pipeline(Source::Maker),
        c"newComputePipelineStateWithAdditionalBinaryFunctions:error:", @a, @b => object),
    method!(Act::Pipeline(Source::Maker),
        c"newComputePipelineStateWithBinaryFunctions:error:", @a, @b => object),
    method!(Act::Pipeline(Source::Maker),
        c"newRenderPipelineStateWithAdditionalBinaryFunctions:error:", @a, @b => object),
    method!(Act::Pipeline(Source::Maker),
        c"newRenderPipelineStateWithBinaryFunctions:error:", @a, @b => object),
];

/// What is called when an object is freed.
static FREED: &[Method] = &[method!(many Act::Free, c"dealloc")];

/// Methods of queues.
static QUEUE: &[Method] = &[
    method!(Act::Buffer, c"commandBuffer" => object),
    method!(Act::Buffer, c"commandBufferWithUnretainedReferences" => object),
    method!(Act::Buffer, c"commandBufferWithDescriptor:", @a => object),
    method!(Act::Commit4 { options: false }, c"commit:count:", @a, @b),
    method!(Act::Commit4 { options: true }, c"commit:count:options:", @a, @b, @c),
];

/// Methods of command buffers.
static BUFFER: &[Method] = &[
    method!(Act::Encoder(Kind::Compute), c"computeCommandEncoder" => object),
    method!(Act::Encoder(Kind::Compute), c"computeCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::Compute), c"computeCommandEncoderWithDispatchType:", @a => object),
    method!(Act::Encoder(Kind::Blit), c"blitCommandEncoder" => object),
    method!(Act::Encoder(Kind::Blit), c"blitCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::Render), c"renderCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::Render), c"renderCommandEncoderWithDescriptor:options:", @a, @b => object),
    method!(Act::Encoder(Kind::Render), c"parallelRenderCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::ResourceState), c"resourceStateCommandEncoder" => object),
    method!(Act::Encoder(Kind::ResourceState), c"resourceStateCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::AccelerationStructure), c"accelerationStructureCommandEncoder" => object),
    method!(Act::Encoder(Kind::AccelerationStructure),
        c"accelerationStructureCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::MachineLearning), c"machineLearningCommandEncoder" => object),
    method!(Act::Begin, c"beginCommandBufferWithAllocator:", @a),
    method!(Act::Begin, c"beginCommandBufferWithAllocator:options:", @a, @b),
    method!(Act::Commit, c"commit"),
    method!(Act::Wait, c"waitUntilCompleted"),
    method!(Act::Signal, c"encodeSignalEvent:value:", @a, @b),
];

/// Methods of shared events.
static EVENT: &[Method] =
    &[method!(Act::WaitForEvent, c"waitUntilSignaledValue:timeoutMS:", @a, @b => truth)];

/// Methods of encoders.
static ENCODER: &[Method] = &[
    method!(many Act::End, c"endEncoding"),
    method!(Act::EncoderPart, c"renderCommandEncoder" => object),
    method!(Act::SetPipeline, c"setComputePipelineState:", @a),
    method!(Act::SetPipeline, c"setRenderPipelineState:", @a),
    method!(Act::SetPipeline, c"setPipelineState:", @a),
    method!(Act::Work, c"dispatchThreads:threadsPerThreadgroup:", size a, size b),
    method!(Act::Work, c"dispatchThreadgroups:threadsPerThreadgroup:", size a, size b),
    method!(Act::Work, c"dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:",
        @a, @b, size c),
    method!(Act::Work, c"dispatchThreadgroupsWithIndirectBuffer:threadsPerThreadgroup:", @a, size b),
    method!(Act::Work, c"dispatchThreadsWithIndirectBuffer:", @a),
    method!(Act::Work, c"dispatchThreadsPerTile:", size a),
    method!(Act::Work, c"dispatchNetworkWithIntermediatesHeap:", @a),
    method!(Act::Indirect, c"executeCommandsInBuffer:withRange:", @a, range b),
    method!(Act::Indirect, c"executeCommandsInBuffer:indirectBuffer:", @a, @b),
    method!(Act::Indirect, c"executeCommandsInBuffer:indirectBuffer:indirectBufferOffset:", @a, @b, @c),
    method!(Act::Work, c"drawPrimitives:vertexStart:vertexCount:", @a, @b, @c),
    method!(Act::Work, c"drawPrimitives:vertexStart:vertexCount:instanceCount:", @a, @b, @c, @d),
    method!(Act::Work, c"drawPrimitives:vertexStart:vertexCount:instanceCount:baseInstance:", @a, @b, @c, @d, @e),
    method!(Act::Work, c"drawPrimitives:indirectBuffer:", @a, @b),
    method!(Act::Work, c"drawPrimitives:indirectBuffer:indirectBufferOffset:", @a, @b, @c),
    method!(Act::Work, c"drawIndexedPrimitives:indexCount:indexType:indexBuffer:indexBufferOffset:",
        @a, @b, @c, @d, @e),
    method!(Act::Work, c"drawIndexedPrimitives:indexCount:indexType:indexBuffer:indexBufferOffset:instanceCount:",
        @a, @b, @c, @d, @e, @f),
    method!(Act::Work,
        c"drawIndexedPrimitives:indexCount:indexType:indexBuffer:indexBufferOffset:instanceCount:baseVertex:baseInstance:",
        @a, @b, @c, @d, @e, @f, @g, @h),
    method!(Act::Work,
        c"drawIndexedPrimitives:indexType:indexBuffer:indexBufferOffset:indirectBuffer:indirectBufferOffset:",
        @a, @b, @c, @d, @e, @f),
    method!(Act::Work, c"drawIndexedPrimitives:indexCount:indexType:indexBuffer:indexBufferLength:",
        @a, @b, @c, @d, @e),
    method!(Act::Work, c"drawIndexedPrimitives:indexCount:indexType:indexBuffer:indexBufferLength:instanceCount:",
        @a, @b, @c, @d, @e, @f),
    method!(Act::Work,
        c"drawIndexedPrimitives:indexCount:indexType:indexBuffer:indexBufferLength:instanceCount:baseVertex:baseInstance:",
        @a, @b, @c, @d, @e, @f, @g, @h),
    method!(Act::Work, c"drawIndexedPrimitives:indexType:indexBuffer:indexBufferLength:indirectBuffer:",
        @a, @b, @c, @d, @e),
    method!(Act::Work,
        c"drawPatches:patchStart:patchCount:patchIndexBuffer:patchIndexBufferOffset:instanceCount:baseInstance:",
        @a, @b, @c, @d, @e, @f, @g),
    method!(Act::Work, c"drawPatches:patchIndexBuffer:patchIndexBufferOffset:indirectBuffer:indirectBufferOffset:",
        @a, @b, @c, @d, @e),
    method!(Act::Work,
        c"drawIndexedPatches:patchStart:patchCount:patchIndexBuffer:patchIndexBufferOffset:controlPointIndexBuffer:controlPointIndexBufferOffset:instanceCount:baseInstance:",
        @a, @b, @c, @d, @e, @f, @g, @h, @i),
    method!(Act::Work,
        c"drawIndexedPatches:patchIndexBuffer:patchIndexBufferOffset:controlPointIndexBuffer:controlPointIndexBufferOffset:indirectBuffer:indirectBufferOffset:",
        @a, @b, @c, @d, @e, @f, @g),
    method!(Act::Work, c"drawMeshThreadgroups:threadsPerObjectThreadgroup:threadsPerMeshThreadgroup:",
        size a, size b, size c),
    method!(Act::Work, c"drawMeshThreads:threadsPerObjectThreadgroup:threadsPerMeshThreadgroup:",
        size a, size b, size c),
    method!(Act::Work,
        c"drawMeshThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerObjectThreadgroup:threadsPerMeshThreadgroup:",
        @a, @b, size c, size d),
    method!(Act::Work,
        c"drawMeshThreadgroupsWithIndirectBuffer:threadsPerObjectThreadgroup:threadsPerMeshThreadgroup:",
        @a, size b, size c),
];
