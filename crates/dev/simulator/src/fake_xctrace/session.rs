//! Has the state that all commands need: the settings, the streams, and the interrupt flag.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::misbehavior::Misbehavior;
use super::settings::{Settings, Streams};

/// The settings, streams and interrupt flag of one call.
pub(super) struct Session<'a> {
    pub(super) settings: &'a Settings,
    interrupted: &'a AtomicBool,
    streams: Streams<'a>,
}

impl<'a> Session<'a> {
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

    /// Returns whether the fake `xctrace` should misbehave in this way.
    pub(super) fn misbehaves(&self, misbehavior: Misbehavior) -> bool {
        self.settings.misbehaviors.contains(&misbehavior)
    }

    /// Returns whether the fake `xctrace` should misbehave in this way, in its first `times` calls only.
    pub(super) fn misbehaves_at_first(&self, misbehavior: Misbehavior, times: u32) -> bool {
        self.misbehaves(misbehavior) && self.call_number(misbehavior) <= times
    }

    /// Returns whether the fake `xctrace` should misbehave in this way, in each second call.
    pub(super) fn misbehaves_each_second_time(&self, misbehavior: Misbehavior) -> bool {
        self.misbehaves(misbehavior) && self.call_number(misbehavior) % 2 == 1
    }

    /// Returns the number of this call, from 1. Each call takes the first unused file name.
    fn call_number(&self, misbehavior: Misbehavior) -> u32 {
        let Some(state) = &self.settings.state else {
            return u32::MAX;
        };
        if fs::create_dir_all(state).is_err() {
            return u32::MAX;
        }

        (1..1_000)
            .find(|call| {
                let path = state.join(format!("{misbehavior}.{call}"));
                let made = OpenOptions::new().write(true).create_new(true).open(path);
                made.is_ok()
            })
            .unwrap_or(u32::MAX)
    }

    /// Returns whether SIGINT was received.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Prints a line to standard output.
    pub(super) fn print(&mut self, line: &str) {
        if self.misbehaves(Misbehavior::StderrOnly) {
            self.print_error(line);
        } else {
            put_line(self.streams.out, line);
        }
    }

    /// Prints a line to standard error.
    pub(super) fn print_error(&mut self, line: &str) {
        put_line(self.streams.err, line);
    }

    /// Writes bytes to standard error.
    pub(super) fn write_to_stderr(&mut self, bytes: &[u8]) {
        put(self.streams.err, bytes);
    }

    /// Returns standard output, for a document.
    pub(super) fn out(&mut self) -> &mut dyn Write {
        self.streams.out
    }

    /// Waits for a line or the end of standard input.
    pub(super) fn wait_for_enter(&mut self) {
        let mut byte = [0];
        while matches!(self.streams.input.read(&mut byte), Ok(1)) && byte != *b"\n" {}
    }

    /// Sleeps forever and ignores every interrupt.
    pub(super) fn hang(&self) -> ! {
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
}

fn put_line(to: &mut dyn Write, line: &str) {
    put(to, format!("{line}\n").as_bytes());
}

/// Writes bytes. A reader that has closed its end is not an error here.
fn put(to: &mut dyn Write, bytes: &[u8]) {
    let _ = to.write_all(bytes).and_then(|()| to.flush());
}
