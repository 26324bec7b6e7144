//! Writes an analysis as a trace for other viewers: ui.perfetto.dev, chrome://tracing.
//!
//! [`write()`] writes Chrome's JSON trace format, the only one that both viewers read;
//! chrome://tracing cannot read Perfetto's protobuf format. This crate opens no file and does not
//! print.
//!
//! # Contents
//!
//! | track | events |
//! | --- | --- |
//! | one per channel of the process | every GPU interval, with the known facts of its command buffer |
//! | `phases` | phases that the process named with signposts, as far as they are in the window |
//! | `idle time by cause` | every gap, divided where its cause changes; the slices tile the gaps exactly |
//! | `encoding` | times at which the program encoded the work |
//! | `completion latency` | from the end of a command buffer's last interval until the program was notified |
//! | `others` | times at which other processes used the GPU, as a process of its own |
//! | `GPU performance state` | performance states, as a process of its own; nothing where the state is unknown |
//! | counters | GPU utilization, queue depth, GPU memory, hardware counters |
//!
//! Arrows lead from an encoding to each of its intervals and on to the completion, if the tables
//! join them and their times are in that order.
//!
//! # Time
//!
//! Timestamps in this format are microseconds. They are written as decimals with every nanosecond,
//! without conversion to a float. A viewer that reads them as a float and truncates the rest, like
//! older versions of Perfetto, may show a slice one nanosecond early or short. Version 52 keeps all
//! of them.
//!
//! # Cost
//!
//! Intervals and gaps are written one by one. Only the times of the intervals, and a short record of
//! each encoding and each command
//! buffer is kept in memory.
//!
//! # Lanes
//!
//! The slices of a track must not overlap unless one is inside another; viewers misplace or drop
//! others. GPU work does overlap, so a channel has as many tracks as it needs: `Vertex`, `Vertex
//! (2)`, … Each interval is on the first free track. The number of the track has no meaning.
//!
//! Phases are nested where possible: a phase inside another may be drawn below it, and phases that
//! overlap otherwise are on different tracks. Nesting has no other meaning.
//!
//! # Names
//!
//! The file names the process, its kernels, labels and phases, but nothing of the machine. Other
//! processes on the GPU appear as one process without a name, so that the file can be shared.
//!
//! Facts that a recording has only as totals, such as CPU samples, are left out.

mod counters;
mod event;
mod gpu;
mod idle;
mod lanes;
mod program;
mod states;
mod tracks;

use std::io::{self, Write};

use metalens_analyzer::{Analysis, Note, Report};

use event::Trace;
use tracks::process_number;

/// Writes the trace. The writer should be buffered.
///
/// # Errors
///
/// If writing fails.
pub fn write(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"traceEvents\":[")?;
    let (process, run) = (&analysis.report.process, &analysis.report.run);
    let trace = &mut Trace::new(&mut *out, process_number(process.pid), run.synthetic);
    trace.processes(&process.name)?;

    states::steps(analysis, trace)?;
    states::phases(analysis, trace)?;
    let channels = gpu::Channels::open(analysis, trace)?;

    // At equal times, viewers bind an arrow to the slice that was written last.
    idle::gaps(analysis, trace)?;
    let encodings = program::encodings(analysis, trace)?;
    let completions = program::completions(analysis, trace)?;
    gpu::intervals(analysis, channels, &encodings, &completions, trace)?;

    gpu::others(analysis, trace)?;
    states::performance(analysis, trace)?;
    counters::counters(&analysis.report, trace)?;
    counters::hardware(analysis, trace)?;

    out.write_all(b"\n],\"displayTimeUnit\":\"ns\",\"otherData\":")?;
    serde_json::to_writer(&mut *out, &other_data(&analysis.report))?;
    out.write_all(b"}\n")
}

/// Returns facts about the file for its readers.
fn other_data(report: &Report) -> serde_json::Value {
    let window = &report.window;
    serde_json::json!({
        "producer": concat!("metalens ", env!("CARGO_PKG_VERSION")),
        "synthetic": report.run.synthetic,
        "process": report.process.name,
        "window_start_ns": window.start_ns,
        "window_end_ns": window.end_ns,
        "notes": report.loud_notes().map(Note::text).collect::<Vec<_>>(),
        "units": "ts and dur are microseconds with all nanoseconds as decimals, from the \
                  start of the recording; arguments that end in _ns are nanoseconds",
        "lanes": "a channel's tracks (2), (3), ... have overlapping intervals; the number has no meaning",
    })
}
