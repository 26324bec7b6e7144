//! Defines the inputs of the fake `xctrace`, and the ways in which it ends.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::misbehavior::Misbehavior;
use crate::scenario::Scenario;

/// Settings of the fake `xctrace`.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Scenario that every recording shows.
    pub scenario: Scenario,
    /// Ways in which the tool misbehaves.
    pub misbehaviors: Vec<Misbehavior>,
    /// Text after `xctrace version`. The build in it decides which options exist.
    pub version: String,
    /// Folder to count calls in, for misbehaviors of the first calls only.
    pub state: Option<PathBuf>,
    /// Time that saving a bundle takes.
    pub saving: Duration,
}

impl Settings {
    /// Default of [`Settings::version`]: that of Xcode 26.3.
    pub const VERSION: &str = "26.0 (17C529)";
    /// Default of [`Settings::saving`].
    pub const SAVING: Duration = Duration::from_millis(30);
}

/// The standard streams of the fake `xctrace`.
pub struct Streams<'a> {
    /// Standard input, read only when the tool asks for Enter.
    pub input: &'a mut dyn Read,
    /// Standard output, written line by line.
    pub out: &'a mut dyn Write,
    /// Standard error, written line by line.
    pub err: &'a mut dyn Write,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

/// The way in which the program should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The program exits with this code.
    Code(u8),
    /// The program kills itself with this signal.
    Signal(i32),
}

/// Exit code of a command line with errors: a guess.
pub(super) const USAGE: u8 = 64;
