//! The gaps as slices: whose fault each of their nanoseconds is.

use std::io::{self, Write};

use metalens_analyzer::{Analysis, ExplainedGap, IdleStretch};

use crate::event::{Events, Track};
use crate::tracks::{IDLE, Tracks};

/// Every gap, cut where its cause changes.
pub(crate) fn gaps<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut Events<W>,
) -> io::Result<()> {
    let pid = tracks.target();
    let track = tracks.open(pid, "idle: whose fault", (IDLE, 0), events)?;
    let mut stretches = analysis.idle().peekable();
    for gap in analysis.gaps() {
        let end_ns = gap.start_ns + gap.duration_ns;
        while let Some(stretch) = stretches.next_if(|one| one.start_ns < end_ns) {
            one(&stretch, &gap, track, events)?;
        }
    }
    Ok(())
}

/// A stretch, and the gap that it is of.
fn one<W: Write>(
    stretch: &IdleStretch,
    gap: &ExplainedGap<'_>,
    track: Track,
    events: &mut Events<W>,
) -> io::Result<()> {
    let span = (stretch.start_ns, stretch.end_ns);
    events
        .slice(track, "idle", stretch.cause.name(), span)?
        .number("gap_ns", gap.duration_ns)
        .text("before", gap.before)?
        .text("after", gap.after)?
        .flag("serialized", gap.serialized)
        .finish()
}
