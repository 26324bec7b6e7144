//! Writes the tables of GPU counters and their values.

use super::submission::ACCELERATOR_ID;
use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::plan::machine::counter_samples;

/// Writes `gpu-counter-info`: one row per counter.
pub(super) fn info<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let recording = sheet.recording();
    for (id, counter) in (0..).zip(&recording.counter) {
        let max = counter.busy.max(counter.idle);
        let kind = if max <= 100 { "Percentage" } else { "Value" };
        sheet.row(|cells| {
            cells.number(Number::EventTime, 0);
            cells.number(Number::Uint32, id);
            cells.text(Text::CounterName, &counter.name);
            cells.number(Number::Uint64, max.max(100));
            cells.number(Number::Uint64, ACCELERATOR_ID);
            cells.text(Text::String, "a synthetic counter");
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
    let (plan, recording) = (sheet.plan(), sheet.recording());
    for sample in counter_samples(&recording.counter, plan) {
        sheet.row(|cells| {
            cells.number(Number::EventTime, sample.at_ns);
            cells.number(Number::Uint32, sample.counter as u64);
            cells.number(Number::FixedDecimal, sample.value);
            cells.number(Number::Uint64, ACCELERATOR_ID);
            cells.number(Number::Uint32, sample.number);
            cells.number(Number::Uint32, 0);
        })?;
    }
    Ok(())
}
