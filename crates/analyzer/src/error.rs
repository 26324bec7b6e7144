//! Why a trace could not be analyzed.

use std::fmt;

use metalens_failure::{Failure, FailureKind};

/// The result of an analysis.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a trace could not be analyzed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] metalens_trace::Error),
    /// There is nothing to analyze.
    #[error("the table {table} has no rows: nothing ran on the GPU while this was recorded")]
    NoRows {
        /// The table.
        table: String,
    },
    /// A table with times that no recording can have.
    #[error("{table}: {why}")]
    ImpossibleTimes {
        /// The table.
        table: String,
        /// The limit that they exceed, and where.
        why: String,
    },
    /// Others used the GPU, the target did not.
    #[error("{wanted} has no GPU interval in this trace; {}", were_there(.present))]
    NoTargetRows {
        /// Whom the report was to be about.
        wanted: String,
        /// How its process ended, where the recording says.
        ending: Option<String>,
        /// Who used the GPU, most intervals first.
        present: Vec<Present>,
    },
    /// Rows, but none with a process.
    #[error("none of the {rows} GPU intervals says whose it is")]
    NoProcesses {
        /// The rows.
        rows: usize,
    },
    /// A setting that means nothing.
    #[error("{what}; wanted: {wanted}")]
    Setting {
        /// The setting.
        what: String,
        /// What it may be.
        wanted: String,
    },
    /// A recording of the CPU alone.
    #[error(
        "this has no GPU interval, but {samples} CPU samples in {table}: it is about the CPU alone"
    )]
    OnlyCpu {
        /// The table with the samples.
        table: String,
        /// Its rows.
        samples: usize,
    },
    /// No CPU samples at all.
    #[error("there are no CPU samples: none of time-profile, cpu-profile and time-sample has rows")]
    NoSamples,
    /// None in the part that was asked for.
    #[error(
        "there is no CPU sample in that part; the first was taken at {}, the last at {}",
        seconds(*.first_ns),
        seconds(*.last_ns)
    )]
    NoSamplesThen {
        /// When the first was taken.
        first_ns: u64,
        /// When the last was taken.
        last_ns: u64,
    },
    /// Others were sampled, the target was not.
    #[error("{wanted} has no CPU sample in this trace; {}", were_sampled(.present))]
    NoTargetSamples {
        /// Whom it was to be about.
        wanted: String,
        /// Who was sampled: names and pids.
        present: Vec<(String, Option<u32>)>,
    },
    /// A file of known work that cannot be used.
    #[error("{file}: {problem}")]
    WorkFile {
        /// The file.
        file: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// A named phase that was asked for.
    #[error("no os_signpost interval is called {wanted}; {}", are_there(.present))]
    NoSuchPhase {
        /// What was asked for.
        wanted: String,
        /// The names that there are.
        present: Vec<String>,
    },
    /// A window in which the target did nothing.
    #[error(
        "{wanted} has no GPU interval from {} to {}; its first begins at {}, its last ends at {}",
        .from_ns.map_or("the start".to_owned(), seconds),
        .to_ns.map_or("the end".to_owned(), seconds),
        seconds(*.first_ns),
        seconds(*.last_ns)
    )]
    EmptyWindow {
        /// The target.
        wanted: String,
        /// The window's start as it was asked for.
        from_ns: Option<u64>,
        /// The window's end as it was asked for.
        to_ns: Option<u64>,
        /// Start of the target's first interval.
        first_ns: u64,
        /// End of the target's last interval.
        last_ns: u64,
    },
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            // Without the table that an analysis needs a trace is as unusable as a broken one.
            Self::Trace(error) if is_missing_table(error) => FailureKind::Unusable,
            Self::Trace(error) => error.kind(),
            Self::WorkFile { .. } | Self::Setting { .. } => FailureKind::Failed,
            _ => FailureKind::Unusable,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Trace(error) if is_missing_table(error) => Some(
                "export that table too: xctrace export --input X.trace --xpath \
                 '/trace-toc/run[@number=\"1\"]/data/table[@schema=\"metal-gpu-intervals\"]' \
                 --output metal-gpu-intervals.xml"
                    .to_owned(),
            ),
            Self::Trace(error) => error.hint(),
            Self::NoRows { .. } => Some(
                "record while the program computes: check that it uses Metal, and that the time \
                 limit is longer than its start-up"
                    .to_owned(),
            ),
            Self::ImpossibleTimes { table, .. } => Some(format!(
                "the table is damaged: export it again or record again; `metalens tables INPUT \
                 --schema {table}` prints its rows"
            )),
            Self::NoTargetRows { ending, .. } => Some(match ending {
                Some(ending) => format!(
                    "the target ended with {ending}, perhaps before it used the GPU; if the work \
                     was done by another of these, name it with --process"
                ),
                None => "if the work was done by one of these (a child process, say), name it \
                         with --process"
                    .to_owned(),
            }),
            Self::NoProcesses { .. } | Self::Setting { .. } => None,
            Self::OnlyCpu { .. } => Some(
                "`metalens stacks INPUT` shows what the CPU did; to see the GPU, record with the \
                 template Metal System Trace, or export metal-gpu-intervals too if that was \
                 recorded"
                    .to_owned(),
            ),
            Self::NoSamples => Some(
                "record with --instrument 'Time Profiler'; of a recording that has it, export the \
                 tables time-profile and time-sample"
                    .to_owned(),
            ),
            Self::NoSamplesThen { .. } => Some("choose --from and --to around that".to_owned()),
            Self::NoTargetSamples { .. } => Some(
                "its threads may have waited all the time; name another with --process".to_owned(),
            ),
            Self::WorkFile { .. } => Some(
                "such a file reads {\"schema\": \"metalens.work/1\", \"work\": [{\"label\": \
                 \"matmul\", \"per\": \"instance\", \"operations\": 1, \"bytes\": 50331648, \
                 \"flops\": 17179869184}]}"
                    .to_owned(),
            ),
            Self::NoSuchPhase { present, .. } if present.is_empty() => Some(
                "name phases in the program with os_signpost, and record with --instrument \
                 os_signpost beside the template; --from and --to cut by time"
                    .to_owned(),
            ),
            Self::NoSuchPhase { .. } => Some("choose one of these with --phase".to_owned()),
            Self::EmptyWindow { .. } => {
                Some("choose --from, --to or --phase inside that".to_owned())
            }
        }
    }
}

/// A process that used the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: Option<u32>,
    /// Its intervals in the trace.
    pub intervals: u64,
}

impl fmt::Display for Present {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if let Some(pid) = self.pid {
            write!(f, " (pid {pid})")?;
        }
        let plural = if self.intervals == 1 { "" } else { "s" };
        write!(f, " with {} interval{plural}", self.intervals)
    }
}

fn is_missing_table(error: &metalens_trace::Error) -> bool {
    matches!(error.problem(), metalens_trace::Problem::NoSuchTable { .. })
}

/// `0.700094 s`, to the microsecond.
fn seconds(ns: u64) -> String {
    format!("{}.{:06} s", ns / 1_000_000_000, ns % 1_000_000_000 / 1_000)
}

fn were_sampled(present: &[(String, Option<u32>)]) -> String {
    if present.is_empty() {
        return "no process is named in it".to_owned();
    }
    let one = |(name, pid): &(String, Option<u32>)| match pid {
        Some(pid) => format!("{name} (pid {pid})"),
        None => name.clone(),
    };
    let list: Vec<String> = present.iter().map(one).collect();
    format!("these were sampled: {}", list.join(", "))
}

fn were_there(present: &[Present]) -> String {
    if present.is_empty() {
        return "no process is named in it".to_owned();
    }
    let list: Vec<String> = present.iter().map(Present::to_string).collect();
    format!("these used the GPU: {}", list.join(", "))
}

fn are_there(present: &[String]) -> String {
    match present {
        [] => "the recording has none at all".to_owned(),
        present => format!("there are: {}", present.join(", ")),
    }
}
