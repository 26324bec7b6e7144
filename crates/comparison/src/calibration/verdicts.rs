//! Writes the results of a calibration in sentences.

use metalens_analyzer::message::{
    Value, count, counted, kernel, name, number, shown_share, ungrouped,
};
use metalens_analyzer::units;
use metalens_analyzer::{Message, Note, TimingVerdict, message};

use super::counts::{CountVerdict, WorkCounts};
use super::figures::{Calibration, ClockAgreement, Cost};
use crate::statistics::paired::{Differences, PairedVerdict};

/// Returns one sentence each about the counts, the agreement of the clocks, and the overhead in
/// wall and GPU time.
pub(crate) fn verdicts(calibration: &Calibration) -> Vec<Message> {
    let pairs = calibration.pairs.len() as u64;
    vec![
        counts(&calibration.counts, pairs),
        agreement(&calibration.agreement),
        cost("wall time", &calibration.wall),
        cost("GPU time", &calibration.gpu),
    ]
}

fn counts(counts: &WorkCounts, pairs: u64) -> Message {
    let dispatches = counts.dispatches.issued;
    let noun = if dispatches == 1 {
        "dispatch"
    } else {
        "dispatches"
    };
    let dispatches = message!("{} {}", count(dispatches), noun);
    let issued = message!(
        "{} with {} in {}",
        counted(counts.encoders.issued, "encoder"),
        dispatches,
        counted(counts.command_buffers.issued, "command buffer"),
    );

    let each = match pairs {
        1 => "the recording".into(),
        many => message!("each of {} recordings", ungrouped(many)),
    };
    match counts.verdict {
        CountVerdict::Equal => {
            message!(
                "Counts: {} contains exactly what was issued: {}.",
                each,
                issued
            )
        }
        CountVerdict::Coalesced => {
            let names = counts.others.iter();
            let names = names.map(|other| message!("`{}`", kernel(&other.name)));
            message!(
                "Counts: {} contains everything that was issued, {}; the driver merged encoders \
                 into intervals called {}.",
                each,
                issued,
                Message::joined(names, ", ")
            )
        }
        CountVerdict::Different => message!(
            "Counts: the recordings differ from what was issued ({}): found {}.",
            issued,
            differences(counts)
        ),
    }
}

/// Lists the counts that differ, in total and by label.
fn differences(counts: &WorkCounts) -> Message {
    let all = [
        (Message::from("command buffers"), &counts.command_buffers),
        ("encoders".into(), &counts.encoders),
    ];
    let labels = counts.labels.iter().map(|label| {
        let what = message!("encoders of `{}`", kernel(&label.label));
        (what, &label.encoders)
    });
    let differing = all.into_iter().chain(labels).filter(|(_, count)| {
        let mut found = count.found.iter();
        found.any(|&found| found != count.issued)
    });
    let differing = differing.map(|(what, count)| message!("{} {}", range(&count.found), what));
    let others = counts.others.iter().map(|other| {
        let many = range(&other.intervals);
        message!("{} intervals called `{}`", many, kernel(&other.name))
    });
    Message::joined(differing.chain(others), ", ")
}

/// Returns the range of counts, such as `7` or `7 to 9`.
#[must_use]
pub fn range(found: &[u64]) -> Message {
    match (found.iter().min(), found.iter().max()) {
        (Some(&min), Some(&max)) if min < max => {
            message!("{} to {}", count(min), count(max))
        }
        (Some(&min), _) => count(min),
        _ => "none".into(),
    }
}

fn agreement(agreement: &ClockAgreement) -> Message {
    let middle = Differences::summarize(agreement.bias.iter().copied());
    let bias = middle.map(|one| {
        message!(
            "; the median command buffer differs by {} ({} to {}) in the recordings",
            signed(one.median),
            signed(one.min),
            signed(one.max)
        )
    });
    let why = agreement.why.as_ref().map_or_else(
        || "nothing could be compared".into(),
        |why| Message::new(why, &agreement.why_values),
    );

    let within = |text: &str, share: f64| shown_share(text.to_owned(), share);
    match agreement.verdict {
        Some(TimingVerdict::Fine) => message!(
            "Times: program and recordings agree on the GPU time within {}{}.",
            within("5 %", 0.05),
            bias
        ),
        Some(TimingVerdict::Noted) => message!(
            "Times: program and recordings differ by up to {} in GPU time{}.",
            within("10 %", 0.1),
            bias
        ),
        Some(TimingVerdict::ClockFault) => message!(
            "Times: program and a recording differ by more than {} in GPU time{}.",
            within("10 %", 0.1),
            bias
        ),
        Some(TimingVerdict::NotComparable) | None => message!(
            "Times: agreement of program and recordings is not measurable: {}.",
            why
        ),
    }
}

fn cost(what: &'static str, cost: &Cost) -> Message {
    let Some(relative) = &cost.relative else {
        let why = cost.why.unwrap_or("a run took no time");
        return message!("Overhead in {}: not measurable: {}.", what, why);
    };

    let pairs = counted(relative.pairs, "pair");
    let range = message!("{} to {}", signed(relative.min), signed(relative.max));
    let median = signed(relative.median);
    let sure = sure(relative);

    match relative.verdict {
        PairedVerdict::More | PairedVerdict::Less => message!(
            "Overhead in {}: {}, the median of {} ({}{}).",
            what,
            median,
            pairs,
            range,
            sure
        ),
        PairedVerdict::Unstable => message!(
            "Overhead in {}: inconclusive: {} vary by more than their median, {} ({}{}). Use more \
             pairs or longer runs (--count).",
            what,
            pairs,
            median,
            range,
            sure
        ),
        PairedVerdict::TooFew => message!(
            "Overhead in {}: {}, the median of {} ({}{}). Use at least five pairs for 90 % \
             confidence.",
            what,
            median,
            pairs,
            range,
            sure
        ),
    }
}

/// Returns the confidence interval of the median. If it is the whole range, it is not repeated.
fn sure(relative: &Differences) -> Option<Message> {
    let interval = relative.interval?;
    let confidence = exact_percent(interval.confidence);
    if (interval.low, interval.high) == (relative.min, relative.max) {
        return Some(message!(
            ", which contains the true median with {} confidence",
            confidence
        ));
    }
    Some(message!(
        "; the true median is {} to {} with {} confidence",
        signed(interval.low),
        signed(interval.high),
        confidence
    ))
}

/// Returns a share with its sign, such as `+1.2 %`; zero has no sign.
#[must_use]
pub fn signed(ratio: f64) -> Message {
    let text = if ratio > 0.0 {
        format!("+{}", units::percent(ratio))
    } else if ratio < 0.0 {
        format!("−{}", units::percent(-ratio))
    } else {
        units::percent(0.0)
    };
    number(text, ratio, |change| Value::Change { change })
}

/// Returns a confidence with up to two decimals, such as `93.75 %`: few pairs have such exact
/// values.
fn exact_percent(ratio: f64) -> Message {
    let text = format!("{:.2}", ratio * 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    shown_share(format!("{text} %"), ratio)
}

/// Returns the notes that a reader needs to interpret the numbers.
pub(crate) fn notes(calibration: &Calibration) -> Vec<Note> {
    let mut notes = Vec::new();
    if calibration.simulated {
        notes.push(Note::loud(
            "simulated",
            "SIMULATED: no GPU ran; a simulator replaced xctrace and was given the plan of the \
             workload. The counts test that metalens records, reads and counts without loss; they \
             say nothing about Apple's xctrace",
        ));
    }
    notes.push(Note::quiet(
        "dispatches-counted",
        "a recording lists encoders, not dispatches: the dispatches found are those that the \
         program reported for the encoders found",
    ));
    notes.extend(held_clock_note(calibration));
    if calibration.pairs.len() % 2 == 1 && calibration.pairs.len() > 1 && !calibration.simulated {
        notes.push(Note::quiet(
            "odd-pairs",
            "with an odd number of pairs, the run without the recorder came first once more than \
             the run with it",
        ));
    }
    notes
}

/// Returns a note if the recorder held the GPU's clock, because that difference is not overhead of
/// the recorder itself.
fn held_clock_note(calibration: &Calibration) -> Option<Note> {
    let clocks = calibration.pairs.iter().flat_map(|pair| &pair.clocks);

    let mut induced: Vec<&str> = clocks
        .filter(|clock| clock.induced && clock.busy_share.is_some_and(|share| share > 0.0))
        .map(|clock| clock.state.as_str())
        .collect();
    induced.sort_unstable();
    induced.dedup();

    (!induced.is_empty() && !calibration.simulated).then(|| {
        let text = message!(
            "during the recordings the GPU clock was held at {}; without the recorder it was not, so \
             part of the overhead comes from the clock. --gpu-clock default leaves the clock to the \
             GPU",
            Message::joined(induced.into_iter().map(name), " and ")
        );
        Note::quiet("clock-held", text)
    })
}
