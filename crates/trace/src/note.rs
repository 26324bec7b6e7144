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

/// A part of a note's sentence: words of its own, or a value among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotePart {
    /// Words of the sentence itself.
    Words(&'static str),
    /// A number.
    Count(u64),
    /// A file of the input.
    File(String),
    /// A table.
    Table(String),
    /// Another name.
    Name(String),
    /// Words that the system wrote.
    Quote(String),
}

impl Note {
    /// Returns the stable name of the note's subject.
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

    /// Returns the note's sentence, cut into its words and its values.
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

    /// Returns the sentence with a pair of braces for each value, and the values.
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
                "TRUNCATED: {} breaks off; only the {} whole rows of {} before that were used, so \
                 everything after them is missing",
                vec![file(cut), count(rows), table(of)],
            ),
            Self::Synthetic => (
                "SYNTHETIC: this trace was written by a simulator; no GPU ran any of it",
                vec![],
            ),
            Self::NoToc => (
                "there is no toc.xml: target, device, versions and wall time are unknown",
                vec![],
            ),
            Self::SeveralRuns { chosen, all } => (
                "the trace has runs {}; this is run {} (--run N takes another)",
                vec![Name(joined(all)), Count(*chosen)],
            ),
            Self::TablesOfSomeRuns {
                chosen,
                all,
                with_tables,
            } => (
                "the trace has runs {}, and tables of run {} are here; this is run {}",
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
                "{}, line {}: an unknown <{}> was ignored",
                vec![file(odd), Count(*line), Name(name.clone())],
            ),
            Self::SeveralTables {
                schema,
                count: tables,
                rows,
            } => (
                "the run has {} tables {}; the largest, of {} rows, was used",
                vec![count(tables), table(schema), count(rows)],
            ),
            Self::Undecoded {
                table: raw,
                columns,
            } => (
                "{}: {} came out as raw numbers (undecoded), since no export was ever at hand to \
                 compare them with",
                vec![table(raw), Name(columns.join(", "))],
            ),
            Self::NewerFormat { version } => (
                "the bundle asks for version {} of its form, which is newer than any that was ever \
                 compared with an export: check its numbers against xctrace export",
                vec![Count(*version)],
            ),
            Self::NoTemplate => (
                "the bundle has no form.template: device, versions and wall time are unknown, and \
                 names of processes are the system's own, cut at 31 characters",
                vec![],
            ),
            Self::DamagedTemplate => (
                "form.template is damaged: what the bundle says of its target, device, versions \
                 and times may lack something, or be wrong",
                vec![],
            ),
            Self::TemplateLacks { facts } => (
                "form.template does not say {}",
                vec![Name(facts.join(", "))],
            ),
            Self::TargetFromLifeCycle => (
                "the launched target was found by its creation in the table life-cycle-period",
                vec![],
            ),
            Self::Unlisted { store, table: of } => (
                "the bundle keeps rows of {} in {}, which its list of tables does not name: they \
                 were not read",
                vec![of.as_ref().map_or(Words("a table"), table), file(store)],
            ),
            Self::Unreadable { file: odd, why } => {
                ("{} was left out: {}", vec![file(odd), Quote(why.clone())])
            }
            Self::MoreLeftOut { files } => (
                "{} more files were left out, which could not be read either",
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

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().iter().try_for_each(|part| part.fmt(f))
    }
}

fn joined(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(", ")
}
