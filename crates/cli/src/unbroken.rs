//! Numbers that stay beside their units: `0.44 %` must not end a line with `0.44`.
//!
//! The space between them is one that no line breaks at. A terminal, whose lines are broken
//! before they are written, gets a plain one again. So do Markdown and JSON, which are
//! searched: they are made of what is plain.

use metalens_analyzer::units;
use metalens_analyzer::{MessageMut, Report};
use metalens_batch::Index;
use metalens_comparison::Comparison;

/// A space that no line breaks at; every font has it.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// Returns a number beside its unit.
pub(crate) fn number(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Returns a report in whose sentences numbers stay beside their units.
pub(crate) fn report(report: &Report) -> Report {
    let mut report = report.clone();
    report.messages_mut().for_each(message);
    report
}

/// Returns a comparison in whose sentences numbers stay beside their units.
pub(crate) fn comparison(comparison: &Comparison) -> Comparison {
    let mut comparison = comparison.clone();
    comparison.messages_mut().for_each(message);
    comparison
}

/// Returns an index in whose sentences numbers stay beside their units.
pub(crate) fn index(index: &Index) -> Index {
    let mut index = index.clone();
    index.messages_mut().for_each(message);
    index
}

/// Keeps the numbers of a sentence beside their units. One that somebody edited stays as it is.
pub(crate) fn message(mut message: MessageMut<'_>) {
    message.rewrite(|value| value.value.is_measure().then(|| number(&value.text)));
}

/// `179.1 µs`, on one line.
pub(crate) fn time(ns: u64) -> String {
    number(&units::time(ns))
}

/// `179 µs`, on one line.
pub(crate) fn short_time(ns: u64) -> String {
    number(&units::short_time(ns))
}

/// `3.3 %`, on one line.
pub(crate) fn percent(share: f64) -> String {
    number(&units::percent(share))
}

/// `192.0 MiB`, on one line.
pub(crate) fn bytes(bytes: u64) -> String {
    number(&units::bytes(bytes))
}

#[cfg(test)]
mod tests {
    use metalens_analyzer::message::{counted, kernel, percent, time};
    use metalens_analyzer::{Message, message};

    use super::*;

    /// `~` stands for the space that holds.
    #[test]
    fn numbers_stay_beside_their_units() {
        let check = |mut said: Message, expected: &str| {
            let plain = said.text.clone();
            message(said.lend());
            assert_eq!(said.text.replace(NO_BREAK, "~"), expected);
            assert_eq!(said.text.replace(NO_BREAK, " "), plain);
        };
        let share = percent(0.04);
        check(
            message!("busy {} of the time", share),
            "busy 4.0~% of the time",
        );
        let (part, whole) = (time(335_800), time(8_387_000));
        check(message!("{} of {}.", part, whole), "335.8~µs of 8.387~ms.");
        check(
            message!("{}, 48 hours", counted(47, "gap")),
            "47 gaps, 48 hours",
        );
        let named = message!("{}, {}: {}", kernel("3 ms"), kernel("12 s"), time(5));
        check(named, "3 ms, 12 s: 5~ns");
    }
}
