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
use crate::basics::statistics::ratio;
use crate::report::{Prediction, Removal, Replay, ReplayAction, ReplayPart};

/// Smallest number of command buffers that are worth a replay.
const COMMANDS: usize = 2;

/// Largest number of times that dispatches share a command buffer in a prediction.
const PER_BUFFER: usize = 10;

/// Programs that a recording may be of: first the likely one, then those that differ from it where the
/// recording does not tell.
pub(crate) struct Answers {
    pub likely: Program,
    otherwise: Option<Program>,
}

/// Time that a change leaves, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub likely_ns: u64,
    /// The least and the most of all answers.
    pub least_ns: u64,
    pub most_ns: u64,
    /// How far the likely one may be off.
    pub error_ns: u64,
}

impl Left {
    /// Returns the least and the most that the change may leave.
    pub(crate) fn range(self) -> (u64, u64) {
        let least_ns = self.least_ns.saturating_sub(self.error_ns);
        (least_ns, self.most_ns.saturating_add(self.error_ns))
    }
}

impl Answers {
    pub(crate) fn new(recorded: &Recorded<'_>) -> Self {
        let likely = recorded.program(&recorded.waits.likely);
        let otherwise = recorded.waits.otherwise.as_ref();
        let otherwise = otherwise.map(|waits| recorded.program(waits));
        Self { likely, otherwise }
    }

    /// Returns what a change leaves by each of the programs.
    pub(crate) fn left(
        &self,
        change: &Change,
        changed: impl Fn(&Program) -> Cow<'_, Program>,
    ) -> Left {
        let recorded_ns = self.likely.time(&Change::NONE);
        let likely = changed(&self.likely);
        let likely_ns = likely.time(change);
        let other = self.otherwise.as_ref().and_then(|program| {
            let share = ratio(changed(program).time(change), program.time(&Change::NONE))?;
            Some(scaled(recorded_ns, share))
        });
        let other_ns = other.unwrap_or(likely_ns);
        let (least_ns, most_ns) = (likely_ns.min(other_ns), likely_ns.max(other_ns));
        let error_ns = self.likely.error_ns(&likely, change);
        Left {
            likely_ns,
            least_ns,
            most_ns,
            error_ns,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are below 2^53 ns, and shares are not negative"
)]
fn scaled(ns: u64, share: f64) -> u64 {
    (ns as f64 * share) as u64
}

/// Replays the recorded submissions; `None` if there are too few.
pub(crate) fn replay(recorded: &Recorded<'_>) -> Option<Replay> {
    let submissions = recorded.submissions;
    let answers = Answers::new(recorded);
    let program = &answers.likely;
    let command_buffers = program.measured();
    if command_buffers < COMMANDS {
        return None;
    }
    let (removals, predictions) = both(|| removals(program), || predictions(&answers));
    let has_driver = submissions.list.iter().any(|each| each.driver.is_some());
    Some(Replay {
        command_buffers: command_buffers as u64,
        left_out: submissions.left_out as u64,
        is_sample: submissions.is_sample,
        driver: recorded.driver.filter(|_| has_driver),
        waiting: recorded.waits.summary.clone(),
        span_ns: program.time(&Change::NONE),
        unexplained_ns: program.unexplained_ns(),
        removals,
        predictions,
    })
}

/// Returns the time that is left without each part, and without all beside the GPU's work.
fn removals(program: &Program) -> Vec<Removal> {
    let mut sets: Vec<Vec<ReplayPart>> = ReplayPart::ALL.iter().map(|&part| vec![part]).collect();
    let others: Vec<ReplayPart> = ReplayPart::ALL
        .into_iter()
        .filter(|&part| part != ReplayPart::Gpu)
        .collect();
    sets.push(others);
    let removals = sets.into_iter().map(|without| Removal {
        left_ns: program.time(&Change::without(&without)),
        without,
    });
    removals.collect()
}

fn predictions(answers: &Answers) -> Vec<Prediction> {
    let actions = [
        ReplayAction::TwiceInFlight,
        ReplayAction::NeverWait,
        ReplayAction::TenPerBuffer,
        ReplayAction::EncodeAhead,
        ReplayAction::NoOthers,
    ];
    // One changed program after another: each holds every GPU interval.
    let predictions = actions.map(|action| {
        let (_, change) = changed(&answers.likely, action);
        let left = answers.left(&change, |program| changed(program, action).0);
        Prediction {
            action,
            left_ns: left.likely_ns,
            least_ns: left.least_ns,
            most_ns: left.most_ns,
            error_ns: left.error_ns,
            // A finding names the next limit only of a program that never waits.
            limited_by: (action == ReplayAction::NeverWait)
                .then(|| limited_by(&changed(&answers.likely, action).0, &change))
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
