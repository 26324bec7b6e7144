//! A calibration on the terminal: the verdicts, then what they rest on.

use std::iter::zip;

use metalens_analyzer::units::{count, time};
use metalens_analyzer::{Message, Note};
use metalens_comparison::calibration::{Calibration, Cost, Count, TimeSpread, range, signed};
use metalens_comparison::paired::Differences;
use metalens_text::shown;

use crate::screen::columns::{Align, Columns, wrap};
use crate::screen::style::{FAINT, LOUD, TITLE, VERDICT};
use crate::unbroken;

/// Lines are no longer than this.
const WIDTH: usize = 100;

pub(super) fn screen(calibration: &Calibration) -> String {
    let mut text = String::new();
    let mut notes: Vec<Note> =
        Note::joined(&calibration.notes, &calibration.note_details).collect();
    for note in &mut notes {
        unbroken::message(note.lend());
    }
    let (loud, quiet): (Vec<Note>, Vec<Note>) = notes.into_iter().partition(Note::is_loud);
    for note in loud {
        paragraph(&mut text, &format!("{LOUD}!{LOUD:#} "), &note.text);
    }
    let workload = &calibration.workload;
    let gpu = workload.gpu.as_deref().unwrap_or("no GPU");
    text.push_str(&format!(
        "{VERDICT}{}{VERDICT:#}{FAINT}: {} steps of {} elements, {} before those; {} pairs of runs; {}{FAINT:#}\n\n",
        shown(&workload.name),
        count(workload.count),
        count(workload.size),
        count(workload.warm_up),
        calibration.pairs.len(),
        shown(gpu),
    ));
    for (verdict, values) in zip(&calibration.verdicts, &calibration.verdict_values) {
        let mut verdict = Message::new(verdict, values);
        unbroken::message(verdict.lend());
        paragraph(&mut text, "  ", &verdict.text);
    }
    issued_and_found(&mut text, calibration);
    costs(&mut text, calibration);
    text.push('\n');
    for note in quiet {
        paragraph(&mut text, &format!("{FAINT}·{FAINT:#} "), &note.text);
    }
    text
}

fn paragraph(text: &mut String, mark: &str, words: &str) {
    for (at, line) in wrap(&shown(words), WIDTH - 2).iter().enumerate() {
        let before = if at == 0 { mark } else { "  " };
        let line = line.replace(unbroken::NO_BREAK, " ");
        text.push_str(&format!("{before}{line}\n"));
    }
}

fn issued_and_found(text: &mut String, calibration: &Calibration) {
    let counts = &calibration.counts;
    text.push_str(&format!("\n{TITLE}Issued and found{TITLE:#}\n"));
    let (left, right) = (Align::Left, Align::Right);
    let mut columns = Columns::new(&[
        ("", left),
        ("issued", right),
        ("found", right),
        ("intervals", right),
        ("dispatches", right),
        ("found", right),
    ]);
    for label in &counts.labels {
        columns.row([
            shown(&label.label).into_owned(),
            count(label.encoders.issued),
            range(&label.encoders.found).text,
            range(&label.intervals).text,
            count(label.dispatches.issued),
            range(&label.dispatches.found).text,
        ]);
    }
    for other in &counts.others {
        let none = String::new;
        let name = format!("{} (not issued)", shown(&other.name));
        columns.row([
            name,
            none(),
            none(),
            range(&other.intervals).text,
            none(),
            none(),
        ]);
    }
    let all = |name: &str, one: &Count, dispatches: Option<&Count>| {
        [
            name.to_owned(),
            count(one.issued),
            range(&one.found).text,
            String::new(),
            dispatches.map_or(String::new(), |one| count(one.issued)),
            dispatches.map_or(String::new(), |one| range(&one.found).text),
        ]
    };
    columns.row(all(
        "encoders in all",
        &counts.encoders,
        Some(&counts.dispatches),
    ));
    columns.row(all("command buffers", &counts.command_buffers, None));
    for line in columns.lines() {
        text.push_str(&format!("{line}\n"));
    }
}

fn costs(text: &mut String, calibration: &Calibration) {
    let costs = [
        ("wall time", &calibration.wall),
        ("GPU time", &calibration.gpu),
    ];
    if costs.iter().all(|(_, cost)| cost.relative.is_none()) {
        return;
    }
    text.push_str(&format!(
        "\n{TITLE}With and without the recorder{TITLE:#}\n"
    ));
    let (left, right) = (Align::Left, Align::Right);
    let mut columns = Columns::new(&[
        ("", left),
        ("without", right),
        ("with", right),
        ("difference", right),
        ("from", right),
        ("to", right),
    ]);
    for (what, cost) in costs {
        columns.row(row(what, cost));
    }
    for line in columns.lines() {
        text.push_str(&format!("{line}\n"));
    }
}

fn row(what: &str, cost: &Cost) -> [String; 6] {
    let none = || "-".to_owned();
    let median =
        |spread: &Option<TimeSpread>| spread.as_ref().map_or_else(none, |one| time(one.median_ns));
    let relative = |of: fn(&Differences) -> f64| {
        let relative = cost.relative.as_ref();
        relative.map_or_else(none, |one| signed(of(one)).text)
    };
    [
        what.to_owned(),
        median(&cost.without),
        median(&cost.with),
        relative(|one| one.median),
        relative(|one| one.min),
        relative(|one| one.max),
    ]
}

#[cfg(test)]
mod tests {
    use metalens_comparison::calibration::{
        IssuedLabel, IssuedTotals, MeasuredRun, NameCounts, PairRuns, Program, ProgramRun,
        RecordedWork,
    };

    use super::*;

    /// Two labels: 6 encoders of 1 dispatch, 3 encoders of 8.
    fn run(wall_ns: Option<u64>, gpu_ns: Option<u64>) -> ProgramRun {
        let label = |label: &str, encoders, dispatches| IssuedLabel {
            label: label.to_owned(),
            encoders,
            dispatches,
        };
        ProgramRun {
            gpu_ns,
            program: Program {
                workload: "mixed".to_owned(),
                size: 64,
                count: 2,
                warm_up: 1,
                issued: IssuedTotals {
                    command_buffers: 3,
                    encoders: 9,
                    dispatches: 30,
                },
                labels: vec![label("sin", 6, 6), label("scale", 3, 24)],
                command_buffer_labels: ["mixed warm-up", "mixed step"].map(str::to_owned),
                run: wall_ns.map(|measured_ns| MeasuredRun {
                    device: "Apple M1".to_owned(),
                    measured_ns,
                }),
            },
        }
    }

    /// A recording with these names: intervals and encoders.
    fn recorded(found: &[(&str, u64, u64)]) -> RecordedWork {
        let one = |&(name, intervals, encoders): &(&str, u64, u64)| {
            (
                name.to_owned(),
                NameCounts {
                    intervals,
                    encoders,
                },
            )
        };
        RecordedWork {
            found: found.iter().map(one).collect(),
            command_buffers: 3,
            ..RecordedWork::default()
        }
    }

    const ALL: &[(&str, u64, u64)] = &[("sin", 6, 6), ("scale", 3, 3)];

    fn pair(times: Option<[u64; 4]>, recorded: RecordedWork) -> PairRuns {
        let at = |at: usize| times.map(|times| times[at]);
        PairRuns {
            is_with_first: false,
            without: run(at(0), at(1)),
            with: run(at(2), at(3)),
            recorded,
        }
    }

    /// Wall and GPU time without, then with.
    fn measured(times: &[[u64; 4]]) -> Calibration {
        let pairs = times.iter().map(|&times| pair(Some(times), recorded(ALL)));
        Calibration::from_pairs(pairs.collect(), false, true)
    }

    #[test]
    fn screens() {
        let calibration = measured(&[
            [1_000_000, 500_000, 1_020_000, 505_000],
            [1_000_000, 500_000, 1_021_000, 495_000],
            [1_000_000, 500_000, 1_022_000, 510_000],
            [1_000_000, 500_000, 1_023_000, 490_000],
            [1_000_000, 500_000, 1_024_000, 500_000],
        ]);
        let plain = |calibration: &Calibration| {
            let text = screen(calibration);
            anstream::adapter::strip_str(&text).to_string()
        };
        insta::assert_snapshot!("calibration", plain(&calibration));
        let mut lost = recorded(&[("sin & sin", 2, 2), ("scale", 3, 3)]);
        lost.coalesced = (2, 6);
        let pairs = vec![pair(None, recorded(ALL)), pair(None, lost)];
        let simulated = Calibration::from_pairs(pairs, true, false);
        insta::assert_snapshot!("calibration-simulated", plain(&simulated));
    }
}
