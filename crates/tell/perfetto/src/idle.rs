//! Writes the gaps as slices, one for each cause of idle time in a gap.

use std::io::{self, Write};

use metalens_analyzer::{Analysis, ExplainedGap, IdleStretch};

use crate::event::{TraceEvents, Track};
use crate::tracks::{IDLE, Tracks};

/// Writes every gap, divided where its cause changes.
pub(crate) fn gaps<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let pid = tracks.pid();
    let track = tracks.open(pid, "idle time by cause", IDLE, 0, events)?;
    let mut stretches = analysis.idle().peekable();
    for gap in analysis.gaps() {
        let end_ns = gap.start_ns + gap.duration_ns;
        while let Some(stretch) = stretches.next_if(|stretch| stretch.start_ns < end_ns) {
            slice(&stretch, &gap, track, events)?;
        }
    }
    Ok(())
}

/// Writes one stretch of a gap.
fn slice<W: Write>(
    stretch: &IdleStretch,
    gap: &ExplainedGap<'_>,
    track: Track,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let (start_ns, end_ns) = (stretch.start_ns, stretch.end_ns);
    events
        .slice(track, "idle", stretch.cause.name(), start_ns, end_ns)?
        .number("gap_ns", gap.duration_ns)
        .text("before", gap.before)?
        .text("after", gap.after)?
        .flag("serialized", gap.serialized)
        .finish()
}
