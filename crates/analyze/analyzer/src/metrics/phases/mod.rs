//! Divides a recording into phases: warm-up, segments, iterations and named phases.

mod encoded;
mod iterations;
mod named;
mod regularity;
mod segments;

use metalens_trace::Names;

use self::encoded::Encoded;
use self::named::named_phases;
use crate::basics::message::{kernel, name, time, ungrouped};
use crate::basics::spans::Span;
use crate::message;
use crate::report::{FoundBy, NotRecorded, Note, Phases, SelectedIteration, SelectedPhase, WarmUp};
use crate::subject::chosen_processes::ChosenProcesses;
use crate::subject::commands::Commands;
use crate::subject::gaps::Occupancy;
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::signposts::Signposts;

/// Results from before the window was cut.
pub(crate) struct Before<'a> {
    /// Warm-up of the process.
    pub warm_up: Option<WarmUp>,
    /// Phases that programs named.
    pub signposts: &'a Signposts,
    /// Named phase that the window was cut to.
    pub selected: Option<SelectedPhase>,
    /// Detected iteration that the window was cut to.
    pub iteration: Option<SelectedIteration>,
    /// Encodings of the GPU work.
    pub commands: &'a Commands,
}

/// Returns the phases in the window, and the start of each detected iteration. `mine` are
/// the GPU intervals of the process that touch it, sorted by start.
pub(crate) fn phases(
    mine: &[Interval],
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
    window: Span,
    before: Before<'_>,
    chosen: &ChosenProcesses,
    names: &Names,
) -> (Phases, Vec<u64>) {
    let segments = segments::segments(mine, occupancy, window);
    let encoded = Encoded::new(mine, before.commands, kernels, window, names);
    let (iterations, iteration_starts) = iterations::iterations(mine, kernels, occupancy);
    let phases = Phases {
        warm_up: before.warm_up,
        iterations,
        regularity: regularity::regularity(&occupancy.gaps, segments.quiet_gap_ns),
        segments,
        signposts: named_phases(
            before.signposts,
            mine,
            &encoded,
            &occupancy.busy,
            window,
            chosen,
            names,
        ),
        unplaced: encoded.unplaced(),
        selected: before.selected,
        selected_iteration: before.iteration,
    };
    (phases, iteration_starts)
}

/// Returns the note on the detected iteration that the window was cut to: its number, and the rule
/// by which it was detected. `marker` is the kernel at the start of each.
pub(crate) fn iteration_note(cut: &SelectedIteration, marker: Option<&str>) -> Note {
    let rule = match (cut.found_by, marker) {
        (FoundBy::KernelSequence, Some(marker)) => message!(
            "the same kernels repeat in the same order, and {} begins each iteration",
            kernel(marker)
        ),
        (FoundBy::CommandBuffers, Some(marker)) => message!(
            "command buffers with the same labels repeat in the same order, and {} begins each \
             iteration",
            kernel(marker)
        ),
        (FoundBy::KernelSequence | FoundBy::CommandBuffers, None) => {
            "the same labels repeat in the same order".into()
        }
        (FoundBy::Gaps, _) => "long gaps come at regular times, and each iteration begins after \
                               one"
        .into(),
    };
    let text = message!(
        "the window is iteration {} of {} detected ones: {}",
        ungrouped(cut.number),
        ungrouped(cut.count),
        rule
    );
    Note::loud("iteration", text)
}

/// Returns the notes about phases.
pub(crate) fn notes(phases: &Phases, window: Span) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(warm_up) = &phases.warm_up {
        let consequence = if warm_up.skipped {
            "it was cut off"
        } else {
            "it is included here; --skip-warmup cuts it off"
        };
        notes.push(Note::quiet(
            "warm-up",
            message!("warm-up: {}; {}", &warm_up.explanation, consequence),
        ));
    }

    let named = phases.signposts.iter();
    let saturated = named.filter(|phase| phase.total_ns == u64::MAX);
    notes.extend(saturated.map(|phase| {
        let text = message!(
            "the total of the os_signpost intervals named {} exceeds 64 bits: it is a lower bound",
            name(&phase.name)
        );
        Note::quiet("phase-too-long", text)
    }));

    if let Some(phase) = phases
        .selected
        .as_ref()
        .filter(|phase| phase.between_ns > 0)
    {
        let text = message!(
            "the window reaches from the first begin to the last end of {} intervals named {}; {} of \
             its {} lie outside all of them",
            ungrouped(phase.count),
            name(&phase.name),
            time(phase.between_ns),
            time(window.length_ns())
        );
        notes.push(Note::quiet("phase-apart", text));
    }
    notes
}

/// Returns the reason why there are no named phases, if there are none.
pub(crate) fn not_recorded(signposts: &Signposts) -> Option<NotRecorded> {
    Some(NotRecorded::new("phases.signposts", signposts.why_none()?))
}
