//! Replays what others saw `xctrace record` print. The lines are facts from public logs, written anew:
//! where their streams are not known, each part of a log is tried on both.

use std::path::Path;
use std::time::Duration;

use metalens_testing::Random;

use super::{Bench, each, recording};
use crate::stderr;

/// A part of a log, which comes on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The lines from the start to the one that it records.
    Start,
    /// The list of issues.
    Issues,
    /// The lines from the reason of the end to the name of the bundle.
    End,
    /// Written by the recorded program, always on standard error.
    Program,
}

use Part::{End, Issues, Program, Start};

/// The bundle that `xctrace` leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Good,
    Stub,
}

/// A log, and how the recording should end.
struct Log {
    /// Where it was seen, and what it is about.
    about: &'static str,
    lines: &'static [(Part, &'static str)],
    left: Left,
    code: i32,
    /// True if `xctrace` waits for ever in place of ending.
    waits: bool,
    /// Exit code of `metalens`.
    expected: i32,
    says: &'static [&'static str],
    says_not: &'static [&'static str],
}

const STARTING: (Part, &str) = (
    Start,
    "Starting recording with the Metal System Trace template and Points of Interest Instrument. Launching process: bench.",
);
const CTRL_C: (Part, &str) = (Start, "Ctrl-C to stop the recording");
const EXITED: (Part, &str) = (End, "Target app exited, ending recording...");
const COMPLETED: (Part, &str) = (End, "Recording completed. Saving output file...");
const FAILED: (Part, &str) = (End, "Recording failed with errors. Saving output file...");
const SAVED: (Part, &str) = (End, "Output file saved as: <name>");
const HEADING: (Part, &str) = (
    Issues,
    "Run issues were detected (trace is still ready to be viewed):",
);

const GOOD: Log = Log {
    about: "",
    lines: &[],
    left: Left::Good,
    code: 0,
    waits: false,
    expected: 0,
    says: &["recorded: "],
    says_not: &["without giving a reason", "could not start"],
};

const REFUSED: Log = Log {
    left: Left::Stub,
    code: 2,
    expected: 1,
    says: &["xctrace did not record"],
    says_not: &["run `metalens doctor`", "record again"],
    ..GOOD
};

const LOGS: &[Log] = &[
    Log {
        about: "plain, and the program prints what xctrace could",
        lines: &[
            STARTING,
            CTRL_C,
            (Program, "[Error] loss is NaN"),
            EXITED,
            COMPLETED,
            SAVED,
        ],
        says: &["recorded: the program ended", "[Error] loss is NaN"],
        says_not: &["xctrace: loss"],
        ..GOOD
    },
    Log {
        about: "a time limit, exit code 54",
        lines: &[
            (
                Start,
                "Starting recording with the Metal System Trace template. Launching process: bench. Time limit: 6.0 s",
            ),
            CTRL_C,
            (End, "Reached specified time limit, ending recording..."),
            COMPLETED,
            SAVED,
        ],
        code: 54,
        says: &["recorded: the time limit was reached"],
        ..GOOD
    },
    Log {
        about: "the whole path, and a dot after it",
        lines: &[
            STARTING,
            CTRL_C,
            EXITED,
            COMPLETED,
            (End, "Output file saved as: <path>."),
        ],
        ..GOOD
    },
    Log {
        about: "no line that it records, over ssh",
        lines: &[
            STARTING,
            (End, "Reached specified time limit, ending recording..."),
            SAVED,
        ],
        ..GOOD
    },
    Log {
        about: "no line that it saved",
        lines: &[STARTING, CTRL_C, EXITED],
        ..GOOD
    },
    Log {
        about: "noise of simulators first",
        lines: &[
            (
                Program,
                "[-[SimServiceContext sendRequest:]:1764] ERROR : Unable to deliver request ({",
            ),
            (Program, "    request = \"device_set\";"),
            (Program, "})"),
            (Program, "[-[SimDiskImageManager init]:146] ERROR"),
            STARTING,
            CTRL_C,
            EXITED,
            COMPLETED,
            SAVED,
        ],
        ..GOOD
    },
    Log {
        about: "a harmless issue before any reason of the end",
        lines: &[
            STARTING,
            CTRL_C,
            HEADING,
            (
                Issues,
                "* [Error] Data stream: Fatal logging system error: The log archive is corrupt or incomplete and cannot be read",
            ),
            (Issues, ""),
            FAILED,
            SAVED,
        ],
        code: 54,
        says_not: &["without giving a reason", "could not be added"],
        ..GOOD
    },
    Log {
        about: "exit code 2 of a good bundle",
        lines: &[
            (
                Start,
                "Starting recording with the Metal System Trace template. Attaching to: bench (77280). Time limit: 4000.0 ms",
            ),
            CTRL_C,
            (End, "Reached specified time limit, ending recording..."),
            FAILED,
            (End, "Output file saved as: <path>"),
        ],
        code: 2,
        says: &[
            "recorded: the time limit was reached",
            "xctrace ended with exit code 2\n",
        ],
        ..GOOD
    },
    Log {
        about: "not attached",
        lines: &[
            STARTING,
            HEADING,
            (
                Issues,
                "* [Error] Failed to attach to target: Failed to attach to target process.",
            ),
            (Issues, ""),
            (Issues, "* [Error] Failed to attach to target process"),
            (Issues, ""),
            (Issues, "\t* [Error] Failed to attach to target process."),
            (Issues, ""),
            FAILED,
        ],
        says: &["hint: sign it with"],
        ..REFUSED
    },
    Log {
        about: "not debuggable, after it said that it records",
        lines: &[
            STARTING,
            CTRL_C,
            HEADING,
            (Issues, "* [Error] Permission to debug bench was denied."),
            (Issues, ""),
            (
                Issues,
                "    * [Error] Recovery Suggestion: The app must be debuggable and signed with 'get-task-allow'.",
            ),
            (Issues, ""),
            FAILED,
            SAVED,
        ],
        expected: 4,
        says: &["hint: sign it for tracing"],
        ..REFUSED
    },
    Log {
        about: "a password is asked",
        lines: &[
            STARTING,
            (
                Start,
                "xctrace: Instruments wants permission to analyze other processes. Please enter an administrator username and password to allow this.",
            ),
            (Start, "Username (somebody):"),
        ],
        waits: true,
        says: &[
            "asks for an administrator's password",
            "DevToolsSecurity -enable",
        ],
        says_not: &["DTServiceHub"],
        ..REFUSED
    },
    Log {
        about: "a password is asked, and the question before it is lost",
        lines: &[STARTING, (Start, "Username (somebody):")],
        waits: true,
        says: &["DevToolsSecurity -enable"],
        ..REFUSED
    },
    Log {
        about: "an old version, after a password was not given",
        lines: &[
            STARTING,
            HEADING,
            (Issues, "* Failed to gain authorization"),
            FAILED,
        ],
        says: &["DevToolsSecurity -enable"],
        ..REFUSED
    },
    Log {
        about: "an Xcode that is older than macOS",
        lines: &[
            STARTING,
            HEADING,
            (
                Issues,
                "* [Error] Processor Trace library version in Instruments is not compatible with the library on the target device. Trace producer has format 7.3, but consumer has format 7.1.",
            ),
            (
                Issues,
                "Suggestion: Upgrade the developer tools on this device.",
            ),
            FAILED,
        ],
        says: &["hint: update Xcode"],
        ..REFUSED
    },
    Log {
        about: "no process of that id",
        lines: &[(Issues, "Cannot find process for provided pid: 999999")],
        code: 21,
        says: &["hint: the process may have ended"],
        ..REFUSED
    },
];

/// Writes a script that prints a log on the streams of its parts, with pauses in random places, and
/// leaves a bundle before it says so.
fn script(log: &Log, streams: [u8; 3], end: &str, random: &mut Random) -> String {
    let mut script = String::from(
        "case $1 in version) echo 'xctrace version 26.0 (17C529)'; exit;; esac\n\
         for word; do [ \"$last\" = --output ] && out=$word; last=$word; done\n",
    );
    let leave = match log.left {
        Left::Good => "cp -R \"$top/good.trace\" \"$out\"\n",
        Left::Stub => "mkdir \"$out\"\n",
    };
    let is_last = |at: usize| at + 1 == log.lines.len();
    for (index, (part, text)) in log.lines.iter().enumerate() {
        if is_last(index) {
            script.push_str(leave);
        }
        let stream = match part {
            Start => streams[0],
            Issues => streams[1],
            End => streams[2],
            Program => 2,
        };
        if *part == Program {
            // A program needs time to start.
            script.push_str("sleep 0.3\n");
        }
        // The program ends its own lines.
        let end = if *part == Program { "\\n" } else { end };
        let text = text.replace('\'', "'\\''");
        let text = text.replace("<name>", "'\"${out##*/}\"'");
        let text = text.replace("<path>", "'\"$out\"'");
        script.push_str(&format!("printf '%s{end}' '{text}' >&{stream}\n"));
        if random.uniform() < 0.25 {
            script.push_str("sleep 0.3\n");
        }
    }
    if log.waits {
        script.push_str("exec sleep 600\n");
    }
    script.push_str(&format!("exit {}\n", log.code));
    script
}

#[test]
fn what_xctrace_was_seen_to_print_ends_as_it_should() {
    let first = Bench::new();
    first.fine(&[], &recording(&[], "exit 0"));
    let good = first.here().join("x.trace");
    let all: Vec<(usize, u8, bool)> = (0..LOGS.len())
        .flat_map(|log| (0..8).map(move |streams| (log, streams)))
        // Xcode 26 ends its lines as all do; one log has carriage returns.
        .map(|(log, streams)| (log, streams, (log + usize::from(streams)) % 4 == 3))
        .collect();
    each(&all, |&(log, streams, returns)| {
        replay(&good, &LOGS[log], streams, returns);
    });
}

/// Replays a log, with a bit of `streams` for each part.
fn replay(good: &Path, log: &Log, streams: u8, returns: bool) {
    let bench = Bench::new();
    let copied = std::process::Command::new("cp")
        .arg("-R")
        .args([good, &bench.path("good.trace")])
        .status();
    assert!(copied.unwrap().success());
    let mut random = Random::new(u64::from(streams) + log.about.len() as u64);
    let parts = [0, 1, 2].map(|bit| 1 + (streams >> bit & 1));
    let end = if returns { "\\r" } else { "\\n" };
    bench.behave(&script(log, parts, end, &mut random));

    let start = std::time::Instant::now();
    let output = bench.run(&[], &recording(&[], "exit 0"));
    let said = stderr(&output);
    let about = format!("{}, streams {parts:?}, {end}: {said}", log.about);
    assert_eq!(output.status.code(), Some(log.expected), "{about}");
    for text in log.says {
        assert!(said.contains(text), "no `{text}`: {about}");
    }
    for text in log.says_not {
        assert!(!said.contains(text), "`{text}`: {about}");
    }
    // A question is not waited for.
    assert!(start.elapsed() < Duration::from_secs(60), "{about}");
}

/// In a terminal, a question would stop `xctrace`, which is in a background group (SIGTTIN), for ever.
#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_question_in_a_terminal_is_not_waited_for() {
    let bench = Bench::new();
    bench.behave(
        "case $1 in version) echo 'xctrace version 26.0 (17C529)'; exit;; esac\n\
         echo 'Starting recording with the Metal System Trace template. Launching process: bench.'\n\
         echo 'xctrace: Instruments wants permission to analyze other processes. Please enter an \
         administrator username and password to allow this.'\n\
         printf 'Username (somebody): '; read name < /dev/tty; touch \"$top/answered\"",
    );
    let inner = bench.command(&[], &recording(&[], "true"));
    let words = std::iter::once(inner.get_program()).chain(inner.get_args());
    let words: Vec<&str> = words.map(|word| word.to_str().unwrap()).collect();
    let mut terminal = std::process::Command::new("/usr/bin/script");
    terminal
        .args(["-qefc", &words.join(" "), "/dev/null"])
        .current_dir(bench.here())
        .env_clear()
        .envs(
            inner
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(std::process::Stdio::null());
    let Ok(output) = terminal.output() else {
        eprintln!("skipped: there is no `script` to make a terminal with");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("asks for an administrator's password"),
        "{said}"
    );
    assert!(!bench.path("answered").exists());
}
