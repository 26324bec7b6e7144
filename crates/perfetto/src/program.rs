//! What the program did for the GPU's work: encoding it, and hearing of its end.

use std::io::{self, Write};

use metalens_analyzer::{Analysis, GpuInterval, Report};

use crate::event::{Events, Track};
use crate::tracks::{COMPLETION, ENCODING, Laned, Tracks};

/// Slices that several intervals may lead to: each is there once.
pub(crate) struct Shared<Key> {
    slices: Vec<(Key, Track)>,
}

impl<Key: Ord + Copy> Shared<Key> {
    /// Where a slice is drawn.
    pub(crate) fn track(&self, key: Key) -> Option<Track> {
        let at = self.slices.binary_search_by_key(&key, |&(one, _)| one);
        self.slices.get(at.ok()?).map(|&(_, track)| track)
    }
}

/// Start, end and encoder.
pub(crate) type EncodingKey = (u64, u64, Option<u64>);

/// The encoding of an interval.
pub(crate) fn encoding_key(interval: &GpuInterval<'_>) -> Option<EncodingKey> {
    let (start_ns, end_ns) = interval.encoded_ns?;
    Some((start_ns, end_ns, interval.encoder))
}

/// Draws the encodings of what ran in the window, each under the name of the
/// first kernel that it led to.
pub(crate) fn encodings<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut Events<W>,
) -> io::Result<Shared<EncodingKey>> {
    let all = analysis.intervals().filter_map(|interval| {
        let key = encoding_key(&interval)?;
        Some((key, (interval.kernel, interval.command_buffer)))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|&(key, _)| key);
    all.dedup_by_key(|&mut (key, _)| key);
    let mut laned = Laned::new(tracks.target(), "encoding", ENCODING);
    let slices = all.into_iter().map(|(key, (kernel, command_buffer))| {
        let (start_ns, end_ns, encoder) = key;
        let track = laned.place((start_ns, end_ns), tracks, events)?;
        let event = events.slice(track, "encode", kernel, (start_ns, end_ns))?;
        let event = event.known("command_buffer", command_buffer);
        event.known("encoder", encoder).finish()?;
        Ok((key, track))
    });
    Ok(Shared {
        slices: slices.collect::<io::Result<_>>()?,
    })
}

/// From when to when, and the command buffer.
pub(crate) type CompletionKey = (u64, u64, u64);

/// Draws how long the program did not know that command buffers were done; of
/// no length where it is not known when the GPU was done.
pub(crate) fn completions<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut Events<W>,
) -> io::Result<Completions> {
    let edges = Edges::of(&analysis.report);
    let all = analysis.intervals().filter_map(|interval| {
        let known_ns = interval.completed_ns?;
        let end = edges
            .end(&interval)
            .filter(|_| !edges.ends_before(known_ns));
        Some((interval.command_buffer?, end, known_ns))
    });
    let mut all: Vec<_> = all.collect();
    // Of each buffer what ended last; an end that was cut off is the last.
    all.sort_unstable_by_key(|&(buffer, end, _)| (buffer, end.is_none(), end));
    all.reverse();
    all.dedup_by_key(|&mut (buffer, _, _)| buffer);
    all.reverse();
    let mut spans: Vec<CompletionKey> = all
        .iter()
        .map(|&(buffer, end, known_ns)| (end.unwrap_or(known_ns).min(known_ns), known_ns, buffer))
        .collect();
    let ends: Vec<(u64, u64)> = spans
        .iter()
        .map(|&(start, _, buffer)| (buffer, start))
        .collect();
    spans.sort_unstable();
    let name = "completion: the program does not know yet";
    let mut laned = Laned::new(tracks.target(), name, COMPLETION);
    let slices = spans.into_iter().map(|key| {
        let (start_ns, known_ns, buffer) = key;
        let track = laned.place((start_ns, known_ns), tracks, events)?;
        let event = events.slice(track, "completion", "completion", (start_ns, known_ns))?;
        event.number("command_buffer", buffer).finish()?;
        Ok((key, track))
    });
    let slices = slices.collect::<io::Result<_>>()?;
    Ok(Completions {
        starts: ends,
        drawn: Shared { slices },
    })
}

/// The completions that were drawn.
pub(crate) struct Completions {
    /// When the slice of a command buffer begins, by its number.
    starts: Vec<(u64, u64)>,
    drawn: Shared<CompletionKey>,
}

impl Completions {
    /// Where the completion of an interval is drawn, and when it begins.
    pub(crate) fn of(&self, interval: &GpuInterval<'_>) -> Option<(Track, u64)> {
        let (buffer, known_ns) = (interval.command_buffer?, interval.completed_ns?);
        let at = self.starts.binary_search_by_key(&buffer, |&(one, _)| one);
        let &(_, start_ns) = self.starts.get(at.ok()?)?;
        let track = self.drawn.track((start_ns, known_ns, buffer))?;
        Some((track, start_ns))
    }
}

/// Where the window was cut: an interval that touches such an edge may reach
/// beyond it, so that its start or its end is not known.
pub(crate) struct Edges {
    start_ns: Option<u64>,
    end_ns: Option<u64>,
}

impl Edges {
    pub(crate) fn of(report: &Report) -> Self {
        let window = &report.window;
        let cut = |at: u64| (!window.excluded.is_empty()).then_some(at);
        Self {
            start_ns: cut(window.start_ns),
            end_ns: cut(window.end_ns),
        }
    }

    /// When an interval began, if that is known.
    pub(crate) fn start(&self, interval: &GpuInterval<'_>) -> Option<u64> {
        Some(interval.start_ns).filter(|_| self.start_ns != Some(interval.start_ns))
    }

    /// Whether the window was cut before this time: more of a command buffer
    /// that completed then may lie beyond.
    fn ends_before(&self, at_ns: u64) -> bool {
        self.end_ns.is_some_and(|end_ns| end_ns < at_ns)
    }

    /// When it ended, if that is known.
    pub(crate) fn end(&self, interval: &GpuInterval<'_>) -> Option<u64> {
        Some(interval.end_ns).filter(|_| self.end_ns != Some(interval.end_ns))
    }
}
