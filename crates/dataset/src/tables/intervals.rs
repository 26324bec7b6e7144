//! `intervals`: everyone's GPU intervals inside the window, the target's with all
//! that is known of them.

use std::iter::Peekable;

use metalens_analyzer::{Analysis, AnyInterval, GpuInterval, StateInterval, NamedBy};

use super::{Field, field, fill, ns, text};
use crate::cells::{Kind, Table, Value};
use crate::error::{Error, Result};
use crate::words::named_by;

/// One row: the target's, or somebody else's.
pub(crate) struct Row<'t> {
    start_ns: u64,
    end_ns: u64,
    is_analyzed: bool,
    kernel: Option<(&'t str, NamedBy)>,
    process: Option<&'t str>,
    pid: Option<u32>,
    channel: Option<&'t str>,
    command_buffer: Option<u64>,
    encoder: Option<u64>,
    encoded_ns: Option<(u64, u64)>,
    committed_ns: Option<u64>,
    completed_ns: Option<u64>,
    state: Option<&'t str>,
}

/// Other processes stay nameless unless asked for.
pub(crate) fn table(analysis: &Analysis, show_names: bool) -> Result<Table> {
    let everyone = analysis.everyone().ok_or(Error::OnlyTarget)?;
    let others = everyone.filter(|one| !one.is_analyzed);
    let others = others.filter_map(|one| Row::of_other(one, show_names));
    let mut states = StateAt::new(analysis.performance());
    let rows = Merged {
        mine: analysis.intervals().map(Row::of_process).peekable(),
        others: others.peekable(),
    };
    let rows = rows.map(|row| Row {
        state: states.at(row.start_ns),
        ..row
    });
    fill(&fields(), rows)
}

impl<'t> Row<'t> {
    fn of_process(one: GpuInterval<'t>) -> Self {
        Self {
            start_ns: one.start_ns,
            end_ns: one.end_ns,
            is_analyzed: true,
            kernel: Some((one.kernel, one.named_by)),
            process: one.process,
            pid: one.pid,
            channel: one.channel,
            command_buffer: one.command_buffer,
            encoder: one.encoder,
            encoded_ns: one.encoded_ns,
            committed_ns: one.committed_ns,
            completed_ns: one.completed_ns,
            state: None,
        }
    }

    fn of_other(one: AnyInterval<'t>, show_names: bool) -> Option<Self> {
        let (start_ns, end_ns) = one.in_window?;
        Some(Self {
            start_ns,
            end_ns,
            is_analyzed: false,
            kernel: None,
            process: one.process.filter(|_| show_names),
            pid: one.pid.filter(|_| show_names),
            channel: one.channel,
            command_buffer: one.command_buffer,
            encoder: one.encoder,
            encoded_ns: None,
            committed_ns: one.committed_ns,
            completed_ns: None,
            state: None,
        })
    }
}

/// Both in order of their starts; of equal ones the target's first.
struct Merged<A: Iterator, B: Iterator> {
    mine: Peekable<A>,
    others: Peekable<B>,
}

impl<'t, A, B> Iterator for Merged<A, B>
where
    A: Iterator<Item = Row<'t>>,
    B: Iterator<Item = Row<'t>>,
{
    type Item = Row<'t>;

    fn next(&mut self) -> Option<Row<'t>> {
        match (self.mine.peek(), self.others.peek()) {
            (Some(mine), Some(other)) if other.start_ns < mine.start_ns => self.others.next(),
            (Some(_), _) => self.mine.next(),
            (None, _) => self.others.next(),
        }
    }
}

/// Which state holds, for times that only rise.
struct StateAt<'t> {
    held: &'t [StateInterval],
    at: usize,
}

impl<'t> StateAt<'t> {
    fn new(held: &'t [StateInterval]) -> Self {
        Self { held, at: 0 }
    }

    fn at(&mut self, time: u64) -> Option<&'t str> {
        while self.held.get(self.at).is_some_and(|one| one.end_ns <= time) {
            self.at += 1;
        }
        let held = self.held.get(self.at)?;
        (held.start_ns <= time).then_some(&held.what)
    }
}

pub(crate) fn fields<'t>() -> Vec<Field<Row<'t>>> {
    let mut fields = times();
    fields.extend(work());
    fields.extend(journey());
    fields
}

fn times<'t>() -> Vec<Field<Row<'t>>> {
    vec![
        ns(
            "start_ns",
            "When it began, since the recording began.",
            |r| Value::whole(r.start_ns),
        ),
        ns(
            "end_ns",
            "When it ended: the first nanosecond that is no longer its.",
            |r| Value::whole(r.end_ns),
        ),
        ns("duration_ns", "end_ns - start_ns.", |r| {
            Value::whole(r.end_ns - r.start_ns)
        }),
        text(
            "role",
            "`analyzed` if it belongs to the process that the run is about, else `other`. Rows without a process are \
             `other`.",
            |r| Value::Text(if r.is_analyzed { "analyzed" } else { "other" }),
        ),
    ]
}

fn work<'t>() -> Vec<Field<Row<'t>>> {
    vec![
        text(
            "channel",
            "Where it ran: Compute, Vertex, Fragment, …",
            |r| Value::text(r.channel),
        ),
        text(
            "kernel",
            "What it is called; null of others' intervals.",
            |r| Value::text(r.kernel.map(|(name, _)| name)),
        ),
        text(
            "named_by",
            "What named it: shader-profiler, encoder-label, debug-group, command-buffer-label, none; \
             null of others' intervals.",
            |r| Value::text(r.kernel.map(|(_, by)| named_by(by))),
        ),
        text(
            "process",
            "The process's name; null where the recording has none and, unless --show-names was \
             given, of others' intervals.",
            |r| Value::text(r.process),
        ),
        field(
            "pid",
            Kind::Integer,
            "",
            "The process's number; null as `process` is.",
            |r| Value::whole_or_absent(r.pid.map(u64::from)),
        ),
        field(
            "command_buffer",
            Kind::Id,
            "",
            "Its command buffer's id; null for none.",
            |r| Value::id(r.command_buffer),
        ),
        field(
            "encoder",
            Kind::Id,
            "",
            "Its encoder's id, of several coalesced ones the first's; null for none.",
            |r| Value::id(r.encoder),
        ),
    ]
}

fn journey<'t>() -> Vec<Field<Row<'t>>> {
    vec![
        ns(
            "encoding_start_ns",
            "When its encoding began; null where that is not on record.",
            |r| Value::whole_or_absent(r.encoded_ns.map(|(start, _)| start)),
        ),
        ns("encoding_end_ns", "When its encoding ended.", |r| {
            Value::whole_or_absent(r.encoded_ns.map(|(_, end)| end))
        }),
        ns(
            "committed_ns",
            "When its command buffer was committed.",
            |r| Value::whole_or_absent(r.committed_ns),
        ),
        ns(
            "completed_ns",
            "When the program knew that its command buffer was done.",
            |r| Value::whole_or_absent(r.completed_ns),
        ),
        text(
            "performance_state",
            "The GPU's performance state when it began; null where no row of the recording covers \
             that moment.",
            |r| Value::text(r.state),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    /// time   0  2     5     8  9
    /// state  .  Min---Max---.  Max
    /// ```
    #[test]
    fn a_state_holds_from_its_start_and_no_longer_at_its_end() {
        let held = |start_ns, end_ns, what: &str| StateInterval {
            start_ns,
            end_ns,
            what: what.to_owned(),
            is_induced: false,
        };
        let held = [held(2, 5, "Min"), held(5, 8, "Max"), held(9, 10, "Max")];
        let mut states = StateAt::new(&held);
        let cases = [
            (0, None),
            (2, Some("Min")),
            (4, Some("Min")),
            (5, Some("Max")),
        ];
        for (time, expected) in cases
            .into_iter()
            .chain([(8, None), (9, Some("Max")), (10, None)])
        {
            assert_eq!(states.at(time), expected, "{time}");
        }
    }
}
