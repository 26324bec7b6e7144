//! Defines `counters`: the samples of the GPU's hardware counters.

use metalens_analyzer::{Analysis, CounterSample, CounterSeries, CounterUnit};

use super::field::{TableField, field, fill, ns, text};
use crate::cells::{CellKind, MemoryTable};
use crate::error::Result;

/// A sample with its counter.
pub(crate) struct SampleRow<'t> {
    series: &'t CounterSeries,
    sample: &'t CounterSample,
}

pub(crate) fn table(analysis: &Analysis) -> Result<MemoryTable> {
    let rows = analysis.counters().iter().flat_map(|series| {
        let samples = series.samples.iter();
        samples.map(move |sample| SampleRow { series, sample })
    });
    fill(&fields(), rows)
}

pub(crate) fn fields<'t>() -> Vec<TableField<SampleRow<'t>>> {
    vec![
        text("counter", "Counter.", |r| r.series.name.as_str().into()),
        text(
            "unit",
            "Unit of the value: percent, gigabytes-per-second.",
            |r| r.series.unit.map(unit).into(),
        ),
        ns(
            "start_ns",
            "Start of the time that the sample covers.",
            |r| r.sample.start_ns.into(),
        ),
        ns(
            "end_ns",
            "End of that time; null for the last sample of a burst.",
            |r| r.sample.end_ns.into(),
        ),
        field("value", CellKind::Number, "", "Mean over that time.", |r| {
            r.sample.value.into()
        }),
    ]
}

fn unit(unit: CounterUnit) -> &'static str {
    match unit {
        CounterUnit::Percent => "percent",
        CounterUnit::GigabytesPerSecond => "gigabytes-per-second",
    }
}
