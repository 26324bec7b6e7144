//! Lists the known exit codes and messages of `xctrace`, with their meaning.
//!
//! All were seen in published logs of users; a comment says what else is known of a source.

/// The meaning of a message or an exit code, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// Description of the meaning.
    pub what: &'static str,
    /// Advice on what to do; empty if nothing is necessary.
    pub remedy: &'static str,
}

/// A known message, recognized by a part of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownMessage {
    /// Part of the text that identifies the message.
    pub text: &'static str,
    /// Effect on the recording.
    pub weight: Weight,
    /// Meaning of the message.
    pub meaning: Meaning,
}

/// The effect of a message on a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The recording is complete.
    Harmless,
    /// A part of the recording may be missing.
    Doubtful,
    /// There is no recording.
    Fatal,
    /// There is no recording, and another attempt may succeed.
    TryAgain,
}

/// Returns an entry of [`MESSAGES`].
const fn message(
    text: &'static str,
    weight: Weight,
    what: &'static str,
    remedy: &'static str,
) -> KnownMessage {
    let meaning = Meaning { what, remedy };
    KnownMessage {
        text,
        weight,
        meaning,
    }
}

/// Advice if macOS asks for a password.
pub const DEVELOPER_MODE: &str =
    "run `sudo DevToolsSecurity -enable` once: it turns on developer mode";

/// All known messages.
pub const MESSAGES: &[KnownMessage] = &[
    message(
        "Cannot find process matching name",
        Weight::Fatal,
        "no process with that name is running",
        "start it first, or give its process id; the complete name must match",
        // Seen, with exit code 19.
    ),
    message(
        "Cannot find process for provided pid",
        Weight::Fatal,
        "no process with that id is running",
        "the process may have ended: give the id of a running process",
        // Seen, with exit code 21.
    ),
    message(
        "Failed to attach to target",
        Weight::Fatal,
        "macOS does not allow tracing the process",
        "sign it with com.apple.security.get-task-allow, or, in place of --attach, let metalens start it \
        (`metalens record -- CMD`)",
        // Seen, with exit code 2.
    ),
    message(
        "Permission to debug",
        Weight::Fatal,
        "the program has the hardened runtime",
        "sign it for tracing: codesign -s - -f --entitlements FILE PROGRAM, with \
        com.apple.security.get-task-allow in FILE",
    ),
    message(
        "wants permission to analyze",
        Weight::Fatal,
        "macOS wants the password of an administrator before it traces a process",
        DEVELOPER_MODE,
        // Seen, on a Mac without developer mode.
    ),
    message(
        "Failed to gain authorization",
        Weight::Fatal,
        "macOS does not allow tracing without the password of an administrator",
        DEVELOPER_MODE,
        // Seen, after the question for a password.
    ),
    message(
        "Failed to authorize rights",
        Weight::Fatal,
        "macOS does not allow tracing without the password of an administrator",
        DEVELOPER_MODE,
        // Seen, of DTServiceHub.
    ),
    message(
        "is marked restricted and cannot be traced",
        Weight::Fatal,
        "macOS protects the program as a part of the system",
        "use a program of your own, such as the Python of a venv, Homebrew or pyenv instead of \
        /usr/bin/python3",
    ),
    message(
        "could not lock kperf",
        Weight::TryAgain,
        "another profiler is recording",
        "close Instruments and other recorders, then try again; if none runs, `sudo killall DTServiceHub` \
         or a restart frees the lock",
        // Seen, with exit code 2.
    ),
    message(
        "Could not set the recording priority",
        Weight::TryAgain,
        "the shell is sandboxed, or tracing is not ready",
        "run it in a terminal of your own: the shell of an agent may be sandboxed, and macOS then allows \
        no tracing",
        // Seen in shells of agents; one project saw it end by itself.
    ),
    message(
        "Unexpected internal error",
        Weight::TryAgain,
        "xctrace failed for a reason that it does not name",
        "record again; if it fails every time, record for less time, or restart the Mac",
    ),
    message(
        "Instrument with name",
        Weight::Fatal,
        "this Xcode has no instrument of that name",
        "`xcrun xctrace list instruments` has the names; --no-signposts leaves out Points of Interest",
        // Seen as `Instrument with name 'GPU' cannot be found`.
    ),
    message(
        "is not compatible with the library on the target device",
        Weight::Fatal,
        "this Xcode is older than macOS",
        "update Xcode",
        // Seen with Xcode 26.0 on macOS 26.4.1, exit code 2.
    ),
    message(
        "liboainject",
        Weight::Fatal,
        "xctrace could not load its library into the program",
        "record it with --recorder probe, or start it yourself and record it with --attach",
    ),
    message(
        "shared memory into target",
        Weight::Fatal,
        "xctrace could not reach into the program, which may have ended at once",
        "run the program alone to see whether it starts; then record it with --attach",
    ),
    message(
        "cannot handle a target type of 'All Processes'",
        Weight::Fatal,
        "an instrument of this template needs one process",
        "name a process: `-- CMD` or --attach",
    ),
    message(
        "is not supported on this platform",
        Weight::Fatal,
        "an instrument of this template does not exist on this machine",
        "choose another template",
    ),
    message(
        "The log archive is corrupt or incomplete",
        Weight::Harmless,
        "the system log could not be added; the GPU tables are complete",
        "",
        // Seen with Metal System Trace, whose tables were complete.
    ),
    message(
        "Transferred trace file is malformed",
        Weight::Doubtful,
        "xctrace could not import the recorded data: tables may be empty",
        "record again",
        // Seen; the bundle was saved and its tables were empty.
    ),
    message(
        "Selected counter profile is not supported on target device",
        Weight::Doubtful,
        "this GPU does not have these counters",
        "omit the counters: this chip does not provide them to xctrace",
        // Seen on M3 Ultra, M4 and M5.
    ),
    message(
        "No configuration information received",
        Weight::Doubtful,
        "the process reported no configuration: its rows may be missing",
        "let metalens start it (`metalens record -- CMD`) instead of attaching",
        // Seen when attaching with Metal System Trace; no rows followed.
    ),
    message(
        "already exists",
        Weight::Fatal,
        "the file exists already",
        "choose another name",
    ),
    message(
        "Document Missing Template Error",
        Weight::Fatal,
        "the bundle is incomplete: its recording was cut off or is not saved yet, or it was made \
        by attaching",
        "record again and wait until it is saved; if it was made by attaching, export its tables by \
        name",
        // Seen, with exit code 10.
    ),
    message(
        "No space left on device",
        Weight::Fatal,
        "the disk is full",
        "free disk space: four seconds of Metal System Trace take about 120 MB, a minute of a busy \
        GPU many GB",
        // The text of the system's error.
    ),
    message(
        "requires Xcode, but active developer directory",
        Weight::Fatal,
        "only the Command Line Tools are selected",
        "run sudo xcode-select -s /Applications/Xcode.app/Contents/Developer, or set DEVELOPER_DIR",
        // Seen, with exit code 1.
    ),
    message(
        "unable to find utility \"xctrace\"",
        Weight::Fatal,
        "Xcode is missing, only the Command Line Tools are installed",
        "install Xcode, open it once, then run sudo xcode-select -s \
        /Applications/Xcode.app/Contents/Developer",
        // Seen, with exit code 72.
    ),
];

/// Returns the known message that a text of an error or a warning contains.
pub fn find_message(text: &str) -> Option<&'static KnownMessage> {
    MESSAGES.iter().find(|message| text.contains(message.text))
}

/// All known exit codes of `record`.
pub const RECORD_CODES: &[(i32, Meaning)] = &[
    code(0, "success", ""),
    code(
        2,
        "the recording could not start: tracing the process is not allowed, or another profiler is \
        recording",
        "",
    ),
    code(19, "no process with that name is running", "start it first"),
    code(
        21,
        "no process with that id is running",
        "give the id of a running process",
    ),
    code(
        30,
        "a custom template has the name of an Apple template",
        "give the path of the template instead of its name",
    ),
    code(
        43,
        "the bundle cannot be read or written",
        "check its owner and permissions",
    ),
    // Seen in 185 of 212 recordings of one project, all of them good.
    code(
        54,
        "usual, even for good recordings: the process did not end on its own, or ended with \
         an error",
        "",
    ),
    code(72, "xcrun did not find xctrace", "run `metalens doctor`"),
];

/// All known exit codes of `export`.
pub const EXPORT_CODES: &[(i32, Meaning)] = &[
    code(0, "success", ""),
    // Seen, with `Document Missing Template Error`.
    code(
        10,
        "the bundle is incomplete, or was made by attaching",
        "its tables may still be exported by name",
    ),
    // Seen with large tables, Xcode 27.1.
    code(
        133,
        "xctrace crashed while it wrote a table",
        "the rows written until then are complete; metalens can read the bundle itself",
    ),
    crash(134),
    crash(138),
    crash(139),
];

/// Returns a code with its meaning.
const fn code(code: i32, what: &'static str, remedy: &'static str) -> (i32, Meaning) {
    (code, Meaning { what, remedy })
}

/// Returns the code of a crash by SIGABRT, SIGBUS or SIGSEGV. Crashes are seen now and then with Xcode
/// 26.5; the next call succeeded.
const fn crash(number: i32) -> (i32, Meaning) {
    code(
        number,
        "xctrace crashed",
        "try again; metalens can read the bundle itself",
    )
}

/// Returns the meaning of an exit code, if it is known.
pub fn find_code(table: &'static [(i32, Meaning)], code: i32) -> Option<&'static Meaning> {
    table
        .iter()
        .find(|(known, _)| *known == code)
        .map(|(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_recognized_by_a_part() {
        let check = |text: &str, expected: Option<Weight>| {
            let weight = find_message(text).map(|message| message.weight);
            assert_eq!(weight, expected, "{text}");
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
        for (index, message) in MESSAGES.iter().enumerate() {
            let found = MESSAGES
                .iter()
                .position(|other| message.text.contains(other.text));
            assert_eq!(found, Some(index), "{}", message.text);
        }
    }
}
