//! Defines notes: facts about an input that a reader of its numbers should know.

use std::fmt;

/// A fact about the input that did not stop the reading. Show the notes with the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceNote {
    /// The document is cut off; only its complete rows were read.
    Truncated {
        /// Path of the file.
        file: String,
        /// Schema of its table.
        table: String,
        /// Number of complete rows.
        rows: usize,
    },
    /// A simulator wrote the recording, with known correct results.
    Synthetic,
    /// The input has no table of contents.
    NoToc,
    /// The recording has several runs, and one was read.
    SeveralRuns {
        /// Number of the run that was read.
        chosen: u64,
        /// Numbers of all runs.
        all: Vec<u64>,
    },
    /// The recording has several runs, and the input has tables of some; the last of them was read.
    TablesOfSomeRuns {
        /// Number of the run that was read.
        chosen: u64,
        /// Numbers of all runs.
        all: Vec<u64>,
        /// Numbers of the runs that have tables.
        with_tables: Vec<u64>,
    },
    /// A run of the bundle has no list of tables.
    RunLeftOut {
        /// Number of the run.
        run: u64,
    },
    /// The document has an unknown element.
    UnknownElement {
        /// Path of the file.
        file: String,
        /// Line number, from 1.
        line: u64,
        /// Name of the element.
        name: String,
    },
    /// Several tables have the same schema; the largest was read.
    SeveralTables {
        /// Schema of the tables.
        schema: String,
        /// Number of these tables.
        count: usize,
        /// Number of rows of the table that was read.
        rows: usize,
    },
    /// Columns contain raw numbers, because their type was never compared with an export.
    Undecoded {
        /// Schema of the table.
        table: String,
        /// Mnemonics of the columns.
        columns: Vec<String>,
    },
    /// The bundle requires a newer format version than the known ones.
    NewerFormat {
        /// Version that the bundle requires.
        version: u64,
    },
    /// The bundle has no `form.template`, which names the process and the device.
    NoTemplate,
    /// A part of `form.template`, which names the process and the device, cannot be read.
    DamagedTemplate,
    /// `form.template` can be read, but lacks facts that other recordings have.
    TemplateLacks {
        /// Descriptions of the missing facts.
        facts: Vec<&'static str>,
    },
    /// The process is known from the table of life cycles and not from `form.template`.
    TargetFromLifeCycle,
    /// The bundle has rows of a table that its list of tables does not name.
    Unlisted {
        /// Folder of the rows.
        store: String,
        /// Schema of the table, if it is known.
        table: Option<String>,
    },
    /// A file of the input could not be read, and was not needed.
    Unreadable {
        /// Path of the file.
        file: String,
        /// Reason why it could not be read.
        why: String,
    },
    /// More files of the input could not be read, and were not needed.
    MoreLeftOut {
        /// Number of these files.
        files: usize,
    },
}

/// A part of the sentence of a note: fixed text, or a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotePart {
    /// Fixed text of the sentence.
    Words(&'static str),
    /// A number in the sentence.
    Count(u64),
    /// The path of a file of the input.
    File(String),
    /// The schema of a table.
    Table(String),
    /// Another name in the sentence.
    Name(String),
    /// A text from the system or another program.
    Quote(String),
}

impl TraceNote {
    /// Returns the stable name of the kind of the note.
    #[must_use]
    pub fn id(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "truncated",
            Self::Synthetic => "synthetic",
            Self::NoToc => "no-contents",
            Self::SeveralRuns { .. } | Self::TablesOfSomeRuns { .. } => "several-runs",
            Self::RunLeftOut { .. } => "run-left-out",
            Self::UnknownElement { .. } => "unknown-element",
            Self::SeveralTables { .. } => "several-tables",
            Self::Undecoded { .. } => "undecoded-columns",
            Self::NewerFormat { .. } => "newer-format",
            Self::NoTemplate | Self::DamagedTemplate | Self::TemplateLacks { .. } => {
                "facts-missing"
            }
            Self::TargetFromLifeCycle => "target-from-life-cycle",
            Self::Unlisted { .. } => "unlisted-rows",
            Self::Unreadable { .. } | Self::MoreLeftOut { .. } => "files-left-out",
        }
    }

    /// Returns the sentence of the note, split into fixed text and values.
    #[must_use]
    pub fn parts(&self) -> Vec<NotePart> {
        let (sentence, values) = self.sentence();
        let mut parts = Vec::new();
        let mut values = values.into_iter();
        for (at, words) in sentence.split("{}").enumerate() {
            if at > 0 {
                parts.extend(values.next());
            }
            parts.push(NotePart::Words(words));
        }
        parts
    }

    /// Returns the sentence with `{}` for each value, and the values.
    fn sentence(&self) -> (&'static str, Vec<NotePart>) {
        use NotePart::{Count, File, Name, Quote, Table, Words};

        let count = |number: &usize| Count(*number as u64);
        let file = |name: &String| File(name.clone());
        let table = |name: &String| Table(name.clone());
        match self {
            Self::Truncated {
                file: cut,
                table: of,
                rows,
            } => (
                "TRUNCATED: {} is cut off; only the {} complete rows of {} before the cut were used, \
                and all later rows are missing",
                vec![file(cut), count(rows), table(of)],
            ),
            Self::Synthetic => (
                "SYNTHETIC: a simulator wrote this recording; no GPU ran any of it",
                vec![],
            ),
            Self::NoToc => (
                "toc.xml is missing: process, device, versions and wall time are unknown",
                vec![],
            ),
            Self::SeveralRuns { chosen, all } => (
                "the recording has runs {}; this is run {} (use --run N for another)",
                vec![Name(joined(all)), Count(*chosen)],
            ),
            Self::TablesOfSomeRuns {
                chosen,
                all,
                with_tables,
            } => (
                "the recording has runs {}, and the input has tables of run {}; this is run {}",
                vec![Name(joined(all)), Name(joined(with_tables)), Count(*chosen)],
            ),
            Self::RunLeftOut { run } => (
                "run {} of the bundle has no list of its tables and was left out",
                vec![Count(*run)],
            ),
            Self::UnknownElement {
                file: odd,
                line,
                name,
            } => (
                "{}, line {}: ignored an unknown <{}>",
                vec![file(odd), Count(*line), Name(name.clone())],
            ),
            Self::SeveralTables {
                schema,
                count: tables,
                rows,
            } => (
                "the run has {} tables named {}; the largest, with {} rows, was used",
                vec![count(tables), table(schema), count(rows)],
            ),
            Self::Undecoded {
                table: raw,
                columns,
            } => (
                "{}: raw numbers (undecoded) in {}, because their type was never compared with an \
                 export",
                vec![table(raw), Name(columns.join(", "))],
            ),
            Self::NewerFormat { version } => (
                "the bundle has format version {}, which is newer than all versions that were compared \
                with an export: compare its numbers with those of xctrace export",
                vec![Count(*version)],
            ),
            Self::NoTemplate => (
                "form.template is missing: device, versions and wall time are unknown, and process \
                names are cut at 31 characters by the system",
                vec![],
            ),
            Self::DamagedTemplate => (
                "form.template is damaged: process, device, versions and times may be incomplete or \
                wrong",
                vec![],
            ),
            Self::TemplateLacks { facts } => (
                "form.template does not contain: {}",
                vec![Name(facts.join(", "))],
            ),
            Self::TargetFromLifeCycle => (
                "the launched process was found by its creation in the table life-cycle-period",
                vec![],
            ),
            Self::Unlisted { store, table: of } => (
                "the bundle has rows of {} in {}, which its list of tables does not name; they were \
                not read",
                vec![of.as_ref().map_or(Words("a table"), table), file(store)],
            ),
            Self::Unreadable { file: odd, why } => {
                ("{} was left out: {}", vec![file(odd), Quote(why.clone())])
            }
            Self::MoreLeftOut { files } => (
                "{} more files that could not be read were left out",
                vec![count(files)],
            ),
        }
    }
}

impl fmt::Display for NotePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Count(number) => number.fmt(f),
            Self::File(text) | Self::Table(text) | Self::Name(text) | Self::Quote(text) => {
                f.write_str(text)
            }
        }
    }
}

impl fmt::Display for TraceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().iter().try_for_each(|part| part.fmt(f))
    }
}

fn joined(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(", ")
}
