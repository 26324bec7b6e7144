//! Describes the functions in a process's stacks: their names, addresses, and the one binary.

use crate::plan::{ActivityKind, Plan, ProcessIndex};

/// A call stack of a process.
#[derive(Debug)]
pub(crate) struct Stack<'p> {
    pub(crate) process: ProcessIndex,
    /// Frames of the stack, innermost first.
    pub(crate) frames: Vec<Frame<'p>>,
}

/// A frame of a call stack.
#[derive(Debug)]
pub(crate) struct Frame<'p> {
    pub(crate) name: &'p str,
    pub(crate) address: u64,
}

/// Address of every binary in its process.
pub(crate) const LOAD_ADDRESS: u64 = 0x1_0000_0000;
/// Size of the code of a binary, in bytes.
pub(crate) const TEXT_BYTES: u64 = 0x1_0000;
/// Size of each function, in bytes.
pub(crate) const FUNCTION_BYTES: u64 = 0x1000;

/// Functions of every thread. The scenario's own function has the index after them, [`HOST`].
const NAMES: [&str; 5] = ["main", "submit", "encode", "wait_until_completed", "sleep"];
const MAIN: usize = 0;
const SUBMIT: usize = 1;
const ENCODE: usize = 2;
const WAIT: usize = 3;
const SLEEP: usize = 4;
const HOST: usize = NAMES.len();
/// Method that makes a buffer inside another one, and the functions that allocate, after it.
const INSIDE: usize = HOST + 1;
const INSIDE_NAME: &str = "-[IOGPUMetalBuffer initWithPrimaryBuffer:heapIndex:]";
/// Largest number of functions that allocate: the code of a binary has no room for more.
pub(crate) const CALLERS_MAX: usize = 8;

/// Returns the functions of a process with their offsets from the start of the binary. A process
/// that is neither sampled nor allocates has none.
pub(crate) fn functions(plan: &Plan, process: ProcessIndex) -> impl Iterator<Item = (&str, u64)> {
    let planned = plan.process(process);
    let host = planned.host_function.as_deref();
    let callers = &planned.callers;
    let has_stacks = host.is_some() || !callers.is_empty();
    let common = (0..).zip(NAMES).filter(move |_| has_stacks);
    let inside = (!callers.is_empty()).then_some((INSIDE, INSIDE_NAME));
    let callers = (INSIDE + 1..).zip(callers.iter().map(String::as_str));
    let ends = common.chain(host.map(|host| (HOST, host))).chain(inside);
    let named = ends.chain(callers);
    named.map(|(index, name)| (name, offset(index)))
}

/// Returns the stack of an allocation by one of the process's callers, perhaps inside another resource.
pub(crate) fn allocation_stack(
    plan: &Plan,
    process: ProcessIndex,
    caller: usize,
    is_inside: bool,
) -> Stack<'_> {
    let name = &plan.process(process).callers[caller];
    let inside = is_inside.then_some((INSIDE, INSIDE_NAME));
    let frames = inside
        .into_iter()
        .chain([(INSIDE + 1 + caller, name.as_str()), (MAIN, NAMES[MAIN])]);
    let frame = |(depth, (index, name))| Frame {
        name,
        address: LOAD_ADDRESS + offset(index) + address_in_function(depth),
    };
    Stack {
        process,
        frames: frames.enumerate().map(frame).collect(),
    }
}

/// Returns the stack of a thread during an activity.
pub(crate) fn stack(plan: &Plan, process: ProcessIndex, kind: ActivityKind) -> Stack<'_> {
    let indices: &[usize] = match kind {
        ActivityKind::Encode => &[ENCODE, SUBMIT, MAIN],
        ActivityKind::Host => &[HOST, MAIN],
        ActivityKind::Pause => &[SLEEP, MAIN],
        ActivityKind::Wait => &[WAIT, MAIN],
    };
    let host = plan.process(process).host_function.as_deref();
    let frame = |(depth, index): (usize, &usize)| Frame {
        name: NAMES.get(*index).copied().or(host).unwrap_or_default(),
        address: LOAD_ADDRESS + offset(*index) + address_in_function(depth),
    };

    Stack {
        process,
        frames: indices.iter().enumerate().map(frame).collect(),
    }
}

const fn offset(index: usize) -> u64 {
    (index as u64 + 1) * FUNCTION_BYTES
}

/// Returns the offset of a frame's address in its function. Instructions are at multiples of 4. The
/// innermost frame has the address of its instruction plus one. Each other frame has the address of
/// the instruction after its call.
const fn address_in_function(depth: usize) -> u64 {
    if depth == 0 { 0x41 } else { 0x80 }
}

/// Returns the id of a process's binary, different for each process of each run.
pub(crate) fn uuid(plan: &Plan, process: ProcessIndex) -> [u8; 16] {
    let mut uuid = *b"synthetic binary";
    let index = u8::try_from(process.get()).unwrap_or(u8::MAX);
    let run = u8::try_from(plan.run).unwrap_or(u8::MAX);
    uuid[14] = uuid[14].wrapping_add(run);
    uuid[15] = uuid[15].wrapping_add(index);
    uuid
}

/// Formats an id as `73796E74-6865-…`.
pub(crate) fn shown_uuid(uuid: [u8; 16]) -> String {
    let digits = format!("{:032X}", u128::from_be_bytes(uuid));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}

/// Returns the path of a process's binary.
pub(crate) fn path(plan: &Plan, process: ProcessIndex) -> String {
    format!("/synthetic/{}", plan.process(process).name)
}

/// Returns the id of the other thread of a process. No process has an id that far from another's, so
/// the ids are unique.
pub(crate) fn worker_tid(plan: &Plan, process: ProcessIndex) -> u64 {
    plan.process(process).tid + 0x100_0000
}
