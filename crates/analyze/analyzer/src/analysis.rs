//! Result of an analysis: the report, with every gap and every interval for pictures and other
//! tools' formats.

use std::num::NonZeroU64;

use metalens_trace::{Names, ProcessId, Symbol};
use rustc_hash::FxHashMap;

use crate::basics::distinct::distinct;
use crate::basics::spans::{Span, touches};
use crate::basics::state_interval::StateInterval;
use crate::metrics::counters::{CounterSeries, CounterTrack, tracks};
use crate::metrics::cpu::SampledFunctions;
use crate::metrics::gap_causes::GapSplitter;
use crate::metrics::lanes::Lanes;
use crate::metrics::steps::split;
use crate::report::{Cause, GapParts, NamedBy, Report, StepParts};
use crate::subject::Subject;
use crate::subject::buffers::Buffer;
use crate::subject::gaps::Gap;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::steps::Tile;

/// Result of an analysis: the report, and the data that it was computed from.
pub struct Analysis {
    /// Report of the analysis.
    pub report: Report,
    subject: Subject,
    gaps: Vec<Gap>,
    kernels: NamedIntervals,
    channels: Vec<(Symbol, String)>,
    processes: FxHashMap<ProcessId, (String, Option<u32>)>,
    lanes: Lanes,
    phases: Vec<StateInterval>,
}

/// GPU interval of the process, with the times of its command buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuInterval<'a> {
    /// Start of the interval, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// End of the interval. Start and end are inside the window.
    pub end_ns: u64,
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Source of the kernel's name.
    pub named_by: NamedBy,
    /// Name of the process, one of the analyzed ones.
    pub process: Option<&'a str>,
    /// Process id; `None` if unknown.
    pub pid: Option<u32>,
    /// Channel that it ran on; `None` if the table has none.
    pub channel: Option<&'a str>,
    /// Id of its command buffer; `None` if unknown.
    pub command_buffer: Option<u64>,
    /// Id of its encoder; `None` if unknown.
    pub encoder: Option<u64>,
    /// Start and end of the encoding of its work; `None` if unknown.
    pub encoded_ns: Option<(u64, u64)>,
    /// Time of its command buffer's commit; `None` if unknown, or before the recording.
    pub committed_ns: Option<u64>,
    /// Time from that commit to the start of the interval, which the window may cut off.
    pub committed_to_start_ns: Option<u64>,
    /// Time at which the program was notified that its command buffer was done; `None` if unknown.
    pub completed_ns: Option<u64>,
}

/// GPU interval of any process in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnyInterval<'a> {
    /// Start of the interval, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// End of the interval. Start and end are as recorded, in the window or not.
    pub end_ns: u64,
    /// Start and end of its part inside the window; `None` if it does not touch the window.
    pub in_window: Option<(u64, u64)>,
    /// True if the report is about its process.
    pub is_analyzed: bool,
    /// Name of its process; `None` if the recorder did not know it.
    pub process: Option<&'a str>,
    /// Process id; `None` if unknown.
    pub pid: Option<u32>,
    /// Channel that it ran on; `None` if the table has none.
    pub channel: Option<&'a str>,
    /// Id of its command buffer; `None` if unknown.
    pub command_buffer: Option<u64>,
    /// Id of its encoder; `None` if unknown.
    pub encoder: Option<u64>,
    /// Time of its command buffer's commit; `None` if unknown, or before the recording.
    pub committed_ns: Option<u64>,
}

/// Command buffer with the times of its stations, in nanoseconds since the recording began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandBuffer {
    /// Id of the command buffer.
    pub id: NonZeroU64,
    /// Start of the first encoding of its work in the window, and end of the last one; `None` if
    /// unknown.
    pub encoded_ns: Option<(u64, u64)>,
    /// Commit, negative if before the recording; `None` if unknown, or if there are several.
    pub committed_ns: Option<i64>,
    /// Time at which the driver began to work on it; `None` if unknown.
    pub driver_ns: Option<u64>,
    /// Time of its first submission to the GPU; `None` if unknown.
    pub submitted_ns: Option<u64>,
    /// Start of its first interval on the GPU and end of its last one, inside the window or not.
    pub gpu_ns: (u64, u64),
    /// Time at which the program was notified of its completion; `None` if unknown.
    pub completed_ns: Option<u64>,
}

/// Time, kernel, channel and command buffer of a GPU interval of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuSpan<'a> {
    /// Start of the interval, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// End of the interval. Start and end are inside the window.
    pub end_ns: u64,
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Channel that it ran on; `None` if the table has none.
    pub channel: Option<&'a str>,
    /// Id of its command buffer; `None` if unknown.
    pub command_buffer: Option<NonZeroU64>,
}

/// Gap with its causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedGap<'a> {
    /// Start of the gap, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// Length of the gap in nanoseconds.
    pub duration_ns: u64,
    /// Kernel before the gap; `None` at the window's start.
    pub before: Option<&'a str>,
    /// Kernel after the gap; `None` at the window's end.
    pub after: Option<&'a str>,
    /// Cause of the largest part of the gap.
    pub cause: Cause,
    /// Time of the gap by cause.
    pub parts: GapParts,
    /// True if the program waited for the work before the gap before it began to encode the work
    /// after it; `None` if the two cannot be joined.
    pub serialized: Option<bool>,
}

/// Stretch of idle time with one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleStretch {
    /// Start of the stretch, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// End of the stretch (exclusive).
    pub end_ns: u64,
    /// Cause of the idle time.
    pub cause: Cause,
}

impl Analysis {
    pub(crate) fn new(
        report: Report,
        subject: Subject,
        gaps: Vec<Gap>,
        kernels: NamedIntervals,
        lanes: Lanes,
        names: &Names,
    ) -> Self {
        let rows = subject.everyone.as_ref().unwrap_or(&subject.mine);
        let channels = distinct(rows.iter().filter_map(|interval| interval.channel))
            .into_iter()
            .map(|channel| (channel, names.text(channel).to_owned()));

        Self {
            channels: channels.collect(),
            processes: names
                .processes()
                .map(|(id, process)| (id, (names.text(process.name).to_owned(), process.pid)))
                .collect(),
            phases: subject
                .signposts
                .phases(&subject.chosen, subject.window(), names),
            lanes,
            report,
            subject,
            gaps,
            kernels,
        }
    }

    /// Returns the steps of the main series with a known length, each with its number, and what runs once
    /// between them, limited to the window, in order of time.
    pub fn steps(&self) -> Vec<StateInterval> {
        let (Some(main), Some(said)) = (self.subject.series.first(), self.report.steps.first())
        else {
            return Vec::new();
        };
        let window = self.subject.window();
        let tiles = main.tiles().map(|tile| {
            let what = if tile.counts {
                format!("{} {}", said.name, tile.number())
            } else {
                "once".to_owned()
            };
            StateInterval::new(tile.span.clip(window), what)
        });
        tiles.filter(|step| step.start_ns < step.end_ns).collect()
    }

    /// Returns the steps of the main series that lie in the window, each with the parts of its time.
    pub fn step_parts(&self) -> Vec<StepParts> {
        let main = self.subject.series.first();
        let tiles = main
            .into_iter()
            .flat_map(|main| main.tiles_in(self.subject.window()));
        let tiles: Vec<Tile> = tiles.collect();
        let mut steps = Vec::with_capacity(tiles.len());
        split(
            &self.gaps,
            &GapSplitter::new(&self.subject),
            &tiles,
            |step| steps.push(step),
        );
        steps
    }

    /// Returns every GPU interval of the process, limited to the window, sorted by start.
    pub fn intervals(&self) -> impl Iterator<Item = GpuInterval<'_>> {
        let (window, commands) = (self.subject.window(), &self.subject.commands);
        let numbers = self.kernels.numbers();
        self.subject
            .mine
            .iter()
            .zip(numbers)
            .map(move |(interval, kernel)| {
                let span = interval.span.clip(window);
                let encoding = commands.encoding(interval).map(|encoding| encoding.span);
                let (process, pid) = self.process(interval.process);

                GpuInterval {
                    start_ns: span.start_ns,
                    end_ns: span.end_ns,
                    kernel: self.kernels.name(kernel),
                    named_by: self.kernels.named_by(kernel),
                    process,
                    pid,
                    channel: interval.channel.and_then(|channel| self.channel(channel)),
                    command_buffer: interval.command_buffer.map(NonZeroU64::get),
                    encoder: interval.encoder.map(NonZeroU64::get),
                    encoded_ns: encoding.map(|span| (span.start_ns, span.end_ns)),
                    committed_ns: interval.committed_ns(),
                    committed_to_start_ns: interval.start_latency_ns(),
                    completed_ns: interval
                        .command_buffer
                        .and_then(|id| commands.completion(id)),
                }
            })
    }

    /// Returns every GPU interval of the recording, of all processes, sorted by start. `None`
    /// unless [`Request::keep_everyone`](crate::Request::keep_everyone) requested them.
    pub fn everyone(&self) -> Option<impl ExactSizeIterator<Item = AnyInterval<'_>>> {
        let (window, chosen) = (self.subject.window(), &self.subject.chosen);
        let rows = self.subject.everyone.as_ref()?;
        Some(rows.iter().map(move |interval| {
            let inside = touches(interval.span, window).then(|| interval.span.clip(window));
            let (process, pid) = self.process(interval.process);

            AnyInterval {
                start_ns: interval.span.start_ns,
                end_ns: interval.span.end_ns,
                in_window: inside.map(|span| (span.start_ns, span.end_ns)),
                is_analyzed: chosen.contains(interval.process),
                process,
                pid,
                channel: interval.channel.and_then(|channel| self.channel(channel)),
                command_buffer: interval.command_buffer.map(NonZeroU64::get),
                encoder: interval.encoder.map(NonZeroU64::get),
                committed_ns: interval.committed_ns(),
            }
        }))
    }

    /// Returns the intervals of [`Self::intervals`] without the fields that need lookups.
    pub fn spans(&self) -> impl Iterator<Item = GpuSpan<'_>> {
        let window = self.subject.window();
        let numbers = self.kernels.numbers();
        let rows = self.subject.mine.iter().zip(numbers);
        rows.map(move |(interval, kernel)| {
            let span = interval.span.clip(window);
            GpuSpan {
                start_ns: span.start_ns,
                end_ns: span.end_ns,
                kernel: self.kernels.name(kernel),
                channel: interval.channel.and_then(|channel| self.channel(channel)),
                command_buffer: interval.command_buffer,
            }
        })
    }

    /// Returns the command buffers with these ids, in the order of the ids; without those that were
    /// committed several times, whose stations are of no single commit.
    pub fn command_buffers(&self, ids: impl IntoIterator<Item = NonZeroU64>) -> Vec<CommandBuffer> {
        let Subject {
            buffers,
            commands,
            mine,
            ..
        } = &self.subject;
        let mut ids: Vec<NonZeroU64> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        let known = ids.iter().filter_map(|id| {
            let place = buffers.binary_search_by_key(id, |buffer| buffer.id);
            buffers.get(place.ok()?)
        });
        let known: Vec<&Buffer> = known
            .filter(|buffer| !commands.is_reused(buffer.id))
            .collect();
        // Of a million intervals, only those are looked at that can be of these command buffers.
        let first_ns = known.iter().map(|buffer| buffer.span.start_ns).min();
        let last_ns = known.iter().map(|buffer| buffer.span.end_ns).max();
        let from = mine.partition_point(|row| Some(row.span.start_ns) < first_ns);
        let to = mine.partition_point(|row| Some(row.span.start_ns) <= last_ns);
        let near = mine.get(from..to).unwrap_or_default();

        let mut encoded: FxHashMap<NonZeroU64, (u64, u64)> = FxHashMap::default();
        for row in near {
            if let (Some(id), Some(encoding)) = (row.command_buffer, commands.encoding(row)) {
                let Span { start_ns, end_ns } = encoding.span;
                let known = encoded.entry(id).or_insert((start_ns, end_ns));
                *known = (known.0.min(start_ns), known.1.max(end_ns));
            }
        }
        let stations = |buffer: &&Buffer| self.stations(buffer, encoded.get(&buffer.id).copied());
        known.iter().map(stations).collect()
    }

    /// Returns the stations of a command buffer. Impossible orders come from damaged rows.
    fn stations(&self, buffer: &Buffer, encoded_ns: Option<(u64, u64)>) -> CommandBuffer {
        let Subject {
            commands, chain, ..
        } = &self.subject;
        let committed_ns = buffer.committed_ns();
        let driver = chain.times_of(buffer.id).filter(|driver| {
            let begins_ns = i128::from(driver.begins_ns);
            committed_ns.is_none_or(|ns| i128::from(ns) <= begins_ns)
        });
        let submitted_ns = driver.map(|driver| driver.submitted_ns);

        CommandBuffer {
            id: buffer.id,
            encoded_ns,
            committed_ns,
            driver_ns: driver.map(|driver| driver.begins_ns),
            submitted_ns: submitted_ns.filter(|&ns| ns <= buffer.span.start_ns),
            gpu_ns: (buffer.span.start_ns, buffer.span.end_ns),
            completed_ns: commands.completion(buffer.id),
        }
    }

    /// Returns the times when other processes ran on the GPU, inside the window: disjoint, in order
    /// of time.
    pub fn others(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let others = self.subject.others.busy.iter();
        others.map(|span| (span.start_ns, span.end_ns))
    }

    /// Returns the GPU's performance states in order of time, as the report's `machine.performance`
    /// counts them. Nothing is assumed between them.
    pub fn performance(&self) -> &[StateInterval] {
        &self.lanes.performance
    }

    /// Returns the samples of each hardware counter in the whole recording, in the order of the
    /// report's `counters`.
    pub fn counters(&self) -> &[CounterSeries] {
        &self.lanes.counters
    }

    /// Returns the counters that have a track under the timeline: the limiters with the highest
    /// mean, and the memory bandwidth; then the memory of the process, if it changes.
    pub fn counter_tracks(&self) -> Vec<CounterTrack<'_>> {
        let mut tracks = tracks(self.report.counters.as_ref(), &self.lanes.counters);
        let memory = &self.lanes.memory;
        let peak = memory.iter().map(|sample| sample.value).reduce(f64::max);
        tracks.extend(peak.map(|peak| CounterTrack {
            name: "Metal memory",
            peak,
            samples: memory,
        }));
        tracks
    }

    /// Returns the CPU samples of the threads that encode GPU work; of all threads of the process if those
    /// are unknown. Empty if the recording has none.
    pub fn sampled_functions(&self) -> &SampledFunctions {
        &self.lanes.sampled
    }

    /// Returns the phases that the process named with signposts, in order of time. They may
    /// overlap.
    pub fn named_phases(&self) -> &[StateInterval] {
        &self.phases
    }

    /// Returns the idle time in order of time, cut where its cause changes: the parts of
    /// [`Self::gaps`] with their times.
    pub fn idle(&self) -> impl Iterator<Item = IdleStretch> + '_ {
        self.idle_in(0, u64::MAX)
    }

    /// Returns the idle time of the gaps that touch a part of the window.
    pub fn idle_in(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = IdleStretch> + '_ {
        let splitter = GapSplitter::new(&self.subject);
        self.gaps_between(from_ns, to_ns)
            .iter()
            .flat_map(move |gap| splitter.stretches(gap))
            .map(|(span, cause)| IdleStretch {
                start_ns: span.start_ns,
                end_ns: span.end_ns,
                cause,
            })
    }

    /// Returns start and end of each gap, without its causes.
    pub fn gap_times(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        let gaps = self.gaps.iter();
        gaps.map(|gap| (gap.span.start_ns, gap.span.end_ns))
    }

    fn process(&self, id: Option<ProcessId>) -> (Option<&str>, Option<u32>) {
        match id.and_then(|id| self.processes.get(&id)) {
            Some((name, pid)) => (Some(name), *pid),
            None => (None, None),
        }
    }

    fn channel(&self, channel: Symbol) -> Option<&str> {
        self.channels
            .iter()
            .find(|&&(known, _)| known == channel)
            .map(|(_, name)| name.as_str())
    }

    /// Returns every gap of the window, in order of time.
    pub fn gaps(&self) -> impl Iterator<Item = ExplainedGap<'_>> {
        self.gaps_in(0, u64::MAX)
    }

    fn gaps_between(&self, from_ns: u64, to_ns: u64) -> &[Gap] {
        let first = self.gaps.partition_point(|gap| gap.span.end_ns <= from_ns);
        let end = self.gaps.partition_point(|gap| gap.span.start_ns < to_ns);
        self.gaps.get(first..end).unwrap_or_default()
    }

    /// Returns the gaps that touch a part of the window, in order of time.
    pub fn gaps_in(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = ExplainedGap<'_>> {
        let splitter = GapSplitter::new(&self.subject);
        let name = |index: Option<usize>| Some(self.kernels.name(self.kernels.number_of(index?)?));

        self.gaps_between(from_ns, to_ns).iter().map(move |gap| {
            let split = splitter.split(gap);
            ExplainedGap {
                start_ns: gap.span.start_ns,
                duration_ns: gap.span.length_ns(),
                before: name(gap.before()),
                after: name(gap.after()),
                cause: split.parts.cause(),
                parts: split.parts,
                serialized: split.pair.is_serialized(),
            }
        })
    }
}
