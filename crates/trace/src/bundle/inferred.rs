//! What the stores know of a run when `form.template` is missing.
//!
//! Only two things, and neither is a guess. A launched program's creation is a
//! row of `life-cycle-period` ("Initializing - Process Creation"), which no
//! attached or bystanding process has. And `time-info` has the time of day at
//! which the recording began.

use super::facts::date_of_ns;
use super::files::Files;
use super::manager::Store;
use super::people::People;
use super::store::Rows;
use super::uniquing::Uniques;
use crate::error::Result;
use crate::toc::{Run, Target, TargetProcess};

/// How the period is called in which a program is started.
const CREATION: &str = "Initializing - Process Creation";

/// Fills in what is unknown of a run; `true` if the target was found so.
pub(crate) fn fill(
    run: &mut Run,
    files: &Files,
    stores: &[Store],
    uniques: &Uniques,
    people: &People,
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
    let Some((name, pid)) = people.process_parts(process, uniques) else {
        return Ok(false);
    };
    run.target = Target::Launched(TargetProcess {
        name,
        pid: Some(pid),
        ..TargetProcess::default()
    });
    Ok(true)
}

/// The one process that was created while being recorded.
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
        [only] => Some(*only),
        _ => None,
    })
}

fn start_date(files: &Files, stores: &[Store]) -> Result<Option<String>> {
    /// Set in a time of day; the rest is ns since 1970.
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

/// The rows of a table that there is one of.
fn rows_of(schema: &str, files: &Files, stores: &[Store]) -> Result<Option<Rows>> {
    match stores.iter().find(|store| store.schema == schema) {
        None => Ok(None),
        Some(store) => Rows::whole(files, store).map(Some),
    }
}
