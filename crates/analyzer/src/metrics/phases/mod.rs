//! What the recording falls into: warm-up, segments, iterations, named phases.

mod iterations;
mod named;
mod regularity;
mod segments;

use metalens_trace::Names;

use self::named::named_phases;
use crate::basics::message::{Message, name, time, ungrouped};
use crate::basics::spans::Span;
use crate::message;
use crate::report::{NotRecorded, Note, Phases, SelectedPhase, WarmUp};
use crate::subject::gaps::Occupancy;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::signposts::Signposts;
use crate::subject::target::Target;
use crate::subject::timeline::Interval;

/// What is known before the window is cut.
pub(crate) struct Before<'a> {
    /// The target's warm-up.
    pub warm_up: Option<WarmUp>,
    /// The phases that programs named.
    pub signposts: &'a Signposts,
    /// The one that the window was cut to.
    pub selected: Option<SelectedPhase>,
}

/// Says what the window falls into. `mine` are the target's intervals that
/// touch it, sorted by start.
pub(crate) fn phases(
    mine: &[Interval],
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
    window: Span,
    before: Before<'_>,
    target: &Target,
    names: &Names,
) -> Phases {
    let segments = segments::segments(mine, occupancy, window);
    Phases {
        warm_up: before.warm_up,
        iterations: iterations::iterations(mine, kernels, occupancy),
        regularity: regularity::regularity(&occupancy.gaps, segments.quiet_gap_ns),
        segments,
        signposts: named_phases(
            before.signposts,
            mine,
            &occupancy.busy,
            window,
            target,
            names,
        ),
        selected: before.selected,
    }
}

/// What the numbers of a report leave to say.
pub(crate) fn notes(phases: &Phases, window: Span) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(warm_up) = &phases.warm_up {
        let said = if warm_up.skipped {
            "it was left out"
        } else {
            "it counts here; --skip-warmup leaves it out"
        };
        let explanation = Message::new(&warm_up.explanation, &warm_up.explanation_values);
        notes.push(Note::quiet(
            "warm-up",
            message!("warm-up: {}; {}", explanation, said),
        ));
    }
    let beyond = phases.signposts.iter();
    let beyond = beyond.filter(|one| one.total_ns == u64::MAX);
    notes.extend(beyond.map(|one| {
        let text = message!(
            "the os_signpost intervals called {} add up to more than 64 bits can hold: their total \
             is a lower bound",
            name(&one.name)
        );
        Note::quiet("phase-too-long", text)
    }));
    if let Some(phase) = phases.selected.as_ref().filter(|one| one.between_ns > 0) {
        let text = message!(
            "the window reaches from the first begin to the last end of {} intervals called {}; {} \
             of its {} are between them, in none",
            ungrouped(phase.count),
            name(&phase.name),
            time(phase.between_ns),
            time(window.length_ns())
        );
        notes.push(Note::quiet("phase-apart", text));
    }
    notes
}

/// What the recording does not tell of phases.
pub(crate) fn unavailable(signposts: &Signposts) -> Option<NotRecorded> {
    Some(NotRecorded::new("phases.signposts", signposts.why_none()?))
}
