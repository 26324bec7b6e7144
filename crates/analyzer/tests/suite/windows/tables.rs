//! Recordings as tables, and what is true of them at each moment.

use std::collections::BTreeMap;
use std::path::Path;

use metalens_analyzer::{Cause, Error, Report, Request};
use proptest::prelude::*;

use crate::by_hand::write_table;

/// The tables of a recording, as far as a test says what is in them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    pub(crate) intervals: Vec<Interval>,
    /// Encoder, start, duration.
    pub(crate) encodings: Vec<(u64, u64, u64)>,
    /// Command buffer, moment.
    pub(crate) completions: Vec<(u64, u64)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval {
    pub(crate) start: u64,
    pub(crate) duration: u64,
    pub(crate) who: &'static str,
    pub(crate) buffer: u64,
    pub(crate) encoder: u64,
    pub(crate) latency: Option<u64>,
}

pub(crate) const TARGET: &str = "bench (1)";
const OTHER: &str = "other (2)";
const NOBODY: &str = "";

impl Interval {
    pub(crate) fn end(&self) -> u64 {
        self.start + self.duration
    }

    pub(crate) fn holds(&self, at: u64) -> bool {
        self.start <= at && at < self.end()
    }
}

impl Tables {
    pub(crate) fn write(&self, folder: &Path) {
        let numbers = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>();
        let intervals = self.intervals.iter().map(|one| {
            let mut row = numbers(&[one.start, one.duration, one.buffer, one.encoder]);
            row.push(one.latency.map_or(String::new(), |ns| ns.to_string()));
            row.push(one.who.to_owned());
            row
        });
        let columns = [
            ("start", "start-time"),
            ("duration", "duration"),
            ("cmdbuffer-id", "metal-command-buffer-id"),
            ("encoder-id", "metal-command-buffer-id"),
            ("start-latency", "duration"),
            ("process", "process"),
        ];
        let rows: Vec<_> = intervals.collect();
        write_table(folder, "metal-gpu-intervals", &columns, &rows);
        let encodings = self.encodings.iter().map(|&(id, start, duration)| {
            let mut row = numbers(&[start, duration, id]);
            row.push(TARGET.to_owned());
            row
        });
        let columns = [
            ("start", "start-time"),
            ("duration", "duration"),
            ("encoder-id", "metal-command-buffer-id"),
            ("process", "process"),
        ];
        let rows: Vec<_> = encodings.collect();
        write_table(folder, "metal-application-encoders-list", &columns, &rows);
        let completions = self.completions.iter().map(|&(id, at)| numbers(&[at, id]));
        let columns = [
            ("timestamp", "event-time"),
            ("cmdbuffer-id", "metal-command-buffer-id"),
        ];
        let rows: Vec<_> = completions.collect();
        write_table(folder, "metal-command-buffer-completed", &columns, &rows);
    }

    /// The report of the part from one moment to another.
    pub(crate) fn report(&self, from_ns: Option<u64>, to_ns: Option<u64>) -> Result<Report, Error> {
        let folder = tempfile::tempdir().unwrap();
        self.write(folder.path());
        let request = Request {
            processes: vec!["bench".to_owned()],
            from_ns,
            to_ns,
            ..Request::default()
        };
        super::super::report(folder.path(), None, &request)
    }

    /// The target's intervals, by start; equal starts in the table's order.
    pub(crate) fn mine(&self) -> Vec<Interval> {
        let mine = self.intervals.iter().filter(|one| one.who == TARGET);
        let mut mine: Vec<Interval> = mine.copied().collect();
        mine.sort_by_key(|one| one.start);
        mine
    }

    /// The target's command buffers.
    pub(crate) fn buffers(&self) -> BTreeMap<u64, Vec<Interval>> {
        let mut buffers: BTreeMap<u64, Vec<Interval>> = BTreeMap::new();
        for one in self.mine().into_iter().filter(|one| one.buffer > 0) {
            buffers.entry(one.buffer).or_default().push(one);
        }
        buffers
    }

    pub(crate) fn completion(&self, buffer: u64) -> Option<i128> {
        let mut all = self.completions.iter();
        let found = all.find(|&&(id, _)| id == buffer && buffer > 0);
        found.map(|&(_, at)| at.into())
    }

    /// The intervals between which the target was idle at a moment.
    pub(crate) fn around(&self, at: u64) -> Option<[Interval; 2]> {
        let mine = self.mine();
        let worked = || mine.iter().filter(|one| one.duration > 0);
        let ended = worked().map(Interval::end).filter(|&end| end <= at).max()?;
        let before = worked().rfind(|one| one.end() == ended)?;
        let after = worked().find(|one| one.start > at)?;
        Some([*before, *after])
    }

    /// What the target waited for at a moment in which it was idle.
    pub(crate) fn cause(&self, at: u64) -> Cause {
        let Some([before, after]) = self.around(at) else {
            return Cause::Unknown;
        };
        let from = i128::from(before.end());
        let mut encodings = self.encodings.iter();
        let encoding = encodings.find(|&&(id, ..)| id == after.encoder && id > 0);
        let known = self.completion(before.buffer).zip(encoding);
        let Some((completed, &(_, start, duration))) = known else {
            return Cause::Unknown;
        };
        let mut others = self.intervals.iter().filter(|one| one.who != TARGET);
        let is_foreign = others.any(|one| one.holds(at));
        let (now, start) = (i128::from(at), i128::from(start));
        let encoded = start + i128::from(duration);
        let latency = after.latency.map(i128::from);
        let committed = latency.map_or(encoded, |latency| {
            encoded.max(i128::from(after.start) - latency)
        });
        let is_queued = committed <= from;
        let waited = start >= completed;
        match () {
            () if is_queued && is_foreign => Cause::Contention,
            () if is_queued => Cause::Queued,
            () if waited && now < completed => Cause::Completion,
            () if now < start => Cause::Host,
            () if now < committed => Cause::Encoding,
            () if is_foreign => Cause::Contention,
            () => Cause::Submission,
        }
    }
}

/// When a buffer was committed, if any of its intervals knows.
pub(crate) fn committed(buffer: &[Interval]) -> Option<i128> {
    let known = buffer.iter().filter_map(|one| {
        let latency = one.latency?;
        Some(i128::from(one.start) - i128::from(latency))
    });
    known.min()
}

pub(crate) fn begin(buffer: &[Interval]) -> i128 {
    buffer.iter().map(|one| one.start.into()).min().unwrap()
}

pub(crate) fn end(buffer: &[Interval]) -> i128 {
    buffer.iter().map(|one| one.end().into()).max().unwrap()
}

fn interval() -> impl Strategy<Value = Interval> {
    let duration = prop_oneof![1 => Just(0_u64), 3 => 1_u64..40];
    let who = prop_oneof![6 => Just(TARGET), 2 => Just(OTHER), 1 => Just(NOBODY)];
    let latency = prop::option::weighted(0.9, 0_u64..400);
    (0_u64..300, duration, who, 0_u64..7, 0_u64..9, latency).prop_map(
        |(start, duration, who, buffer, encoder, latency)| Interval {
            start,
            duration,
            who,
            buffer,
            encoder,
            latency,
        },
    )
}

pub(crate) fn tables() -> impl Strategy<Value = Tables> {
    (
        prop::collection::vec(interval(), 1..16),
        prop::collection::vec((1_u64..9, 0_u64..300, 0_u64..30), 0..14),
        prop::collection::vec((1_u64..7, 0_u64..350), 0..12),
    )
        .prop_map(|(intervals, encodings, completions)| Tables {
            intervals,
            encodings,
            completions,
        })
}
