//! Writes the tables of GPU counters and their values.

use super::submission::ACCELERATOR_ID;
use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::machine::counter_samples;
use crate::scenario::machine::CounterUnit;

/// Maximum of a counter without a limit: 2^63 billionths.
const NO_MAXIMUM: u64 = 9_223_372_036;

pub(super) const COUNTER_INFO: Schema = Schema {
    name: "gpu-counter-info",
    documentation: "Which GPU counters were recorded.",
    columns: &[
        ("timestamp", "Timestamp", "event-time"),
        ("counter-id", "Counter ID", "uint32"),
        ("name", "Name", "gpu-counter-name"),
        ("max-value", "Max Value", "uint64"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("description", "Description", "string"),
        ("group-index", "Group Index", "uint32"),
        ("type", "Type", "string"),
        ("ring-buffer-count", "Ring Buffer Count", "uint32"),
        (
            "require-weighted-accumulation",
            "Require Weighted Accumulation",
            "boolean",
        ),
        ("sample-interval", "Sample Interval", "uint32"),
    ],
};

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

pub(super) const COUNTER_INTERVALS: Schema = Schema {
    name: "metal-gpu-counter-intervals",
    documentation: "What the GPU counters read, as intervals.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("counter-id", "Counter ID", "uint32"),
        ("name", "Counter Name", "gpu-counter-name"),
        ("label", "Label", "formatted-label"),
        ("value", "Value", "fixed-decimal"),
        ("percent-value", "Percent Value", "percent"),
        ("color", "Color", "uint32"),
        ("gpu", "GPU", "metal-device-name"),
        ("group-index", "Group Index", "uint32"),
        ("is-percentage", "Is Percentage", "boolean"),
        ("ring-buffer-index", "Ring Buffer Index", "uint32"),
    ],
};

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

pub(super) const COUNTER_VALUE: Schema = Schema {
    name: "gpu-counter-value",
    documentation: "What the GPU counters read.",
    columns: &[
        ("timestamp", "Timestamp", "event-time"),
        ("counter-id", "Counter ID", "uint32"),
        ("value", "Value", "fixed-decimal"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("sample-index", "Sample ID", "uint32"),
        ("ring-buffer-index", "Ring Buffer Index", "uint32"),
    ],
};

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
