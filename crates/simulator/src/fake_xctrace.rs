//! Simulates Apple's `xctrace`: real arguments, files, child processes, lines and exit codes, with a
//! synthetic trace in place of a recording. Neither prints nor exits: it writes to the given streams
//! and returns how the program should end.
//!
//! Its behavior follows public evidence about the real tool. On request it misbehaves in ways that
//! people met: [`Misbehavior`] lists them with their sources. Behavior without a source had to be
//! chosen; such choices are marked "a guess" in the code, and nobody should rely on them.
//!
//! A recording shows what the scenario says, whatever program is launched. The bundle's facts about
//! its process (name, pid, arguments, end) and about the recording (template, limit, mode, reason for
//! the end) are those of the run. Facts that the bundle writer cannot store are lost: the name of a
//! run, the process's environment, the duration. If a document has several runs, all of them have the
//! facts of the last one.

mod arguments;
mod bundle;
mod exporting;
mod lists;
mod messages;
mod misbehavior;
mod output_path;
mod process;
mod record;
mod run_facts;
mod scratch;
mod session;
mod template;
mod version;
mod xpath;

pub use misbehavior::{Misbehavior, UnknownMisbehavior};

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::scenario::Scenario;
use arguments::Command;
use session::Session;
use version::Build;

/// Settings of the fake `xctrace`.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Scenario that every recording shows.
    pub scenario: Scenario,
    /// Ways in which it misbehaves.
    pub misbehaviors: Vec<Misbehavior>,
    /// Text after `xctrace version`. The build in it decides which options exist.
    pub version: String,
    /// Folder to count calls in, for misbehaviors of the first calls only.
    pub state: Option<PathBuf>,
    /// Duration of saving.
    pub saving: Duration,
}

impl Settings {
    /// Default of [`Settings::version`]: that of Xcode 26.3.
    pub const VERSION: &str = "26.0 (17C529)";
    /// Default duration of saving.
    pub const SAVING: Duration = Duration::from_millis(30);
}

/// The standard streams of the fake `xctrace`.
pub struct Streams<'a> {
    /// Standard input, read only when it asks for Enter.
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
#[must_use]
pub enum Exit {
    /// Exit with this code.
    Code(u8),
    /// Kill itself with this signal.
    Signal(i32),
}

/// Exit code of bad usage. No source names it: a guess.
pub(crate) const USAGE: u8 = 64;

/// Does what `xctrace` would do with these arguments (without its name). When `interrupted` is set,
/// as by SIGINT, a recording stops and is saved.
pub fn run<'a>(
    arguments: Vec<OsString>,
    settings: &'a Settings,
    interrupted: &'a AtomicBool,
    streams: Streams<'a>,
) -> Exit {
    let mut session = Session::new(settings, interrupted, streams);
    if let Some(exit) = messages::without_xcode(&mut session) {
        return exit;
    }
    if let Some(name) = messages::lacks_state_folder(settings) {
        session.print_error(&format!(
            "the fake xctrace needs a state folder for `{name}`"
        ));
        return Exit::Code(USAGE);
    }
    let Some(build) = Build::parse(&settings.version) else {
        session.print_error(&format!("no build in the version `{}`", settings.version));
        return Exit::Code(USAGE);
    };

    let command = match arguments::parse(arguments, build) {
        Ok(command) => command,
        Err(usage) => {
            session.print_error(&usage.0);
            session.print_error("See 'xctrace help' for usage.");
            return Exit::Code(USAGE);
        }
    };
    match command {
        Command::Version => lists::version(&mut session),
        Command::Help => lists::help(&mut session),
        Command::List(listing) => lists::list(listing, &mut session),
        Command::Record(order) => record::record(&order, &mut session),
        Command::Export(order) => exporting::export(&order, &mut session),
    }
}
