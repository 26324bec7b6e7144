//! Chooses the part of the recording that a report is about.

use metalens_message::{Message, Ns, message, ungrouped};
use metalens_trace::Names;

use super::WHOLE;
use super::chosen_processes::ChosenProcesses;
use super::facts::analyzed_process;
use super::timeline::Timeline;
use crate::basics::spans::{Span, touches};
use crate::error::{Error, Result};
use crate::report::{Excluded, SelectedStep, Window};
use crate::request::Request;

/// Window, and what was cut off to get it.
pub(crate) struct Cut {
    /// Remaining part of the recording.
    pub window: Span,
    /// Step that the window was cut to.
    pub step: Option<SelectedStep>,
    excluded: Vec<Excluded>,
}

impl Cut {
    /// Returns the window from the chosen processes' first start to their last end, without what
    /// the request cuts off, and cut to the requested step.
    pub(crate) fn requested(
        request: &Request,
        step: Option<SelectedStep>,
        timeline: &Timeline,
        chosen: &ChosenProcesses,
        names: &Names,
    ) -> Result<Self> {
        let intervals = timeline.intervals.iter();
        let mine = intervals.filter(|interval| chosen.contains(interval.process));
        let (mut first_ns, mut last_ns) = (u64::MAX, 0);
        for interval in mine.clone() {
            first_ns = first_ns.min(interval.span.start_ns);
            last_ns = last_ns.max(interval.span.end_ns);
        }

        let whole = Span::new(first_ns, last_ns);
        let mut cut = Self {
            window: whole,
            step,
            excluded: Vec::new(),
        };

        let (from_ns, to_ns) = (request.from_ns, request.to_ns);
        let part = Span::new(from_ns.unwrap_or(0), to_ns.unwrap_or(u64::MAX));
        cut.to(part, "before --from", "after --to");
        if let Some(chosen) = step {
            let part = Span::new(chosen.start_ns.0, chosen.end_ns.0);
            let number = ungrouped(chosen.number);
            cut.to(
                part,
                message!("before step {}", number.clone()),
                message!("after step {}", number),
            );
        }

        let window = cut.window;
        let is_cut = window != whole;
        let has_work = || mine.clone().any(|interval| touches(interval.span, window));
        if is_cut && (window.is_empty() || !has_work()) {
            return Err(Error::EmptyWindow {
                wanted: analyzed_process(chosen, names).name,
                from_ns,
                to_ns,
                first_ns,
                last_ns,
            });
        }
        Ok(cut)
    }

    /// Returns whether something was cut off.
    pub(crate) fn is_cut(&self) -> bool {
        !self.excluded.is_empty()
    }

    /// Returns the part of the recording that the window stands for: it ends where the window was cut,
    /// and with the recording where it was not.
    pub(crate) fn reach(&self) -> Span {
        let mut reach = WHOLE;
        for cut in &self.excluded {
            if cut.to_ns <= Ns(self.window.start_ns) {
                reach.start_ns = self.window.start_ns;
            } else {
                reach.end_ns = self.window.end_ns;
            }
        }
        reach
    }

    /// Cuts to the part inside a stretch; the two sentences are the reasons for what is cut off
    /// before and after it.
    pub(crate) fn to(&mut self, part: Span, before: impl Into<Message>, after: impl Into<Message>) {
        let whole = self.window;
        self.window = whole.clip(part);

        let sides = [
            (whole.start_ns, self.window.start_ns, before.into()),
            (self.window.end_ns, whole.end_ns, after.into()),
        ]
        .into_iter()
        .filter(|(from, to, _)| from < to);
        self.excluded
            .extend(sides.map(|(from_ns, to_ns, why)| Excluded {
                from_ns: Ns(from_ns),
                to_ns: Ns(to_ns),
                why,
            }));
    }

    /// Returns the report's facts about the window.
    pub(crate) fn facts(&self) -> Window {
        let mut excluded = self.excluded.clone();
        excluded.sort_by_key(|stretch| (stretch.from_ns, stretch.to_ns));
        Window {
            start_ns: Ns(self.window.start_ns),
            end_ns: Ns(self.window.end_ns),
            span_ns: Ns(self.window.length_ns()),
            excluded,
        }
    }
}
