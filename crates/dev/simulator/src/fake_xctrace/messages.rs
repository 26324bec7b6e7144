//! Prints the error messages of the real tool, word for word where they are known.

use super::arguments::{RecordOrder, RecordTarget};
use super::misbehavior::Misbehavior;
use super::session::Session;
use super::settings::{Exit, Settings};

const NO_XCODE: &str = "xcode-select: error: tool 'xctrace' requires Xcode, but active developer \
directory '/Library/Developer/CommandLineTools' is a command line tools instance";

const NOT_FOUND: &str =
    "xcrun: error: unable to find utility \"xctrace\", not a developer tool or in PATH";

const NO_LICENSE: &str = "You have not agreed to the Xcode license agreements. Please run \
'sudo xcodebuild -license' from within a Terminal window to review and agree to the Xcode and Apple \
SDKs license.";

const KPERF: &str = "Failed to start the recording: _lockKPerf: could not lock kperf. Likely \
another session just started.";

const CORRUPT_LOG: &str =
    "* [Error] Data stream: Fatal logging system error: The log archive is corrupt or incomplete";

const NO_COUNTERS: &str = "* [Error] Selected counter profile is not supported on target device";

const MALFORMED: &str = "* [Error] Transferred trace file is malformed";

const NO_CONFIGURATION: &str =
    "* [Warning] No configuration information received, will have to guess";

/// The question for a password, in one line.
pub(super) const PASSWORD: &str = "xctrace: Instruments wants permission to analyze other processes. \
Please enter an administrator username and password to allow this.";

/// Prints the error of any command on a Mac without Xcode, if that misbehavior is on.
pub(super) fn without_xcode(session: &mut Session<'_>) -> Option<Exit> {
    let known = [
        (Misbehavior::NoXcode, NO_XCODE, 1),
        (Misbehavior::Xcrun72, NOT_FOUND, 72),
        (Misbehavior::NoLicense, NO_LICENSE, 69),
    ];
    let applies = |known: &(Misbehavior, &str, u8)| session.misbehaves(known.0);
    let (_, text, code) = known.into_iter().find(applies)?;
    session.print_error(text);
    Some(Exit::Code(code))
}

/// Returns a requested misbehavior that needs a state folder, if there is no such folder.
pub(super) fn lacks_state_folder(settings: &Settings) -> Option<Misbehavior> {
    let mut requested = settings.misbehaviors.iter().copied();
    requested.find(|misbehavior| misbehavior.counts_calls() && settings.state.is_none())
}

/// Returns the error of a recording that does not start although its process exists.
pub(super) fn at_start(name: &str, session: &Session<'_>) -> Option<String> {
    if session.misbehaves(Misbehavior::Exit2) {
        return Some("Failed to attach to target process".to_owned());
    }
    if session.misbehaves(Misbehavior::NotDebuggable) {
        return Some(format!(
            "Permission to debug {name} was denied. The app must be signed with 'get-task-allow'"
        ));
    }
    if session.misbehaves(Misbehavior::Restricted) {
        let text = "Target process is marked restricted and cannot be traced while SIP is enabled";
        return Some(text.to_owned());
    }
    if session.misbehaves(Misbehavior::Sandboxed) {
        return Some("Could not set the recording priority".to_owned());
    }
    let is_locked = session.misbehaves_at_first(Misbehavior::KperfLocked, 1);
    is_locked.then(|| KPERF.to_owned())
}

/// Returns the issues that a recording reports although it is saved.
pub(super) fn at_end(order: &RecordOrder, session: &Session<'_>) -> Vec<&'static str> {
    let is_attached = matches!(order.target, RecordTarget::Attach(_));
    let known = [
        (Misbehavior::RunIssues, CORRUPT_LOG),
        (Misbehavior::CountersUnsupported, NO_COUNTERS),
        (Misbehavior::Malformed, MALFORMED),
        (Misbehavior::NoConfiguration, NO_CONFIGURATION),
    ];
    let applies = |known: &(Misbehavior, &str)| {
        session.misbehaves(known.0) && (known.0 != Misbehavior::NoConfiguration || is_attached)
    };
    let issues = known.into_iter().filter(applies);
    issues.map(|(_, text)| text).collect()
}

/// Prints issues under the heading of the real tool.
pub(super) fn print_issues(issues: &[&str], session: &mut Session<'_>) {
    session.print("Run issues were detected (trace is still ready to be viewed):");
    for issue in issues {
        session.print(issue);
    }
    session.print("");
}
