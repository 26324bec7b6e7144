//! Leaves names of other processes out of messages for people. Reports and pictures hide names by
//! their types, before they get here; messages of the command line show them.

/// Words that names of processes follow in a message, to the end of the line or to a semicolon.
const BEFORE_NAMES: [&str; 3] = [
    "processes that used the GPU: ",
    "GPU time within half a second: ",
    "another recorder runs: ",
];

const LEFT_OUT: &str = "(names left out)";

/// Returns a message of several lines without names of other processes.
pub(crate) fn without_names(message: &str) -> String {
    let lines = message.split('\n').map(line);
    lines.collect::<Vec<String>>().join("\n")
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
    use super::{BEFORE_NAMES, without_names};

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
        for words in BEFORE_NAMES {
            let is_said = sources.iter().any(|source| source.contains(words));
            assert!(is_said, "{words}");
        }
    }
}
