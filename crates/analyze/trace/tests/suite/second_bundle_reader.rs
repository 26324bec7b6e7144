//! Reads the small bundle a second time, with other libraries (plist, roxmltree) and simple code:
//! returns the content of a broken bundle, or that it is inconsistent.
//!
//! It knows only the contents of `mini_bundle`. If the format has a fact twice, it compares both,
//! and `Err` names the difference.

mod archive;
mod rows;
mod stored;
mod values;

use std::collections::BTreeMap;

use metalens_trace::{Target, TargetProcess};
use plist::Value;

use self::archive::Archive;
pub(crate) use self::stored::plain;
use self::values::Run;
use super::mini_bundle::{Bundled, core, store};

/// The contents of a bundle, in the form of `Answer`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BundleContents {
    /// Tables by the number of the store.
    pub(crate) tables: BTreeMap<u64, Result<Shown, String>>,
    pub(crate) target: Target,
    pub(crate) template: Option<String>,
    pub(crate) duration_ns: Option<u64>,
}

/// The name of a table, and a line for each of its columns.
pub(crate) type Shown = (String, Vec<String>);

/// Reads the uncompressed files of a bundle.
pub(crate) fn read(files: &Bundled) -> Result<BundleContents, String> {
    let mut contents = facts(files)?;
    let listed = tables(files)?;
    let run = Run::read(files)?;
    for (number, schema) in listed {
        let table = run.table(files, number, &schema);
        contents.tables.insert(number, table);
    }
    Ok(contents)
}

fn file<'a>(files: &'a Bundled, path: &str) -> Result<&'a [u8], String> {
    let bytes = files.get(path).ok_or_else(|| format!("no {path}"))?;
    Ok(bytes)
}

/// Returns the table of each store.
fn tables(files: &Bundled) -> Result<BTreeMap<u64, String>, String> {
    let archive = Archive::read(files, &core("table-manager/tables.plist"))?;
    let root = archive.top("root")?.ok_or("no root")?;
    let details = archive.get(root, "tableDetails")?.ok_or("no tables")?;
    let members = details.as_dictionary().ok_or("no members")?;
    let count = archive.number(details, "$0")?.ok_or("no count")?;
    let numbered = members.keys().filter(|name| name.starts_with('$')).count();
    if Some(numbered as u64) != count.checked_mul(2).map(|twice| twice + 1) {
        return Err(format!("{count} tables in {numbered} members"));
    }

    let mut found = BTreeMap::new();
    for at in 0..count {
        archive
            .number(details, &format!("${}", 2 * at + 1))?
            .ok_or("no number of a table")?;
        let table = archive.get(details, &format!("${}", 2 * at + 2))?;
        let table = table.ok_or("no table")?;
        let path = archive.text(table, "storeSubpath")?.ok_or("no store")?;
        let number = path.strip_prefix("run1/core/stores/indexed-store-");
        let number = number.and_then(|number| number.parse().ok());
        let spec = archive.get(table, "spec")?.ok_or("no spec")?;
        let schema = archive.text(spec, "schemaName")?.ok_or("no schema")?;
        let earlier = found.insert(number.ok_or("another store")?, schema);
        if earlier.is_some() {
            return Err("a store of two tables".to_owned());
        }
    }

    Ok(found)
}

/// Returns the facts about the run in the template.
fn facts(files: &Bundled) -> Result<BundleContents, String> {
    if !files.contains_key("form.template") {
        return Ok(BundleContents::default());
    }
    let archive = Archive::read(files, "form.template")?;
    let Some(run) = run_of(&archive)? else {
        return Ok(BundleContents::default());
    };

    let mut contents = BundleContents {
        duration_ns: archive.number(run, "runningTime")?.map(micros),
        ..BundleContents::default()
    };
    let Some(info) = archive.get(run, "runInfo")? else {
        return Ok(BundleContents::default());
    };

    contents.template = archive.text(info, "_templateName")?;
    let kind = archive.number(info, "targetType")?;
    if let Some(name) = archive.text(info, "_targetProcessName")? {
        let pid = archive.number(info, "_targetProcessPid")?;
        let process = TargetProcess {
            name,
            pid: pid.and_then(|pid| u32::try_from(pid).ok()),
            ..TargetProcess::default()
        };
        contents.target = match kind {
            Some(1) => Target::Launched(process),
            Some(2) => Target::Attached(process),
            _ => Target::Recorded(process),
        };
    }

    if kind == Some(0) {
        contents.target = Target::AllProcesses;
    }
    Ok(contents)
}

fn run_of(archive: &Archive) -> Result<Option<&Value>, String> {
    let Some(data) = archive.top("com.apple.xray.run.data")? else {
        return Ok(None);
    };
    let runs = archive.get(data, "$1")?.ok_or("no runs")?;
    let runs = archive.entries(runs)?;
    let mut first = runs
        .into_iter()
        .filter(|(number, _)| number.as_unsigned_integer() == Some(1));
    Ok(first.next().map(|(_, run)| run))
}

/// Rounds to the nearest microsecond, as in a table of contents.
fn micros(ns: u64) -> u64 {
    (ns / 1_000 + u64::from(ns % 1_000 >= 500)) * 1_000
}

/// Returns the names of processes by pid, from the template.
fn displayed(files: &Bundled) -> Result<BTreeMap<u64, String>, String> {
    let mut found = BTreeMap::new();
    if !files.contains_key("form.template") {
        return Ok(found);
    }

    let archive = Archive::read(files, "form.template")?;
    let Some(run) = run_of(&archive)? else {
        return Ok(found);
    };

    if archive.get(run, "runInfo")?.is_none() {
        return Ok(found);
    }
    let mut all: Vec<&Value> = archive.get(run, "target")?.into_iter().collect();
    if let Some(list) = archive.get(run, "processDatas")? {
        all.extend(archive.items(list)?);
    }

    for process in all {
        let path = archive.text(process, "_execname")?;
        if let (Some(path), Some(pid)) = (path, archive.number(process, "_pid")?) {
            let name = path.split('/').next_back().unwrap_or_default();
            if !name.is_empty() {
                found.insert(pid, name.to_owned());
            }
        }
    }

    Ok(found)
}
