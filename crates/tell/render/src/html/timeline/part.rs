//! Packs everything in a part of the window: intervals, gaps with their causes, other processes, command
//! buffers and CPU samples.
//!
//! A page of a million intervals should stay small. So numbers come column by column, which compresses
//! well, and what follows from the intervals is not said again: of a gap, only how it differs from the
//! time between two intervals, which is hardly ever.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::DeflateEncoder;
use metalens_analyzer::{Analysis, ExplainedGap, IdleStretch};
use serde::Serialize;

use super::PageContents;
use super::chains::chains;
use super::packed::Packed;
use super::pieces::{IntervalPiece, Stretch, number_of};
use crate::error::{Error, Result};
use crate::html::names::NameTable;

/// Largest number of CPU samples of a part.
const MOST_SAMPLES: usize = 200_000;

/// Packs parts of the window.
pub(super) struct Packer<'p, 'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) contents: &'p PageContents<'a>,
    /// Names by the numbers that stand for them.
    pub(super) names: &'p mut NameTable<'a>,
}

/// Everything in a part of the window.
pub(super) struct Part {
    full: [u64; 2],
    counts: Counts,
    packed: Packed,
}

/// Numbers of what is in a part, in the order in which it is packed.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Counts {
    intervals: usize,
    /// Command buffers of which more is recorded than the time on the GPU.
    chains: usize,
    gaps: usize,
    /// Stretches of other processes.
    others: usize,
    /// CPU samples; null if none is recorded, or too many are.
    samples: Option<usize>,
}

/// Part as the page's script reads it.
#[derive(Debug, Serialize)]
pub(super) struct StoredPart {
    /// Start and end of the part.
    full: [u64; 2],
    counts: Counts,
    /// Numbers in Base64; deflated, if they are for later.
    ///
    /// ```text
    /// intervals  lane…, name…, start after the end of the last one in the lane…, length…, owner…
    /// chains     see `chains`
    /// gaps       start after the guess…, end after the guess…, name before…, name after…,
    ///            number of causes…, cause of each part…, length of each part but the last of a gap…
    /// others     start after the end of the last one…, length…
    /// samples    time after the last one…, function (0 for none, else its number plus 1)…
    /// ```
    ///
    /// The guess of a gap is the next time without an interval. A name is 0 if it is that of the interval
    /// there, 1 for none, else its number plus 2.
    packed: String,
}

impl<'a> Packer<'_, 'a> {
    /// Packs a part of the window.
    pub(super) fn part(&mut self, full: [u64; 2]) -> Part {
        let contents = self.contents;
        let near = contents.near(full).iter();
        let inside: Vec<&IntervalPiece<'a>> = near.filter(|piece| piece.end_ns > full[0]).collect();
        let mut packed = Packed::default();
        self.intervals(&inside, &mut packed);
        Part {
            full,
            counts: Counts {
                intervals: inside.len(),
                chains: chains(self.analysis, &inside, &mut packed),
                gaps: self.gaps(&inside, full, &mut packed),
                others: others(contents.others, full, &mut packed),
                samples: self.samples(full, &mut packed),
            },
            packed,
        }
    }

    fn intervals(&mut self, pieces: &[&IntervalPiece<'a>], packed: &mut Packed) {
        let mut ends = vec![0; self.contents.lanes];
        let starts = pieces.iter().map(|piece| {
            let last = ends.get_mut(piece.lane);
            let last_ns = last.map_or(0, |last| std::mem::replace(last, piece.end_ns));
            i128::from(piece.start_ns) - i128::from(last_ns)
        });
        let starts: Vec<i128> = starts.collect();
        pieces
            .iter()
            .for_each(|piece| packed.put(piece.lane as u64));
        for piece in pieces {
            packed.put(self.names.number(piece.kernel));
        }
        starts.iter().for_each(|&start| packed.put_signed(start));
        pieces
            .iter()
            .for_each(|piece| packed.put(piece.end_ns - piece.start_ns));
    }

    fn gaps(
        &mut self,
        pieces: &[&IntervalPiece<'a>],
        full: [u64; 2],
        packed: &mut Packed,
    ) -> usize {
        let origin = self.analysis.report.window.start_ns.0;
        let [from, to] = full.map(|ns| origin + ns);
        let mut guesses = guesses(pieces, full).into_iter();
        let mut idle = self.analysis.idle_in(from, to).peekable();
        let mut columns = [(); 7].map(|()| Packed::default());
        let [starts, ends, before, after, numbers, causes, lengths] = &mut columns;
        let mut count = 0;
        for gap in self.analysis.gaps_in(from, to) {
            let ExplainedGap {
                start_ns,
                duration_ns,
                ..
            } = gap;
            let end_ns = start_ns + duration_ns;
            let guess = guesses.next().unwrap_or_default();
            starts.put_signed(i128::from(start_ns - origin) - i128::from(guess.span.0));
            ends.put_signed(i128::from(end_ns - origin) - i128::from(guess.span.1));
            for (column, name, guess) in [
                (&mut *before, gap.before, guess.before),
                (&mut *after, gap.after, guess.after),
            ] {
                column.put(match name {
                    _ if name == guess => 0,
                    None => 1,
                    Some(name) => self.names.number(name) + 2,
                });
            }
            let own = std::iter::from_fn(|| idle.next_if(|part| part.end_ns <= end_ns));
            let own: Vec<IdleStretch> = own.collect();
            numbers.put(own.len() as u64);
            own.iter()
                .for_each(|part| causes.put(number_of(part) as u64));
            // The last one has the rest of the gap.
            for part in own.iter().rev().skip(1).rev() {
                lengths.put(part.end_ns - part.start_ns);
            }
            count += 1;
        }
        columns.into_iter().for_each(|column| packed.append(column));
        count
    }

    fn samples(&mut self, full: [u64; 2], packed: &mut Packed) -> Option<usize> {
        let sampled = self.analysis.sampled_functions();
        let all = sampled.samples.as_slice();
        let start_ns = self.analysis.report.window.start_ns.0;
        let before = |ns: u64| all.partition_point(|sample| sample.0 < start_ns + ns);
        let samples = all.get(before(full[0])..before(full[1]))?;
        self.analysis.report.cpu.as_ref()?;
        if all.is_empty() || samples.len() > MOST_SAMPLES {
            return None;
        }
        let mut at = start_ns + full[0];
        for &(ns, _) in samples {
            packed.put(ns - at);
            at = ns;
        }
        for &(_, function) in samples {
            let name = function.and_then(|function| sampled.names.get(function));
            packed.put(name.map_or(0, |name| self.names.number(name) + 1));
        }
        Some(samples.len())
    }
}

/// Time without an interval, and the names of those around it.
#[derive(Default, Clone, Copy)]
struct Guess<'a> {
    span: Stretch,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

/// Returns the times between intervals, and those at the edges of the part. Intervals without length
/// are not looked at.
fn guesses<'a>(pieces: &[&IntervalPiece<'a>], full: [u64; 2]) -> Vec<Guess<'a>> {
    let (mut reach, mut before) = (full[0], None);
    let mut guesses = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.end_ns > piece.start_ns) {
        if piece.start_ns > reach {
            let span = (reach, piece.start_ns);
            let after = Some(piece.kernel);
            guesses.push(Guess {
                span,
                before,
                after,
            });
        }
        if piece.end_ns >= reach {
            (reach, before) = (piece.end_ns, Some(piece.kernel));
        }
    }
    let span = (reach, full[1].max(reach));
    guesses.push(Guess {
        span,
        before,
        after: None,
    });
    guesses
}

fn others(others: &[Stretch], full: [u64; 2], packed: &mut Packed) -> usize {
    let first = others.partition_point(|stretch| stretch.1 <= full[0]);
    let end = others.partition_point(|stretch| stretch.0 < full[1]);
    let inside = others.get(first..end).unwrap_or_default();
    let mut at = 0;
    for stretch in inside {
        packed.put(stretch.0 - at);
        at = stretch.1;
    }
    inside
        .iter()
        .for_each(|stretch| packed.put(stretch.1 - stretch.0));
    inside.len()
}

impl Part {
    /// Returns the part as it is, to be shown at once.
    pub(super) fn plain(self) -> StoredPart {
        StoredPart {
            full: self.full,
            counts: self.counts,
            packed: self.packed.into_text(),
        }
    }

    /// Compresses the part, which the page unpacks when somebody looks at it.
    pub(super) fn stored(self) -> Result<StoredPart> {
        let mut deflated = Vec::new();
        DeflateEncoder::new(self.packed.bytes(), Compression::default())
            .read_to_end(&mut deflated)
            .map_err(|cause| Error::Json {
                what: "the timeline".to_owned(),
                cause: serde_json::Error::io(cause),
            })?;
        Ok(StoredPart {
            full: self.full,
            counts: self.counts,
            packed: STANDARD.encode(deflated),
        })
    }
}
