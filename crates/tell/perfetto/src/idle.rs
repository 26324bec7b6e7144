//! Writes the gaps as slices, one for each cause of idle time in a gap.

use std::io;

use metalens_analyzer::{Analysis, ExplainedGap, IdleStretch};

use crate::event::{Trace, Track};
use crate::tracks::IDLE;

/// Writes every gap, divided where its cause changes.
pub(crate) fn gaps(analysis: &Analysis, trace: &mut Trace<'_>) -> io::Result<()> {
    let pid = trace.pid;
    let track = trace.open(pid, "idle time by cause", IDLE, 0)?;
    let mut stretches = analysis.idle().peekable();
    for gap in analysis.gaps() {
        let end_ns = gap.start_ns + gap.duration_ns;
        while let Some(stretch) = stretches.next_if(|stretch| stretch.start_ns < end_ns) {
            slice(&stretch, &gap, track, trace)?;
        }
    }
    Ok(())
}

/// Writes one stretch of a gap.
fn slice(
    stretch: &IdleStretch,
    gap: &ExplainedGap<'_>,
    track: Track,
    trace: &mut Trace<'_>,
) -> io::Result<()> {
    let (start_ns, end_ns) = (stretch.start_ns, stretch.end_ns);
    trace
        .slice(track, "idle", stretch.cause.name(), start_ns, end_ns)?
        .number("gap_ns", gap.duration_ns)
        .text("before", gap.before)?
        .text("after", gap.after)?
        .flag("serialized", gap.serialized)
        .finish()
}
