//! Replays the recorded command buffers, and predicts what a change of the program would leave.
//!
//! Without a change, each station of each command buffer comes out at its recorded nanosecond. Sums of
//! gaps cannot predict: what is taken away in one place shows the wait that was hidden behind it.

mod build;
pub(crate) mod program;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub(crate) use self::build::Recorded;

use self::program::{Change, Program};
use crate::basics::parallel::both;
use crate::report::{Prediction, Removal, Replay, ReplayAction, ReplayPart};

/// Smallest number of command buffers that are worth a replay.
const COMMANDS: usize = 2;

/// Largest number of times that dispatches share a command buffer in a prediction.
const PER_BUFFER: usize = 10;

/// Replays the recorded command buffers; `None` if there are too few.
pub(crate) fn replay(recorded: &Recorded<'_>) -> Option<Replay> {
    let steps = recorded.steps;
    if steps.list.len() < COMMANDS {
        return None;
    }
    let program = recorded.program();
    let (removals, predictions) = both(|| removals(&program), || predictions(&program));
    let has_driver = steps.list.iter().any(|step| step.driver.is_some());
    Some(Replay {
        command_buffers: steps.list.len() as u64,
        left_out: steps.left_out as u64,
        is_sample: steps.is_sample,
        driver: recorded.driver.filter(|_| has_driver),
        waiting: recorded.waiting.clone(),
        span_ns: program.time(&Change::NONE),
        removals,
        predictions,
    })
}

/// Returns the time that is left without each part, without each two parts beside the GPU's work, and
/// without all of these.
fn removals(program: &Program) -> Vec<Removal> {
    let mut sets: Vec<Vec<ReplayPart>> = ReplayPart::ALL.iter().map(|&part| vec![part]).collect();
    let others: Vec<ReplayPart> = ReplayPart::ALL
        .into_iter()
        .filter(|&part| part != ReplayPart::Gpu)
        .collect();
    for (place, &part) in others.iter().enumerate() {
        let later = others.iter().skip(place + 1);
        sets.extend(later.map(|&other| vec![part, other]));
    }
    sets.push(others);
    let removals = sets.into_iter().map(|without| Removal {
        left_ns: program.time(&Change::without(&without)),
        without,
    });
    removals.collect()
}

fn predictions(program: &Program) -> Vec<Prediction> {
    let actions = [
        ReplayAction::TwiceInFlight,
        ReplayAction::NeverWait,
        ReplayAction::TenPerBuffer,
        ReplayAction::EncodeAhead,
        ReplayAction::NoOthers,
    ];
    // One changed program after another: each holds every GPU interval.
    let predictions = actions.map(|action| {
        let (program, change) = changed(program, action);
        Prediction {
            action,
            left_ns: program.time(&change),
            // A finding names the next limit only of a program that never waits.
            limited_by: (action == ReplayAction::NeverWait)
                .then(|| limited_by(&program, &change))
                .flatten(),
        }
    });
    predictions.into()
}

/// Returns the program of an action, and the change of its parts.
fn changed(program: &Program, action: ReplayAction) -> (Cow<'_, Program>, Change) {
    match action {
        ReplayAction::TwiceInFlight => (Cow::Owned(program.with_in_flight(2)), Change::NONE),
        ReplayAction::NeverWait => (Cow::Owned(program.with_in_flight(0)), Change::NONE),
        ReplayAction::TenPerBuffer => (Cow::Owned(program.merged(PER_BUFFER)), Change::NONE),
        ReplayAction::EncodeAhead => {
            let change = Change {
                encode_ahead: true,
                ..Change::NONE
            };
            (Cow::Borrowed(program), change)
        }
        ReplayAction::NoOthers => (
            Cow::Borrowed(program),
            Change::without(&[ReplayPart::Others]),
        ),
    }
}

/// Returns the part whose removal would shorten a run most.
pub(crate) fn limited_by(program: &Program, change: &Change) -> Option<ReplayPart> {
    let whole_ns = program.time(change);
    let left = ReplayPart::ALL.map(|part| (program.time(&change.clone().and_without(part)), part));
    let (left_ns, part) = left.into_iter().min_by_key(|&(left_ns, _)| left_ns)?;
    (left_ns < whole_ns).then_some(part)
}
