//! Where the stand-in performs: its settings, its streams, and whether it was told to stop.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::{Misbehaviour, Settings, Streams};

/// Everything a command needs beside its own arguments.
pub(super) struct Stage<'a> {
    pub(super) settings: &'a Settings,
    interrupted: &'a AtomicBool,
    streams: Streams<'a>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        interrupted: &'a AtomicBool,
        streams: Streams<'a>,
    ) -> Self {
        Self {
            settings,
            interrupted,
            streams,
        }
    }

    /// Whether it is to misbehave in this way.
    pub(super) fn does(&self, misbehaviour: Misbehaviour) -> bool {
        self.settings.misbehaviours.contains(&misbehaviour)
    }

    /// As [`Stage::does`], but only for the first `times` calls of the tool.
    pub(super) fn does_at_first(&self, misbehaviour: Misbehaviour, times: u32) -> bool {
        self.does(misbehaviour) && self.call(misbehaviour) <= times
    }

    /// Which call this is, from 1: each takes the first file name that is still free.
    fn call(&self, misbehaviour: Misbehaviour) -> u32 {
        let Some(state) = &self.settings.state else {
            return u32::MAX;
        };
        if fs::create_dir_all(state).is_err() {
            return u32::MAX;
        }
        let is_free = |call: &u32| {
            let path = state.join(format!("{misbehaviour}.{call}"));
            let made = OpenOptions::new().write(true).create_new(true).open(path);
            made.is_ok()
        };
        (1..1_000).find(is_free).unwrap_or(u32::MAX)
    }

    /// Whether SIGINT came.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// A line on stdout.
    pub(super) fn say(&mut self, line: &str) {
        if self.does(Misbehaviour::StderrOnly) {
            self.complain(line);
        } else {
            put_line(self.streams.out, line);
        }
    }

    /// A line on stderr.
    pub(super) fn complain(&mut self, line: &str) {
        put_line(self.streams.err, line);
    }

    /// Text on stderr, as it is.
    pub(super) fn flood(&mut self, text: &[u8]) {
        put(self.streams.err, text);
    }

    /// stdout itself, for a document.
    pub(super) fn out(&mut self) -> &mut dyn Write {
        self.streams.out
    }

    /// Waits until a line or the end of stdin.
    pub(super) fn wait_for_enter(&mut self) {
        let mut byte = [0];
        while matches!(self.streams.input.read(&mut byte), Ok(1)) && byte != *b"\n" {}
    }

    /// Does nothing any more, whatever happens.
    pub(super) fn hang(&self) -> ! {
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
}

fn put_line(to: &mut dyn Write, line: &str) {
    put(to, format!("{line}\n").as_bytes());
}

/// Where nobody listens any more, nobody needs to be told.
fn put(to: &mut dyn Write, bytes: &[u8]) {
    let _ = to.write_all(bytes).and_then(|()| to.flush());
}
