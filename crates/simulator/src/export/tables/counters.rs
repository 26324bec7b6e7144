//! Writes the tables of GPU counters and their values.

use super::submission::ACCELERATOR_ID;
use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::plan::machine::counter_samples;
use crate::scenario::machine::CounterUnit;

/// Largest value of a counter without one: 2^63 billionths.
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
