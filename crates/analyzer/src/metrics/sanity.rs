//! Whether the recording makes sense: plain figures, and checks made of them.

use super::against::Against;
use crate::basics::message::{Message, name, shown_share, table, time, ungrouped};
use crate::basics::spans::{Span, between};
use crate::basics::statistics::ratio;
use crate::message;
use crate::report::{Busy, Check, CommandBufferErrors, RunFacts, Sanity};
use crate::subject::timeline::Interval;

/// What the figures are made of.
pub(crate) struct SanityInput<'a> {
    pub run: &'a RunFacts,
    pub against: Against<'a>,
    /// The target's intervals in the window.
    pub mine: &'a [Interval],
    pub busy: &'a Busy,
    /// How many distinct encoders they have.
    pub encoders: u64,
    /// From the first start to the last end of everyone's intervals.
    pub rows: Option<Span>,
    /// All intervals, and those that name no process.
    pub all_intervals: u64,
    pub unattributed: u64,
    /// How many of these the list of encoders has.
    pub listed: Option<u64>,
    /// The names of tables that break off.
    pub truncated_tables: &'a [String],
    pub errors: Option<&'a CommandBufferErrors>,
}

/// How many of the wanted ids are listed. Both are sorted, each id once.
#[must_use]
pub(crate) fn joined(wanted: &[u64], listed: impl Iterator<Item = u64>) -> u64 {
    let mut listed = listed.peekable();
    let is_listed = |id: &&u64| {
        while listed.next_if(|one| one < *id).is_some() {}
        listed.peek() == Some(*id)
    };
    wanted.iter().filter(is_listed).count() as u64
}

/// The figures, and what they come to.
pub(crate) fn sanity(input: &SanityInput<'_>) -> Sanity {
    let lengths = |spans: &[Span]| spans.iter().map(|span| span.length_ns()).max();
    let window = input.against.window;
    let (mut longest_ns, mut without_buffer, mut without_length) = (None, 0, 0);
    for one in input.mine {
        longest_ns = longest_ns.max(Some(one.span.clip(window).length_ns()));
        without_buffer += u64::from(one.command_buffer.is_none());
        without_length += u64::from(one.span.is_empty());
    }
    let idle_ns = crate::basics::spans::length_ns(input.against.gaps);
    let active = input.busy.machine_active_ns;
    let differ = active.and_then(|active| between(input.busy.machine_busy_ns, active));
    let mut sanity = Sanity {
        window_share: input
            .run
            .duration_ns
            .and_then(|whole| ratio(window.length_ns(), whole)),
        first_row_ns: input.rows.map(|rows| rows.start_ns),
        last_row_ns: input.rows.map(|rows| rows.end_ns),
        tables_differ_ns: differ,
        tables_differ_share: differ
            .zip(active)
            .and_then(|(differ, active)| ratio(differ.unsigned_abs(), active)),
        longest_interval_share: longest_ns.and_then(|longest| ratio(longest, input.busy.busy_ns)),
        longest_gap_share: lengths(input.against.gaps).and_then(|longest| ratio(longest, idle_ns)),
        rows_without_process: input.unattributed,
        rows_without_command_buffer: without_buffer,
        rows_without_length: without_length,
        encoders: input.encoders,
        encoders_listed: input.listed,
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

/// Every check that could be made, in this order.
fn checks(sanity: &Sanity, input: &SanityInput<'_>) -> Vec<Check> {
    let found = [
        whole_tables(sanity),
        whole_recording(sanity, input.run),
        inside_recording(sanity, input.run),
        tables_agree(sanity),
        attributed(sanity, input.all_intervals),
        lengths(sanity, input.mine.len()),
        buffers_known(sanity, input.mine.len()),
        encoders_listed(sanity),
        one_of_many(
            "no-interval-dominates",
            "interval",
            "busy",
            sanity.longest_interval_share,
            input.mine.len(),
        ),
        one_of_many(
            "no-gap-dominates",
            "gap",
            "idle",
            sanity.longest_gap_share,
            input.against.gaps.len(),
        ),
        no_errors(input.errors),
    ];
    found.into_iter().flatten().collect()
}

fn check(id: &str, ok: bool, says: Message) -> Option<Check> {
    let (says, says_values) = says.into_parts();
    Some(Check {
        id: id.to_owned(),
        ok,
        text: says,
        text_values: says_values,
    })
}

fn whole_tables(sanity: &Sanity) -> Option<Check> {
    let truncated = &sanity.truncated_tables;
    let says = match truncated.is_empty() {
        true => "every table that was read is whole".into(),
        false => message!(
            "only the beginning was read of {}",
            Message::joined(truncated.iter().map(|name| table(name)), ", ")
        ),
    };
    check("tables-whole", truncated.is_empty(), says)
}

fn whole_recording(sanity: &Sanity, run: &RunFacts) -> Option<Check> {
    let windowed = sanity.windowed?;
    let mode = name(run.recording_mode.as_deref()?);
    let says = match windowed {
        true => message!("the recorder kept only the end of what happened: {}", mode),
        false => message!("the recorder kept all that happened: {}", mode),
    };
    check("recording-whole", !windowed, says)
}

fn inside_recording(sanity: &Sanity, run: &RunFacts) -> Option<Check> {
    let (last, wall) = (sanity.last_row_ns?, run.duration_ns?);
    let says = message!(
        "the GPU's last row ends at {} of a recording of {}",
        time(last),
        time(wall)
    );
    check("rows-inside-recording", last <= wall, says)
}

/// On real recordings the two differ by 0.16 % at most.
fn tables_agree(sanity: &Sanity) -> Option<Check> {
    let (differ, share) = (sanity.tables_differ_ns?, sanity.tables_differ_share?);
    let says = message!(
        "the GPU's own Active time and the union of all intervals differ by {}, {} of it",
        time(differ.unsigned_abs()),
        shown_share(format!("{:.3} %", share * 100.0), share)
    );
    check("tables-agree", share <= 0.005, says)
}

fn attributed(sanity: &Sanity, rows: u64) -> Option<Check> {
    let (lost, share) = (
        sanity.rows_without_process,
        ratio(sanity.rows_without_process, rows)?,
    );
    let says = message!(
        "{} of {} GPU intervals name no process and count as others'",
        ungrouped(lost),
        ungrouped(rows)
    );
    check("rows-attributed", share <= 0.01, says)
}

fn lengths(sanity: &Sanity, rows: usize) -> Option<Check> {
    let empty = sanity.rows_without_length;
    let says = message!(
        "{} of the target's {} intervals have no length",
        ungrouped(empty),
        ungrouped(rows as u64)
    );
    check("rows-have-length", empty == 0, says)
}

fn buffers_known(sanity: &Sanity, rows: usize) -> Option<Check> {
    let lost = sanity.rows_without_command_buffer;
    let says = message!(
        "{} of the target's {} intervals name no command buffer",
        ungrouped(lost),
        ungrouped(rows as u64)
    );
    check("command-buffers-known", lost == 0, says)
}

fn encoders_listed(sanity: &Sanity) -> Option<Check> {
    let (listed, all) = (sanity.encoders_listed?, sanity.encoders);
    let says = message!(
        "{} of the {} encoders that ran are in the list of encoders, which tells when they were \
         encoded",
        ungrouped(listed),
        ungrouped(all)
    );
    check("encoders-listed", listed == all, says)
}

/// Of how few it is no wonder if one is longer than all others together.
const FEW: usize = 10;

/// Whether one of many makes up more than half of it all.
fn one_of_many(
    id: &str,
    what: &'static str,
    whole: &'static str,
    share: Option<f64>,
    count: usize,
) -> Option<Check> {
    let share = share.filter(|_| count >= FEW)?;
    let says = message!(
        "the longest of {} {}s is {} of the {} time",
        ungrouped(count as u64),
        what,
        shown_share(format!("{:.1} %", share * 100.0), share),
        whole
    );
    check(id, share <= 0.5, says)
}

fn no_errors(errors: Option<&CommandBufferErrors>) -> Option<Check> {
    let errors = errors?;
    let says = message!(
        "{} command buffers ended in an error, {} of them the target's",
        ungrouped(errors.count),
        ungrouped(errors.of_process)
    );
    check("no-errors", errors.count == 0, says)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::DeviceFacts;
    use crate::subject::timeline::encoders;
    use crate::testing::{against, interval_of as interval};
    use proptest::prelude::*;

    fn run(mode: Option<&str>, duration_ns: Option<u64>) -> RunFacts {
        RunFacts {
            number: 1,
            synthetic: false,
            template: None,
            instruments_version: None,
            start: None,
            duration_ns,
            end_reason: None,
            recording_mode: mode.map(str::to_owned),
            device: DeviceFacts::default(),
        }
    }

    fn busy(busy_ns: u64, machine_busy_ns: u64, active: Option<u64>) -> Busy {
        Busy {
            busy_ns,
            sum_ns: busy_ns,
            ratio: None,
            overlap_factor: None,
            machine_busy_ns,
            machine_active_ns: active,
            others_busy_ns: 0,
            others_overlap_ns: 0,
        }
    }

    /// Which checks fail, of those that could be made.
    fn failing(sanity: &Sanity) -> Vec<&str> {
        let failing = sanity.checks.iter().filter(|check| !check.ok);
        failing.map(|check| check.id.as_str()).collect()
    }

    /// ```text
    /// window   10├───────────────────┤30
    /// busy     10├──┤13  20├─────────┤30
    /// ```
    #[test]
    fn all_is_well_or_all_is_not() {
        let good = [
            interval(10, 12, 1, 2),
            interval(12, 13, 3, 4),
            interval(24, 26, 5, 6),
        ]
        .repeat(4);
        let mut bad = vec![interval(10, 10, 0, 0), interval(20, 30, 7, 8)];
        bad.resize(FEW, interval(13, 14, 7, 9));
        let even_gaps = [Span::new(13, 19), Span::new(20, 24), Span::new(26, 30)].repeat(4);
        let mut one_long_gap = vec![Span::new(13, 30)];
        one_long_gap.resize(FEW, Span::new(12, 13));
        let errors = |count| CommandBufferErrors {
            count,
            of_process: 0,
            codes: Vec::new(),
        };
        let spans = [(10, 13), (24, 26)];
        against((10, 30), &spans, |against| {
            let (well, none) = (run(Some("Deferred"), Some(40)), errors(0));
            let good_encoders = encoders(&good);
            let mut input = SanityInput {
                run: &well,
                against: Against {
                    gaps: &even_gaps,
                    ..against
                },
                mine: &good,
                encoders: good_encoders.len() as u64,
                busy: &busy(5, 8, Some(8)),
                rows: Some(Span::new(3, 40)),
                all_intervals: 200,
                unattributed: 2,
                listed: Some(joined(&good_encoders, [1, 2, 4, 6].into_iter())),
                truncated_tables: &[],
                errors: Some(&none),
            };
            let found = sanity(&input);
            assert_eq!(failing(&found), [""; 0]);
            assert_eq!(found.checks.len(), 11);
            assert_eq!(found.window_share, Some(0.5));
            assert_eq!((found.encoders, found.encoders_listed), (3, Some(3)));
            assert_eq!(found.longest_interval_share, Some(0.4));

            let (ill, some, differing) = (
                run(Some("Windowed (5 seconds)"), Some(39)),
                errors(1),
                busy(11, 8, Some(9)),
            );
            input.run = &ill;
            let bad_encoders = encoders(&bad);
            (input.mine, input.encoders) = (&bad, bad_encoders.len() as u64);
            input.busy = &differing;
            input.against.gaps = &one_long_gap;
            input.unattributed = 3;
            input.listed = Some(joined(&bad_encoders, [8].into_iter()));
            let truncated = ["kdebug".to_owned()];
            input.truncated_tables = &truncated;
            input.errors = Some(&some);
            let found = sanity(&input);
            let all: Vec<&str> = found.checks.iter().map(|one| one.id.as_str()).collect();
            assert_eq!(failing(&found), all);
            assert_eq!(
                (found.tables_differ_ns, found.encoders_listed),
                (Some(1), Some(1))
            );
        });
    }

    /// What cannot be checked is not said to be well.
    #[test]
    fn unknown_is_not_ok() {
        against((10, 30), &[(10, 30)], |against| {
            let mine = [interval(10, 30, 1, 2)];
            let found = sanity(&SanityInput {
                run: &run(None, None),
                against,
                mine: &mine,
                encoders: encoders(&mine).len() as u64,
                busy: &busy(20, 20, None),
                rows: None,
                all_intervals: 1,
                unattributed: 0,
                listed: None,
                truncated_tables: &[],
                errors: None,
            });
            let ids: Vec<&str> = found.checks.iter().map(|one| one.id.as_str()).collect();
            let expected = [
                "tables-whole",
                "rows-attributed",
                "rows-have-length",
                "command-buffers-known",
            ];
            assert_eq!(ids, expected);
            assert_eq!((found.windowed, found.encoders_listed), (None, None));
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
