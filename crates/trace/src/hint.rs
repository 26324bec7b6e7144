//! What the owner of an input can do about each problem, in a sentence or two.

use std::io;

use metalens_failure::{Failure, FailureKind};

use crate::error::{Error, Problem};

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        if self.problem().is_unusable_input() {
            FailureKind::Unusable
        } else {
            FailureKind::Failed
        }
    }

    fn hint(&self) -> Option<String> {
        let problem = self.problem();
        match problem {
            Problem::UnreadableTable {
                schema, path, run, ..
            } => Some(export_command(path, *run, schema)),
            Problem::UnfinishedBundle { path } => Some(recovery_command(path)),
            _ => of_input(problem)
                .or_else(|| of_content(problem))
                .map(str::to_owned),
        }
    }
}

/// Something else was given than was meant, or it cannot be got at.
fn of_input(problem: &Problem) -> Option<&'static str> {
    Some(match problem {
        Problem::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            "the file belongs to somebody else (a recording made with sudo belongs to root): \
             `sudo chown -R \"$(id -u):$(id -g)\" PATH` makes it yours"
        }
        Problem::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            "check the path; metalens reads a .trace bundle, an export folder, a .zip of either, \
             a table's .xml (.gz, .zst), or - for standard input"
        }
        Problem::NothingSelected => {
            "check the table's name against `xctrace export --input X.trace --toc`, and export \
             with --xpath \
             '/trace-toc/run[@number=\"1\"]/data/table[@schema=\"metal-gpu-intervals\"]'"
        }
        Problem::TocAlone => {
            "give the folder that holds toc.xml and the tables beside it, or a table's own file"
        }
        Problem::LfsPointer => "`git lfs pull` fetches it",
        Problem::NotXml { .. } | Problem::NotAnExport { .. } => {
            "metalens reads what `xctrace export --input X.trace --xpath …` writes"
        }
        Problem::NoSchema => {
            "exports of tracks (Allocations, Leaks, VM Tracker) have no schema; metalens reads \
             tables, exported one table per call"
        }
        Problem::NotAFile(_) => {
            "give a file; what another program writes comes in through a pipe: \
             `… | metalens analyze -`"
        }
        Problem::SeveralExports { .. } => "name one of them",
        Problem::SeveralTraces { .. } => {
            "name one of them, as if the archive were a folder: `INPUT.zip/FOLDER`"
        }
        Problem::NoTablesOfRun { .. } => {
            "leave --run out to read what there is, or export the tables of that run, too"
        }
        Problem::EmptyFolder => "an export is a folder with toc.xml and one <schema>.xml per table",
        Problem::SameTableTwice { .. } => "remove one of them, so that nothing is counted twice",
        Problem::NoSuchTable { .. } => "`metalens tables INPUT` lists what is there",
        _ => return None,
    })
}

/// The right thing was given, and something is wrong in it.
fn of_content(problem: &Problem) -> Option<&'static str> {
    Some(match problem {
        Problem::Truncated { .. } => {
            "xctrace probably died while writing it: export it again, or pass --allow-truncated \
             to use the whole rows (the report will say so)"
        }
        Problem::UnsupportedBundle { .. } => {
            "this Xcode may write something new: on a Mac, `xctrace export` the table and give \
             metalens the folder; `metalens selfcheck` shows what differs"
        }
        Problem::Compression { .. } => "the file was damaged on its way: copy or export it again",
        Problem::Io(_)
        | Problem::NotToc
        | Problem::NoSuchRun { .. }
        | Problem::NoSuchColumn { .. }
        | Problem::ColumnType { .. }
        | Problem::BrokenToc { .. } => return None,
        _ => {
            "the file was edited or damaged, or this Xcode writes something new: export the table \
             again, and if it stays, report it with the line above"
        }
    })
}

fn export_command(path: &str, run: u64, schema: &str) -> String {
    format!(
        "it was damaged on its way, or this Xcode writes something new: copy the bundle again, or, \
         on a Mac, `xctrace export --input '{path}' --xpath \
         '/trace-toc/run[@number=\"{run}\"]/data/table[@schema=\"{schema}\"]' --output {schema}.xml` \
         gives the table to metalens"
    )
}

fn recovery_command(path: &str) -> String {
    format!(
        "on a Mac, `xctrace import --input '{path}/Trace1.run/Attachments/trace-data.atrc' \
         --template 'Metal System Trace' --output recovered.trace` may recover it"
    )
}
