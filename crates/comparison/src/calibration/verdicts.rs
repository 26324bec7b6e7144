//! What a calibration comes to, in sentences.

use metalens_analyzer::TimingVerdict;
use metalens_analyzer::units::{count, counted, percent};

use super::counts::{CountVerdict, Counts};
use super::figures::{Agreement, Calibration, Cost};
use crate::statistics::paired::{Differences, Direction};

/// One each: what was found, whether the clocks agree, what recording costs.
pub(crate) fn verdicts(calibration: &Calibration) -> Vec<String> {
    let pairs = calibration.pairs.len() as u64;
    vec![
        counts(&calibration.counts, pairs),
        agreement(&calibration.agreement),
        cost("wall time", &calibration.wall),
        cost("GPU time", &calibration.gpu),
    ]
}

fn counts(counts: &Counts, pairs: u64) -> String {
    let issued = format!(
        "{} with {} in {}",
        counted(counts.encoders.issued, "encoder"),
        counted(counts.dispatches.issued, "dispatch").replace("dispatchs", "dispatches"),
        counted(counts.command_buffers.issued, "command buffer"),
    );
    let each = match pairs {
        1 => "the recording".to_owned(),
        many => format!("each of {many} recordings"),
    };
    match counts.verdict {
        CountVerdict::Equal => {
            format!("Counts: all that was issued was found in {each}, and nothing else: {issued}.")
        }
        CountVerdict::Coalesced => {
            let names: Vec<String> = counts
                .others
                .iter()
                .map(|one| format!("`{}`", one.name))
                .collect();
            format!(
                "Counts: all that was issued was found in {each}, {issued}; the driver made one \
                 interval of several encoders and called those {}.",
                names.join(", ")
            )
        }
        CountVerdict::Different => format!(
            "Counts: what was found is not what was issued, {issued}: {}.",
            different(counts)
        ),
    }
}

/// What differs, in all and by label.
fn different(counts: &Counts) -> String {
    let all = [
        ("command buffers", &counts.command_buffers),
        ("encoders", &counts.encoders),
    ];
    let all = all.map(|(what, count)| (what.to_owned(), count));
    let labels = counts
        .labels
        .iter()
        .map(|label| (format!("encoders of `{}`", label.label), &label.encoders));
    let differing = all.into_iter().chain(labels).filter(|(_, one)| {
        let mut found = one.found.iter();
        found.any(|&found| found != one.issued)
    });
    let differing = differing.map(|(what, one)| format!("{} {what}", range(&one.found)));
    let others = counts.others.iter().map(|one| {
        let many = range(&one.intervals);
        format!("{many} intervals called `{}`", one.name)
    });
    differing.chain(others).collect::<Vec<_>>().join(", ")
}

/// Returns the range of counts: `7`, or `7 to 9`.
#[must_use]
pub fn range(found: &[u64]) -> String {
    match (found.iter().min(), found.iter().max()) {
        (Some(&min), Some(&max)) if min < max => format!("{} to {}", count(min), count(max)),
        (Some(&min), _) => count(min),
        _ => "none".to_owned(),
    }
}

fn agreement(agreement: &Agreement) -> String {
    let middle = Differences::of(agreement.bias.iter().copied());
    let bias = middle.map_or(String::new(), |one| {
        format!(
            ": in the recordings the median command buffer's differs by {} ({} to {})",
            signed(one.median),
            signed(one.min),
            signed(one.max)
        )
    });
    let why = agreement
        .why
        .as_deref()
        .unwrap_or("nothing could be compared");
    match agreement.verdict {
        Some(TimingVerdict::Fine) => {
            format!(
                "Times: the program and the recordings saw the same GPU time, within 5 %{bias}."
            )
        }
        Some(TimingVerdict::Noted) => {
            format!("Times: the program and the recordings saw GPU times up to 10 % apart{bias}.")
        }
        Some(TimingVerdict::ClockFault) => {
            format!("Times: the program and a recording saw GPU times more than 10 % apart{bias}.")
        }
        Some(TimingVerdict::NotComparable) | None => {
            format!("Times: whether the program and the recordings agree is not measurable: {why}.")
        }
    }
}

fn cost(what: &str, cost: &Cost) -> String {
    let Some(relative) = &cost.relative else {
        let why = cost.why.as_deref().unwrap_or("a run took no time at all");
        return format!("Overhead in {what}: not measurable: {why}.");
    };
    let pairs = counted(relative.pairs, "pair");
    let range = format!("{} to {}", signed(relative.min), signed(relative.max));
    let median = signed(relative.median);
    let sure = sure(relative);
    match relative.verdict {
        Direction::More | Direction::Less => {
            format!("Overhead in {what}: {median}, the median of {pairs} ({range}{sure}).")
        }
        Direction::Unstable => format!(
            "Overhead in {what}: unstable: {pairs} differ from each other by more than their median, \
             {median} ({range}{sure}). More pairs, or longer runs (--count), tell more."
        ),
        Direction::TooFew => format!(
            "Overhead in {what}: {median}, the median of {pairs} ({range}{sure}): too few to be sure \
             of, five are the least."
        ),
    }
}

/// How surely the true median lies where; the whole range needs no second name.
fn sure(relative: &Differences) -> String {
    let Some(one) = relative.interval else {
        return String::new();
    };
    let confidence = exact_percent(one.confidence);
    match (one.low, one.high) == (relative.min, relative.max) {
        true => format!(", which holds the true median with {confidence} confidence"),
        false => format!(
            "; the true median is {} to {} with {confidence} confidence",
            signed(one.low),
            signed(one.high)
        ),
    }
}

/// Returns a share with its sign: `+1.2 %`; what is nothing has none.
#[must_use]
pub fn signed(ratio: f64) -> String {
    match ratio {
        _ if ratio > 0.0 => format!("+{}", percent(ratio)),
        _ if ratio < 0.0 => format!("−{}", percent(-ratio)),
        _ => percent(0.0),
    }
}

/// `93.75 %`: of few pairs the confidence is a short number.
fn exact_percent(ratio: f64) -> String {
    let text = format!("{:.2}", ratio * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// What a reader should know.
pub(crate) fn notes(calibration: &Calibration) -> Vec<String> {
    let mut notes = Vec::new();
    if calibration.simulated {
        notes.push(
            "SIMULATED: no GPU ran, and a simulator took xctrace's place. It was told the plan of the \
             workload: the counts show that recording, reading and counting lose nothing, not what \
             Apple's xctrace does"
                .to_owned(),
        );
    }
    notes.push(
        "a recording has encoders, not dispatches: those found are what the program says that its \
         encoders hold"
            .to_owned(),
    );
    notes.extend(held(calibration));
    if calibration.pairs.len() % 2 == 1 && calibration.pairs.len() > 1 && !calibration.simulated {
        notes.push(
            "with an odd number of pairs the run without the recorder came first once more often than \
             the other"
                .to_owned(),
        );
    }
    notes
}

/// A clock that only recordings are held at is a difference that is not the recorder's work.
fn held(calibration: &Calibration) -> Option<String> {
    let clocks = calibration.pairs.iter().flat_map(|pair| &pair.clocks);
    let mut induced: Vec<&str> = clocks
        .filter(|clock| clock.induced && clock.busy_share.is_some_and(|share| share > 0.0))
        .map(|clock| clock.state.as_str())
        .collect();
    induced.sort_unstable();
    induced.dedup();
    (!induced.is_empty() && !calibration.simulated).then(|| {
        format!(
            "while it was recorded the GPU was held at {}, as it is not without the recorder: part of \
             what recording costs is the clock's doing. --gpu-clock default leaves the clock to the \
             GPU, then, too",
            induced.join(" and ")
        )
    })
}
