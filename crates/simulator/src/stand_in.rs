//! Takes the place of Apple's `xctrace`: real arguments, files, children, lines and exit codes, and
//! a synthetic trace instead of a recording. It neither prints nor exits: it writes to the handles
//! it was given and answers how the program is to end.
//!
//! It behaves as public evidence says the real tool does, and misbehaves on request in the ways
//! people met: [`Misbehaviour`] has the list, with who saw each. What nobody has described had to
//! be chosen; the choice is marked "a guess" where it is made. Nobody should rely on those.
//!
//! A recording is of whatever the scenario says, whoever is launched; what a bundle says of its
//! target (name, pid, arguments, how it ended) and of the recording (template, limit, mode, why it
//! ended) is true of the run. What the writer of bundles has no place for is lost: the name of a
//! run, the target's environment, its length. Of several runs in one document, all say what the
//! last one did.

mod arguments;
mod document;
mod exporting;
mod facts;
mod lists;
mod misbehaviour;
mod place;
mod record;
mod scratch;
mod stage;
mod target;
mod template;
mod trouble;
mod version;
mod xpath;

pub use misbehaviour::{Misbehaviour, UnknownMisbehaviour};

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::scenario::Scenario;
use arguments::Request;
use stage::Stage;
use version::Build;

/// How the stand-in is to behave.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What every recording shows.
    pub scenario: Scenario,
    /// In which ways it misbehaves.
    pub misbehaviours: Vec<Misbehaviour>,
    /// What `version` says after `xctrace version`; the build decides which options exist.
    pub version: String,
    /// A folder to count calls in, for what happens only the first times.
    pub state: Option<PathBuf>,
    /// How long saving takes.
    pub saving: Duration,
}

impl Settings {
    /// What [`Settings::version`] is unless said otherwise: that of Xcode 26.3.
    pub const VERSION: &str = "26.0 (17C529)";
    /// How long saving takes unless said otherwise.
    pub const SAVING: Duration = Duration::from_millis(30);
}

/// What the stand-in reads from and writes to.
pub struct Streams<'a> {
    /// Read only when it asks for Enter.
    pub input: &'a mut dyn Read,
    /// What it prints, a line at a time.
    pub out: &'a mut dyn Write,
    /// What it complains of, a line at a time.
    pub err: &'a mut dyn Write,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

/// How the program is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Ending {
    /// With this exit code.
    Code(u8),
    /// Killed by this signal, of its own doing.
    Signal(i32),
}

/// The exit code of bad usage. No source says which it is: a guess.
pub(crate) const USAGE: u8 = 64;

/// Does what `xctrace` would with these arguments, its name not among them. Once `interrupted` is
/// set, as by SIGINT, a recording stops and is saved.
pub fn run<'a>(
    arguments: Vec<OsString>,
    settings: &'a Settings,
    interrupted: &'a AtomicBool,
    streams: Streams<'a>,
) -> Ending {
    let mut stage = Stage::new(settings, interrupted, streams);
    if let Some(ending) = trouble::without_xcode(&mut stage) {
        return ending;
    }
    if let Some(name) = trouble::lacks_state(settings) {
        stage.complain(&format!(
            "the stand-in cannot do `{name}` without a state folder"
        ));
        return Ending::Code(USAGE);
    }
    let Some(build) = Build::of(&settings.version) else {
        stage.complain(&format!("no build in the version `{}`", settings.version));
        return Ending::Code(USAGE);
    };
    let request = match arguments::parse(arguments, build) {
        Ok(request) => request,
        Err(usage) => {
            stage.complain(&usage.0);
            stage.complain("See 'xctrace help' for usage.");
            return Ending::Code(USAGE);
        }
    };
    match request {
        Request::Version => lists::version(&mut stage),
        Request::Help => lists::help(&mut stage),
        Request::List(listing) => lists::list(listing, &mut stage),
        Request::Record(order) => record::record(&order, &mut stage),
        Request::Export(order) => exporting::export(&order, &mut stage),
    }
}
