//! Simulates Apple's `xctrace`: real arguments, files, child processes, lines and exit codes, with a
//! synthetic bundle in place of a recording. It neither prints nor exits: it writes to the given
//! streams and returns how the program should end.
//!
//! Its behavior follows public evidence about the real tool. On request it misbehaves in ways that
//! users reported: [`Misbehavior`] lists them with their sources. Behavior without a source is marked
//! "a guess" in the code, and nobody should rely on it.
//!
//! A recording has the content of the scenario, whatever program is launched. The facts about
//! the process (name, pid, arguments, end) and about the recording (template, limit, mode, reason for
//! the end) are those of the run. Facts that the bundle writer cannot store are lost: the process's
//! environment, the duration.

mod arguments;
mod bundle;
mod exporting;
mod lists;
mod messages;
mod misbehavior;
mod output_path;
mod process;
mod record;
mod recorded_processes;
mod scratch;
mod session;
mod settings;
mod template;
mod version;

pub use misbehavior::{Misbehavior, UnknownMisbehavior};
pub use settings::{Exit, Settings, Streams};

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

use arguments::Command;
use session::Session;
use settings::USAGE;
use version::Build;

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
        Command::ListTemplates => lists::list(&mut session),
        Command::Record(order) => record::record(&order, &mut session),
        Command::Import(order) => record::import(&order, &mut session),
        Command::Export(order) => exporting::export(&order, &mut session),
    }
}
