//! What exit codes and messages of `xctrace` mean, and where that is known from.
//!
//! "Seen" is what the logs of people who record in earnest show; "manual" is
//! Apple's manual page. What was never seen is not in these tables.

/// What something means, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// What it means.
    pub what: &'static str,
    /// What to do; empty if nothing has to be done.
    pub remedy: &'static str,
    /// How it is known.
    pub source: &'static str,
}

/// A message, known by a part of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// What its text holds.
    pub text: &'static str,
    /// What that does to the recording.
    pub weight: Weight,
    /// What it means.
    pub meaning: Meaning,
}

/// What a message does to a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Nothing.
    Harmless,
    /// Some of it may be missing.
    Doubtful,
    /// There is none.
    Fatal,
    /// There is none, and trying again may help.
    TryAgain,
}

const fn message(
    text: &'static str,
    weight: Weight,
    what: &'static str,
    remedy: &'static str,
    source: &'static str,
) -> Message {
    let meaning = Meaning {
        what,
        remedy,
        source,
    };
    Message {
        text,
        weight,
        meaning,
    }
}

/// The messages that are known.
pub const MESSAGES: &[Message] = &[
    message(
        "Cannot find process matching name",
        Weight::Fatal,
        "no process of that name runs",
        "start it first, or give its number; names are matched whole",
        "seen, with exit code 19",
    ),
    message(
        "Cannot find process for provided pid",
        Weight::Fatal,
        "no process of that number runs",
        "it may have ended: give the number of one that runs",
        "seen, with exit code 21",
    ),
    message(
        "Failed to attach to target",
        Weight::Fatal,
        "the system does not let the process be traced",
        "let metalens start it (`metalens record -- CMD`), or sign it with \
         com.apple.security.get-task-allow",
        "seen, with exit code 2",
    ),
    message(
        "Permission to debug",
        Weight::Fatal,
        "the program is hardened",
        "sign it for tracing: codesign -s - -f --entitlements FILE PROGRAM, with \
         com.apple.security.get-task-allow in FILE",
        "seen",
    ),
    message(
        "is marked restricted and cannot be traced",
        Weight::Fatal,
        "the program is a part of the system, which protects it",
        "use one of your own: a Python of a venv, Homebrew or pyenv instead of /usr/bin/python3",
        "seen",
    ),
    message(
        "could not lock kperf",
        Weight::TryAgain,
        "another profiler records at this moment",
        "close Instruments and other recorders, then try again",
        "seen, with exit code 2",
    ),
    message(
        "cannot handle a target type of 'All Processes'",
        Weight::Fatal,
        "an instrument of this template needs one process",
        "name one: `-- CMD` or --attach",
        "seen",
    ),
    message(
        "is not supported on this platform",
        Weight::Fatal,
        "an instrument of this template does not exist for this machine",
        "take another template",
        "seen",
    ),
    message(
        "The log archive is corrupt or incomplete",
        Weight::Harmless,
        "the system's log could not be joined in; the GPU's tables are whole",
        "",
        "seen with Metal System Trace, whose tables were whole",
    ),
    message(
        "Transferred trace file is malformed",
        Weight::Doubtful,
        "what was recorded could not be taken over: tables may be empty",
        "record again",
        "seen; the bundle was saved and its tables were empty",
    ),
    message(
        "Selected counter profile is not supported on target device",
        Weight::Doubtful,
        "this GPU has no such counters",
        "leave the counters out: this chip does not give them to xctrace",
        "seen on M3 Ultra, M4 and M5",
    ),
    message(
        "No configuration information received",
        Weight::Doubtful,
        "the process did not tell what it does: its rows may be missing",
        "let metalens start it (`metalens record -- CMD`) instead of attaching",
        "seen when attaching with Metal System Trace; no rows followed",
    ),
    message(
        "already exists",
        Weight::Fatal,
        "the file exists",
        "choose another name",
        "seen",
    ),
    message(
        "Document Missing Template Error",
        Weight::Fatal,
        "the bundle is not whole: its recording was cut off or is not saved yet, or it was made \
         by attaching",
        "record again and let it save; tables of one made by attaching can be exported by name",
        "seen, with exit code 10",
    ),
    message(
        "No space left on device",
        Weight::Fatal,
        "the disk is full",
        "make room: four seconds of Metal System Trace take about 120 MB, a minute of a busy GPU many GB",
        "the system's own words",
    ),
    message(
        "requires Xcode, but active developer directory",
        Weight::Fatal,
        "only the Command Line Tools are selected",
        "sudo xcode-select -s /Applications/Xcode.app/Contents/Developer, or set DEVELOPER_DIR",
        "seen, with exit code 1",
    ),
    message(
        "unable to find utility \"xctrace\"",
        Weight::Fatal,
        "there is no Xcode, only the Command Line Tools",
        "install Xcode, open it once, then sudo xcode-select -s \
         /Applications/Xcode.app/Contents/Developer",
        "seen, with exit code 72",
    ),
];

/// What is known of an error's or a warning's text.
#[must_use]
pub fn of_message(text: &str) -> Option<&'static Message> {
    MESSAGES.iter().find(|one| text.contains(one.text))
}

/// The exit codes of `record` that are known.
pub const RECORD_CODES: &[(i32, Meaning)] = &[
    (0, code("it ended well", "", "seen")),
    (
        2,
        code(
            "the recording could not start: the target may not be traced, or another profiler records",
            "",
            "seen",
        ),
    ),
    (
        19,
        code("no process of that name runs", "start it first", "seen"),
    ),
    (
        21,
        code(
            "no process of that number runs",
            "give one that runs",
            "seen",
        ),
    ),
    (
        30,
        code(
            "a template of your own has the name of one of Apple's",
            "give the template's path instead of its name",
            "seen",
        ),
    ),
    (
        43,
        code(
            "the bundle cannot be read or written",
            "look at its owner and permissions",
            "seen",
        ),
    ),
    (
        54,
        code(
            "usual, of good recordings too: the target did not end by itself, or not well",
            "",
            "seen at 185 of 212 recordings of one project, all of them good",
        ),
    ),
    (
        57,
        code(
            "the recording options lack a key",
            "leave --recording-options out",
            "seen",
        ),
    ),
    (
        72,
        code("xcrun found no xctrace", "run `metalens doctor`", "seen"),
    ),
];

/// The exit codes of `export` that are known.
pub const EXPORT_CODES: &[(i32, Meaning)] = &[
    (0, code("it ended well", "", "seen")),
    (
        10,
        code(
            "the bundle is not whole, or was made by attaching",
            "its tables may still be exported by name",
            "seen, with `Document Missing Template Error`",
        ),
    ),
    (
        133,
        code(
            "it crashed in the middle of a table",
            "the rows it wrote until then are whole; the bundle itself can be read",
            "seen with large tables, Xcode 27.1",
        ),
    ),
];

const fn code(what: &'static str, remedy: &'static str, source: &'static str) -> Meaning {
    Meaning {
        what,
        remedy,
        source,
    }
}

/// What an exit code means, if that is known.
#[must_use]
pub fn of_code(table: &'static [(i32, Meaning)], code: i32) -> Option<&'static Meaning> {
    table
        .iter()
        .find(|(known, _)| *known == code)
        .map(|(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_known_by_a_part() {
        let check = |text: &str, expected: Option<Weight>| {
            assert_eq!(of_message(text).map(|one| one.weight), expected, "{text}");
        };
        let kperf = "Failed to start the recording: _lockKPerf: could not lock kperf. Likely another session just started.";
        check(kperf, Some(Weight::TryAgain));
        let log =
            "Data stream: Fatal logging system error: The log archive is corrupt or incomplete";
        check(log, Some(Weight::Harmless));
        check(
            "Cannot find process matching name: bench",
            Some(Weight::Fatal),
        );
        check("something new", None);
    }

    #[test]
    fn no_message_hides_another() {
        for (at, one) in MESSAGES.iter().enumerate() {
            let found = MESSAGES
                .iter()
                .position(|other| one.text.contains(other.text));
            assert_eq!(found, Some(at), "{}", one.text);
        }
    }
}
