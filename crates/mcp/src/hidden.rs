//! Leaves names of other processes out of messages for people. Reports and pictures hide names by
//! their types, before they get here; messages of the command line show them.

/// Words that names of processes follow in a message, to the end of the line or to a semicolon.
const BEFORE_NAMES: [&str; 4] = [
    "processes that used the GPU: ",
    "sampled processes: ",
    "GPU time within half a second: ",
    "another recorder runs: ",
];

const LEFT_OUT: &str = "(names left out)";

/// Words before and after the process that was probably meant, in the hint below such a list.
const MEANT: &str = "did you mean `";
const AFTER_MEANT: [&str; 2] = [
    "if another process did the work",
    "perhaps its threads only",
];

/// Returns a message of several lines without names of other processes.
pub(crate) fn without_names(message: &str) -> String {
    let lines = message
        .split('\n')
        .map(line)
        .map(|line| without_meant(&line));
    lines.collect::<Vec<String>>().join("\n")
}

/// Returns a hint without the process that was probably meant. Other hints name tables or phases.
fn without_meant(line: &str) -> String {
    let rest = AFTER_MEANT.iter().find_map(|words| line.rfind(words));
    match (line.find(MEANT), rest) {
        (Some(from), Some(to)) if from < to => {
            let before = line.get(..from).unwrap_or_default();
            let after = line.get(to..).unwrap_or_default();
            format!("{before}{after}")
        }
        _ => line.to_owned(),
    }
}

/// Returns a line without names of other processes.
fn line(line: &str) -> String {
    let found = BEFORE_NAMES.iter().find_map(|words| {
        let at = line.find(words)?;
        Some(at + words.len())
    });
    let Some(at) = found else {
        return line.to_owned();
    };
    let (before, names) = line.split_at(at);
    // A name may have a semicolon: only what is known to follow names is kept.
    let after = "; only one at a time can sample the kernel (kperf)";
    let after = if names.ends_with(after) { after } else { "" };
    format!("{before}{LEFT_OUT}{after}")
}

#[cfg(test)]
mod tests {
    use super::{AFTER_MEANT, BEFORE_NAMES, without_names};

    #[test]
    fn names_are_left_out() {
        let check = |message: &str, expected: &str| assert_eq!(without_names(message), expected);
        check("recording sleep", "recording sleep");
        check(
            "error: x has no GPU interval in this recording; processes that used the GPU: A; B \
             (7), C\n\
             hint: name it",
            "error: x has no GPU interval in this recording; processes that used the GPU: (names \
             left \
             out)\nhint: name it",
        );
        check(
            "warning: other processes use the GPU; GPU time within half a second: a (1) 20.0 ms",
            "warning: other processes use the GPU; GPU time within half a second: (names left out)",
        );
        check(
            "error: x has no CPU samples in this trace; sampled processes: A (pid 7), B\n\
             hint: did you mean `A`? perhaps its threads only waited; choose another process",
            "error: x has no CPU samples in this trace; sampled processes: (names left out)\n\
             hint: perhaps its threads only waited; choose another process",
        );
        check(
            "hint: did you mean `A? b`? if another process did the work (a child process), name it",
            "hint: if another process did the work (a child process), name it",
        );
        check(
            "hint: did you mean `decode`? choose one of these with --phase",
            "hint: did you mean `decode`? choose one of these with --phase",
        );
        check(
            "another recorder runs: x (1), y; only one at a time can sample the kernel (kperf)",
            "another recorder runs: (names left out); only one at a time can sample the kernel (kperf)",
        );
    }

    /// The words are those that metalens prints.
    #[test]
    fn the_words_are_current() {
        let sources = [
            include_str!("../../analyzer/src/error.rs"),
            include_str!("../../doctor/src/checks/condition.rs"),
        ];
        for words in BEFORE_NAMES.iter().chain(&AFTER_MEANT) {
            let is_said = sources.iter().any(|source| source.contains(words));
            assert!(is_said, "{words}");
        }
    }
}
