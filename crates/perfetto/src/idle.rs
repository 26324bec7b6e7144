//! The gaps as slices: whose fault each of their nanoseconds is.

use std::io::{self, Write};

use metalens_analyzer::{Analysis, Cause, ExplainedGap};

use crate::event::{Events, Track};
use crate::tracks::Tracks;

/// The track's place in the list: below the target's channels.
pub(crate) const GROUP: usize = 100;

pub(crate) fn gaps<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut Events<W>,
) -> io::Result<()> {
    let pid = tracks.target();
    let track = tracks.open(pid, "idle: whose fault", (GROUP, 0), events)?;
    analysis.gaps().try_for_each(|gap| one(&gap, track, events))
}

/// Its slices, end to end.
fn one<W: Write>(gap: &ExplainedGap<'_>, track: Track, events: &mut Events<W>) -> io::Result<()> {
    let mut at = gap.start_ns;
    for slice in slices(gap) {
        let end = at + slice.length_ns;
        let mut event = events.slice(track, "idle", slice.cause.name(), (at, end))?;
        if slice.foreign_ns > 0 {
            let own = slice.length_ns - slice.foreign_ns;
            event = event.known(slice.own, Some(own).filter(|&ns| ns > 0));
            event = event.number("foreign_ns", slice.foreign_ns);
        }
        let event = event.number("gap_ns", gap.duration_ns);
        let event = event.text("before", gap.before)?.text("after", gap.after)?;
        event.flag("serialised", gap.serialised).finish()?;
        at = end;
    }
    Ok(())
}

/// A stretch of a gap.
struct Slice {
    cause: Cause,
    length_ns: u64,
    /// How much of it another process held the GPU.
    foreign_ns: u64,
    /// What the rest is called among the arguments.
    own: &'static str,
}

/// What a gap is cut into, in the order of time; empty ones are left out.
fn slices(gap: &ExplainedGap<'_>) -> impl Iterator<Item = Slice> {
    let parts = gap.parts;
    let plain = |cause| Slice {
        cause,
        length_ns: parts.of(cause),
        foreign_ns: 0,
        own: "",
    };
    // Work that was encoded is either on its way or queued, never both.
    let (own, name) = match parts.queued_ns > 0 && parts.launch_ns == 0 {
        true => (Cause::Queued, "queued_ns"),
        false => (Cause::Launch, "launch_ns"),
    };
    let foreign_ns = parts.foreign_ns;
    let waiting = Slice {
        cause: match foreign_ns > parts.of(own) {
            true => Cause::Foreign,
            false => own,
        },
        length_ns: parts.of(own) + foreign_ns,
        foreign_ns,
        own: name,
    };
    let all = [
        plain(Cause::Completion),
        plain(Cause::Host),
        plain(Cause::Encode),
        waiting,
        plain(Cause::Unexplained),
    ];
    all.into_iter().filter(|slice| slice.length_ns > 0)
}
