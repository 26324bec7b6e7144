//! The functions of a process as its stacks show them: names, addresses, and the one binary.

use crate::plan::host::Doing;
use crate::plan::{Plan, ProcessIndex};

/// A call stack of a process.
#[derive(Debug)]
pub(super) struct Stack<'p> {
    pub(super) process: ProcessIndex,
    /// Innermost first.
    pub(super) frames: Vec<Frame<'p>>,
}

/// One frame.
#[derive(Debug)]
pub(super) struct Frame<'p> {
    pub(super) name: &'p str,
    pub(super) address: u64,
}

/// Where every binary lies in its process.
pub(super) const LOAD_ADDRESS: u64 = 0x1_0000_0000;
/// How long its code is.
pub(super) const TEXT_BYTES: u64 = 0x1_0000;
/// How long each function is.
pub(super) const FUNCTION_BYTES: u64 = 0x1000;

/// What the thread does it in, besides the scenario's own function, which comes last.
const NAMES: [&str; 5] = ["main", "submit", "encode", "wait_until_completed", "sleep"];
const MAIN: usize = 0;
const SUBMIT: usize = 1;
const ENCODE: usize = 2;
const WAIT: usize = 3;
const SLEEP: usize = 4;
const HOST: usize = NAMES.len();

/// The functions of a process with their distances from the start of the binary; none when
/// nobody samples it.
pub(super) fn functions(plan: &Plan, process: ProcessIndex) -> impl Iterator<Item = (&str, u64)> {
    let host = plan.process(process).host_function.as_deref();
    let all = NAMES
        .into_iter()
        .filter(move |_| host.is_some())
        .chain(host);
    (0..).zip(all).map(|(place, name)| (name, offset(place)))
}

/// The stack of a thread that does this.
pub(super) fn stack(plan: &Plan, process: ProcessIndex, doing: Doing) -> Stack<'_> {
    let places: &[usize] = match doing {
        Doing::Encode => &[ENCODE, SUBMIT, MAIN],
        Doing::Host => &[HOST, MAIN],
        Doing::Pause => &[SLEEP, MAIN],
        Doing::Wait => &[WAIT, MAIN],
    };
    let host = plan.process(process).host_function.as_deref();
    let frame = |(depth, place): (usize, &usize)| Frame {
        name: NAMES.get(*place).copied().or(host).unwrap_or_default(),
        address: LOAD_ADDRESS + offset(*place) + inside(depth),
    };
    Stack {
        process,
        frames: places.iter().enumerate().map(frame).collect(),
    }
}

const fn offset(place: usize) -> u64 {
    (place as u64 + 1) * FUNCTION_BYTES
}

/// Where in its function a frame stands. Instructions are at multiples of 4: the innermost frame
/// has the address it stands at, and one; the others that behind a call.
const fn inside(depth: usize) -> u64 {
    if depth == 0 { 0x41 } else { 0x80 }
}

/// The id of a process's binary: one for each process of each run.
pub(super) fn uuid(plan: &Plan, process: ProcessIndex) -> [u8; 16] {
    let mut uuid = *b"synthetic binary";
    let place = u8::try_from(process.get()).unwrap_or(u8::MAX);
    let run = u8::try_from(plan.run).unwrap_or(u8::MAX);
    uuid[14] = uuid[14].wrapping_add(run);
    uuid[15] = uuid[15].wrapping_add(place);
    uuid
}

/// `73796E74-6865-…`
pub(super) fn shown_uuid(uuid: [u8; 16]) -> String {
    let mut shown = String::with_capacity(36);
    for (place, byte) in uuid.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            shown.push('-');
        }
        for nibble in [byte >> 4, byte & 0xf] {
            shown.push(char::from(b"0123456789ABCDEF"[usize::from(nibble)]));
        }
    }
    shown
}

/// Where a process's binary is.
pub(super) fn path(plan: &Plan, process: ProcessIndex) -> String {
    format!("/synthetic/{}", plan.process(process).name)
}
