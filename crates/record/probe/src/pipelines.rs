//! Names of pipelines: those of their functions, learned when they are made.

use std::sync::Arc;

use crate::block::{Block, ProgramBlock};
use crate::cost::handle;
use crate::hooks::{Role, hook};
use crate::objc::{Id, Message, Pool};
use crate::objects::{PIPELINES, unknown_function};
use crate::record::intern;

static LABEL: Message = Message::new(c"label");

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

/// Returns the name of a pipeline's functions. Its label stands in if it was made unseen.
pub(crate) fn name_of_pipeline(pipeline: Id) -> Arc<str> {
    PIPELINES.get(pipeline).unwrap_or_else(|| {
        let _pool = Pool::open();
        hook(pipeline, Role::Pipeline);
        let name = LABEL
            .get_text(pipeline)
            .map_or_else(unknown_function, |label| intern(&label));
        PIPELINES.insert(pipeline, name.clone());
        name
    })
}

/// Replaces the block that takes a pipeline, the last argument, by one that notes it first. The block
/// must live as long as the call.
pub(crate) fn name_later(
    source: Source,
    objects: usize,
    maker: Id,
    words: &mut [usize],
) -> Option<Block> {
    let name = source.name(maker, words)?;
    let word = words.last_mut()?;
    let program = ProgramBlock::keep(*word)?;
    let block = Block::new(objects, move |arguments| {
        if let Some(pipeline) = arguments.first().filter(|pipeline| **pipeline != 0) {
            handle(|| made_pipeline(*pipeline, name.clone()));
        }
        program.call(arguments);
    })?;
    *word = block.address();
    Some(block)
}

/// Notes a pipeline that was made.
pub(crate) fn made_pipeline(pipeline: Id, name: Arc<str>) {
    hook(pipeline, Role::Pipeline);
    PIPELINES.insert(pipeline, name);
}
