//! Writes the GPU intervals, and the arrows from their encoding and to their completion.

use std::collections::BTreeMap;
use std::io;

use metalens_analyzer::{Analysis, GpuInterval};

use crate::event::{Trace, Track};
use crate::program::{CutEdges, DrawnCompletions, EncodingKey, SharedSlices, encoding_key};
use crate::tracks::{CHANNELS, LanedTracks, OTHERS};

/// Name for a channel that the table does not name.
const NAMELESS: &str = "(no channel)";

/// The tracks of the process's channels.
pub(crate) struct Channels<'a> {
    all: BTreeMap<Option<&'a str>, LanedTracks<'a>>,
}

impl<'a> Channels<'a> {
    /// Opens all tracks that the intervals will need, one channel after another, because Perfetto
    /// lists tracks in the order of their numbers.
    pub(crate) fn open(analysis: &'a Analysis, trace: &mut Trace<'_>) -> io::Result<Self> {
        let mut spans: BTreeMap<Option<&str>, Vec<(u64, u64)>> = BTreeMap::new();
        for span in analysis.spans() {
            let of_channel = spans.entry(span.channel).or_default();
            of_channel.push((span.start_ns, span.end_ns));
        }

        let channels = analysis.report.channels.iter().enumerate();
        let tracks = channels
            .map(|(index, channel)| {
                let name = channel.name.as_deref();
                let shown = name.unwrap_or(NAMELESS);
                let mut laned = LanedTracks::new(trace.pid, shown, CHANNELS + index);
                for (start_ns, end_ns) in spans.remove(&name).unwrap_or_default() {
                    laned.place(start_ns, end_ns, trace)?;
                }
                Ok((name, laned.cleared()))
            })
            .collect::<io::Result<_>>()?;
        Ok(Self { all: tracks })
    }

    fn get(&mut self, channel: Option<&'a str>) -> io::Result<&mut LanedTracks<'a>> {
        let laned = self.all.get_mut(&channel);
        laned.ok_or_else(|| io::Error::other("a GPU interval is on a channel that is not listed"))
    }
}

/// Writes the process's intervals on the tracks of their channels.
pub(crate) fn intervals<'a>(
    analysis: &'a Analysis,
    mut channels: Channels<'a>,
    encodings: &SharedSlices<EncodingKey>,
    completions: &DrawnCompletions,
    trace: &mut Trace<'_>,
) -> io::Result<()> {
    let edges = CutEdges::from_report(&analysis.report);
    for (id, interval) in (1..).zip(analysis.intervals()) {
        let laned = channels.get(interval.channel)?;
        let track = laned.place(interval.start_ns, interval.end_ns, trace)?;
        slice(&interval, track, &edges, trace)?;
        let encoding = encoding_key(&interval).and_then(|key| Some((encodings.track(key)?, key.0)));
        let completion = completions.start(&interval);
        arrows(id, encoding, track, interval.start_ns, completion, trace)?;
    }
    Ok(())
}

fn slice(
    interval: &GpuInterval<'_>,
    track: Track,
    edges: &CutEdges,
    trace: &mut Trace<'_>,
) -> io::Result<()> {
    let (start, end) = (edges.start(interval), edges.end(interval));
    let encoded = interval.encoded_ns.map(|(_, end_ns)| end_ns);
    let (start_ns, end_ns) = (interval.start_ns, interval.end_ns);
    trace
        .slice(track, "gpu", interval.kernel, start_ns, end_ns)?
        .known("command_buffer", interval.command_buffer)
        .known("encoder", interval.encoder)
        .between("encoded_to_start_ns", encoded, start)
        .known("committed_to_start_ns", interval.committed_to_start_ns)
        .between("end_to_completed_ns", end, interval.completed_ns)
        .finish()
}

/// Writes an arrow from the encoding to the interval and on to the completion. It leaves out stops
/// that are unknown, or that would lead back in time.
fn arrows(
    id: u64,
    encoding: Option<(Track, u64)>,
    track: Track,
    start_ns: u64,
    completion: Option<(Track, u64)>,
    trace: &mut Trace<'_>,
) -> io::Result<()> {
    let encoding = encoding.filter(|&(_, from_ns)| from_ns <= start_ns);
    let completion = completion.filter(|&(_, to_ns)| to_ns >= start_ns);
    if encoding.is_none() && completion.is_none() {
        return Ok(());
    }

    let stops = [encoding, Some((track, start_ns)), completion];
    let last = stops.iter().flatten().count() - 1;
    for (index, &(track, at_ns)) in stops.iter().flatten().enumerate() {
        let kind = match index {
            0 => b's',
            _ if index == last => b'f',
            _ => b't',
        };
        trace.arrow(kind, id, track, at_ns)?;
    }
    Ok(())
}

/// Writes the times in which other processes used the GPU.
pub(crate) fn others(analysis: &Analysis, trace: &mut Trace<'_>) -> io::Result<()> {
    let track = trace.open(OTHERS, "others", 0, 0)?;
    let name = "other processes";
    analysis.others().try_for_each(|(start_ns, end_ns)| {
        let slice = trace.slice(track, "others", name, start_ns, end_ns)?;
        slice.finish()
    })
}
