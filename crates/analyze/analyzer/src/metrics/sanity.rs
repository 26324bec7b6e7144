//! Checks the recording itself: computes plain figures, and checks made of them.

use metalens_message::{
    Message, Ns, Share, SignedNs, counted, message, name, percent_to, share, table, ungrouped,
};

use super::busy_window::BusyWindow;
use crate::basics::spans::{Span, between};
use crate::report::{
    Busy, CommandBufferErrors, DoubtfulRows, RunFacts, Sanity, SanityCheck, SourceKind,
};
use crate::subject::interval::Interval;
use crate::tables::recording::FinishedBuffers;
use crate::tables::times::RowsOutside;

/// Input of the checks.
pub(crate) struct SanityInput<'a> {
    pub run: &'a RunFacts,
    pub source: SourceKind,
    pub busy_window: BusyWindow<'a>,
    /// GPU intervals of the process in the window.
    pub mine: &'a [Interval],
    pub busy: &'a Busy,
    /// Number of distinct encoders of those intervals.
    pub encoders: u64,
    /// Time from the first start to the last end of the intervals of all processes.
    pub rows: Option<Span>,
    /// Number of all intervals.
    pub all_intervals: u64,
    /// Number of those intervals that name no process.
    pub unattributed: u64,
    /// Rows that may be others than they seem to be.
    pub doubtful: Vec<DoubtfulRows>,
    /// Number of the process's encoders that the encoder list contains; `None` without a list.
    pub listed: Option<u64>,
    /// Command buffers that were encoded and completed, if known.
    pub finished: Option<FinishedBuffers>,
    /// Rows outside of the recording; `None` if its length is unknown.
    pub outside: Option<&'a [RowsOutside]>,
    /// Names of tables that were read only in part.
    pub truncated_tables: &'a [String],
    pub errors: Option<&'a CommandBufferErrors>,
}

/// Returns how many of the wanted ids are listed. Both are sorted, each id once.
pub(crate) fn joined(wanted: &[u64], listed: impl Iterator<Item = u64>) -> u64 {
    let mut listed = listed.peekable();
    let is_listed = |wanted: &&u64| {
        while listed.next_if(|id| id < *wanted).is_some() {}
        listed.peek() == Some(*wanted)
    };
    wanted.iter().filter(is_listed).count() as u64
}

/// Returns the figures, and the checks made of them.
pub(crate) fn sanity(input: &SanityInput<'_>) -> Sanity {
    let lengths = |spans: &[Span]| spans.iter().map(|span| span.length_ns()).max();
    let window = input.busy_window.window;
    let (mut longest_ns, mut without_buffer, mut without_length) = (None, 0, 0);
    for interval in input.mine {
        longest_ns = longest_ns.max(Some(interval.span.clip(window).length_ns()));
        without_buffer += u64::from(interval.command_buffer.is_none());
        without_length += u64::from(interval.span.is_empty());
    }

    let idle_ns = crate::basics::spans::length_ns(input.busy_window.gaps);
    let active = input.busy.machine_active_ns;
    let differ = active.and_then(|active| between(input.busy.machine_busy_ns.0, active.0));

    let mut sanity = Sanity {
        window_share: input
            .run
            .duration_ns
            .and_then(|whole| share(window.length_ns(), whole.0)),
        first_row_ns: input.rows.map(|rows| Ns(rows.start_ns)),
        last_row_ns: input.rows.map(|rows| Ns(rows.end_ns)),
        tables_differ_ns: differ.map(SignedNs),
        tables_differ_share: differ
            .zip(active)
            .and_then(|(differ, active)| share(differ.unsigned_abs(), active.0)),
        longest_interval_share: longest_ns.and_then(|longest| share(longest, input.busy.busy_ns.0)),
        longest_gap_share: lengths(input.busy_window.gaps)
            .and_then(|longest| share(longest, idle_ns)),
        rows_without_process: input.unattributed,
        rows_without_command_buffer: without_buffer,
        rows_without_length: without_length,
        encoders: input.encoders,
        encoders_listed: input.listed,
        buffers_finished: input.finished.map(|finished| finished.count),
        buffers_without_interval: input.finished.map(|finished| finished.without_interval),
        doubtful: input.doubtful.clone(),
        rows_outside: input
            .outside
            .map(|outside| outside.iter().map(|table| table.rows).sum()),
        truncated_tables: input.truncated_tables.to_vec(),
        windowed: input
            .run
            .recording_mode
            .as_ref()
            .map(|mode| mode.starts_with("Windowed")),
        checks: Vec::new(),
    };
    sanity.checks = checks(&sanity, input);
    sanity
}

/// Returns every check that could be made, in this order.
fn checks(sanity: &Sanity, input: &SanityInput<'_>) -> Vec<SanityCheck> {
    let rows = input.mine.len() as u64;
    let possible = [
        whole_tables(sanity),
        whole_recording(sanity, input.run),
        inside_recording(sanity, input),
        buffers_have_intervals(sanity, input.source),
        tables_agree(sanity),
        attributed(sanity, input.all_intervals),
        whole_rows(
            "rows-have-length",
            sanity.rows_without_length,
            rows,
            "have no length",
        ),
        whole_rows(
            "command-buffers-known",
            sanity.rows_without_command_buffer,
            rows,
            "name no command buffer",
        ),
        encoders_listed(sanity),
        dominance(
            "no-interval-dominates",
            "interval",
            "busy",
            sanity.longest_interval_share,
            input.mine.len(),
        ),
        dominance(
            "no-gap-dominates",
            "gap",
            "idle",
            sanity.longest_gap_share,
            input.busy_window.gaps.len(),
        ),
        no_errors(input.errors),
    ];
    possible.into_iter().flatten().collect()
}

fn check(id: &str, ok: bool, message: Message) -> Option<SanityCheck> {
    let text = message;
    Some(SanityCheck {
        id: id.to_owned(),
        ok,
        text,
    })
}

fn whole_tables(sanity: &Sanity) -> Option<SanityCheck> {
    let truncated = &sanity.truncated_tables;
    let message = if truncated.is_empty() {
        "all tables were read completely".into()
    } else {
        message!(
            "only a part was read of {}",
            Message::joined(truncated.iter().map(|name| table(name)), ", ")
        )
    };
    check("tables-whole", truncated.is_empty(), message)
}

fn whole_recording(sanity: &Sanity, run: &RunFacts) -> Option<SanityCheck> {
    let is_windowed = sanity.windowed?;
    let mode = name(run.recording_mode.as_deref()?);
    let message = if is_windowed {
        message!("the recorder kept only the end of the recording: {}", mode)
    } else {
        message!("the recorder kept the whole recording: {}", mode)
    };
    check("recording-whole", !is_windowed, message)
}

fn inside_recording(sanity: &Sanity, input: &SanityInput<'_>) -> Option<SanityCheck> {
    let (last, wall) = (sanity.last_row_ns?, input.run.duration_ns?);
    let outside = input.outside.filter(|outside| !outside.is_empty());
    let dropped = outside.map(|outside| {
        message!(
            "; without {}, which are outside of it",
            rows_by_table(outside)
        )
    });
    let message = message!(
        "the last GPU row ends at {} of a recording of {}{}",
        last,
        wall,
        dropped
    );
    let is_inside = last <= wall && outside.is_none();
    check("rows-inside-recording", is_inside, message)
}

/// Returns the numbers of rows with their tables: `1 row of metal-gpu-intervals`.
pub(crate) fn rows_by_table(outside: &[RowsOutside]) -> Message {
    let tables = outside.iter().map(|RowsOutside { schema, rows }| {
        message!("{} of {}", counted(*rows, "row"), table(schema))
    });
    Message::joined(tables, ", ")
}

fn buffers_have_intervals(sanity: &Sanity, source: SourceKind) -> Option<SanityCheck> {
    let (without, finished) = (sanity.buffers_without_interval?, sanity.buffers_finished?);
    let message = message!(
        "{} of {} command buffers {}",
        ungrouped(without),
        ungrouped(finished),
        if source == SourceKind::Log && without > 0 {
            "are not in the log"
        } else {
            "that were encoded and completed have no GPU interval"
        }
    );
    check("command-buffers-ran", without == 0, message)
}

/// Compares two tables that should agree. On real recordings they differ by 0.16 % at most.
fn tables_agree(sanity: &Sanity) -> Option<SanityCheck> {
    let (differ, share) = (sanity.tables_differ_ns?, sanity.tables_differ_share?);
    let message = message!(
        "the GPU's own Active time and the union of all intervals differ by {}, {} of it",
        differ.unsigned(),
        percent_to(3, share)
    );
    check("tables-agree", share <= Share(0.005), message)
}

fn attributed(sanity: &Sanity, rows: u64) -> Option<SanityCheck> {
    let (lost, share) = (
        sanity.rows_without_process,
        share(sanity.rows_without_process, rows)?,
    );
    let message = message!(
        "{} of {} GPU intervals name no process and count as work of other processes",
        ungrouped(lost),
        ungrouped(rows)
    );
    check("rows-attributed", share <= Share(0.01), message)
}

fn whole_rows(id: &'static str, lost: u64, rows: u64, what: &'static str) -> Option<SanityCheck> {
    let (some, all) = (ungrouped(lost), ungrouped(rows));
    let message = message!("{} of the process's {} GPU intervals {}", some, all, what);
    check(id, lost == 0, message)
}

fn encoders_listed(sanity: &Sanity) -> Option<SanityCheck> {
    let (listed, encoders) = (sanity.encoders_listed?, sanity.encoders);
    let message = message!(
        "{} of the {} encoders that ran are in the encoder list, which has their encoding times",
        ungrouped(listed),
        ungrouped(encoders)
    );
    check("encoders-listed", listed == encoders, message)
}

/// Smallest number of intervals or gaps for which it is odd if one is longer than all others
/// together.
const MANY: usize = 10;

/// Checks that none of many makes up more than half of the total.
fn dominance(
    id: &str,
    noun: &'static str,
    total: &'static str,
    share: Option<Share>,
    count: usize,
) -> Option<SanityCheck> {
    let share = share.filter(|_| count >= MANY)?;
    let message = message!(
        "the longest of {} {}s is {} of the {} time",
        ungrouped(count as u64),
        noun,
        percent_to(1, share),
        total
    );
    check(id, share <= Share(0.5), message)
}

fn no_errors(errors: Option<&CommandBufferErrors>) -> Option<SanityCheck> {
    let errors = errors?;
    let message = message!(
        "{} command buffers ended in an error; {} of them are of the process",
        ungrouped(errors.count),
        ungrouped(errors.of_process)
    );
    check("no-errors", errors.count == 0, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::DeviceFacts;
    use crate::subject::interval::encoders;
    use crate::testing::{interval_of as interval, with_busy_window};
    use proptest::prelude::*;

    fn run(mode: Option<&str>, duration_ns: Option<u64>) -> RunFacts {
        RunFacts {
            number: 1,
            synthetic: false,
            template: None,
            instruments_version: None,
            start: None,
            duration_ns: duration_ns.map(Ns),
            end_reason: None,
            recording_mode: mode.map(str::to_owned),
            device: DeviceFacts::default(),
        }
    }

    fn busy(busy_ns: u64, machine_busy_ns: u64, active: Option<u64>) -> Busy {
        Busy {
            busy_ns: Ns(busy_ns),
            sum_ns: Ns(busy_ns),
            ratio: None,
            overlap_factor: None,
            machine_busy_ns: Ns(machine_busy_ns),
            machine_active_ns: active.map(Ns),
            others_busy_ns: Some(Ns(0)),
            others_overlap_ns: Some(Ns(0)),
        }
    }

    /// Returns the ids of the checks that fail.
    fn failing(sanity: &Sanity) -> Vec<&str> {
        let failing = sanity.checks.iter().filter(|check| !check.ok);
        failing.map(|check| check.id.as_str()).collect()
    }

    /// Checks all figures of a good and of a bad recording.
    ///
    /// ```text
    /// window   10├───────────────────┤30
    /// busy     10├──┤13  20├─────────┤30
    /// ```
    #[test]
    fn all_checks_pass_or_all_fail() {
        let good = [
            interval(10, 12, 1, 2),
            interval(12, 13, 3, 4),
            interval(24, 26, 5, 6),
        ]
        .repeat(4);

        let mut bad = vec![interval(10, 10, 0, 0), interval(20, 30, 7, 8)];
        bad.resize(MANY, interval(13, 14, 7, 9));

        let even_gaps = [Span::new(13, 19), Span::new(20, 24), Span::new(26, 30)].repeat(4);
        let mut one_long_gap = vec![Span::new(13, 30)];
        one_long_gap.resize(MANY, Span::new(12, 13));
        let errors = |count| CommandBufferErrors {
            count,
            of_process: 0,
            codes: Vec::new(),
        };

        let spans = [(10, 13), (24, 26)];
        with_busy_window((10, 30), &spans, |busy_window| {
            let (good_run, no_errors) = (run(Some("Deferred"), Some(40)), errors(0));
            let good_encoders = encoders(&good);
            let mut input = SanityInput {
                run: &good_run,
                source: SourceKind::Export,
                busy_window: BusyWindow {
                    gaps: &even_gaps,
                    ..busy_window
                },
                mine: &good,
                encoders: good_encoders.len() as u64,
                busy: &busy(5, 8, Some(8)),
                rows: Some(Span::new(3, 40)),
                all_intervals: 200,
                unattributed: 2,
                doubtful: Vec::new(),
                listed: Some(joined(&good_encoders, [1, 2, 4, 6].into_iter())),
                finished: Some(FinishedBuffers {
                    count: 3,
                    without_interval: 0,
                }),
                outside: Some(&[]),
                truncated_tables: &[],
                errors: Some(&no_errors),
            };

            let found = sanity(&input);
            assert_eq!(failing(&found), [""; 0]);
            assert_eq!(found.checks.len(), 12);
            assert_eq!(found.window_share, Some(Share(0.5)));
            assert_eq!((found.encoders, found.encoders_listed), (3, Some(3)));
            assert_eq!(found.longest_interval_share, Some(Share(0.4)));

            let (bad_run, one_error, differing) = (
                run(Some("Windowed (5 seconds)"), Some(39)),
                errors(1),
                busy(11, 8, Some(9)),
            );
            input.run = &bad_run;
            let bad_encoders = encoders(&bad);
            (input.mine, input.encoders) = (&bad, bad_encoders.len() as u64);
            input.busy = &differing;
            input.busy_window.gaps = &one_long_gap;
            input.unattributed = 3;
            input.listed = Some(joined(&bad_encoders, [8].into_iter()));
            input.finished = Some(FinishedBuffers {
                count: 3,
                without_interval: 1,
            });
            let outside = [RowsOutside {
                schema: "kdebug".to_owned(),
                rows: 2,
            }];
            input.outside = Some(&outside);
            let truncated = ["kdebug".to_owned()];
            input.truncated_tables = &truncated;
            input.errors = Some(&one_error);

            let found = sanity(&input);
            let all: Vec<&str> = found.checks.iter().map(|check| check.id.as_str()).collect();
            assert_eq!(failing(&found), all);
            assert_eq!(
                (found.tables_differ_ns, found.encoders_listed),
                (Some(SignedNs(1)), Some(1))
            );
            assert_eq!(found.buffers_without_interval, Some(1));
            assert_eq!(found.rows_outside, Some(2));
        });
    }

    /// A check without data is left out rather than passed.
    #[test]
    fn unknown_is_not_ok() {
        with_busy_window((10, 30), &[(10, 30)], |busy_window| {
            let mine = [interval(10, 30, 1, 2)];
            let found = sanity(&SanityInput {
                run: &run(None, None),
                source: SourceKind::Export,
                busy_window,
                mine: &mine,
                encoders: encoders(&mine).len() as u64,
                busy: &busy(20, 20, None),
                rows: None,
                all_intervals: 1,
                unattributed: 0,
                doubtful: Vec::new(),
                listed: None,
                finished: None,
                outside: None,
                truncated_tables: &[],
                errors: None,
            });
            let ids: Vec<&str> = found.checks.iter().map(|check| check.id.as_str()).collect();
            let expected = [
                "tables-whole",
                "rows-attributed",
                "rows-have-length",
                "command-buffers-known",
            ];
            assert_eq!(ids, expected);
            assert_eq!((found.windowed, found.encoders_listed), (None, None));
            assert_eq!((found.buffers_finished, found.rows_outside), (None, None));
        });
    }

    proptest! {
        #[test]
        fn joining_is_an_intersection(
            wanted in prop::collection::btree_set(0_u64..40, 0..20),
            listed in prop::collection::btree_set(0_u64..40, 0..20),
        ) {
            let expected = wanted.intersection(&listed).count() as u64;
            let (wanted, listed): (Vec<u64>, Vec<u64>) =
                (wanted.into_iter().collect(), listed.into_iter().collect());
            prop_assert_eq!(joined(&wanted, listed.iter().copied()), expected);
        }
    }
}
