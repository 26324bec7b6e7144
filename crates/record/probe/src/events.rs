//! Shared events: the command buffer that signals a value, so that a wait for the value is a wait for
//! the command buffer.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::hooks::{Role, hook};
use crate::objc::Id;
use crate::objects::{BUFFERS, Buffer, Objects};

/// Signals of an event that are known: programs wait for recent ones.
const RECENT: usize = 64;

/// Last signals of each event, the latest first: the value, and the command buffer.
static EVENTS: Objects<VecDeque<(usize, Arc<Buffer>)>> = Objects::new();

/// Notes an event that a device made.
pub(crate) fn made_event(event: Id) {
    hook(event, Role::SharedEvent);
    EVENTS.insert(event, VecDeque::new());
}

/// Notes that a command buffer will signal an event.
pub(crate) fn signal(buffer: Id, event: Id, value: usize) {
    let Some(buffer) = BUFFERS.get(buffer) else {
        return;
    };
    let _oldest = EVENTS.with(event, |part| {
        let signals = part.get_mut(&event)?;
        signals.push_front((value, buffer));
        (signals.len() > RECENT).then(|| signals.pop_back())
    });
}

/// Returns the command buffer that lets an event reach a value first.
pub(crate) fn signaling(event: Id, value: usize) -> Option<Arc<Buffer>> {
    let found = EVENTS.with(event, |part| {
        let signals = part.get(&event)?.iter();
        let reaching = signals.filter(|(signaled, _)| *signaled >= value);
        let first = reaching.min_by_key(|(signaled, _)| *signaled)?;
        Some(first.1.clone())
    });
    found.flatten()
}
