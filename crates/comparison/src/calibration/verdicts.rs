//! What a calibration comes to, in sentences.

use metalens_analyzer::message::{
    Value, count, counted, kernel, name, number, shown_share, ungrouped,
};
use metalens_analyzer::units;
use metalens_analyzer::{Message, Note, TimingVerdict, message};

use super::counts::{CountVerdict, Counts};
use super::figures::{Agreement, Calibration, Cost};
use crate::statistics::paired::{Differences, Direction};

/// One each: what was found, whether the clocks agree, what recording costs.
pub(crate) fn verdicts(calibration: &Calibration) -> Vec<Message> {
    let pairs = calibration.pairs.len() as u64;
    vec![
        counts(&calibration.counts, pairs),
        agreement(&calibration.agreement),
        cost("wall time", &calibration.wall),
        cost("GPU time", &calibration.gpu),
    ]
}

fn counts(counts: &Counts, pairs: u64) -> Message {
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
                "Counts: all that was issued was found in {}, and nothing else: {}.",
                each,
                issued
            )
        }
        CountVerdict::Coalesced => {
            let names = counts.others.iter();
            let names = names.map(|one| message!("`{}`", kernel(&one.name)));
            message!(
                "Counts: all that was issued was found in {}, {}; the driver made one interval of \
                 several encoders and called those {}.",
                each,
                issued,
                Message::joined(names, ", ")
            )
        }
        CountVerdict::Different => message!(
            "Counts: what was found is not what was issued, {}: {}.",
            issued,
            different(counts)
        ),
    }
}

/// What differs, in all and by label.
fn different(counts: &Counts) -> Message {
    let all = [
        (Message::from("command buffers"), &counts.command_buffers),
        ("encoders".into(), &counts.encoders),
    ];
    let labels = counts.labels.iter().map(|label| {
        let what = message!("encoders of `{}`", kernel(&label.label));
        (what, &label.encoders)
    });
    let differing = all.into_iter().chain(labels).filter(|(_, one)| {
        let mut found = one.found.iter();
        found.any(|&found| found != one.issued)
    });
    let differing = differing.map(|(what, one)| message!("{} {}", range(&one.found), what));
    let others = counts.others.iter().map(|one| {
        let many = range(&one.intervals);
        message!("{} intervals called `{}`", many, kernel(&one.name))
    });
    Message::joined(differing.chain(others), ", ")
}

/// Returns the range of counts: `7`, or `7 to 9`.
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

fn agreement(agreement: &Agreement) -> Message {
    let middle = Differences::of(agreement.bias.iter().copied());
    let bias = middle.map(|one| {
        message!(
            ": in the recordings the median command buffer's differs by {} ({} to {})",
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
            "Times: the program and the recordings saw the same GPU time, within {}{}.",
            within("5 %", 0.05),
            bias
        ),
        Some(TimingVerdict::Noted) => message!(
            "Times: the program and the recordings saw GPU times up to {} apart{}.",
            within("10 %", 0.1),
            bias
        ),
        Some(TimingVerdict::ClockFault) => message!(
            "Times: the program and a recording saw GPU times more than {} apart{}.",
            within("10 %", 0.1),
            bias
        ),
        Some(TimingVerdict::NotComparable) | None => message!(
            "Times: whether the program and the recordings agree is not measurable: {}.",
            why
        ),
    }
}

fn cost(what: &'static str, cost: &Cost) -> Message {
    let Some(relative) = &cost.relative else {
        let why = cost.why.unwrap_or("a run took no time at all");
        return message!("Overhead in {}: not measurable: {}.", what, why);
    };
    let pairs = counted(relative.pairs, "pair");
    let range = message!("{} to {}", signed(relative.min), signed(relative.max));
    let median = signed(relative.median);
    let sure = sure(relative);
    match relative.verdict {
        Direction::More | Direction::Less => message!(
            "Overhead in {}: {}, the median of {} ({}{}).",
            what,
            median,
            pairs,
            range,
            sure
        ),
        Direction::Unstable => message!(
            "Overhead in {}: unstable: {} differ from each other by more than their median, {} \
             ({}{}). More pairs, or longer runs (--count), tell more.",
            what,
            pairs,
            median,
            range,
            sure
        ),
        Direction::TooFew => message!(
            "Overhead in {}: {}, the median of {} ({}{}): too few to be sure of, five are the \
             least.",
            what,
            median,
            pairs,
            range,
            sure
        ),
    }
}

/// How surely the true median lies where; the whole range needs no second name.
fn sure(relative: &Differences) -> Option<Message> {
    let one = relative.interval?;
    let confidence = exact_percent(one.confidence);
    Some(if (one.low, one.high) == (relative.min, relative.max) {
        message!(
            ", which holds the true median with {} confidence",
            confidence
        )
    } else {
        message!(
            "; the true median is {} to {} with {} confidence",
            signed(one.low),
            signed(one.high),
            confidence
        )
    })
}

/// Returns a share with its sign: `+1.2 %`; what is nothing has none.
#[must_use]
pub fn signed(ratio: f64) -> Message {
    let text = match ratio {
        _ if ratio > 0.0 => format!("+{}", units::percent(ratio)),
        _ if ratio < 0.0 => format!("−{}", units::percent(-ratio)),
        _ => units::percent(0.0),
    };
    number(text, ratio, |change| Value::Change { change })
}

/// `93.75 %`: of few pairs the confidence is a short number.
fn exact_percent(ratio: f64) -> Message {
    let text = format!("{:.2}", ratio * 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    shown_share(format!("{text} %"), ratio)
}

/// What a reader should know.
pub(crate) fn notes(calibration: &Calibration) -> Vec<Note> {
    let mut notes = Vec::new();
    if calibration.simulated {
        notes.push(Note::loud(
            "simulated",
            "SIMULATED: no GPU ran, and a simulator took xctrace's place. It was told the plan of the \
             workload: the counts show that recording, reading and counting lose nothing, not what \
             Apple's xctrace does",
        ));
    }
    notes.push(Note::quiet(
        "dispatches-counted",
        "a recording has encoders, not dispatches: those found are what the program says that its \
         encoders hold",
    ));
    notes.extend(held(calibration));
    if calibration.pairs.len() % 2 == 1 && calibration.pairs.len() > 1 && !calibration.simulated {
        notes.push(Note::quiet(
            "odd-pairs",
            "with an odd number of pairs the run without the recorder came first once more often than \
             the other",
        ));
    }
    notes
}

/// A clock that only recordings are held at is a difference that is not the recorder's work.
fn held(calibration: &Calibration) -> Option<Note> {
    let clocks = calibration.pairs.iter().flat_map(|pair| &pair.clocks);
    let mut induced: Vec<&str> = clocks
        .filter(|clock| clock.induced && clock.busy_share.is_some_and(|share| share > 0.0))
        .map(|clock| clock.state.as_str())
        .collect();
    induced.sort_unstable();
    induced.dedup();
    (!induced.is_empty() && !calibration.simulated).then(|| {
        let text = message!(
            "while it was recorded the GPU was held at {}, as it is not without the recorder: part of \
             what recording costs is the clock's doing. --gpu-clock default leaves the clock to the \
             GPU, then, too",
            Message::joined(induced.into_iter().map(name), " and ")
        );
        Note::quiet("clock-held", text)
    })
}
