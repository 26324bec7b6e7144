//! What happens around each call of a hooked method.
#![expect(
    unsafe_code,
    reason = "reads the array of command buffers that Metal 4 commits"
)]

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use metalens_command_log::Kind;

use crate::block::{Block, ProgramBlock};
use crate::hooks::adopt;
use crate::metal::{self, Source};
use crate::objc::{Id, Message, Pool, new, release};
use crate::record::{
    BUFFERS, Buffer, Committed, Completion, ENCODERS, Encoded, Encoder, Objects, OpenEncoder,
    PIPELINES, QUEUES, count_indirect, count_work, intern, number_queue, set_pipeline,
    unknown_function,
};
use crate::session::{self, COST, Session};
use crate::stamps::{self, Pass, Sampled, sample};
use crate::system::{now, thread};

/// What the probe does: bits of `MODE`.
static MODE: AtomicU8 = AtomicU8::new(0);
/// Hooks note what they see.
const WATCH: u8 = 1;
/// Encoders without a label get one.
const LABEL: u8 = 2;
/// GPU times of encoders are sampled.
const STAMP: u8 = 4;
/// A forked child, or one in which the probe failed: nothing happens any more.
const SILENT: u8 = 8;

/// Begins to watch; labels and samples encoders too if asked to. Returns false if that is not
/// possible.
pub(crate) fn watch(labels: bool, stamps: bool) -> bool {
    let labels = if labels { LABEL } else { 0 };
    let stamps = if stamps { STAMP } else { 0 };
    MODE.fetch_or(WATCH | labels | stamps, Ordering::Relaxed) & SILENT == 0
}

/// Ends all that the probe does in this process, for good.
pub(crate) fn fall_silent() {
    MODE.store(SILENT, Ordering::Relaxed);
}

/// Returns whether hooks note what they see.
pub(crate) fn is_watching() -> bool {
    MODE.load(Ordering::Relaxed) & (WATCH | SILENT) == WATCH
}

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
    Encoder(Kind, Pass),
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
            Self::Encoder(..) | Self::EncoderPart => 5,
            Self::Pipeline(_) | Self::PipelineLater(..) => 6,
            Self::SetPipeline => 7,
            Self::Work | Self::Indirect => 8,
            Self::End => 9,
            Self::Commit | Self::Commit4 { .. } => 10,
            Self::Wait => 11,
            Self::Free => 12,
        }
    }

    /// Returns whether a nested call is a part of the outer one even if it is to another object:
    /// what a wrapper's inside makes is not what the program gets.
    fn is_part_of_other_object(self) -> bool {
        self.group() <= 3 || matches!(self.group(), 5 | 6)
    }
}

/// A call of a hooked method that is underway.
#[derive(Default)]
pub(crate) struct Call {
    /// What is to be done after it, unless it is a part of another call.
    act: Option<Act>,
    is_on_stack: bool,
    /// What it returns, if it was made in another way.
    replaced: Option<usize>,
    /// Nanoseconds that the probe took so far, and the number of calls that this one stands for.
    cost: Option<(u64, u64)>,
    kept: Kept,
}

/// What is needed after the call.
#[derive(Default)]
enum Kept {
    #[default]
    Nothing,
    Encoder(u64, Option<Sampled>),
    Name(Arc<str>),
    Wait(Arc<Session>, u64, u64),
    /// A block must live as long as the call.
    Block(#[expect(dead_code, reason = "kept, not read")] Block),
}

/// Calls that are underway on a thread: group and object.
struct Underway {
    depth: Cell<usize>,
    calls: [Cell<(u8, Id)>; 16],
    /// Dispatches, to measure the cost of some.
    count: Cell<u64>,
    /// Time that hooking new classes took, which is no cost of command buffers.
    hooking: Cell<u64>,
}

thread_local! {
    static UNDERWAY: Underway = const {
        Underway {
            depth: Cell::new(0),
            calls: [const { Cell::new((0, 0)) }; 16],
            count: Cell::new(0),
            hooking: Cell::new(0),
        }
    };
}

/// Returns the cost since `start`: without hooking classes, which happens once, and without reading
/// the clock, which most dispatches are spared.
fn cost_since(start: u64) -> u64 {
    static CLOCK: OnceLock<u64> = OnceLock::new();
    let time = now().saturating_sub(start);
    let hooking = UNDERWAY.try_with(|underway| underway.hooking.take());
    let clock = CLOCK.get_or_init(|| {
        let readings = (0..64).map(|_| {
            let first = now();
            now().saturating_sub(first)
        });
        readings.min().unwrap_or(0)
    });
    time.saturating_sub(hooking.unwrap_or(0) + clock)
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
    /// Returns the result, if the call was made in another way.
    pub(crate) fn replaced(&self) -> Option<usize> {
        self.replaced
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
        // Result of the call and the time that it took, if it was made in another way.
        let mut replaced = None;
        match act {
            // Known once they are done. A dispatch can end in an exception, and is none then.
            Act::Queue | Act::Maker | Act::Buffer | Act::Buffer4 | Act::EncoderPart => {}
            Act::Work | Act::Indirect => {}
            Act::Encoder(kind, pass) => {
                let start = now();
                let sampled = sample_encoder(kind, pass, object, words);
                replaced = sampled.as_ref().and_then(|sampled| sampled.made);
                call.kept = Kept::Encoder(start, sampled);
            }
            Act::Begin => begin_again(object),
            Act::Pipeline(source) => {
                call.kept = source.name(object, words).map_or(Kept::Nothing, Kept::Name);
            }
            Act::PipelineLater(source, objects) => {
                call.kept = name_later(source, objects, object, words);
            }
            Act::SetPipeline => {
                let pipeline = words.first().copied().unwrap_or(0);
                set_pipeline(object, name_of_pipeline(pipeline));
            }
            Act::End => end_encoder(object),
            Act::Commit => commit(object),
            Act::Commit4 { options } => {
                replaced = commit_several(object, words, options).map(|spent| (0, spent));
            }
            Act::Wait => {
                if let Some(buffer) = BUFFERS.get(object) {
                    let number = buffer.number.load(Ordering::Relaxed);
                    if let (Some(session), true) = (&buffer.session, number > 0) {
                        call.kept = Kept::Wait(session.clone(), number, now());
                    }
                }
            }
            Act::Free => {
                PIPELINES.remove(object);
                FEEDBACK.remove(object);
            }
        }
        call.replaced = replaced.map(|(result, _)| result);
        if weight > 0 {
            let spent = replaced.map_or(0, |(_, spent)| spent);
            call.cost = Some((cost_since(start).saturating_sub(spent), weight));
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
            (Some(act), kept) if result != 0 => made(act, object, result, kept),
            _ => {}
        }
        if let Some((cost, _)) = &mut self.cost {
            *cost += cost_since(start);
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
            COST.fetch_add(cost * weight, Ordering::Relaxed);
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

/// Notes an object that a call made.
fn made(act: Act, maker: Id, object: Id, kept: Kept) {
    match (act, kept) {
        (Act::Queue, _) => {
            number_queue(object);
            hook(object, "command queue", &[metal::QUEUE]);
        }
        (Act::Maker, _) => hook(object, "pipeline maker", &[metal::MAKER]),
        (Act::Buffer, _) => {
            hook(object, "command buffer", &[metal::BUFFER]);
            let queue = QUEUES.get(maker).unwrap_or_else(|| number_queue(maker));
            let buffer = Arc::new(Buffer::new(session::current(), Some(queue)));
            if buffer.session.is_some() {
                listen(object, &buffer);
            }
            BUFFERS.insert(object, buffer);
        }
        (Act::Buffer4, _) => {
            hook(object, "command buffer", &[metal::BUFFER]);
            BUFFERS.insert(object, Arc::new(Buffer::new(None, None)));
        }
        (Act::Encoder(kind, _), Kept::Encoder(start, sampled)) => {
            hook(object, "command encoder", &[metal::ENCODER]);
            if let Some(buffer) = BUFFERS.get(maker) {
                let encoder = Arc::new(Mutex::new(Encoder {
                    kind,
                    start,
                    end: None,
                    label: None,
                    stamp: sampled.map(Sampled::finish),
                    gpu: None,
                    kernels: Vec::new(),
                }));
                let mut encoded = lock(&buffer.encoded);
                encoded.start.get_or_insert(start);
                encoded.encoders.push(encoder.clone());
                drop(encoded);
                open(object, encoder);
            }
        }
        (Act::EncoderPart, _) => {
            hook(object, "command encoder", &[metal::ENCODER]);
            let whole = ENCODERS.with(maker, |part| Some(part.get(&maker)?.encoder.clone()));
            if let Some(encoder) = whole.flatten() {
                open(object, encoder);
            }
        }
        (Act::Pipeline(_), Kept::Name(name)) => made_pipeline(object, name),
        _ => {}
    }
}

fn open(encoder: Id, state: Arc<Mutex<Encoder>>) {
    ENCODERS.insert(
        encoder,
        OpenEncoder {
            encoder: state,
            pipeline: None,
        },
    );
}

fn made_pipeline(pipeline: Id, name: Arc<str>) {
    hook(pipeline, "pipeline", &[metal::PIPELINE, metal::FREED]);
    PIPELINES.insert(pipeline, name);
}

/// Prepares samples for an encoder of a command buffer that is in the log, if asked to.
fn sample_encoder(kind: Kind, pass: Pass, buffer: Id, words: &[usize]) -> Option<Sampled> {
    if MODE.load(Ordering::Relaxed) & STAMP == 0 {
        return None;
    }
    let known = BUFFERS.get(buffer)?;
    sample(kind, pass, buffer, words, known.session.as_ref()?)
}

/// Hooks the class of an object. What is left alone is noted in the log.
pub(crate) fn hook(object: Id, role: &'static str, tables: &[&'static [crate::hooks::Method]]) {
    let start = now();
    let Some(notes) = adopt(object, role, tables) else {
        return;
    };
    let _ = UNDERWAY.try_with(|underway| {
        underway
            .hooking
            .update(|hooking| hooking + now().saturating_sub(start));
    });
    if let (false, Some(session)) = (notes.is_empty(), session::current()) {
        for note in notes {
            session.note(&note);
        }
    }
}

/// Hooks a device, and names it in the log.
pub(crate) fn meet_device(device: Id) {
    static NAME: Message = Message::new(c"name");
    if device == 0 || !is_watching() {
        return;
    }
    contained(|| {
        let _pool = Pool::open();
        if let Some(session) = session::current() {
            session.name_device(NAME.get_text(device));
        }
        hook(device, "device", &[metal::DEVICE, metal::MAKER]);
        let _ = UNDERWAY.try_with(|underway| underway.hooking.take());
    });
}

static LABEL_OF: Message = Message::new(c"label");
static ERROR: Message = Message::new(c"error");
static LOCALIZED_DESCRIPTION: Message = Message::new(c"localizedDescription");
static GPU_START_TIME: Message = Message::new(c"GPUStartTime");
static GPU_END_TIME: Message = Message::new(c"GPUEndTime");

/// Returns the name of a pipeline's functions. Its label stands in if it was made unseen.
pub(crate) fn name_of_pipeline(pipeline: Id) -> Arc<str> {
    PIPELINES.get(pipeline).unwrap_or_else(|| {
        let _pool = Pool::open();
        hook(pipeline, "pipeline", &[metal::PIPELINE, metal::FREED]);
        let name = LABEL_OF
            .get_text(pipeline)
            .map_or_else(unknown_function, |label| intern(&label));
        PIPELINES.insert(pipeline, name.clone());
        name
    })
}

/// Replaces the block that takes a pipeline by one that notes it first.
fn name_later(source: Source, objects: usize, maker: Id, words: &mut [usize]) -> Kept {
    let name = source.name(maker, words);
    let (Some(name), Some(word)) = (name, words.last_mut()) else {
        return Kept::Nothing;
    };
    let Some(program) = ProgramBlock::keep(*word) else {
        return Kept::Nothing;
    };
    let block = Block::new(objects, move |arguments| {
        if let Some(pipeline) = arguments.first().filter(|pipeline| **pipeline != 0) {
            handle(|| made_pipeline(*pipeline, name.clone()));
        }
        program.call(arguments);
    });
    let Some(block) = block else {
        return Kept::Nothing;
    };
    *word = block.address();
    Kept::Block(block)
}

/// Asks Metal to tell when a command buffer is scheduled and complete. Asked before the program
/// does, so that its own handlers do not delay the answer.
fn listen(object: Id, buffer: &Arc<Buffer>) {
    static ADD_SCHEDULED_HANDLER: Message = Message::new(c"addScheduledHandler:");
    static ADD_COMPLETED_HANDLER: Message = Message::new(c"addCompletedHandler:");
    let (scheduled, completed) = (buffer.clone(), buffer.clone());
    let scheduled = Block::new(1, move |_| {
        handle(|| scheduled.scheduled.store(now(), Ordering::Release));
    });
    let completed = Block::new(1, move |objects| {
        let time = now();
        handle(|| complete(&completed, objects.first().copied().unwrap_or(0), time));
    });
    if let (Some(scheduled), Some(completed)) = (scheduled, completed) {
        ADD_SCHEDULED_HANDLER.get_with(object, scheduled.address());
        ADD_COMPLETED_HANDLER.get_with(object, completed.address());
    }
}

/// Runs a handler on Metal's thread, and measures it.
fn handle(run: impl FnOnce()) {
    if is_watching() {
        let start = now();
        contained(run);
        COST.fetch_add(cost_since(start), Ordering::Relaxed);
    }
}

fn complete(buffer: &Buffer, object: Id, completed: u64) {
    let committed = lock(&buffer.committed).take();
    let (Some(committed), Some(session)) = (committed, &buffer.session) else {
        return;
    };
    let scheduled = buffer.scheduled.load(Ordering::Acquire);
    let completion = completion(object, completed, scheduled);
    if let Some(whole) = completion.gpu {
        let _pool = Pool::open();
        stamps::read(&committed.encoded.encoders, whole, session);
    }
    session.complete(committed, completion);
}

/// Reads the times and the error of what is complete.
fn completion(object: Id, completed: u64, scheduled: u64) -> Completion {
    let _pool = Pool::open();
    let (start, end) = (
        GPU_START_TIME.get_nanoseconds(object),
        GPU_END_TIME.get_nanoseconds(object),
    );
    let error = ERROR.get(object).map(|error| {
        let text = LOCALIZED_DESCRIPTION.get_text(error);
        text.unwrap_or_else(|| "an error without a description".to_owned())
    });
    Completion {
        scheduled: (scheduled > 0).then_some(scheduled),
        gpu: start.zip(end),
        completed,
        error,
    }
}

fn begin_again(object: Id) {
    if let Some(buffer) = BUFFERS.get(object) {
        *lock(&buffer.encoded) = Encoded::default();
    }
}

fn end_encoder(object: Id) {
    static SET_LABEL: Message = Message::new(c"setLabel:");
    let Some(open) = ENCODERS.remove(object) else {
        return;
    };
    let _pool = Pool::open();
    let label = LABEL_OF.get_text(object);
    if label.is_none() && MODE.load(Ordering::Relaxed) & LABEL != 0 {
        let from_kernels = lock(&open.encoder).label_from_kernels();
        if let Some(label) = from_kernels {
            SET_LABEL.set_text(object, &label);
        }
    }
    let mut encoder = lock(&open.encoder);
    encoder.label = label.or(encoder.label.take());
    encoder.end = Some(now());
}

fn commit(object: Id) {
    let Some(buffer) = BUFFERS.get(object) else {
        return;
    };
    let Some(session) = &buffer.session else {
        return;
    };
    let _pool = Pool::open();
    let number = session.number_commit();
    buffer.number.store(number, Ordering::Relaxed);
    let committed = Committed {
        number,
        queue: buffer.queue,
        thread: thread(),
        label: LABEL_OF.get_text(object),
        encoded: std::mem::take(&mut *lock(&buffer.encoded)),
        time: now(),
    };
    *lock(&buffer.committed) = Some(committed);
}

/// Commits of Metal 4 that were made with the same options, in order. Metal tells each when it is
/// complete through a block of the options.
type Feedback = Arc<Mutex<VecDeque<(Arc<Session>, Committed)>>>;
static FEEDBACK: Objects<Feedback> = Objects::new();

/// Notes a commit of Metal 4. Without options, it commits with options of its own, and returns the
/// time that this took.
fn commit_several(queue: Id, words: &[usize], has_options: bool) -> Option<u64> {
    static COMMIT: Message = Message::new(c"commit:count:options:");
    let (&[buffers, count] | &[buffers, count, _]) = words else {
        return None;
    };
    let session = session::current()?;
    let pool = Pool::open();
    let own = if has_options {
        None
    } else {
        new(c"MTL4CommitOptions")
    };
    let options = words
        .get(2)
        .copied()
        .filter(|options| *options != 0)
        .or(own);
    let feedback = options.and_then(|options| feedback_of(options, has_options));
    let (Some(options), Some(feedback)) = (options, feedback) else {
        session.note("commits of Metal 4 are not in the log: no options for their feedback");
        return None;
    };

    // SAFETY: the program gives Metal an array with this number of command buffers.
    let buffers_of_call = unsafe {
        std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<Id>(buffers), count)
    };
    let mut encoded = Encoded::default();
    let mut label = None;
    let number = session.number_commit();
    for object in buffers_of_call {
        if let Some(buffer) = BUFFERS.get(*object) {
            let of_buffer = lock(&buffer.encoded).clone();
            encoded.start = [encoded.start, of_buffer.start].into_iter().flatten().min();
            encoded.encoders.extend(of_buffer.encoders);
            label = label.or_else(|| LABEL_OF.get_text(*object));
        }
    }
    let committed = Committed {
        number,
        queue: Some(QUEUES.get(queue).unwrap_or_else(|| number_queue(queue))),
        thread: thread(),
        label,
        encoded,
        time: now(),
    };
    lock(&feedback).push_back((session, committed));
    drop(pool);

    let own = own?;
    let start = now();
    let is_sent = COMMIT.call(queue, [buffers, count, options]).is_some();
    let spent = now().saturating_sub(start);
    if !is_sent {
        lock(&feedback).pop_back();
    }
    release(own);
    is_sent.then_some(spent)
}

/// Returns the commits with these options, and asks Metal to tell when they are complete.
fn feedback_of(options: Id, is_kept: bool) -> Option<Feedback> {
    static ADD_FEEDBACK_HANDLER: Message = Message::new(c"addFeedbackHandler:");
    if let Some(known) = FEEDBACK.get(options) {
        return Some(known);
    }
    let feedback = Feedback::default();
    let commits = feedback.clone();
    let block = Block::new(1, move |objects| {
        let completed = now();
        handle(|| {
            let next = lock(&commits).pop_front();
            if let (Some((session, committed)), Some(object)) = (next, objects.first()) {
                session.complete(committed, completion(*object, completed, 0));
            }
        });
    })?;
    ADD_FEEDBACK_HANDLER.get_with(options, block.address());
    if is_kept {
        hook(options, "commit options", &[metal::FREED]);
        FEEDBACK.insert(options, feedback.clone());
    }
    Some(feedback)
}

/// Locks a mutex. What a panic left in it is used: after one the probe is silent.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what must not panic into the program. After a panic the probe is silent.
pub(crate) fn contained<T: Default>(run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        fall_silent();
        T::default()
    })
}
