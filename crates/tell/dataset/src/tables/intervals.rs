//! Defines `intervals`: the GPU intervals of all processes inside the window. Those of the analyzed
//! process have all known facts.

use std::iter;

use metalens_analyzer::{Analysis, AnyInterval, GpuInterval, NamedBy, StateInterval};

use super::field::{TableField, columns, fill};
use crate::cells::{CellValue, MemoryTable};
use crate::error::{Error, Result};
use crate::report_names::named_by;

/// One interval, of the analyzed process or another one.
pub(crate) struct IntervalRow<'t> {
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

/// Returns the table. Names of other processes are only included on request.
pub(crate) fn table(analysis: &Analysis, show_names: bool) -> Result<MemoryTable> {
    let everyone = analysis.everyone().ok_or(Error::OnlyTarget)?;
    let others = everyone
        .filter(|interval| !interval.is_analyzed)
        .filter_map(|interval| IntervalRow::from_other(interval, show_names));

    let mut states = StateAt::new(analysis.performance());
    // If two have the same start, the one of the process itself comes first.
    let mut own = analysis.intervals().map(IntervalRow::from_own).peekable();
    let mut others = others.peekable();
    let merged = iter::from_fn(|| match (own.peek(), others.peek()) {
        (Some(own), Some(other)) if other.start_ns < own.start_ns => others.next(),
        (None, _) => others.next(),
        _ => own.next(),
    });
    let rows = merged.map(|row| IntervalRow {
        state: states.at(row.start_ns),
        ..row
    });
    fill(&fields(), rows)
}

impl<'t> IntervalRow<'t> {
    fn from_own(interval: GpuInterval<'t>) -> Self {
        Self {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            is_analyzed: true,
            kernel: Some((interval.kernel, interval.named_by)),
            process: interval.process,
            pid: interval.pid,
            channel: interval.channel,
            command_buffer: interval.command_buffer,
            encoder: interval.encoder,
            encoded_ns: interval.encoded_ns,
            committed_ns: interval.committed_ns,
            completed_ns: interval.completed_ns,
            state: None,
        }
    }

    fn from_other(interval: AnyInterval<'t>, show_names: bool) -> Option<Self> {
        let (start_ns, end_ns) = interval.in_window?;
        Some(Self {
            start_ns,
            end_ns,
            is_analyzed: false,
            kernel: None,
            process: interval.process.filter(|_| show_names),
            pid: interval.pid.filter(|_| show_names),
            channel: interval.channel,
            command_buffer: interval.command_buffer,
            encoder: interval.encoder,
            encoded_ns: None,
            committed_ns: interval.committed_ns,
            completed_ns: None,
            state: None,
        })
    }
}

/// Finds the performance state at a time. The times of its calls must not decrease.
struct StateAt<'t> {
    states: &'t [StateInterval],
    /// Number of states that ended before the last time.
    ended: usize,
}

impl<'t> StateAt<'t> {
    fn new(states: &'t [StateInterval]) -> Self {
        Self { states, ended: 0 }
    }

    fn at(&mut self, time_ns: u64) -> Option<&'t str> {
        let has_ended = |state: &StateInterval| state.end_ns <= time_ns;
        while self.states.get(self.ended).is_some_and(has_ended) {
            self.ended += 1;
        }
        let state = self.states.get(self.ended)?;
        (state.start_ns <= time_ns).then_some(&state.what)
    }
}

pub(crate) fn fields<'t>() -> Vec<TableField<IntervalRow<'t>>> {
    let mut fields = times();
    fields.extend(work());
    fields.extend(timestamps());
    fields
}

fn times<'t>() -> Vec<TableField<IntervalRow<'t>>> {
    columns! { r:
        "start_ns" NS "Start of the interval." = r.start_ns;
        "end_ns" NS "End of the interval." = r.end_ns;
        "duration_ns" NS "end_ns - start_ns." = (r.end_ns - r.start_ns);
        "role" TEXT "`analyzed` for the process that the run is about, else `other`."
            = (if r.is_analyzed { "analyzed" } else { "other" });
    }
}

fn work<'t>() -> Vec<TableField<IntervalRow<'t>>> {
    columns! { r:
        "channel" TEXT "Compute, Vertex, Fragment, …" = r.channel;
        "kernel" TEXT "Kernel; null for other processes." = r.kernel.map(|(name, _)| name);
        "named_by" TEXT "Source of the name, as in `kernels`; null for other processes."
            = r.kernel.map(|(_, by)| named_by(by));
        "process" TEXT "Process; null for others without --show-names." = r.process;
        "pid" INTEGER "Process id; null where `process` is." = r.pid.map(u64::from);
        "command_buffer" ID "Id of the command buffer." = r.command_buffer.map(CellValue::Id);
        "encoder" ID "Id of the encoder, or of the first of several that were merged."
            = r.encoder.map(CellValue::Id);
    }
}

fn timestamps<'t>() -> Vec<TableField<IntervalRow<'t>>> {
    columns! { r:
        "encoding_start_ns" NS "Start of the encoding." = r.encoded_ns.map(|(start, _)| start);
        "encoding_end_ns" NS "End of the encoding." = r.encoded_ns.map(|(_, end)| end);
        "committed_ns" NS "Commit of the command buffer." = r.committed_ns;
        "completed_ns" NS "Notification of the program." = r.completed_ns;
        "performance_state" TEXT "GPU performance state at the start of the interval." = r.state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    /// time   0  2     5     8  9
    /// state  .  Min---Max---.  Max
    /// ```
    #[test]
    fn states_include_their_start_and_exclude_their_end() {
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
