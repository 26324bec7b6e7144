//! What happens around each call of a hooked method.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use metalens_command_log::Kind;

use crate::block::Block;
use crate::buffers::{
    begin_again, commit, end_encoder, made_buffer, made_buffer_of_device, made_encoder, made_part,
};
use crate::commit4::commit_several;
use crate::cost;
use crate::events::{made_event, signal, signaling};
use crate::hooks::{Role, hook};
use crate::mode::{contained, is_watching};
use crate::objc::{Id, Replacement};
use crate::objects::{
    BUFFERS, Buffer, PIPELINES, count_indirect, count_work, number_queue, set_pipeline,
};
use crate::pipelines::{Source, made_pipeline, name_later, name_of_pipeline};
use crate::session::Session;
use crate::system::now;

/// What a hooked method does.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// Makes a queue.
    Queue,
    /// Makes what makes pipelines: a compiler or an archive.
    Maker,
    /// Makes a command buffer.
    Buffer,
    /// Makes a command buffer of Metal 4, which begins later, and more than once.
    Buffer4,
    /// Begins a command buffer of Metal 4.
    Begin,
    /// Makes an encoder.
    Encoder(Kind),
    /// Makes a part of a parallel encoder.
    EncoderPart,
    /// Makes a pipeline.
    Pipeline(Source),
    /// Makes a pipeline, and hands it to a block that takes this many objects.
    PipelineLater(Source, usize),
    /// Sets the pipeline of an encoder.
    SetPipeline,
    /// Dispatches or draws.
    Work,
    /// Executes an indirect command buffer.
    Indirect,
    /// Ends an encoder.
    End,
    /// Commits a command buffer.
    Commit,
    /// Commits command buffers of Metal 4.
    Commit4 {
        /// The call has options.
        options: bool,
    },
    /// Waits for a command buffer.
    Wait,
    /// Makes a shared event.
    Event,
    /// Encodes that a command buffer signals an event.
    Signal,
    /// Waits for a value of a shared event.
    WaitForEvent,
    /// Frees an object whose address can be used again.
    Free,
}

impl Act {
    /// Returns a number that acts share if one is a part of the other when they are nested: Metal
    /// makes a command buffer without a descriptor by making one with.
    fn group(self) -> u8 {
        match self {
            Self::Queue => 1,
            Self::Maker => 2,
            Self::Buffer | Self::Buffer4 => 3,
            Self::Begin => 4,
            Self::Encoder(_) | Self::EncoderPart => 5,
            Self::Pipeline(_) | Self::PipelineLater(..) => 6,
            Self::SetPipeline => 7,
            Self::Work | Self::Indirect => 8,
            Self::End => 9,
            Self::Commit | Self::Commit4 { .. } => 10,
            Self::Wait | Self::WaitForEvent => 11,
            Self::Free => 12,
            Self::Event => 13,
            Self::Signal => 14,
        }
    }

    /// Returns whether a nested call is a part of the outer one even if it is to another object:
    /// what a wrapper's inside makes is not what the program gets.
    fn is_part_of_other_object(self) -> bool {
        matches!(self.group(), 1..=3 | 5 | 6 | 11 | 13 | 14)
    }
}

/// A call of a hooked method that is underway.
#[derive(Default)]
pub(crate) struct Call {
    /// What is to be done after it, unless it is a part of another call.
    act: Option<Act>,
    is_on_stack: bool,
    /// What is sent in its place.
    replacement: Option<Replacement>,
    /// Nanoseconds that the probe took so far, and the number of calls that this one stands for.
    cost: Option<(u64, u64)>,
    kept: Kept,
}

/// What is needed after the call.
#[derive(Default)]
enum Kept {
    #[default]
    Nothing,
    Encoder(u64),
    Name(Arc<str>),
    Wait(Arc<Session>, u64, u64),
    /// Value that is waited for, and the begin.
    WaitForEvent(usize, u64),
    /// A block must live as long as the call.
    Block(#[expect(dead_code, reason = "kept, not read")] Block),
}

/// Calls that are underway on a thread: group and object.
struct Underway {
    depth: Cell<usize>,
    calls: [Cell<(u8, Id)>; 16],
    /// Dispatches, to measure the cost of some.
    count: Cell<u64>,
}

thread_local! {
    static UNDERWAY: Underway = const {
        Underway {
            depth: Cell::new(0),
            calls: [const { Cell::new((0, 0)) }; 16],
            count: Cell::new(0),
        }
    };
}

/// One of this many dispatches is measured.
const MEASURED: u64 = 64;

/// Notes the begin of a call. May replace its arguments.
#[inline(never)]
pub(crate) fn before(act: Act, object: Id, words: &mut [usize]) -> Call {
    if !is_watching() {
        return Call::default();
    }
    contained(|| Call::begin(act, object, words))
}

/// Notes the end of a call, and what it returned.
#[inline(never)]
pub(crate) fn after(call: Call, object: Id, result: usize) {
    if call.act.is_some() {
        contained(|| call.end(object, result));
    }
}

impl Call {
    /// Makes the call in another way, if it is to be, and returns the result. Exceptions of the program
    /// pass through: this is outside of what is contained.
    pub(crate) fn replaced(&self) -> Option<usize> {
        self.replacement.as_ref().map(Replacement::send)
    }

    fn begin(act: Act, object: Id, words: &mut [usize]) -> Self {
        let mut call = Self::default();
        let entered = UNDERWAY.try_with(|underway| {
            let weight = underway.weight(act);
            let start = if weight > 0 { now() } else { 0 };
            (weight, start, underway.push(act, object))
        });
        // While a thread ends, its variables may be gone.
        let Ok((weight, start, is_outermost)) = entered else {
            return call;
        };
        call.is_on_stack = true;
        if !is_outermost {
            return call;
        }

        call.act = Some(act);
        match act {
            // Known once they are done. A dispatch can end in an exception, and is none then.
            Act::Queue | Act::Maker | Act::Buffer | Act::Buffer4 | Act::EncoderPart => {}
            Act::Work | Act::Indirect | Act::Event => {}
            Act::Encoder(_) => call.kept = Kept::Encoder(now()),
            Act::Begin => begin_again(object),
            Act::Pipeline(source) => {
                call.kept = source.name(object, words).map_or(Kept::Nothing, Kept::Name);
            }
            Act::PipelineLater(source, objects) => {
                call.kept =
                    name_later(source, objects, object, words).map_or(Kept::Nothing, Kept::Block);
            }
            Act::SetPipeline => {
                let pipeline = words.first().copied().unwrap_or(0);
                set_pipeline(object, name_of_pipeline(pipeline));
            }
            Act::End => end_encoder(object),
            Act::Commit => commit(object),
            Act::Commit4 { options } => {
                call.replacement = commit_several(object, words, options);
            }
            Act::Wait => {
                if let Some((session, number)) = BUFFERS.get(object).and_then(in_log) {
                    call.kept = Kept::Wait(session, number, now());
                }
            }
            Act::Signal => {
                if let &mut [event, value] = words {
                    signal(object, event, value);
                }
            }
            // The command buffer may be committed during the wait.
            Act::WaitForEvent => {
                let value = words.first().copied().unwrap_or(0);
                call.kept = Kept::WaitForEvent(value, now());
            }
            Act::Free => {
                PIPELINES.remove(object);
            }
        }
        if weight > 0 {
            call.cost = Some((cost::since(start), weight));
        }
        call
    }

    fn end(mut self, object: Id, result: usize) {
        let start = if self.cost.is_some() { now() } else { 0 };
        let kept = std::mem::take(&mut self.kept);
        match (self.act, kept) {
            (Some(Act::Work), _) => count_work(object),
            (Some(Act::Indirect), _) => count_indirect(object),
            (Some(Act::Wait), Kept::Wait(session, number, begun)) => session.wait(number, begun),
            (Some(Act::WaitForEvent), Kept::WaitForEvent(value, begun)) => {
                if let Some((session, number)) = signaling(object, value).and_then(in_log) {
                    session.wait(number, begun);
                }
            }
            (Some(act), kept) if result != 0 => made(act, object, result, kept),
            _ => {}
        }
        if let Some((cost, _)) = &mut self.cost {
            *cost += cost::since(start);
        }
    }
}

impl Drop for Call {
    /// Also runs when an exception of the program passes through.
    fn drop(&mut self) {
        if self.is_on_stack {
            let _ = UNDERWAY
                .try_with(|underway| underway.depth.update(|depth| depth.saturating_sub(1)));
        }
        if let Some((cost, weight)) = self.cost {
            cost::add(cost * weight);
        }
    }
}

impl Underway {
    /// Returns the number of calls that this one stands for if it is measured, or 0.
    fn weight(&self, act: Act) -> u64 {
        if !matches!(act.group(), 7 | 8) {
            return 1;
        }
        let count = self.count.get();
        self.count.set(count.wrapping_add(1));
        if count.is_multiple_of(MEASURED) {
            MEASURED
        } else {
            0
        }
    }

    /// Adds a call. Returns false if it is a part of one that is underway.
    fn push(&self, act: Act, object: Id) -> bool {
        let depth = self.depth.get();
        let mut calls = self.calls.iter().take(depth).map(Cell::get);
        let is_part = calls.any(|(group, other)| {
            group == act.group() && (other == object || act.is_part_of_other_object())
        });
        if let Some(place) = self.calls.get(depth) {
            place.set((act.group(), object));
        }
        self.depth.set(depth + 1);
        !is_part
    }
}

/// Returns the log that a committed command buffer is in, and its number.
fn in_log(buffer: Arc<Buffer>) -> Option<(Arc<Session>, u64)> {
    let number = buffer.number.load(Ordering::Relaxed);
    let session = buffer.session.clone().filter(|_| number > 0)?;
    Some((session, number))
}

/// Notes an object that a call made.
fn made(act: Act, maker: Id, object: Id, kept: Kept) {
    match (act, kept) {
        (Act::Queue, _) => {
            number_queue(object);
            hook(object, Role::Queue);
        }
        (Act::Maker, _) => hook(object, Role::PipelineMaker),
        (Act::Event, _) => made_event(object),
        (Act::Buffer, _) => made_buffer(maker, object),
        (Act::Buffer4, _) => made_buffer_of_device(object),
        (Act::Encoder(kind), Kept::Encoder(start)) => made_encoder(kind, maker, object, start),
        (Act::EncoderPart, _) => made_part(maker, object),
        (Act::Pipeline(_), Kept::Name(name)) => made_pipeline(object, name),
        _ => {}
    }
}
