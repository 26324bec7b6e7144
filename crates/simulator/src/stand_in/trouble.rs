//! What is said when something goes wrong, word for word where the words are known.

use super::arguments::{RecordOrder, Subject};
use super::stage::Stage;
use super::{Ending, Misbehaviour, Settings};

const NO_XCODE: &str = "xcode-select: error: tool 'xctrace' requires Xcode, but active developer \
directory '/Library/Developer/CommandLineTools' is a command line tools instance";

const NOT_FOUND: &str =
    "xcrun: error: unable to find utility \"xctrace\", not a developer tool or in PATH";

const KPERF: &str = "Failed to start the recording: _lockKPerf: could not lock kperf. Likely \
another session just started.";

/// What happens to any command where there is no Xcode.
pub(super) fn without_xcode(stage: &mut Stage<'_>) -> Option<Ending> {
    let (text, code) = if stage.does(Misbehaviour::NoXcode) {
        (NO_XCODE, 1)
    } else if stage.does(Misbehaviour::Xcrun72) {
        (NOT_FOUND, 72)
    } else {
        return None;
    };
    stage.complain(text);
    Some(Ending::Code(code))
}

/// What was asked for and needs a place to count in, if there is none.
pub(super) fn lacks_state(settings: &Settings) -> Option<Misbehaviour> {
    let mut asked = settings.misbehaviours.iter().copied();
    asked.find(|one| one.counts() && settings.state.is_none())
}

/// Why a recording does not even start, though its target is there.
pub(super) fn at_start(name: &str, stage: &Stage<'_>) -> Option<String> {
    if stage.does(Misbehaviour::Exit2) {
        return Some("Failed to attach to target process".to_owned());
    }
    if stage.does(Misbehaviour::NotDebuggable) {
        return Some(format!(
            "Permission to debug {name} was denied. The app must be signed with 'get-task-allow'"
        ));
    }
    if stage.does(Misbehaviour::Restricted) {
        let text = "Target process is marked restricted and cannot be traced while SIP is enabled";
        return Some(text.to_owned());
    }
    let locked = stage.does_at_first(Misbehaviour::KperfLocked, 1);
    locked.then(|| KPERF.to_owned())
}

/// What a recording that is saved nevertheless complains of.
pub(super) fn at_end(order: &RecordOrder, stage: &Stage<'_>) -> Vec<&'static str> {
    let attached = matches!(order.subject, Subject::Attach(_));
    let known = [
        (
            Misbehaviour::RunIssues,
            "* [Error] Data stream: Fatal logging system error: The log archive is corrupt or incomplete",
        ),
        (
            Misbehaviour::CountersUnsupported,
            "* [Error] Selected counter profile is not supported on target device",
        ),
        (
            Misbehaviour::Malformed,
            "* [Error] Transferred trace file is malformed",
        ),
        (
            Misbehaviour::NoConfiguration,
            "* [Warning] No configuration information received, will have to guess",
        ),
    ];
    let applies =
        |one: Misbehaviour| stage.does(one) && (one != Misbehaviour::NoConfiguration || attached);
    let told = known.into_iter().filter(|(one, _)| applies(*one));
    told.map(|(_, text)| text).collect()
}

/// The block of complaints.
pub(super) fn tell_issues(issues: &[&str], stage: &mut Stage<'_>) {
    stage.say("Run issues were detected (trace is still ready to be viewed):");
    for issue in issues {
        stage.say(issue);
    }
    stage.say("");
}
