//! Commits of Metal 4: of several command buffers at once, and told by feedback.
#![expect(unsafe_code, reason = "reads the array of command buffers")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::block::Block;
use crate::buffers::{LABEL, completion};
use crate::cost::handle;
use crate::mode::lock;
use crate::objc::{Id, Message, Pool, Replacement, new, release};
use crate::objects::{BUFFERS, QUEUES, number_queue};
use crate::record::{Committed, Encoded};
use crate::session::{self, Session};
use crate::system::{now, thread};

/// Notes a commit of Metal 4. Without options, returns the commit with options of its own.
pub(crate) fn commit_several(queue: Id, words: &[usize], has_options: bool) -> Option<Replacement> {
    static COMMIT: Message = Message::new(c"commit:count:options:");
    let (&[buffers, count] | &[buffers, count, _]) = words else {
        return None;
    };
    let session = session::current()?;
    let _pool = Pool::open();
    if !has_options && !COMMIT.is_known_by(queue) {
        session.note("commits of Metal 4 are not in the log: their queue takes no options");
        return None;
    }
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
    let Some(options) = options else {
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
    // The same one twice has its encoders once.
    let mut distinct: BTreeSet<Id> = buffers_of_call.iter().copied().collect();
    for object in buffers_of_call
        .iter()
        .filter(|object| distinct.remove(object))
    {
        if let Some(buffer) = BUFFERS.get(*object) {
            let of_buffer = lock(&buffer.encoded).clone();
            encoded.start = [encoded.start, of_buffer.start].into_iter().flatten().min();
            encoded.encoders.extend(of_buffer.encoders);
            label = label.or_else(|| LABEL.get_text(*object));
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
    if !tell_completion(options, session, committed) {
        own.into_iter().for_each(release);
        return None;
    }
    Some(Replacement {
        message: &COMMIT,
        object: queue,
        words: [buffers, count, options],
        own: own?,
    })
}

/// Asks Metal to tell when a commit with these options is complete. Options drop their handlers at each
/// commit. Returns false if there is no memory for a handler.
fn tell_completion(options: Id, session: Arc<Session>, committed: Committed) -> bool {
    static ADD_FEEDBACK_HANDLER: Message = Message::new(c"addFeedbackHandler:");
    let waiting = Mutex::new(Some((session, committed)));
    let block = Block::new(1, move |objects| {
        let completed = now();
        handle(|| {
            // Taken, so that a handler that outlives its commit tells nothing of the next one.
            let commit = lock(&waiting).take();
            if let (Some((session, committed)), Some(object)) = (commit, objects.first()) {
                session.complete(committed, completion(*object, completed, 0));
            }
        });
    });
    if let Some(block) = &block {
        ADD_FEEDBACK_HANDLER.get_with(options, block.address());
    }
    block.is_some()
}
