//! An analysis → a trace that other viewers open: ui.perfetto.dev, chrome://tracing.
//!
//! [`write()`] writes Chrome's JSON trace format, the only one that both of
//! them read; Perfetto's own protobuf is lost on the other. This crate opens no
//! file and does not print.
//!
//! # What is in it
//!
//! | track | events |
//! | --- | --- |
//! | one per channel of the target | every GPU interval, and what is known of its command buffer |
//! | `warm-up` | the target's, if one is certain; the part of it that is in the window |
//! | `phases` | what the target named with signposts, the parts of it that are in the window |
//! | `idle: whose fault` | every gap, cut where what was waited for changes; the slices tile the gaps exactly |
//! | `encoding` | when the program encoded what ran |
//! | `completion` | from the end of a command buffer's last interval to when the program knew |
//! | `others` | when others were on the GPU, as a process of its own |
//! | `GPU performance state` | which one held, as a process of its own; nothing where that is not known |
//! | counters | how busy, how many command buffers in hand, GPU memory |
//!
//! Arrows lead from an encoding to each of its intervals and on to the
//! completion, where the tables join them and their times are in that order.
//!
//! # Time
//!
//! Timestamps are microseconds in this format; they are written as decimals
//! with every nanosecond, never by way of a float. A viewer that reads them as
//! a float and cuts off the rest, as older versions of Perfetto did, may show a
//! slice one nanosecond early or short; version 52 keeps all of them.
//!
//! # Cost
//!
//! Intervals and gaps are written as they come; only a short record of each
//! encoding and each command buffer is held.
//!
//! # Lanes
//!
//! The slices of a track must not overlap unless one lies inside another:
//! viewers misplace or drop what does. Work on the GPU does overlap, so that a
//! channel has as many tracks as it needs, `Vertex`, `Vertex (2)`, …: each
//! interval is in the first one that is free. Which one means nothing.
//!
//! Phases nest where they can: one that lies inside another may be drawn below
//! it, what overlaps otherwise is on another track. That says no more than when
//! they were.
//!
//! # Who is named in it
//!
//! The target, its kernels and labels, its phases; of the machine nothing.
//! Others on the GPU are one process without a name, so that the file can be
//! passed on as it is.
//!
//! What a recording has only as totals (CPU samples) is not in it.

mod counters;
mod event;
mod gpu;
mod held;
mod idle;
mod lanes;
mod program;
mod tracks;

use std::io::{self, Write};

use metalens_analyzer::{Analysis, Report};

use event::Events;
use tracks::{OTHERS, Tracks};

/// Writes the trace. Wants a buffered writer.
///
/// # Errors
///
/// If writing fails.
pub fn write(analysis: &Analysis, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    out.write_all(b"{\"traceEvents\":[")?;
    let mut events = Events::new(&mut *out);
    let mut tracks = Tracks::new(&analysis.report);
    tracks.processes(&analysis.report, &mut events)?;
    held::warm_up(&analysis.report, &mut tracks, &mut events)?;
    held::phases(analysis, &mut tracks, &mut events)?;
    let channels = gpu::Channels::open(analysis, &mut tracks, &mut events)?;
    // At equal times an arrow takes the slice written last before it.
    idle::gaps(analysis, &mut tracks, &mut events)?;
    let encodings = program::encodings(analysis, &mut tracks, &mut events)?;
    let completions = program::completions(analysis, &mut tracks, &mut events)?;
    let places = (channels, encodings, completions);
    gpu::intervals(analysis, places, &mut tracks, &mut events)?;
    gpu::others(analysis, &mut tracks, &mut events)?;
    held::performance(analysis, &mut tracks, &mut events)?;
    counters::counters(&analysis.report, tracks.target(), OTHERS, &mut events)?;
    out.write_all(b"\n],\"displayTimeUnit\":\"ns\",\"otherData\":")?;
    serde_json::to_writer(&mut *out, &other_data(&analysis.report))?;
    out.write_all(b"}\n")
}

/// What a reader should know who finds the file later.
fn other_data(report: &Report) -> serde_json::Value {
    let window = &report.window;
    serde_json::json!({
        "producer": concat!("metalens ", env!("CARGO_PKG_VERSION")),
        "synthetic": report.run.synthetic,
        "process": report.process.name,
        "window_start_ns": window.start_ns,
        "window_end_ns": window.end_ns,
        "notes": report.loud_notes().map(|note| note.text).collect::<Vec<_>>(),
        "units": "ts and dur are microseconds with all nanoseconds as decimals, from the \
                  recording's beginning; arguments that end in _ns are nanoseconds",
        "lanes": "a channel's tracks (2), (3), ... hold what overlaps; which one means nothing",
    })
}
