//! Runs the first stages of an analysis: from a trace to the figures that follow from the GPU's work
//! alone.

use metalens_message::Ns;
use metalens_trace::Trace;

use crate::basics::parallel::both;
use crate::error::{Error, Result};
use crate::metrics::figures::{Figures, FiguresInput};
use crate::metrics::kernels::Kernels;
use crate::metrics::spills::SpilledEncoders;
use crate::questions::without_gpu::with_the_rest;
use crate::report::{NotRecorded, SelectedStep};
use crate::request::Request;
use crate::subject::gaps::{Occupancy, occupancy};
use crate::subject::timeline::Timeline;
use crate::subject::{CommandInput, Subject};
use crate::tables::cpu::CpuTable;
use crate::tables::recording::Recording;
use crate::tables::{self, SurroundingTables};

/// A recording with its subject, and the figures that follow from the GPU's work alone.
pub(crate) struct Measured {
    pub recording: Recording,
    pub subject: Subject,
    pub occupancy: Occupancy,
    pub kernels: Kernels,
    pub figures: Figures,
    /// True if the intervals come from raw events.
    pub is_raw: bool,
    /// Reason why spilled registers are unknown, if they are.
    pub absent_spills: Option<NotRecorded>,
    /// Tables of the other parts of a report.
    pub tables: SurroundingTables,
}

impl Measured {
    /// Measures the work in a trace, or in one of its steps.
    pub(crate) fn new(trace: Trace, request: &Request, step: Option<SelectedStep>) -> Result<Self> {
        let (mut recording, tables) = tables::take(trace)?;
        let cpu = tables.surroundings.cpu.as_ref();
        let timeline = Timeline::read(tables.gpu, tables.raw, &mut recording.names)
            .map_err(|error| only_cpu(cpu, &recording.source.path).unwrap_or(error))
            .map_err(|error| with_the_rest(error, &tables.surroundings, &recording.names))?;
        let names = &recording.names;
        let is_raw = timeline.is_raw;
        let subject = Subject::new(
            timeline,
            tables.signposts,
            CommandInput {
                tables: tables.commands,
                driver: &tables.surroundings.machine.driver_intervals,
            },
            &tables.names,
            &recording,
            request,
            step,
        )?;

        let (window, mine) = (subject.window(), &subject.mine);
        let (occupancy, kernels) = both(
            || occupancy(mine, window),
            || {
                let named = subject.named_intervals(tables.names, names);
                let encoders = tables.spills.as_ref().ok();
                let spilled = encoders.map(|table| SpilledEncoders::read(table, &subject.chosen));
                named.map(|named| Kernels::new(named, spilled.as_ref(), mine, window))
            },
        );
        let kernels = kernels?;
        let absent_table = tables.spills.as_ref().err();
        let absent_spills =
            absent_table.map(|absent| NotRecorded::new("kernels.spills", absent.why.clone()));

        let figures = FiguresInput {
            subject: &subject,
            choice: request.step.as_ref(),
            occupancy: &occupancy,
            kernels: &kernels,
            names,
        }
        .figures();
        Ok(Self {
            recording,
            subject,
            occupancy,
            kernels,
            figures,
            is_raw,
            absent_spills,
            tables: tables.surroundings,
        })
    }

    /// Returns the step of the main series with this number, from 1.
    pub(crate) fn step(&self, number: u64) -> Result<SelectedStep> {
        let main = self.subject.series.first();
        let count = main.map_or(0, |main| main.steps.len());
        let found = main.and_then(|main| Some((main.by, main.step(number)?)));
        let (by, span) = found.ok_or_else(|| match count {
            0 => Error::unanswered(
                format!("there is no step {number}: nothing repeats regularly"),
                "choose a part by time with --from and --to; or mark steps in the program with \
                 os_signpost (in a log, write `phase`), and choose them with --step NAME",
            ),
            _ => Error::unanswered(
                format!("there is no step {number}: the recording has {count}"),
                format!("choose a number from 1 to {count}"),
            ),
        })?;
        Ok(SelectedStep {
            number,
            count: count as u64,
            by,
            start_ns: Ns(span.start_ns),
            end_ns: Ns(span.end_ns),
        })
    }
}

/// Returns the error for a trace without GPU intervals if it has CPU samples.
pub(crate) fn only_cpu(table: Option<&CpuTable>, input: &str) -> Option<Error> {
    let table = table?;
    Some(Error::OnlyCpu {
        table: table.schema.to_owned(),
        samples: table.rows,
        input: input.to_owned(),
        runs: Vec::new(),
    })
}
