//! Defines `counters`: the samples of the GPU's hardware counters.

use metalens_analyzer::{Analysis, CounterSample, CounterSeries, CounterUnit};

use super::field::{TableField, columns, fill};
use crate::cells::MemoryTable;
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
    columns! { r:
        "counter" TEXT "Counter." = r.series.name.as_str();
        "unit" TEXT "Unit of the value: percent, gigabytes-per-second." = r.series.unit.map(unit);
        "start_ns" NS "Start of the time that the sample covers." = r.sample.start_ns;
        "end_ns" NS "End of that time; null for the last sample of a burst." = r.sample.end_ns;
        "value" NUMBER "Mean over that time." = r.sample.value;
    }
}

fn unit(unit: CounterUnit) -> &'static str {
    match unit {
        CounterUnit::Percent => "percent",
        CounterUnit::GigabytesPerSecond => "gigabytes-per-second",
    }
}
