//! Measures the phases that programs named.

mod encoded;
mod named;

use metalens_message::{Ns, message, name};
use metalens_trace::Names;

use self::encoded::Encoded;
use self::named::named_phases;
use crate::report::{NotRecorded, Note, Phases};
use crate::subject::Subject;
use crate::subject::gaps::Occupancy;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::signposts::Signposts;

/// Returns the phases that programs named. `mine` are the GPU intervals of the process that touch the
/// window, sorted by start.
pub(crate) fn phases(
    subject: &Subject,
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
    names: &Names,
) -> Phases {
    let (mine, window) = (&subject.mine, subject.window());
    let encoded = Encoded::new(mine, &subject.commands, kernels, window, names);
    Phases {
        signposts: named_phases(
            &subject.signposts,
            mine,
            &encoded,
            &occupancy.busy,
            window,
            &subject.chosen,
            names,
        ),
        unplaced: encoded.unplaced(),
    }
}

/// Returns the notes about phases.
pub(crate) fn notes(phases: &Phases) -> Vec<Note> {
    let named = phases.signposts.iter();
    let saturated = named.filter(|phase| phase.total_ns == Ns(u64::MAX));
    let notes = saturated.map(|phase| {
        let text = message!(
            "the total of the os_signpost intervals named {} exceeds 64 bits: it is a lower bound",
            name(&phase.name)
        );
        Note::quiet("phase-too-long", text)
    });
    notes.collect()
}

/// Returns the reason why there are no named phases, if there are none.
pub(crate) fn not_recorded(signposts: &Signposts) -> Option<NotRecorded> {
    Some(NotRecorded::new("phases.signposts", signposts.why_none()?))
}
