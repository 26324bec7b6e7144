//! Writes the program's side of GPU work: encoding it, and the notification of its completion.

use std::io;

use metalens_analyzer::{Analysis, GpuInterval, Report};
use metalens_message::Ns;

use crate::event::{Trace, Track};
use crate::tracks::{COMPLETION, ENCODING, LanedTracks};

/// Slices that several intervals may share, each written once.
pub(crate) struct SharedSlices<Key> {
    slices: Vec<(Key, Track)>,
}

impl<Key: Ord + Copy> SharedSlices<Key> {
    /// Returns the track of a slice.
    pub(crate) fn track(&self, key: Key) -> Option<Track> {
        let index = self.slices.binary_search_by_key(&key, |&(slice, _)| slice);
        self.slices.get(index.ok()?).map(|&(_, track)| track)
    }
}

/// Key of an encoding: its start, its end and the encoder.
pub(crate) type EncodingKey = (u64, u64, Option<u64>);

/// Returns the key of an interval's encoding.
pub(crate) fn encoding_key(interval: &GpuInterval<'_>) -> Option<EncodingKey> {
    let (start_ns, end_ns) = interval.encoded_ns?;
    Some((start_ns, end_ns, interval.encoder))
}

/// Writes the encodings of the intervals in the window, each with the name of its first kernel.
pub(crate) fn encodings(
    analysis: &Analysis,
    trace: &mut Trace<'_>,
) -> io::Result<SharedSlices<EncodingKey>> {
    let encodings = analysis.intervals().filter_map(|interval| {
        let key = encoding_key(&interval)?;
        Some((key, (interval.kernel, interval.command_buffer)))
    });
    let mut encodings: Vec<_> = encodings.collect();
    encodings.sort_by_key(|&(key, _)| key);
    encodings.dedup_by_key(|&mut (key, _)| key);

    let mut laned = LanedTracks::new(trace.pid, "encoding", ENCODING);
    let slices = encodings
        .into_iter()
        .map(|(key, (kernel, command_buffer))| {
            let (start_ns, end_ns, encoder) = key;
            let track = laned.place(start_ns, end_ns, trace)?;
            let event = trace
                .slice(track, "encode", kernel, start_ns, end_ns)?
                .known("command_buffer", command_buffer);
            event.known("encoder", encoder).finish()?;
            Ok((key, track))
        });
    Ok(SharedSlices {
        slices: slices.collect::<io::Result<_>>()?,
    })
}

/// Key of a completion: its start, its end and the command buffer.
pub(crate) type CompletionKey = (u64, u64, u64);

/// Writes the time from the end of each command buffer on the GPU until the program was notified.
/// The slice has no length if the end on the GPU is unknown.
pub(crate) fn completions(
    analysis: &Analysis,
    trace: &mut Trace<'_>,
) -> io::Result<DrawnCompletions> {
    let edges = CutEdges::from_report(&analysis.report);
    let ends = analysis.intervals().filter_map(|interval| {
        let notified_ns = interval.completed_ns?;
        let end = edges
            .end(&interval)
            .filter(|_| !edges.ends_before(notified_ns));
        Some((interval.command_buffer?, end, notified_ns))
    });

    let mut ends: Vec<_> = ends.collect();
    // Only the last end of each command buffer is kept. An end beyond the window is the last.
    ends.sort_unstable_by_key(|&(buffer, end, _)| (buffer, end.is_none(), end));
    ends.reverse();
    ends.dedup_by_key(|&mut (buffer, _, _)| buffer);
    ends.reverse();

    let mut spans: Vec<CompletionKey> = ends
        .iter()
        .map(|&(buffer, end, notified_ns)| {
            (
                end.unwrap_or(notified_ns).min(notified_ns),
                notified_ns,
                buffer,
            )
        })
        .collect();
    let starts: Vec<(u64, u64)> = spans
        .iter()
        .map(|&(start, _, buffer)| (buffer, start))
        .collect();

    spans.sort_unstable();
    let name = "completion latency";
    let mut laned = LanedTracks::new(trace.pid, name, COMPLETION);
    let slices = spans.into_iter().map(|key| {
        let (start_ns, notified_ns, buffer) = key;
        let track = laned.place(start_ns, notified_ns, trace)?;
        let event = trace.slice(track, "completion", "completion", start_ns, notified_ns)?;
        event.number("command_buffer", buffer).finish()?;
        Ok((key, track))
    });
    let slices = slices.collect::<io::Result<_>>()?;
    Ok(DrawnCompletions {
        starts,
        slices: SharedSlices { slices },
    })
}

/// The completions that were written.
pub(crate) struct DrawnCompletions {
    /// Start of each command buffer's slice, by the buffer's number.
    starts: Vec<(u64, u64)>,
    slices: SharedSlices<CompletionKey>,
}

impl DrawnCompletions {
    /// Returns the track and the start of an interval's completion.
    pub(crate) fn start(&self, interval: &GpuInterval<'_>) -> Option<(Track, u64)> {
        let (buffer, notified_ns) = (interval.command_buffer?, interval.completed_ns?);
        let index = self
            .starts
            .binary_search_by_key(&buffer, |&(number, _)| number);
        let &(_, start_ns) = self.starts.get(index.ok()?)?;
        let track = self.slices.track((start_ns, notified_ns, buffer))?;
        Some((track, start_ns))
    }
}

/// Edges at which the window was cut. An interval that touches such an edge may reach beyond it, so
/// that its start or end is unknown.
pub(crate) struct CutEdges {
    start_ns: Option<u64>,
    end_ns: Option<u64>,
}

impl CutEdges {
    pub(crate) fn from_report(report: &Report) -> Self {
        let window = &report.window;
        let cut = |time_ns: Ns| (!window.excluded.is_empty()).then_some(time_ns.0);
        Self {
            start_ns: cut(window.start_ns),
            end_ns: cut(window.end_ns),
        }
    }

    /// Returns the start of an interval, if it is known.
    pub(crate) fn start(&self, interval: &GpuInterval<'_>) -> Option<u64> {
        Some(interval.start_ns).filter(|_| self.start_ns != Some(interval.start_ns))
    }

    /// Returns whether the window was cut before a time: a command buffer that completed then may
    /// have more intervals beyond the window.
    fn ends_before(&self, at_ns: u64) -> bool {
        self.end_ns.is_some_and(|end_ns| end_ns < at_ns)
    }

    /// Returns the end of an interval, if it is known.
    pub(crate) fn end(&self, interval: &GpuInterval<'_>) -> Option<u64> {
        Some(interval.end_ns).filter(|_| self.end_ns != Some(interval.end_ns))
    }
}
