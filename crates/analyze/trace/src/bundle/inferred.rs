//! Infers facts about a run from its stores when `form.template` is missing.
//!
//! It infers only two facts, and both are certain. The creation of a launched program is a row of
//! `life-cycle-period` ("Initializing - Process Creation"), which attached and other processes do
//! not have. `time-info` has the time of day at which the recording began.

use super::facts::date_of_ns;
use super::files::Files;
use super::manager::Store;
use super::process_names::ProcessNames;
use super::store::Rows;
use super::uniquing::Uniques;
use crate::error::Result;
use crate::toc::{Run, Target, TargetProcess};

/// The name of the period in which a program is started.
const CREATION: &str = "Initializing - Process Creation";

/// Fills in unknown facts of a run. Returns true if this found the process.
pub(crate) fn fill(
    run: &mut Run,
    files: &Files,
    stores: &[Store],
    uniques: &Uniques,
    process_names: &ProcessNames,
) -> Result<bool> {
    if run.start_date.is_none() {
        run.start_date = start_date(files, stores)?;
    }
    if run.target != Target::Unknown {
        return Ok(false);
    }
    let Some(process) = created(files, stores, uniques)? else {
        return Ok(false);
    };
    let Some((name, pid)) = process_names.process_parts(process, uniques) else {
        return Ok(false);
    };
    run.target = Target::Launched(TargetProcess {
        name,
        pid: Some(pid),
        ..TargetProcess::default()
    });
    Ok(true)
}

/// Returns the process that was created during the recording, if it is the only one.
fn created(files: &Files, stores: &[Store], uniques: &Uniques) -> Result<Option<u64>> {
    let Some(rows) = rows_of("life-cycle-period", files, stores)? else {
        return Ok(None);
    };
    let (Some(process), Some(period)) = (rows.slot("process"), rows.slot("period")) else {
        return Ok(None);
    };
    let rows = rows.values(process).zip(rows.values(period));
    let mut created: Vec<u64> = rows
        .filter(|(_, period)| period.and_then(|p| uniques.string(p)) == Some(CREATION))
        .filter_map(|(process, _)| process)
        .collect();
    created.dedup();
    Ok(match created.as_slice() {
        [process] => Some(*process),
        _ => None,
    })
}

fn start_date(files: &Files, stores: &[Store]) -> Result<Option<String>> {
    /// Bit that is set in a time of day; the rest is nanoseconds since 1970.
    const SINCE_EPOCH: u64 = 1 << 63;
    let Some(rows) = rows_of("time-info", files, stores)? else {
        return Ok(None);
    };
    let start = rows
        .slot("trace-start-time")
        .and_then(|slot| rows.values(slot).next());
    let start = start.flatten().filter(|start| start & SINCE_EPOCH != 0);
    Ok(start.map(|start| date_of_ns(start & !SINCE_EPOCH)))
}

/// Returns the rows of a table, if it exists.
fn rows_of(schema: &str, files: &Files, stores: &[Store]) -> Result<Option<Rows>> {
    match stores.iter().find(|store| store.schema == schema) {
        None => Ok(None),
        Some(store) => Rows::read_all(files, store).map(Some),
    }
}
