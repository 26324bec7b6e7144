//! Defines the hint for each problem: what the user can do about it.

use std::io;
use std::path::Path;

use metalens_failure::{Failure, FailureKind, did_you_mean, shell, similar};

use crate::error::{Error, Problem};

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self.problem() {
            Problem::NoSuchRun { .. } | Problem::NoSuchNumber { .. } => FailureKind::Misuse,
            problem if problem.is_unusable_input() => FailureKind::Unusable,
            _ => FailureKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let problem = self.problem();
        match problem {
            Problem::UnreadableTable {
                schema, path, run, ..
            } => Some(format!(
                "the bundle is damaged, or this Xcode writes a new format: copy the bundle again, \
                or export the table on a Mac with `xctrace export --input '{path}' --xpath \
                '/trace-toc/run[@number=\"{run}\"]/data/table[@schema=\"{schema}\"]' \
                --output {schema}.xml`"
            )),
            Problem::UnfinishedBundle { path } => Some(format!(
                "try to recover it on a Mac with `xctrace import --input \
                '{path}/Trace1.run/Attachments/trace-data.atrc' --template 'Metal System Trace' \
                --output recovered.trace`"
            )),
            Problem::NoSuchTable { schema, present } => Some(format!(
                "{}list the tables with `metalens tables {}`",
                did_you_mean(schema, present.iter().map(String::as_str)),
                input(&self.place().file)
            )),
            Problem::SeveralRecordings { recordings } => {
                let named = recordings.last().map_or("NAME", String::as_str);
                let inside = input(&format!("{}/{named}", self.place().file));
                Some(format!("give the path of one, as in a folder: {inside}"))
            }
            Problem::Io(error) if error.kind() == io::ErrorKind::NotFound => Some(
                nearby(&self.place().file).unwrap_or_else(|| format!("check the path; {READS}")),
            ),
            Problem::NotXml { .. } | Problem::Mistaken { .. } => bundle_of(&self.place().file)
                .map(|bundle| format!("give the bundle that it is in: {bundle}"))
                .or_else(|| usual_hint(problem).map(str::to_owned)),
            _ => usual_hint(problem).map(str::to_owned),
        }
    }
}

/// Lists what an input can be.
const READS: &str = "metalens reads a .trace bundle, an export folder, a .zip of either, the .xml of a table or a \
                     command-buffer log (.jsonl; both also .gz), or - for standard input";

/// Returns the name beside a path that nothing has, which somebody may have meant.
fn nearby(path: &str) -> Option<String> {
    let path = Path::new(path);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.collect();
    let meant = similar(
        path.file_name()?.to_str()?,
        names.iter().map(String::as_str),
    )?;
    Some(format!(
        "did you mean {}?",
        shell::quoted_path(&path.with_file_name(meant))
    ))
}

/// Returns the bundle that a file is in, by its name.
fn bundle_of(path: &str) -> Option<String> {
    let mut folders = Path::new(path).ancestors().skip(1);
    let bundle =
        folders.find(|folder| folder.extension().is_some_and(|ending| ending == "trace"))?;
    Some(shell::quoted_path(bundle))
}

/// Returns an input for a command that people copy. Without a name it is a word in its place.
fn input(path: &str) -> String {
    match path {
        "" | "-" | "standard input" => "INPUT".to_owned(),
        path => shell::quoted_path(Path::new(path)),
    }
}

/// Returns the hint that a problem has in every place.
fn usual_hint(problem: &Problem) -> Option<&'static str> {
    Some(match problem {
        Problem::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            "the file belongs to another user (a recording made with sudo belongs to root); \
            `sudo chown -R \"$(id -u):$(id -g)\" PATH` makes it yours"
        }
        Problem::NothingSelected => {
            "check the name of the table with `xctrace export --input X.trace --toc`, and export \
            with --xpath \
            '/trace-toc/run[@number=\"1\"]/data/table[@schema=\"metal-gpu-intervals\"]'"
        }
        Problem::TocAlone => {
            "give the folder that contains toc.xml and the tables, or the file of a table"
        }
        Problem::Mistaken { hint, .. } => hint,
        Problem::NotXml {
            found: "a tar archive" | "a zstd file",
        } => "unpack it first: `tar xf FILE`, or `zstd -d FILE`",
        Problem::LfsPointer => "fetch it with `git lfs pull`",
        Problem::NotXml { .. } | Problem::NotAnExport { .. } => READS,
        Problem::NoSchema => {
            "export one table per call: metalens reads tables, and only the first one of a file has \
            a schema; of the details of tracks, it reads the lists of allocations, leaks and VM regions"
        }
        Problem::NotAFile(_) => {
            "give a regular file; for the output of another program use a pipe: \
            `… | metalens analyze -`"
        }
        Problem::SeveralExports { .. } => {
            "give the path of one of them; `metalens batch FOLDER` reports on all"
        }
        Problem::NoTablesOfRun { .. } => {
            "omit --run to read another run, or export the tables of that run too"
        }
        Problem::EmptyFolder => "an export is a folder with toc.xml and one <schema>.xml per table",
        Problem::SameTableTwice { .. } => "remove one of them, because nothing may count twice",
        Problem::Truncated { .. } => {
            "whoever wrote the file was probably stopped: export or record it again, or use \
            --allow-truncated to read the complete rows (the report says so)"
        }
        Problem::UnsupportedBundle { .. } => {
            "this Xcode may write a new format: on a Mac, export the table with `xctrace export` \
            and give metalens the folder; `metalens verify --compare` shows the differences"
        }
        Problem::EmptyBundle => {
            "xctrace was probably killed before it saved the recording: record again, and let it \
            finish; a bundle that was copied must be copied with all its contents"
        }
        Problem::FailedRecording { remedy, .. } => {
            remedy.unwrap_or("there is nothing to read: record again")
        }
        Problem::OldBundle { .. } => {
            "record again with a current Xcode; an old Instruments can still open the bundle"
        }
        Problem::IncompleteBundle { .. } => {
            "copy the bundle again, with all its contents; if nothing is missing, this version of \
            Xcode writes another format: on a Mac, export it with `xctrace export` and give \
            metalens the folder"
        }
        Problem::BrokenLog { .. } => {
            "docs/command-buffer-log.md says what a log has; whoever wrote this one can mend it"
        }
        Problem::Compression { .. } => "the file is damaged: copy or export it again",
        Problem::Io(_)
        | Problem::NotToc
        | Problem::NoSuchRun { .. }
        | Problem::NoSuchNumber { .. }
        | Problem::NoSuchColumn { .. }
        | Problem::ColumnType { .. }
        | Problem::BrokenToc { .. } => return None,
        _ => {
            "the file was edited or damaged, or this Xcode writes a new format: export the table \
            again; if the error stays, report it with the line above"
        }
    })
}
