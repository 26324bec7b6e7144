//! What a finding rests on.

use crate::basics::message::{Message, moment, percent, time};
use crate::basics::statistics::ratio;
use crate::message;
use crate::report::{Cause, Gain, Report, Severity, TopGap};

/// The numbers behind a finding, where to look, and how much time it is about.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// A sentence with numbers.
    pub text: Message,
    /// Times, kernels, processes.
    pub look_at: Vec<Message>,
    /// The time that the advice could take out at the very most.
    pub at_most_ns: Option<u64>,
}

impl Evidence {
    /// A sentence with numbers.
    pub(crate) fn new(text: Message) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Where to look.
    pub(crate) fn at(mut self, places: impl IntoIterator<Item = Message>) -> Self {
        self.look_at.extend(places);
        self
    }

    /// What could be gained at the very most.
    pub(crate) fn gaining(mut self, at_most_ns: u64) -> Self {
        self.at_most_ns = Some(at_most_ns);
        self
    }

    /// How much it matters: no more than what is at stake allows. A caveat is
    /// about the numbers, not about time.
    pub(crate) fn severity(&self, at_most: Severity, window_ns: u64) -> Severity {
        /// Whoever gains less than a tenth has had a medium problem…
        const MUCH: f64 = 0.1;
        /// …and one of a fiftieth is in the noise of most measurements.
        const SOME: f64 = 0.02;
        let of_gain = match self.at_most_ns {
            Some(ns) if !is_share(ns, window_ns, SOME) => Severity::Low,
            Some(ns) if !is_share(ns, window_ns, MUCH) => Severity::Medium,
            _ => Severity::High,
        };
        at_most.max(of_gain)
    }

    /// The gain, of a window.
    pub(crate) fn gain(&self, window_ns: u64) -> Option<Gain> {
        /// Less than this share of the window is not worth a word.
        const WORTH: f64 = 0.01;
        let at_most_ns = self.at_most_ns?.min(window_ns);
        if !is_share(at_most_ns, window_ns, WORTH) {
            return None;
        }
        // A window that is all of it has no other speed to be compared with.
        let speedup = ratio(window_ns, window_ns - at_most_ns)?;
        Some(Gain {
            at_most_ns,
            speedup,
        })
    }
}

/// `38.4 % of the idle time, 74.2 ms of 193.5 ms`.
pub(crate) fn of_idle(ns: u64, report: &Report) -> Message {
    let total_ns = report.ledger.total_ns;
    let share = share_of(ns, total_ns);
    message!(
        "{} of the idle time, {} of {}",
        share,
        time(ns),
        time(total_ns)
    )
}

/// `38.4 %`.
pub(crate) fn share_of(part: u64, whole: u64) -> Message {
    ratio(part, whole).map_or_else(|| "none".into(), percent)
}

/// The longest gaps of a cause.
pub(crate) fn longest(report: &Report, cause: Cause) -> Vec<Message> {
    let gaps = report.gaps.top.iter().filter(|gap| gap.cause == cause);
    gaps.take(3).map(place).collect()
}

/// The longest gaps.
pub(crate) fn longest_of_all(report: &Report) -> Vec<Message> {
    report.gaps.top.iter().take(3).map(place).collect()
}

fn place(gap: &TopGap) -> Message {
    message!(
        "the gap of {} at {}",
        time(gap.duration_ns),
        moment(gap.start_ns)
    )
}

/// Whether the GPU was busy enough for gaps to be nobody's concern.
pub(crate) fn is_saturated(report: &Report) -> bool {
    /// The target of utilisation: above it idle time is not the problem.
    const ENOUGH: f64 = 0.8;
    report.busy.ratio.is_none_or(|ratio| ratio >= ENOUGH)
}

/// Whether a part is at least this share of a whole that is not nothing.
pub(crate) fn is_share(part: u64, whole: u64, least: f64) -> bool {
    ratio(part, whole).is_some_and(|share| share >= least)
}
