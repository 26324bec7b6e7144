//! Compares our schemas with Apple's, column by column, if there are real exports on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use metalens_simulator::{Scenario, Table};

use crate::folder::exported;
use crate::xml;

pub(crate) fn real_folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/real");
    std::env::var_os("METALENS_REAL").map_or_else(beside, PathBuf::from)
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn our_columns_are_the_real_ones() {
    let real = real_folder();
    if !real.is_dir() {
        eprintln!(
            "skipped: no real exports at {}; set METALENS_REAL",
            real.display()
        );
        return;
    }

    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.tables = Some(Table::ALL.to_vec());
    let files = exported(&scenario);
    let mut compared = 0;
    for table in Table::ALL {
        let ours = xml::table(&files[&format!("{}.xml", table.name())]);
        for path in documents(&real, table.name()) {
            if let Some(theirs) = schema(&path, table.name()) {
                assert_eq!(ours.columns, theirs, "{}", path.display());
                compared += 1;
            }
        }
    }

    assert!(compared >= 15, "{compared} documents compared");
}

/// Returns the real documents of a table.
fn documents(real: &Path, name: &str) -> Vec<PathBuf> {
    let folders = [
        "m1-launched-1000",
        "m1-every-table-no-target-rows",
        "m1-bundle-and-export/export",
        "m1-time-profiler-bundle-and-export/export",
    ];
    let paths = folders
        .iter()
        .map(|folder| real.join(folder).join(format!("{name}.xml.gz")));
    paths.filter(|path| path.is_file()).collect()
}

/// Returns the columns of a gzipped document, or `None` for another file (some are pointers to large
/// files).
fn schema(path: &Path, name: &str) -> Option<Vec<(String, String, String)>> {
    assert!(fs::metadata(path).is_ok());
    let output = Command::new("gzip").arg("-dc").arg(path).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (_, from_schema) = text.split_once(&format!("<schema name=\"{name}\">"))?;
    let (columns, _) = from_schema.split_once("</schema>")?;
    let schema = xml::parse(&format!(
        "<?xml version=\"1.0\"?><schema>{columns}</schema>\n"
    ));
    let part = |col: &xml::Element, tag| col.child(tag).text.clone();
    let column = |col| {
        (
            part(col, "mnemonic"),
            part(col, "name"),
            part(col, "engineering-type"),
        )
    };
    Some(schema.all("col").map(column).collect())
}
