//! Writes the tables of GPU counters and their values.

use super::submission::ACCELERATOR_ID;
use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::plan::machine::counter_samples;
use crate::scenario::machine::CounterUnit;

/// Maximum of a counter without a limit: 2^63 billionths.
const NO_MAXIMUM: u64 = 9_223_372_036;

/// Writes `gpu-counter-info`: one row per counter.
pub(super) fn info<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let recording = sheet.recording();
    for (id, counter) in (0..).zip(&recording.counter) {
        let (kind, max, description) = match counter.unit() {
            CounterUnit::Percent => ("Percentage", 100, "a synthetic counter"),
            CounterUnit::GigabytesPerSecond => (
                "Value",
                NO_MAXIMUM,
                "a synthetic counter, in gigabytes per second",
            ),
            CounterUnit::Count => ("Value", NO_MAXIMUM, "a synthetic counter"),
        };
        sheet.row(|cells| {
            cells.number(Number::EventTime, 0);
            cells.number(Number::Uint32, id);
            cells.text(Text::CounterName, &counter.name);
            cells.number(Number::Uint64, max);
            cells.number(Number::Uint64, ACCELERATOR_ID);
            cells.text(Text::String, description);
            cells.number(Number::Uint32, 0);
            cells.text(Text::String, kind);
            cells.number(Number::Uint32, 1);
            cells.number(Number::Boolean, 0);
            cells.number(Number::Uint32, counter.period.get());
        })?;
    }
    Ok(())
}

/// Writes `metal-gpu-counter-intervals`: a row per counter and sample, up to the next sample. The
/// last sample of a counter has no row, since its end is unknown.
pub(super) fn intervals<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    let samples = counter_samples(plan);
    let mut ends_ns: Vec<Option<u64>> = vec![None; samples.len()];
    let mut next_ns: Vec<Option<u64>> = vec![None; recording.counter.len()];
    for (sample, end_ns) in samples.iter().zip(&mut ends_ns).rev() {
        *end_ns = next_ns[sample.counter].replace(sample.at_ns);
    }

    for (sample, end_ns) in samples.iter().zip(ends_ns) {
        let (Some(end_ns), Some(counter)) = (end_ns, recording.counter.get(sample.counter)) else {
            continue;
        };
        let is_percent = counter.unit() == CounterUnit::Percent;
        sheet.row(|cells| {
            cells.number(Number::StartTime, sample.at_ns);
            cells.number(Number::Duration, end_ns - sample.at_ns);
            cells.number(Number::Uint32, sample.counter as u64);
            cells.text(Text::CounterName, &counter.name);
            cells.nothing();
            if is_percent {
                cells.nothing();
                cells.percent(sample.billionths);
            } else {
                cells.number(Number::FixedDecimal, sample.billionths);
                cells.nothing();
            }
            cells.number(Number::Uint32, 0);
            cells.text(Text::DeviceName, &recording.gpu);
            cells.number(Number::Uint32, 0);
            cells.number(Number::Boolean, u64::from(is_percent));
            cells.number(Number::Uint32, 0);
        })?;
    }
    Ok(())
}

/// Writes `gpu-counter-value`: one row per sample and counter.
pub(super) fn values<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    for sample in counter_samples(plan) {
        sheet.row(|cells| {
            cells.number(Number::EventTime, sample.at_ns);
            cells.number(Number::Uint32, sample.counter as u64);
            cells.number(Number::FixedDecimal, sample.billionths);
            cells.number(Number::Uint64, ACCELERATOR_ID);
            cells.number(Number::Uint32, sample.number);
            cells.number(Number::Uint32, 0);
        })?;
    }
    Ok(())
}
