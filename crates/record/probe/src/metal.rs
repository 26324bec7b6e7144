//! The methods of Metal that are hooked, by what implements them, and how pipelines are named.
#![expect(
    unsafe_code,
    reason = "the macro for a method declares its replacement"
)]

use std::sync::Arc;

use metalens_command_log::Kind;

use crate::calls::{Act, name_of_pipeline};
use crate::hooks::{Method, method};
use crate::objc::{Id, Message, Pool};
use crate::record::intern;
use crate::stamps::Pass;

/// Where the name of a pipeline comes from.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// The function that is the first argument.
    Function,
    /// The functions of the descriptor that is the first argument.
    Descriptor,
    /// The pipeline that makes this one.
    Maker,
    /// The pipeline that is the second argument.
    Second,
}

impl Source {
    /// Returns the name of the pipeline that a call makes.
    pub(crate) fn name(self, maker: Id, words: &[usize]) -> Option<Arc<str>> {
        static NAME: Message = Message::new(c"name");
        let (first, second) = (words.first().copied()?, words.get(1).copied());
        let _pool = Pool::open();
        match self {
            Self::Function => Some(intern(&NAME.get_text(first)?)),
            Self::Descriptor => name_of_descriptor(first),
            Self::Maker => Some(name_of_pipeline(maker)),
            Self::Second => Some(name_of_pipeline(second?)),
        }
    }
}

/// Returns the names of the functions of a pipeline descriptor, joined by a slash. The label of the
/// descriptor stands in if it has no function with a name.
fn name_of_descriptor(descriptor: Id) -> Option<Arc<str>> {
    static FUNCTIONS: [Message; 13] = [
        Message::new(c"computeFunction"),
        Message::new(c"tileFunction"),
        Message::new(c"objectFunction"),
        Message::new(c"meshFunction"),
        Message::new(c"vertexFunction"),
        Message::new(c"fragmentFunction"),
        Message::new(c"computeFunctionDescriptor"),
        Message::new(c"tileFunctionDescriptor"),
        Message::new(c"objectFunctionDescriptor"),
        Message::new(c"meshFunctionDescriptor"),
        Message::new(c"vertexFunctionDescriptor"),
        Message::new(c"fragmentFunctionDescriptor"),
        Message::new(c"machineLearningFunctionDescriptor"),
    ];
    static LABEL: Message = Message::new(c"label");
    let functions = FUNCTIONS
        .iter()
        .filter_map(|message| message.get(descriptor));
    let names: Vec<String> = functions.filter_map(name_of_function).collect();
    if names.is_empty() {
        return Some(intern(&LABEL.get_text(descriptor)?));
    }
    Some(intern(&names.join("/")))
}

/// Returns the name of a function, or of a descriptor of one.
fn name_of_function(function: Id) -> Option<String> {
    static SPECIALIZED_NAME: Message = Message::new(c"specializedName");
    static NAME: Message = Message::new(c"name");
    static FUNCTION_DESCRIPTOR: Message = Message::new(c"functionDescriptor");
    let own = SPECIALIZED_NAME
        .get_text(function)
        .or_else(|| NAME.get_text(function));
    own.or_else(|| NAME.get_text(FUNCTION_DESCRIPTOR.get(function)?))
}

/// Methods of devices. Those of makers of pipelines come with them.
pub(crate) static DEVICE: &[Method] = &[
    method!(Act::Queue, c"newCommandQueue" => object),
    method!(Act::Queue, c"newCommandQueueWithMaxCommandBufferCount:", @a => object),
    method!(Act::Queue, c"newCommandQueueWithDescriptor:", @a => object),
    method!(Act::Queue, c"newMTL4CommandQueue" => object),
    method!(Act::Queue, c"newMTL4CommandQueueWithDescriptor:error:", @a, @b => object),
    method!(Act::Buffer4, c"newCommandBuffer" => object),
    method!(Act::Maker, c"newCompilerWithDescriptor:error:", @a, @b => object),
    method!(Act::Maker, c"newArchiveWithURL:error:", @a, @b => object),
];

/// Methods of devices, compilers and archives, which make pipelines.
pub(crate) static MAKER: &[Method] = &[
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
pub(crate) static PIPELINE: &[Method] = &[
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
pub(crate) static FREED: &[Method] = &[method!(many Act::Free, c"dealloc")];

/// Methods of queues.
pub(crate) static QUEUE: &[Method] = &[
    method!(Act::Buffer, c"commandBuffer" => object),
    method!(Act::Buffer, c"commandBufferWithUnretainedReferences" => object),
    method!(Act::Buffer, c"commandBufferWithDescriptor:", @a => object),
    method!(Act::Commit4 { options: false }, c"commit:count:", @a, @b),
    method!(Act::Commit4 { options: true }, c"commit:count:options:", @a, @b, @c),
];

/// Methods of command buffers.
pub(crate) static BUFFER: &[Method] = &[
    method!(Act::Encoder(Kind::Compute, Pass::Plain), c"computeCommandEncoder" => object),
    method!(Act::Encoder(Kind::Compute, Pass::Descriptor), c"computeCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::Compute, Pass::DispatchType), c"computeCommandEncoderWithDispatchType:", @a => object),
    method!(Act::Encoder(Kind::Blit, Pass::Plain), c"blitCommandEncoder" => object),
    method!(Act::Encoder(Kind::Blit, Pass::Descriptor), c"blitCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::Render, Pass::Other), c"renderCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::Render, Pass::Other), c"renderCommandEncoderWithDescriptor:options:", @a, @b => object),
    method!(Act::Encoder(Kind::Render, Pass::Other), c"parallelRenderCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::ResourceState, Pass::Other), c"resourceStateCommandEncoder" => object),
    method!(Act::Encoder(Kind::ResourceState, Pass::Other), c"resourceStateCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::AccelerationStructure, Pass::Other), c"accelerationStructureCommandEncoder" => object),
    method!(Act::Encoder(Kind::AccelerationStructure, Pass::Other),
        c"accelerationStructureCommandEncoderWithDescriptor:", @a => object),
    method!(Act::Encoder(Kind::MachineLearning, Pass::Other), c"machineLearningCommandEncoder" => object),
    method!(Act::Begin, c"beginCommandBufferWithAllocator:", @a),
    method!(Act::Begin, c"beginCommandBufferWithAllocator:options:", @a, @b),
    method!(Act::Commit, c"commit"),
    method!(Act::Wait, c"waitUntilCompleted"),
];

/// Methods of encoders.
pub(crate) static ENCODER: &[Method] = &[
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
