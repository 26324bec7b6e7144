//! Replays the recorded command buffers, and predicts what a change of the program would leave.
//!
//! Without a change, each station of each command buffer comes out at its recorded nanosecond. Sums of
//! gaps cannot predict: what is taken away in one place shows the wait that was hidden behind it.

mod build;
pub(crate) mod program;
#[cfg(test)]
mod tests;

pub(crate) use self::build::Recorded;

use self::program::{Change, Program, Timed, Way};
use crate::basics::parallel::both;
use crate::report::{Prediction, Removal, Replay, ReplayAction, ReplayPart, StepTime};
use metalens_message::{Ns, ratio};
use metalens_text::number::{Float, rounded};

/// Largest number of times that dispatches share a command buffer in a prediction.
const PER_BUFFER: usize = 10;

/// Programs that a recording may be of.
pub(crate) struct Answers {
    pub likely: Program,
    /// Run of the likely one without a change.
    pub recorded: Timed,
    /// Time before GPU starts that nothing known explains, in nanoseconds.
    unexplained_ns: u64,
    /// One that differs from it where the recording does not tell, with its time without a change.
    otherwise: Option<(Program, u64)>,
}

/// Time that a change leaves, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub likely_ns: Ns,
    /// The least and the most of all answers.
    pub least_ns: Ns,
    pub most_ns: Ns,
    /// How far the likely one may be off.
    pub error_ns: Ns,
    /// Time of a step by the likely one.
    pub step: Option<StepTime>,
}

impl Left {
    /// Returns the least and the most that the change may leave.
    pub(crate) fn range(self) -> (Ns, Ns) {
        let least_ns = self.least_ns.saturating_sub(self.error_ns);
        (least_ns, self.most_ns.saturating_add(self.error_ns))
    }
}

impl Answers {
    pub(crate) fn new(recorded: &Recorded<'_>) -> Self {
        let likely = recorded.program(&recorded.waits.likely);
        let otherwise = recorded.waits.otherwise.as_ref().map(|waits| {
            let program = recorded.program(waits);
            let recorded_ns = program.time(&Change::NONE);
            (program, recorded_ns)
        });
        let recorded = likely.timed(&Change::NONE);
        Self {
            // Command buffers that are held up at once are held up by one thing.
            unexplained_ns: likely.unexplained_ns().min(recorded.time_ns),
            likely,
            recorded,
            otherwise,
        }
    }

    /// Returns what a change leaves by each of the programs.
    pub(crate) fn left(&self, change: &Change) -> Left {
        // One after another: each holds every GPU interval.
        let ways = Way::ALL.into_iter();
        let runs = ways.filter_map(|way| Some(self.likely.shaped(change, way)?.timed(change)));
        let runs: Vec<Timed> = runs.collect();
        let varies_ns = runs.first().map(|likely| self.recorded.error_ns(likely));
        let step = runs.first().and_then(|likely| likely.step);
        let mut left: Vec<u64> = runs.into_iter().map(|run| run.time_ns).collect();
        left.extend(self.otherwise_ns(change));
        let mut likely_ns = left.first().copied().unwrap_or(0);
        // What only becomes shorter may keep its order, and then nothing comes later.
        if change.only_shortens() {
            likely_ns = likely_ns.min(self.recorded.time_ns);
        }
        left.push(likely_ns);
        Left {
            likely_ns: Ns(likely_ns),
            least_ns: Ns(left.iter().copied().min().unwrap_or(0)),
            most_ns: Ns(left.iter().copied().max().unwrap_or(0)),
            error_ns: Ns(self.unexplained_ns.saturating_add(varies_ns.unwrap_or(0))),
            step,
        }
    }

    /// Returns what a change leaves by the other answer, if there is one.
    fn otherwise_ns(&self, change: &Change) -> Option<u64> {
        let (program, recorded_ns) = self.otherwise.as_ref()?;
        let left_ns = program.shaped(change, Way::Likely)?.time(change);
        let share = ratio(left_ns, *recorded_ns)?;
        Some(rounded(share * self.recorded.time_ns.float()))
    }
}

/// Replays the recorded submissions; `None` if there are too few.
pub(crate) fn replay(recorded: &Recorded<'_>) -> Option<Replay> {
    let submissions = recorded.submissions;
    let answers = Answers::new(recorded);
    let program = &answers.likely;
    let command_buffers = program.measured();
    // A single one waits for nothing.
    if command_buffers < 2 {
        return None;
    }
    let (removals, predictions) = both(|| removals(&answers), || predictions(&answers));
    let has_driver = submissions.list.iter().any(|each| each.driver.is_some());
    Some(Replay {
        command_buffers: command_buffers as u64,
        left_out: submissions.left_out as u64,
        is_sample: submissions.is_sample,
        driver: recorded.driver.filter(|_| has_driver),
        waiting: recorded.waits.summary.clone(),
        span_ns: Ns(answers.recorded.time_ns),
        step: answers.recorded.step,
        unexplained_ns: Ns(answers.unexplained_ns),
        removals,
        predictions,
    })
}

/// Returns the time that is left without each part, without two, and without all beside the GPU's work.
fn removals(answers: &Answers) -> Vec<Removal> {
    let others = ReplayPart::ALL
        .into_iter()
        .filter(|&part| part != ReplayPart::Gpu);
    let others: Vec<ReplayPart> = others.collect();
    let mut sets: Vec<Vec<ReplayPart>> = ReplayPart::ALL.iter().map(|&part| vec![part]).collect();
    for (place, &part) in others.iter().enumerate() {
        let later = others.iter().skip(place + 1);
        sets.extend(later.map(|&other| vec![part, other]));
    }
    sets.push(others);
    let mut removals: Vec<Removal> = Vec::with_capacity(sets.len());
    for without in sets {
        let change = Change::without(&without);
        // What only becomes shorter may keep its order, and then nothing comes later.
        let is_within = |fewer: &&Removal| fewer.without.iter().all(|part| without.contains(part));
        let within = removals.iter().filter(is_within).map(|fewer| fewer.left_ns);
        let most_ns = within.min().unwrap_or(Ns(answers.recorded.time_ns));
        let left = answers.likely.timed(&change);
        removals.push(Removal {
            left_ns: Ns(left.time_ns).min(most_ns),
            step: left.step,
            otherwise_ns: answers.otherwise_ns(&change).map(Ns),
            without,
        });
    }
    removals
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
        let change = change_of(action);
        let left = answers.left(&change);
        Prediction {
            action,
            left_ns: left.likely_ns,
            least_ns: left.least_ns,
            most_ns: left.most_ns,
            error_ns: left.error_ns,
            step: left.step,
            // A finding names the next limit only of a program that never waits.
            limited_by: (action == ReplayAction::NeverWait)
                .then(|| limited_by(&answers.likely, &change))
                .flatten(),
        }
    });
    predictions.into()
}

fn change_of(action: ReplayAction) -> Change {
    let mut change = Change::NONE;
    match action {
        ReplayAction::TwiceInFlight => change.in_flight = 2,
        ReplayAction::NeverWait => change.in_flight = 0,
        ReplayAction::TenPerBuffer => change.per_buffer = PER_BUFFER,
        ReplayAction::EncodeAhead => change.encode_ahead = true,
        ReplayAction::NoOthers => change.others = false,
        ReplayAction::NoHost | ReplayAction::NoDriver => {}
    }
    match action.removes() {
        Some(part) => change.and_without(part),
        None => change,
    }
}

/// Returns the part whose removal would shorten a run most.
pub(crate) fn limited_by(program: &Program, change: &Change) -> Option<ReplayPart> {
    let program = program.shaped(change, Way::Likely)?;
    let whole_ns = program.time(change);
    let left = ReplayPart::ALL.map(|part| (program.time(&change.clone().and_without(part)), part));
    let (left_ns, part) = left.into_iter().min_by_key(|&(left_ns, _)| left_ns)?;
    (left_ns < whole_ns).then_some(part)
}
