//! Command buffers and their encoders, from the first encoder to completion.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use metalens_command_log::Kind;

use crate::block::Block;
use crate::cost::handle;
use crate::hooks::{Role, hook};
use crate::mode::{adds_labels, lock};
use crate::objc::{Id, Message, Pool};
use crate::objects::{BUFFERS, Buffer, ENCODERS, OpenEncoder, QUEUES, number_queue};
use crate::record::{Committed, Completion, Encoded, Encoder};
use crate::session;
use crate::system::{now, thread};

pub(crate) static LABEL: Message = Message::new(c"label");

/// Notes a command buffer that a queue made.
pub(crate) fn made_buffer(queue: Id, object: Id) {
    hook(object, Role::CommandBuffer);
    let queue = QUEUES.get(queue).unwrap_or_else(|| number_queue(queue));
    let buffer = Arc::new(Buffer::new(session::current(), Some(queue)));
    if buffer.session.is_some() {
        listen(object, &buffer);
    }
    BUFFERS.insert(object, buffer);
}

/// Notes a command buffer of Metal 4 that a device made.
pub(crate) fn made_buffer_of_device(object: Id) {
    hook(object, Role::CommandBuffer);
    BUFFERS.insert(object, Arc::new(Buffer::new(None, None)));
}

/// Notes an encoder that a command buffer made.
pub(crate) fn made_encoder(kind: Kind, buffer: Id, object: Id, start: u64) {
    hook(object, Role::Encoder);
    let Some(buffer) = BUFFERS.get(buffer) else {
        return;
    };
    let encoder = Arc::new(Mutex::new(Encoder {
        kind,
        start,
        end: None,
        label: None,
        kernels: Vec::new(),
    }));
    let mut encoded = lock(&buffer.encoded);
    encoded.start.get_or_insert(start);
    encoded.encoders.push(encoder.clone());
    drop(encoded);
    open(object, encoder);
}

/// Notes an encoder that a parallel encoder made.
pub(crate) fn made_part(whole: Id, object: Id) {
    hook(object, Role::Encoder);
    let shared = ENCODERS.with(whole, |part| Some(part.get(&whole)?.encoder.clone()));
    if let Some(encoder) = shared.flatten() {
        open(object, encoder);
    }
}

fn open(object: Id, encoder: Arc<Mutex<Encoder>>) {
    let pipeline = None;
    ENCODERS.insert(object, OpenEncoder { encoder, pipeline });
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

fn complete(buffer: &Buffer, object: Id, completed: u64) {
    let committed = lock(&buffer.committed).take();
    let (Some(committed), Some(session)) = (committed, &buffer.session) else {
        return;
    };
    let scheduled = buffer.scheduled.load(Ordering::Acquire);
    let completion = completion(object, completed, scheduled);
    session.complete(committed, completion);
}

/// Reads the times and the error of what is complete.
pub(crate) fn completion(object: Id, completed: u64, scheduled: u64) -> Completion {
    static ERROR: Message = Message::new(c"error");
    static DESCRIPTION: Message = Message::new(c"localizedDescription");
    static START: Message = Message::new(c"GPUStartTime");
    static END: Message = Message::new(c"GPUEndTime");
    let _pool = Pool::open();
    let (start, end) = (START.get_nanoseconds(object), END.get_nanoseconds(object));
    let error = ERROR.get(object).map(|error| {
        let text = DESCRIPTION.get_text(error);
        text.unwrap_or_else(|| "an error without a description".to_owned())
    });
    Completion {
        scheduled: (scheduled > 0).then_some(scheduled),
        gpu: start.zip(end),
        completed,
        error,
    }
}

/// Notes that a command buffer of Metal 4 begins.
pub(crate) fn begin_again(object: Id) {
    if let Some(buffer) = BUFFERS.get(object) {
        *lock(&buffer.encoded) = Encoded::default();
    }
}

/// Notes the end of an encoder, and labels it if asked to.
pub(crate) fn end_encoder(object: Id) {
    static SET_LABEL: Message = Message::new(c"setLabel:");
    let Some(open) = ENCODERS.remove(object) else {
        return;
    };
    let _pool = Pool::open();
    let label = LABEL.get_text(object);
    if label.is_none() && adds_labels() {
        let from_kernels = lock(&open.encoder).label_from_kernels();
        if let Some(label) = from_kernels {
            SET_LABEL.set_text(object, &label);
        }
    }
    let mut encoder = lock(&open.encoder);
    encoder.label = label.or(encoder.label.take());
    encoder.end = Some(now());
}

/// Notes that a command buffer is about to be committed.
pub(crate) fn commit(object: Id) {
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
        label: LABEL.get_text(object),
        encoded: std::mem::take(&mut *lock(&buffer.encoded)),
        time: now(),
    };
    *lock(&buffer.committed) = Some(committed);
}
