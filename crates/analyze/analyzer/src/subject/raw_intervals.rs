//! Computes GPU intervals from raw events of the kernel, as Instruments does when it derives the
//! table `metal-gpu-intervals`.
//!
//! | event (class, subclass, code) | what it tells |
//! | --- | --- |
//! | 0x85, 0x90, 0x2A to 0x2C | submission (arg1) ran on Vertex, Fragment or Compute from arg3 to arg4, in ticks |
//! | 0x85, 0x93, 0x30B to 0x30D | encoder (arg1) of a submission (arg3) |
//! | 0x85, 0x08, 0x01 | encoder (arg2), its command buffer (arg1) and its process id (arg3) |
//! | 0x85, 0x08, 0x07 | commit of a command buffer (arg1) |
//!
//! Submissions and encoders are joined by their lower 32 bits, since some events have only those.
//! On two real recordings, of an M1 and an M2, all 1,505 intervals have the same start, end,
//! channel, command buffer, encoder and process as the derived table, and 1,503 the same commit.
//! On 12,828 intervals of an M2 and an M2 Ultra start and end were the same. Work on a channel
//! with another code would be missing.

use std::num::NonZeroU64;

use metalens_trace::{Names, ProcessId, Symbol};
use rustc_hash::FxHashMap;

use super::interval::Interval;
use crate::basics::moment::Moment;
use crate::basics::spans::Span;
use crate::tables::RawTables;
use crate::tables::columns::{Either, at};
use crate::tables::raw::{Clock, KernelEvents};

/// Class of the events of the GPU's driver.
const GRAPHICS: u64 = 0x85;
/// Subclass of the events of command buffers and encoders, and its codes.
const COMMANDS: u64 = 0x08;
const ENCODER: u64 = 0x01;
const COMMIT: u64 = 0x07;
/// Subclass of the events of the GPU's firmware, and its first code; one for each channel.
const EXECUTION: u64 = 0x90;
const FIRST_CHANNEL: u64 = 0x2A;
/// Subclass of the events of submissions, and its codes.
const SUBMISSIONS: u64 = 0x93;
const SUBMITTED: std::ops::RangeInclusive<u64> = 0x30B..=0x30D;

/// Names of the channels whose codes are known, in the order of these.
const CHANNELS: [&str; 3] = ["Vertex", "Fragment", "Compute"];

/// Returns the GPU intervals of all processes, sorted by start; `None` if no raw event tells of
/// one, or the clock is not recorded.
pub(crate) fn raw_intervals(tables: RawTables, names: &mut Names) -> Option<Vec<Interval>> {
    let clock = Ticks::new(&tables.clock.ok()?, names)?;
    let mut events = Events::default();
    for table in tables.events.into_iter().flatten() {
        events.add(&table);
    }

    let mut processes: FxHashMap<u64, ProcessId> = FxHashMap::default();
    for (id, process) in names.processes() {
        if let Some(pid) = process.pid {
            processes.entry(u64::from(pid)).or_insert(id);
        }
    }
    let channels = CHANNELS.map(|channel| names.symbol(channel));

    // Several tables may have the same event.
    events.runs.sort_unstable();
    events.runs.dedup();
    let runs = events.runs.iter();
    let mut intervals: Vec<Interval> = runs
        .filter_map(|run| events.interval(run, clock, channels, &processes))
        .collect();
    intervals.sort_by_key(|interval| (interval.span.start_ns, interval.span.end_ns));
    (!intervals.is_empty()).then_some(intervals)
}

/// Clock of the machine: its ticks at the start of the recording, and their length.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    epoch: u64,
    numerator: u64,
    denominator: u64,
}

impl Ticks {
    fn new(clock: &Clock, names: &Names) -> Option<Self> {
        let (numerator, denominator) = match &clock.timebases {
            Either::Left(texts) => timebase(names.text(at(texts, 0)?))?,
            Either::Right(numbers) => packed(numbers.get(0)?),
        };
        (denominator > 0).then_some(())?;
        Some(Self {
            epoch: clock.epochs.get(0)?,
            numerator,
            denominator,
        })
    }

    /// Returns the time of a tick since the recording began, rounded down; `None` before that.
    fn ns(self, ticks: u64) -> Option<u64> {
        let since = u128::from(ticks.checked_sub(self.epoch)?);
        let ns = since * u128::from(self.numerator) / u128::from(self.denominator);
        u64::try_from(ns).ok().filter(|&ns| ns < 1 << 53)
    }
}

/// Parses `125/3`, or both parts in one number.
fn timebase(text: &str) -> Option<(u64, u64)> {
    match text.split_once('/') {
        Some((numerator, denominator)) => Some((
            numerator.trim().parse().ok()?,
            denominator.trim().parse().ok()?,
        )),
        None => text.parse().ok().map(packed),
    }
}

fn packed(number: u64) -> (u64, u64) {
    (number >> 32, number & u64::from(u32::MAX))
}

/// Returns the part of an id that every event has.
fn lower(id: u64) -> u32 {
    // The masked number always fits.
    u32::try_from(id & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

/// Time for which a submission occupied a channel, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    start: u64,
    end: u64,
    /// Index in [`CHANNELS`].
    channel: usize,
    submission: u32,
}

/// Encoder with its command buffer and the id of its process.
#[derive(Debug, Clone, Copy)]
struct Encoder {
    id: u64,
    buffer: u64,
    pid: u64,
}

/// Facts from raw events. Of several events about one thing the earliest counts; each value
/// has the time of its event.
#[derive(Debug, Default)]
struct Events {
    runs: Vec<Run>,
    /// Encoder of each submission.
    encoder_of: FxHashMap<u32, (u64, u32)>,
    encoders: FxHashMap<u32, (u64, Encoder)>,
    /// Commit of each command buffer.
    commits: FxHashMap<u64, (u64, u64)>,
}

impl Events {
    fn add(&mut self, table: &KernelEvents) {
        let graphics = table.classes.iter().enumerate();
        for (row, _) in graphics.filter(|(_, class)| *class == Some(GRAPHICS)) {
            // An event without all its values tells nothing.
            let _ = self.add_row(table, row);
        }
    }

    fn add_row(&mut self, table: &KernelEvents, row: usize) -> Option<()> {
        let (subclass, code) = (table.subclasses.get(row)?, table.codes.get(row)?);
        if ![COMMANDS, EXECUTION, SUBMISSIONS].contains(&subclass) {
            return None;
        }
        let time = table.times.get(row)?;
        let (first, second) = (table.first.get(row)?, table.second.get(row)?);
        let (third, fourth) = (table.third.get(row)?, table.fourth.get(row)?);

        match (subclass, code) {
            (EXECUTION, _) => {
                let channel = usize::try_from(code.checked_sub(FIRST_CHANNEL)?).ok()?;
                let run = Run {
                    start: third,
                    end: fourth,
                    channel,
                    submission: lower(first),
                };
                self.runs.extend((channel < CHANNELS.len()).then_some(run));
            }
            (SUBMISSIONS, code) if SUBMITTED.contains(&code) => {
                earliest(&mut self.encoder_of, lower(third), time, lower(first));
            }
            (COMMANDS, ENCODER) if second > 0 => {
                let encoder = Encoder {
                    id: second,
                    buffer: first,
                    pid: third,
                };
                earliest(&mut self.encoders, lower(second), time, encoder);
            }
            (COMMANDS, COMMIT) => earliest(&mut self.commits, first, time, time),
            _ => {}
        }
        Some(())
    }

    /// Returns the interval of a run; `None` if its times are impossible.
    fn interval(
        &self,
        run: &Run,
        clock: Ticks,
        channels: [Symbol; 3],
        processes: &FxHashMap<u64, ProcessId>,
    ) -> Option<Interval> {
        (run.start <= run.end).then_some(())?;
        let span = Span::new(clock.ns(run.start)?, clock.ns(run.end)?);
        let encoder = self
            .encoder_of
            .get(&run.submission)
            .and_then(|(_, encoder)| self.encoders.get(encoder))
            .map(|&(_, encoder)| encoder);
        let commit = encoder.and_then(|encoder| self.commits.get(&encoder.buffer));

        Some(Interval {
            span,
            committed: Moment::at(commit.and_then(|&(_, time)| i64::try_from(time).ok())),
            process: encoder.and_then(|encoder| processes.get(&encoder.pid).copied()),
            channel: channels.get(run.channel).copied(),
            label: None,
            command_buffer: encoder.and_then(|encoder| NonZeroU64::new(encoder.buffer)),
            encoder: encoder.and_then(|encoder| NonZeroU64::new(encoder.id)),
        })
    }
}

/// Keeps the earliest value of a key.
fn earliest<K: Eq + std::hash::Hash, V>(
    known: &mut FxHashMap<K, (u64, V)>,
    key: K,
    time: u64,
    value: V,
) {
    match known.get(&key) {
        Some(&(first, _)) if first <= time => {}
        _ => {
            known.insert(key, (time, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;
    use crate::testing::{Columns, trace};

    const EVENTS: Columns = &[
        ("time", "event-time"),
        ("class", "kdebug-class"),
        ("subclass", "kdebug-subclass"),
        ("code", "kdebug-code"),
        ("arg1", "kdebug-arg"),
        ("arg2", "kdebug-arg"),
        ("arg3", "kdebug-arg"),
        ("arg4", "kdebug-arg"),
    ];
    const CLOCK: Columns = &[
        ("mabs-epoch", "mach-absolute-time"),
        ("timebase-info", "mach-timebase-info"),
    ];

    /// Interval: start, end, channel, command buffer, encoder, process id, commit.
    type Told = (u64, u64, &'static str, u64, u64, Option<u32>, Option<u64>);

    /// Checks the intervals of exported events, with a clock that starts at 1,000 ticks.
    fn check(timebase: &str, events: &[&[&str]], expected: &[Told]) {
        let tables: &[_] = &[
            ("kdebug", EVENTS, events),
            ("time-info", CLOCK, &[&["1000", timebase]]),
        ];
        let (mut recording, tables) = tables::take(trace(tables)).unwrap();
        let names = &mut recording.names;
        let found = raw_intervals(tables.raw, names).unwrap_or_default();
        let id = |id: Option<NonZeroU64>| id.map_or(0, NonZeroU64::get);
        let told = found.iter().map(|interval| {
            let channel = interval.channel.map(|channel| names.text(channel));
            let process = interval.process.and_then(|process| names.process(process));
            (
                interval.span.start_ns,
                interval.span.end_ns,
                CHANNELS
                    .into_iter()
                    .find(|&known| Some(known) == channel)
                    .unwrap(),
                id(interval.command_buffer),
                id(interval.encoder),
                process.and_then(|process| process.pid),
                interval.committed_ns(),
            )
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{timebase}");
    }

    #[test]
    fn events_are_joined() {
        // The encoder of a submission has only its lower half, as has the submission that ran.
        let encoder: &[&str] = &["100", "133", "8", "1", "16", "4294967329", "1", "0"];
        let commit: &[&str] = &["150", "133", "8", "7", "16", "0", "0", "0"];
        let submission: &[&str] = &["160", "133", "147", "781", "33", "0", "8589934599", "0"];
        let ran: &[&str] = &["300", "133", "144", "44", "7", "1", "1024", "1048"];
        let told = (
            1_000,
            2_000,
            "Compute",
            16,
            4_294_967_329,
            Some(1),
            Some(150),
        );
        let all = [encoder, commit, submission, ran];
        // A number has both parts: 125 << 32 | 3.
        for timebase in ["125/3", "536870912003"] {
            check(timebase, &all, &[told]);
        }
        check(
            "1/1",
            &all,
            &[(24, 48, "Compute", 16, 4_294_967_329, Some(1), Some(150))],
        );

        // Later events about the same thing do not count, nor does the same event a second time.
        let again: &[&str] = &["200", "133", "8", "1", "17", "4294967329", "2", "0"];
        let late: &[&str] = &["250", "133", "8", "7", "16", "0", "0", "0"];
        check(
            "125/3",
            &[late, again, ran, encoder, commit, submission, ran],
            &[told],
        );

        // Without its encoder an interval has a time and a channel.
        check(
            "125/3",
            &[ran],
            &[(1_000, 2_000, "Compute", 0, 0, None, None)],
        );
    }

    #[test]
    fn other_events_tell_of_no_interval() {
        let rows: [&[&str]; 5] = [
            // Another class, another code, a time before the recording, an end before its start,
            // and a value that is missing.
            &["300", "49", "144", "44", "7", "1", "1024", "1048"],
            &["300", "133", "144", "45", "7", "1", "1024", "1048"],
            &["300", "133", "144", "44", "7", "1", "999", "1048"],
            &["300", "133", "144", "44", "7", "1", "1048", "1024"],
            &["300", "133", "144", "44", "7", "1", "1024", ""],
        ];
        check("125/3", &rows, &[]);
        // A clock without length.
        check(
            "125/0",
            &[&["300", "133", "144", "44", "7", "1", "1024", "1048"]],
            &[],
        );
    }
}
