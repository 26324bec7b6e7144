//! What a reader of the numbers should know about the input they came from.

use std::fmt;

/// Something odd that did not stop the reading. Whoever shows the numbers shows these.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The document broke off; only its whole rows were read.
    Truncated {
        /// The file.
        file: String,
        /// Its table.
        table: String,
        /// The whole rows.
        rows: usize,
    },
    /// The numbers were made up, on purpose and with known truth.
    Synthetic,
    /// There is no table of contents.
    NoToc,
    /// The trace has several runs, and this one was read.
    SeveralRuns {
        /// The run's number.
        chosen: u64,
        /// All numbers.
        all: Vec<u64>,
    },
    /// The trace has several runs and tables of some of them; the last of those was read.
    TablesOfSomeRuns {
        /// The run's number.
        chosen: u64,
        /// All numbers.
        all: Vec<u64>,
        /// Those of which there are tables.
        with_tables: Vec<u64>,
    },
    /// A bundle has a run without a list of its tables.
    RunLeftOut {
        /// The run's number.
        run: u64,
    },
    /// An element that no known export has.
    UnknownElement {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The element.
        name: String,
    },
    /// Several tables of one schema, of which the largest was read.
    SeveralTables {
        /// The schema.
        schema: String,
        /// How many there are.
        count: usize,
        /// The rows of the one that was read.
        rows: usize,
    },
    /// Columns whose values are raw numbers: their type was never compared with an export.
    Undecoded {
        /// The table.
        table: String,
        /// The columns.
        columns: Vec<String>,
    },
    /// The bundle says that it takes a newer program to open it.
    NewerFormat {
        /// The version it asks for.
        version: u64,
    },
    /// The bundle lacks what says whom it is about and on what it was recorded.
    NoTemplate,
    /// Part of what says whom it is about and on what it was recorded cannot be read.
    DamagedTemplate,
    /// It can be read, and lacks what others have.
    TemplateLacks {
        /// What.
        facts: Vec<&'static str>,
    },
    /// The target is known from its creation and not from `form.template`.
    TargetFromLifeCycle,
    /// Rows that a bundle keeps, of a table that its list of tables does not name.
    Unlisted {
        /// The folder of the rows.
        store: String,
        /// The table, if that can be told.
        table: Option<String>,
    },
    /// A file of the folder that could not be read, and was not needed.
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// More files of the folder that could not be read, and were not needed.
    MoreLeftOut {
        /// How many.
        files: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { file, table, rows } => write!(
                f,
                "TRUNCATED: {file} breaks off; only the {rows} whole rows of {table} before that \
                 were used, so everything after them is missing"
            ),
            Self::Synthetic => f.write_str(
                "SYNTHETIC: this trace was written by a simulator; no GPU ran any of it",
            ),
            Self::NoToc => f.write_str(
                "there is no toc.xml: target, device, versions and wall time are unknown",
            ),
            Self::SeveralRuns { chosen, all } => {
                let all = joined(all);
                write!(
                    f,
                    "the trace has runs {all}; this is run {chosen} (--run N takes another)"
                )
            }
            Self::TablesOfSomeRuns {
                chosen,
                all,
                with_tables,
            } => write!(
                f,
                "the trace has runs {}, and tables of run {} are here; this is run {chosen}",
                joined(all),
                joined(with_tables)
            ),
            Self::RunLeftOut { run } => write!(
                f,
                "run {run} of the bundle has no list of its tables and was left out"
            ),
            Self::UnknownElement { file, line, name } => {
                write!(f, "{file}, line {line}: an unknown <{name}> was ignored")
            }
            Self::SeveralTables {
                schema,
                count,
                rows,
            } => write!(
                f,
                "the run has {count} tables {schema}; the largest, of {rows} rows, was used"
            ),
            Self::Undecoded { table, columns } => write!(
                f,
                "{table}: {} came out as raw numbers (undecoded), since no export was ever at hand \
                 to compare them with",
                columns.join(", ")
            ),
            Self::NewerFormat { version } => write!(
                f,
                "the bundle asks for version {version} of its form, which is newer than any that \
                 was ever compared with an export: check its numbers against xctrace export"
            ),
            Self::NoTemplate => f.write_str(
                "the bundle has no form.template: device, versions and wall time are unknown, and \
                 names of processes are the system's own, cut at 31 characters",
            ),
            Self::DamagedTemplate => f.write_str(
                "form.template is damaged: what the bundle says of its target, device, versions \
                 and times may lack something, or be wrong",
            ),
            Self::TemplateLacks { facts } => {
                write!(f, "form.template does not say {}", facts.join(", "))
            }
            Self::TargetFromLifeCycle => f.write_str(
                "the launched target was found by its creation in the table life-cycle-period",
            ),
            Self::Unlisted { store, table } => write!(
                f,
                "the bundle keeps rows of {} in {store}, which its list of tables does not name: \
                 they were not read",
                table.as_deref().unwrap_or("a table")
            ),
            Self::Unreadable { file, why } => write!(f, "{file} was left out: {why}"),
            Self::MoreLeftOut { files } => write!(
                f,
                "{files} more files were left out, which could not be read either"
            ),
        }
    }
}

fn joined(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(", ")
}
