//! Chooses the part of the recording that a report is about.

use metalens_trace::Names;

use super::WHOLE;
use super::chosen_processes::ChosenProcesses;
use super::facts::analyzed_process;
use super::signposts::Signposts;
use super::timeline::Timeline;
use crate::basics::message::{Message, name, ungrouped};
use crate::basics::spans::{Span, length_ns, touches, union};
use crate::error::{Error, Result};
use crate::message;
use crate::report::{Excluded, SelectedIteration, SelectedPhase, Window};
use crate::request::Request;

/// Window, and what was cut off to get it.
pub(crate) struct Cut {
    /// Remaining part of the recording.
    pub window: Span,
    /// Named phase that the window was cut to.
    pub phase: Option<SelectedPhase>,
    /// Detected iteration that the window was cut to.
    pub iteration: Option<SelectedIteration>,
    excluded: Vec<Excluded>,
}

impl Cut {
    /// Returns the window from the chosen processes' first start to their last end, without what
    /// the request cuts off, and cut to the requested phase or iteration.
    pub(crate) fn requested(
        request: &Request,
        iteration: Option<SelectedIteration>,
        timeline: &Timeline,
        chosen: &ChosenProcesses,
        signposts: &Signposts,
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
            phase: None,
            iteration,
            excluded: Vec::new(),
        };

        let (mut from_ns, mut to_ns) = (request.from_ns, request.to_ns);
        let part = Span::new(from_ns.unwrap_or(0), to_ns.unwrap_or(u64::MAX));
        cut.to(part, "before --from", "after --to");
        if let Some(wanted) = &request.phase {
            let mut spans = spans_of_phase(wanted, chosen, signposts, names)?;
            if let Some(number) = request.iteration {
                spans = vec![span_of_iteration(wanted, &spans, number)?];
            }
            let phase = cut.cut_to_phase(wanted, request.iteration, &spans);
            // An error about an empty window names the part that was really searched.
            from_ns = Some(phase.start_ns.max(from_ns.unwrap_or(0)));
            to_ns = Some(phase.end_ns.min(to_ns.unwrap_or(u64::MAX)));
        }

        if let Some(chosen) = iteration {
            let part = Span::new(chosen.start_ns, chosen.end_ns);
            let number = ungrouped(chosen.number);
            cut.to(
                part,
                message!("before iteration {}", number.clone()),
                message!("after iteration {}", number),
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
            if cut.to_ns <= self.window.start_ns {
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
                from_ns,
                to_ns,
                why,
            }));
    }

    /// Cuts to the time between the first begin and the last end of a phase.
    fn cut_to_phase(&mut self, wanted: &str, iteration: Option<u64>, spans: &[Span]) -> Span {
        let first = spans.first().map_or(0, |span| span.start_ns);
        let last = spans.iter().map(|span| span.end_ns).max().unwrap_or(0);
        let phase = Span::new(first, last);
        let number = iteration.map(|number| message!(" number {}", ungrouped(number)));
        self.to(
            phase,
            message!("before phase {}{}", name(wanted), number.clone()),
            message!("after phase {}{}", name(wanted), number),
        );
        let inside = union(spans.iter().map(|span| span.clip(self.window)));
        let touching = spans.iter().filter(|&&span| touches(span, self.window));
        self.phase = Some(SelectedPhase {
            name: wanted.to_owned(),
            iteration,
            count: touching.count() as u64,
            between_ns: self.window.length_ns() - length_ns(&inside),
        });
        phase
    }

    /// Returns the report's facts about the window.
    pub(crate) fn facts(&self) -> Window {
        let mut excluded = self.excluded.clone();
        excluded.sort_by_key(|stretch| (stretch.from_ns, stretch.to_ns));
        Window {
            start_ns: self.window.start_ns,
            end_ns: self.window.end_ns,
            span_ns: self.window.length_ns(),
            excluded,
        }
    }
}

fn spans_of_phase(
    name: &str,
    chosen: &ChosenProcesses,
    signposts: &Signposts,
    names: &Names,
) -> Result<Vec<Span>> {
    signposts
        .of_name(name, chosen, names)
        .ok_or_else(|| Error::NoSuchPhase {
            wanted: name.to_owned(),
            present: signposts.names(names),
        })
}

/// Returns the interval of a phase with this number, from 1.
fn span_of_iteration(phase: &str, spans: &[Span], number: u64) -> Result<Span> {
    let index = number
        .checked_sub(1)
        .and_then(|index| usize::try_from(index).ok());
    let span = index.and_then(|index| spans.get(index).copied());
    span.ok_or_else(|| Error::NoSuchIteration {
        phase: phase.to_owned(),
        wanted: number,
        count: spans.len(),
    })
}
