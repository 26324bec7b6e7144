//! Generates recordings as tables, and computes the truth about them at each point in time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use metalens_analyzer::{Cause, Error, Report, Request};
use proptest::prelude::*;

use crate::write_table;

/// Tables of a recording that a test generates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    pub(crate) intervals: Vec<Interval>,
    /// Rows of (encoder, start, duration).
    pub(crate) encodings: Vec<(u64, u64, u64)>,
    /// Thread of each encoding; the threads are not recorded if there is none.
    pub(crate) threads: Vec<u64>,
    /// Rows of (command buffer, time).
    pub(crate) completions: Vec<(u64, u64)>,
    /// The driver's work on command buffers, as (command buffer, start, submission, end); the tables
    /// are not recorded if there is none.
    pub(crate) driver: Vec<(u64, u64, u64, u64)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval {
    pub(crate) start: u64,
    pub(crate) duration: u64,
    pub(crate) process: &'static str,
    pub(crate) buffer: u64,
    pub(crate) encoder: u64,
    pub(crate) latency: Option<u64>,
}

pub(crate) const ANALYZED: &str = "bench (1)";
pub(crate) const OTHER: &str = "other (2)";
const UNKNOWN: &str = "";

impl Interval {
    pub(crate) fn end(&self) -> u64 {
        self.start + self.duration
    }

    pub(crate) fn contains(&self, at: u64) -> bool {
        self.start <= at && at < self.end()
    }

    fn committed(&self) -> Option<i128> {
        Some(i128::from(self.start) - i128::from(self.latency?))
    }
}

impl Tables {
    pub(crate) fn write(&self, folder: &Path) {
        let numbers = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>();
        let intervals = self.intervals.iter().map(|interval| {
            let &Interval {
                start,
                duration,
                buffer,
                encoder,
                ..
            } = interval;
            let mut row = numbers(&[start, duration, buffer, encoder]);
            row.push(interval.latency.map_or(String::new(), |ns| ns.to_string()));
            row.push(interval.process.to_owned());
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

        let encodings = self.encodings.iter().enumerate();
        let encodings = encodings.map(|(row, &(id, start, duration))| {
            let thread = self.threads.get(row);
            let mut row = numbers(&[start, duration, id]);
            row.push(ANALYZED.to_owned());
            row.push(thread.map_or(String::new(), u64::to_string));
            row
        });
        let columns = [
            ("start", "start-time"),
            ("duration", "duration"),
            ("encoder-id", "metal-command-buffer-id"),
            ("process", "process"),
            ("thread", "thread"),
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
        if !self.driver.is_empty() {
            self.write_driver(folder);
        }
    }

    fn write_driver(&self, folder: &Path) {
        let columns = [
            ("timestamp", "start-time"),
            ("cmdbuffer-id", "metal-command-buffer-id"),
        ];
        let times = |at: fn(&(u64, u64, u64, u64)) -> u64| {
            let rows = self.driver.iter();
            let rows = rows.map(move |row| vec![at(row).to_string(), row.0.to_string()]);
            rows.collect::<Vec<_>>()
        };
        let begins = times(|row| row.1);
        write_table(
            folder,
            "metal-command-buffer-to-accelerator-id",
            &columns,
            &begins,
        );
        let submissions = times(|row| row.2);
        let schema = "metal-gpu-submission-to-command-buffer-id";
        write_table(folder, schema, &columns, &submissions);

        let columns = [
            ("start", "start-time"),
            ("duration", "duration"),
            ("event-type", "metal-object-label"),
            ("process", "process"),
        ];
        let work = self.driver.iter().map(|&(_, start, _, end)| {
            let kind = "Command Buffer".to_owned();
            vec![
                start.to_string(),
                (end - start).to_string(),
                kind,
                ANALYZED.to_owned(),
            ]
        });
        let work: Vec<_> = work.collect();
        write_table(folder, "metal-driver-intervals", &columns, &work);
    }

    /// Returns the report of the part from one time to another.
    pub(crate) fn report(&self, from_ns: Option<u64>, to_ns: Option<u64>) -> Result<Report, Error> {
        let folder = metalens_testing::scratch();
        self.write(folder.path());
        let request = Request {
            processes: vec!["bench".to_owned()],
            from_ns,
            to_ns,
            ..Request::default()
        };
        super::super::report(folder.path(), None, &request)
    }

    /// Returns the process's intervals, by start; equal starts in the table's order.
    pub(crate) fn mine(&self) -> Vec<Interval> {
        let mine = self.intervals.iter();
        let mine = mine.filter(|interval| self.owner(interval) == ANALYZED);
        let mut mine: Vec<Interval> = mine.copied().collect();
        mine.sort_by_key(|interval| interval.start);
        mine
    }

    /// Returns the process of an interval: its own, or the only one of its command buffer.
    fn owner(&self, interval: &Interval) -> &'static str {
        let same = self.intervals.iter().filter(|other| {
            other.buffer == interval.buffer && other.buffer > 0 && other.process != UNKNOWN
        });
        let mut owners: Vec<&'static str> = same.map(|other| other.process).collect();
        owners.sort_unstable();
        owners.dedup();
        match owners.as_slice() {
            [only] if interval.process == UNKNOWN => only,
            _ => interval.process,
        }
    }

    /// Returns the process's command buffers.
    pub(crate) fn buffers(&self) -> BTreeMap<u64, Vec<Interval>> {
        let mut buffers: BTreeMap<u64, Vec<Interval>> = BTreeMap::new();
        for interval in self.mine() {
            if interval.buffer > 0 {
                buffers.entry(interval.buffer).or_default().push(interval);
            }
        }
        buffers
    }

    /// Returns whether a buffer of the process was committed several times: its work has several
    /// commits, and the completions are odd.
    pub(crate) fn is_reused(&self, buffer: u64) -> bool {
        self.is_odd(buffer) && self.commits_of(buffer).len() > 1
    }

    /// Returns whether a buffer completed at several times, or some of its work was committed after its
    /// completion.
    fn is_odd(&self, buffer: u64) -> bool {
        let completions = self.completions_of(buffer);
        let commits = self.commits_of(buffer);
        let mut commits = commits.iter();
        completions.len() > 1 || commits.any(|at| completions.iter().any(|done| at > done))
    }

    fn commits_of(&self, buffer: u64) -> BTreeSet<i128> {
        let buffers = self.buffers();
        let rows = buffers.get(&buffer).into_iter().flatten();
        rows.filter_map(Interval::committed).collect()
    }

    pub(crate) fn completion(&self, buffer: u64) -> Option<i128> {
        let completions = self.completions_of(buffer);
        completions
            .first()
            .copied()
            .filter(|_| !self.is_odd(buffer))
    }

    fn completions_of(&self, buffer: u64) -> BTreeSet<i128> {
        let of_it = |&&(id, _): &&(u64, u64)| id == buffer && buffer > 0;
        let all = self.completions.iter().filter(of_it);
        all.map(|&(_, at)| at.into()).collect()
    }

    /// Returns the start and the duration of an encoding; `None` if there are several.
    fn encoding(&self, encoder: u64) -> Option<(u64, u64)> {
        let of_it = |&&(id, ..): &&(u64, u64, u64)| id == encoder && encoder > 0;
        let all = self.encodings.iter().filter(of_it);
        let all: BTreeSet<(u64, u64)> =
            all.map(|&(_, start, duration)| (start, duration)).collect();
        all.first().copied().filter(|_| all.len() == 1)
    }

    /// Returns the intervals before and after an idle point in time.
    pub(crate) fn around(&self, at: u64) -> Option<[Interval; 2]> {
        let mine = self.mine();
        let with_length = || mine.iter().filter(|interval| interval.duration > 0);
        let ends = with_length().map(Interval::end);
        let last_end = ends.filter(|&end| end <= at).max()?;
        let before = with_length().rfind(|interval| interval.end() == last_end)?;
        let after = with_length().find(|interval| interval.start > at)?;
        Some([*before, *after])
    }

    /// Returns the cause of idle time at a point in time.
    pub(crate) fn cause(&self, at: u64) -> Cause {
        let Some([before, after]) = self.around(at) else {
            return Cause::Unknown;
        };
        let from = i128::from(before.end());
        let encoding = self.encoding(after.encoder);
        let known = self.completion(before.buffer).zip(encoding);
        let Some((completed, (start, duration))) = known else {
            return Cause::Unknown;
        };

        let (now, start) = (i128::from(at), i128::from(start));
        let encoded = start + i128::from(duration);
        let latency = after.latency.map(i128::from);
        let committed = latency.map_or(encoded, |latency| {
            encoded.max(i128::from(after.start) - latency)
        });
        let waited = start >= completed;
        let mut driver = self
            .driver
            .iter()
            .filter(|&&(id, ..)| id == after.buffer && id > 0);
        let driver = driver
            .next()
            .map(|&(_, begins, submitted, _)| (i128::from(begins), i128::from(submitted)));
        let left = driver.map_or(committed, |(_, submitted)| submitted.max(committed));
        let is_queued = left <= from;
        let is_contended = self
            .intervals
            .iter()
            .any(|interval| self.owner(interval) != ANALYZED && interval.contains(at));
        if is_queued && !is_contended {
            Cause::Queued
        } else if is_queued {
            Cause::Contention
        } else if waited && now < completed {
            Cause::Completion
        } else if now < start {
            Cause::Host
        } else if now < committed {
            Cause::Encoding
        } else if driver.is_some_and(|(begins, _)| now < begins) {
            Cause::DriverWait
        } else if driver.is_some_and(|(_, submitted)| now < submitted) {
            Cause::Driver
        } else if is_contended {
            Cause::Contention
        } else if driver.is_some() {
            Cause::StartLatency
        } else {
            Cause::Submission
        }
    }
}

/// Returns the time of a buffer's commit, if any of its intervals has it.
pub(crate) fn committed(buffer: &[Interval]) -> Option<i128> {
    buffer.iter().filter_map(Interval::committed).min()
}

pub(crate) fn begin(buffer: &[Interval]) -> i128 {
    let starts = buffer.iter().map(|interval| interval.start.into());
    starts.min().unwrap()
}

pub(crate) fn end(buffer: &[Interval]) -> i128 {
    let ends = buffer.iter().map(|interval| interval.end().into());
    ends.max().unwrap()
}

fn interval() -> impl Strategy<Value = Interval> {
    let duration = prop_oneof![1 => Just(0_u64), 3 => 1_u64..40];
    let process = prop_oneof![6 => Just(ANALYZED), 2 => Just(OTHER), 1 => Just(UNKNOWN)];
    let latency = prop::option::weighted(0.9, 0_u64..400);
    (0_u64..300, duration, process, 0_u64..7, 0_u64..9, latency).prop_map(
        |(start, duration, process, buffer, encoder, latency)| Interval {
            start,
            duration,
            process,
            buffer,
            encoder,
            latency,
        },
    )
}

/// Generates tables. In most of them, each encoder is encoded once, and each buffer completes once.
pub(crate) fn tables() -> impl Strategy<Value = Tables> {
    let encoding = || (0_u64..300, 0_u64..30);
    let more_encodings = prop::collection::vec((1_u64..9, 0_u64..300, 0_u64..30), 0..4);
    let more_completions = prop::collection::vec((1_u64..7, 0_u64..350), 0..4);
    (
        prop::collection::vec(interval(), 1..16),
        prop::collection::btree_map(1_u64..9, encoding(), 0..9),
        prop::collection::btree_map(1_u64..7, 0_u64..350, 0..7),
        prop::option::weighted(0.3, (more_encodings, more_completions)),
        prop::option::weighted(
            0.7,
            prop::collection::btree_map(1_u64..7, (0_u64..300, 0_u64..40, 0_u64..9), 3..7),
        ),
    )
        .prop_map(|(intervals, encodings, completions, more, driver)| {
            let driver = driver.unwrap_or_default().into_iter();
            let driver = driver.map(|(id, (begins, until, end))| {
                (id, begins, begins + until, begins + until + end)
            });
            let (more_encodings, more_completions) = more.unwrap_or_default();
            let encodings = encodings.into_iter();
            let encodings = encodings.map(|(id, (start, duration))| (id, start, duration));
            Tables {
                intervals,
                threads: Vec::new(),
                encodings: encodings.chain(more_encodings).collect(),
                completions: completions.into_iter().chain(more_completions).collect(),
                driver: driver.collect(),
            }
        })
}
