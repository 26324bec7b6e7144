//! Says what a recording without GPU intervals has, such as one of a phone.

use metalens_text::units;
use metalens_trace::Names;

use crate::basics::statistics::percentiles;
use crate::error::Error;
use crate::subject::timeline::lacks_intervals;
use crate::tables::SurroundingTables;
use crate::tables::columns::Texts;
use crate::tables::machine::{AllocatedSizes, MachineTables, NamedStates, OwnedSpans};

/// Adds to the error of a recording without GPU intervals what the recording has.
pub(crate) fn with_the_rest(error: Error, tables: &SurroundingTables, names: &Names) -> Error {
    let told = told(&tables.machine, names);
    if told.is_empty() || !lacks_intervals(&error) {
        return error;
    }
    Error::WithoutGpu {
        told: told.join("; "),
        error: Box::new(error),
    }
}

fn told(machine: &MachineTables, names: &Names) -> Vec<String> {
    let frames = machine.frame_rates.as_ref().ok();
    let cpu = machine.cpu_loads.as_ref().ok();
    let utilization = frames.map(|table| &*table.utilization);
    let rates = [
        ("frames per second", "", frames.map(|table| &table.rates)),
        ("GPU utilization", " %", utilization),
        ("CPU, of 100 % a core", " %", cpu.map(|table| &table.loads)),
    ];
    let rates = rates.into_iter();
    let rates = rates.filter_map(|(what, unit, column)| rate(what, unit, column?, names));
    let hangs = machine.hangs.as_ref().ok().and_then(hangs);
    let mut told: Vec<String> = rates.chain(hangs).collect();
    // Any recording of Metal has these.
    if !told.is_empty() {
        let thermal = machine.thermal.as_ref().ok();
        told.extend(thermal.and_then(|table| states(table, names)));
        let newer = machine.allocated.as_ref();
        let allocated = newer.or(machine.allocated_before.as_ref()).ok();
        told.extend(allocated.and_then(memory));
    }
    told
}

fn hangs(table: &OwnedSpans) -> Option<String> {
    let lengths = table.spans.started().map(|(_, span)| span.length_ns());
    let longest = units::time(lengths.max()?);
    let count = units::counted(table.spans.rows() as u64, "hang");
    Some(format!("{count}, longest {longest}"))
}

fn memory(table: &AllocatedSizes) -> Option<String> {
    let peak = table.sizes.iter().flatten().max()?;
    Some(format!(
        "Metal memory of a process at most {}",
        units::bytes(peak)
    ))
}

/// Returns the 5th, the middle and the 95th percentile of a column of decimals.
fn rate(what: &str, unit: &str, column: &Texts, names: &Names) -> Option<String> {
    let thousandths = |text: &str| {
        let (whole, parts) = text.split_once('.').unwrap_or((text, ""));
        let parts = format!("{parts:0<3}");
        format!("{whole}{}", parts.get(..3)?).parse::<u64>().ok()
    };
    let texts = column.iter().flatten().map(|&text| names.text(text));
    let mut values: Vec<u64> = texts.filter_map(thousandths).collect();
    let count = units::counted(values.len() as u64, "value");
    let found = percentiles(&mut values, [5, 50, 95])?;
    let [low, median, high] = found.map(|value| {
        let tenths = (value + 50) / 100;
        format!("{}.{}{unit}", tenths / 10, tenths % 10)
    });
    Some(format!(
        "{what} {median} in the middle, 90 % from {low} to {high} ({count})"
    ))
}

/// Returns the thermal states, in their order.
fn states(table: &NamedStates, names: &Names) -> Option<String> {
    let mut states: Vec<&str> = table
        .states
        .iter()
        .flatten()
        .map(|&state| names.text(state))
        .collect();
    states.dedup();
    (!states.is_empty()).then(|| format!("thermal state {}", states.join(", ")))
}
