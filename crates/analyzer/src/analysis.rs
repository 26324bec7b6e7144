//! A report, and what it was made from, for those who want every gap and every
//! interval: pictures, other tools' formats.

use std::num::NonZeroU64;

use metalens_trace::{Names, ProcessId, Symbol};
use rustc_hash::FxHashMap;

use crate::basics::distinct::distinct;
use crate::basics::held::Held;
use crate::basics::spans::touches;
use crate::metrics::ledger::Book;
use crate::report::{Cause, GapParts, NamedBy, Report};
use crate::subject::Subject;
use crate::subject::gaps::Gap;
use crate::subject::named_intervals::NamedIntervals;

/// A report, and what it was made from.
pub struct Analysis {
    /// The report.
    pub report: Report,
    subject: Subject,
    gaps: Vec<Gap>,
    kernels: NamedIntervals,
    channels: Vec<(Symbol, String)>,
    processes: FxHashMap<ProcessId, (String, Option<u32>)>,
    performance: Vec<Held>,
    phases: Vec<Held>,
}

/// One GPU interval of the target, and what is known of its command buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuInterval<'a> {
    /// When it began.
    pub start_ns: u64,
    /// When it ended; both inside the window.
    pub end_ns: u64,
    /// What it is called.
    pub kernel: &'a str,
    /// What named it.
    pub named_by: NamedBy,
    /// Whose it is: one of the target's processes.
    pub process: Option<&'a str>,
    /// The number of that process.
    pub pid: Option<u32>,
    /// Where it ran.
    pub channel: Option<&'a str>,
    /// Its command buffer.
    pub command_buffer: Option<u64>,
    /// Its encoder.
    pub encoder: Option<u64>,
    /// When its work was encoded: start and end.
    pub encoded_ns: Option<(u64, u64)>,
    /// When its command buffer was committed; none if unknown, or before the recording.
    pub committed_ns: Option<u64>,
    /// Time from that commit to the start of the interval, which the window may cut off.
    pub committed_to_start_ns: Option<u64>,
    /// When the program knew that its command buffer was done.
    pub completed_ns: Option<u64>,
}

/// One GPU interval of the recording, whoever's it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnyInterval<'a> {
    /// When it began.
    pub start_ns: u64,
    /// When it ended; both as recorded, in the window or not.
    pub end_ns: u64,
    /// The part of it inside the window: start and end. None if it does not touch it.
    pub in_window: Option<(u64, u64)>,
    /// Whether it is the target's.
    pub is_analyzed: bool,
    /// Whose it is; none where the recorder did not know.
    pub process: Option<&'a str>,
    /// The number of that process.
    pub pid: Option<u32>,
    /// Where it ran.
    pub channel: Option<&'a str>,
    /// Its command buffer.
    pub command_buffer: Option<u64>,
    /// Its encoder.
    pub encoder: Option<u64>,
    /// When its command buffer was committed; none if unknown, or before the recording.
    pub committed_ns: Option<u64>,
}

/// When and where the target was on the GPU, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuSpan<'a> {
    /// When it began.
    pub start_ns: u64,
    /// When it ended; both inside the window.
    pub end_ns: u64,
    /// What it is called.
    pub kernel: &'a str,
    /// Where it ran.
    pub channel: Option<&'a str>,
}

/// One gap, explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedGap<'a> {
    /// When it began.
    pub start_ns: u64,
    /// How long it lasted.
    pub duration_ns: u64,
    /// The kernel before it; none at the window's start.
    pub before: Option<&'a str>,
    /// The kernel after it; none at the window's end.
    pub after: Option<&'a str>,
    /// What most of it was spent on.
    pub cause: Cause,
    /// What all of it was spent on.
    pub parts: GapParts,
    /// Whether the program waited for the work before it ere it began with what
    /// comes after; unknown where that cannot be joined.
    pub serialized: Option<bool>,
}

/// A stretch of idle time that has one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleStretch {
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// What was waited for.
    pub cause: Cause,
}

impl Analysis {
    pub(crate) fn new(
        report: Report,
        subject: Subject,
        gaps: Vec<Gap>,
        kernels: NamedIntervals,
        performance: Vec<Held>,
        names: &Names,
    ) -> Self {
        let rows = subject.everyone.as_ref().unwrap_or(&subject.mine);
        let channels = distinct(rows.iter().filter_map(|one| one.channel)).into_iter();
        let channels = channels.map(|channel| (channel, names.text(channel).to_owned()));
        let process = |(id, process): (ProcessId, metalens_trace::Process)| {
            (id, (names.text(process.name).to_owned(), process.pid))
        };
        Self {
            channels: channels.collect(),
            processes: names.processes().map(process).collect(),
            phases: subject
                .signposts
                .held(&subject.target, subject.window(), names),
            performance,
            report,
            subject,
            gaps,
            kernels,
        }
    }

    /// Every GPU interval of the target, held inside the window, sorted by start.
    pub fn intervals(&self) -> impl Iterator<Item = GpuInterval<'_>> {
        let (window, commands) = (self.subject.window(), &self.subject.commands);
        let numbers = self.kernels.numbers();
        self.subject
            .mine
            .iter()
            .zip(numbers)
            .map(move |(one, kernel)| {
                let span = one.span.clip(window);
                let encoded = commands.encoding(one).map(|encoding| encoding.span);
                let (process, pid) = self.process(one.process);
                GpuInterval {
                    start_ns: span.start_ns,
                    end_ns: span.end_ns,
                    kernel: self.kernels.name(kernel),
                    named_by: self.kernels.named_by(kernel),
                    process,
                    pid,
                    channel: one.channel.and_then(|channel| self.channel(channel)),
                    command_buffer: one.command_buffer.map(NonZeroU64::get),
                    encoder: one.encoder.map(NonZeroU64::get),
                    encoded_ns: encoded.map(|span| (span.start_ns, span.end_ns)),
                    committed_ns: one.committed_ns(),
                    committed_to_start_ns: one.start_latency_ns(),
                    completed_ns: one.command_buffer.and_then(|id| commands.completion(id)),
                }
            })
    }

    /// Every GPU interval of the recording, whoever's it is, sorted by start. Only
    /// where [`Request::keep_everyone`](crate::Request::keep_everyone) asked for them.
    #[must_use]
    pub fn everyone(&self) -> Option<impl ExactSizeIterator<Item = AnyInterval<'_>>> {
        let (window, target) = (self.subject.window(), &self.subject.target);
        let rows = self.subject.everyone.as_ref()?;
        Some(rows.iter().map(move |one| {
            let inside = touches(one.span, window).then(|| one.span.clip(window));
            let (process, pid) = self.process(one.process);
            AnyInterval {
                start_ns: one.span.start_ns,
                end_ns: one.span.end_ns,
                in_window: inside.map(|span| (span.start_ns, span.end_ns)),
                is_analyzed: target.is(one.process),
                process,
                pid,
                channel: one.channel.and_then(|channel| self.channel(channel)),
                command_buffer: one.command_buffer.map(NonZeroU64::get),
                encoder: one.encoder.map(NonZeroU64::get),
                committed_ns: one.committed_ns(),
            }
        }))
    }

    /// What [`Self::intervals`] has, without what has to be looked up elsewhere.
    pub fn spans(&self) -> impl Iterator<Item = GpuSpan<'_>> {
        let window = self.subject.window();
        let numbers = self.kernels.numbers();
        let rows = self.subject.mine.iter().zip(numbers);
        rows.map(move |(one, kernel)| {
            let span = one.span.clip(window);
            GpuSpan {
                start_ns: span.start_ns,
                end_ns: span.end_ns,
                kernel: self.kernels.name(kernel),
                channel: one.channel.and_then(|channel| self.channel(channel)),
            }
        })
    }

    /// When others were on the GPU, inside the window: disjoint, in order of time.
    pub fn others(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let others = self.subject.others.busy.iter();
        others.map(|span| (span.start_ns, span.end_ns))
    }

    /// The GPU's performance states, as the report's `machine.performance` counts
    /// them: in order of time. Nothing is assumed between them.
    #[must_use]
    pub fn performance(&self) -> &[Held] {
        &self.performance
    }

    /// The phases that the target named with signposts, in order of time. They
    /// may overlap.
    #[must_use]
    pub fn named_phases(&self) -> &[Held] {
        &self.phases
    }

    /// The idle time in order of time, cut where its cause changes: what
    /// [`Self::gaps`] has in lengths, in its true places.
    pub fn idle(&self) -> impl Iterator<Item = IdleStretch> + '_ {
        let book = Book::of(&self.subject);
        let all = self.gaps.iter().flat_map(move |gap| book.stretches(gap));
        all.map(|(span, cause)| IdleStretch {
            start_ns: span.start_ns,
            end_ns: span.end_ns,
            cause,
        })
    }

    /// When each gap began and ended, without looking for its cause.
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
        let mut all = self.channels.iter();
        all.find(|&&(one, _)| one == channel)
            .map(|(_, name)| name.as_str())
    }

    /// Every gap of the window, in order of time.
    pub fn gaps(&self) -> impl Iterator<Item = ExplainedGap<'_>> {
        let book = Book::of(&self.subject);
        let name = |at: Option<usize>| Some(self.kernels.name(self.kernels.number_of(at?)?));
        self.gaps.iter().map(move |gap| {
            let entry = book.entry(gap);
            ExplainedGap {
                start_ns: gap.span.start_ns,
                duration_ns: gap.span.length_ns(),
                before: name(gap.before()),
                after: name(gap.after()),
                cause: entry.parts.cause(),
                parts: entry.parts,
                serialized: entry.pair.is_serialized(),
            }
        })
    }
}
