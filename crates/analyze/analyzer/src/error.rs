//! Errors of an analysis, with hints.

use std::fmt;
use std::iter::zip;
use std::path::Path;

use metalens_failure::{Failure, FailureKind, did_you_mean, other_process, shell};
use metalens_trace::RunIssue;

/// Result of an analysis or of one of its steps.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason why a trace could not be analyzed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading the trace failed.
    #[error(transparent)]
    Trace(#[from] metalens_trace::Error),
    /// The recording itself has no table of GPU intervals, so that no export can have it.
    #[error("{0}")]
    IntervalsNotRecorded(metalens_trace::Error),
    /// The table of GPU intervals is empty.
    #[error("table {table} has no rows: no GPU work was recorded")]
    NoRows {
        /// Name of the empty table.
        table: String,
    },
    /// A table has times that no recording can have.
    #[error("{table}: {why}")]
    ImpossibleTimes {
        /// Name of the table.
        table: String,
        /// Limit that the times exceed, and the row.
        why: String,
    },
    /// Other processes used the GPU; the requested one did not.
    #[error("{wanted} has no GPU interval in this recording; {}", 
            list_processes("processes that used the GPU", .present.iter().map(GpuProcess::to_string)))]
    NoGpuIntervals {
        /// Name of the requested process.
        wanted: String,
        /// Exit status of the process or the signal that ended it, if recorded.
        ending: Option<String>,
        /// Processes that used the GPU, most intervals first.
        present: Vec<GpuProcess>,
    },
    /// The table of GPU intervals has rows, but none names a process.
    #[error("none of the {rows} GPU intervals names a process")]
    NoProcesses {
        /// Number of rows in the table.
        rows: usize,
    },
    /// A setting has an invalid value: the setting and its value, and what is valid.
    #[error("{0}")]
    Setting(String),
    /// The recording has CPU samples, and no GPU intervals.
    #[error("the recording has no GPU interval, only {}", samples_by_run(.table, *.samples, .runs))]
    OnlyCpu {
        /// Name of the table with the samples.
        table: String,
        /// Number of samples in that table.
        samples: usize,
        /// The input, as the user named it.
        input: String,
        /// Samples of each run, if the recording has several.
        runs: Vec<RunSamples>,
    },
    /// The recording lacks what was looked for, and says itself what went wrong.
    #[error("Instruments reports {}; {error}", RunIssue::list(.issues))]
    Reported {
        /// Errors and warnings in the recording.
        issues: Vec<RunIssue>,
        /// Error of the analysis.
        error: Box<Self>,
    },
    /// The recording has no GPU interval, but other facts.
    #[error("{error}; what it has: {told}")]
    WithoutGpu {
        /// What the recording has.
        told: String,
        /// Error of the analysis.
        error: Box<Self>,
    },
    /// The recording has no CPU samples.
    #[error("no CPU samples: time-profile, cpu-profile and time-sample are absent or empty")]
    NoSamples,
    /// Other processes were sampled; the requested one was not.
    #[error("{wanted} has no CPU samples in this recording; {}", list_processes("sampled processes", .present.iter().map(|(name, pid)| name_with_pid(name, *pid))))]
    NoSamplesOfProcess {
        /// Name of the requested process.
        wanted: String,
        /// Names and ids of the sampled processes.
        present: Vec<(String, Option<u32>)>,
    },
    /// The recording does not answer the question.
    #[error("{why}")]
    Unanswered {
        /// Reason.
        why: String,
        /// Advice on what to record or ask instead.
        hint: String,
    },
    /// A work file cannot be used.
    #[error("{file}: {problem}")]
    WorkFile {
        /// Path of the file.
        file: String,
        /// Description of what is wrong, and where.
        problem: String,
    },
    /// The recording has no steps of the requested name.
    #[error("no phase and no work is named {wanted}; {}", recorded_names(.present, .work))]
    NoSuchStep {
        /// Requested name.
        wanted: String,
        /// Names of the recorded phases.
        present: Vec<String>,
        /// Names of the recorded work.
        work: Vec<String>,
    },
    /// The requested window contains no GPU interval of the process.
    #[error(
        "{wanted} has no GPU interval from {} to {}; its first starts at {}, its last ends at {}",
        .from_ns.map_or("the start".to_owned(), seconds),
        .to_ns.map_or("the end".to_owned(), seconds),
        seconds(*.first_ns),
        seconds(*.last_ns)
    )]
    EmptyWindow {
        /// Name of the process.
        wanted: String,
        /// Requested start of the window in nanoseconds, if there was one.
        from_ns: Option<u64>,
        /// Requested end of the window in nanoseconds, if there was one.
        to_ns: Option<u64>,
        /// Start of the process's first GPU interval, in nanoseconds since the recording began.
        first_ns: u64,
        /// End of the process's last GPU interval, in nanoseconds since the recording began.
        last_ns: u64,
    },
}

impl Error {
    /// Returns the error of the analysis, without what the recording says itself.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Self::Reported { error, .. } | Self::WithoutGpu { error, .. } => error.cause(),
            _ => self,
        }
    }

    pub(crate) fn unanswered(why: impl Into<String>, hint: impl Into<String>) -> Self {
        let (why, hint) = (why.into(), hint.into());
        Self::Unanswered { why, hint }
    }

    /// Adds the CPU samples of each run of a recording that has several, and no GPU intervals.
    #[must_use]
    pub fn with_samples_of_runs(
        mut self,
        samples_of_runs: impl FnOnce(&str) -> Vec<RunSamples>,
    ) -> Self {
        if let Self::OnlyCpu { table, runs, .. } = self.cause_mut() {
            *runs = samples_of_runs(table);
        }
        self
    }

    fn cause_mut(&mut self) -> &mut Self {
        match self {
            Self::Reported { error, .. } | Self::WithoutGpu { error, .. } => error.cause_mut(),
            cause => cause,
        }
    }

    /// Adds what the recording says itself, if that may be why something is missing.
    pub(crate) fn with_issues(self, issues: &[RunIssue]) -> Self {
        let is_lacking = match &self {
            Self::Trace(error) => is_missing_table(error),
            Self::IntervalsNotRecorded(_)
            | Self::NoRows { .. }
            | Self::NoGpuIntervals { .. }
            | Self::NoProcesses { .. }
            | Self::OnlyCpu { .. }
            | Self::NoSamples
            | Self::NoSamplesOfProcess { .. }
            | Self::WithoutGpu { .. } => true,
            _ => false,
        };
        if issues.is_empty() || !is_lacking {
            return self;
        }
        Self::Reported {
            issues: issues.to_vec(),
            error: Box::new(self),
        }
    }

    /// Returns the same error without the names of other processes. `None` if it names none.
    fn unnamed(&self) -> Option<Self> {
        match self {
            Self::NoGpuIntervals {
                wanted,
                ending,
                present,
            } => {
                let numbered = zip(1.., present).map(|(number, process)| GpuProcess {
                    name: other_process(number),
                    ..*process
                });
                Some(Self::NoGpuIntervals {
                    wanted: wanted.clone(),
                    ending: ending.clone(),
                    present: numbered.collect(),
                })
            }
            Self::NoSamplesOfProcess { wanted, present } => {
                let numbered =
                    zip(1.., present).map(|(number, (_, pid))| (other_process(number), *pid));
                Some(Self::NoSamplesOfProcess {
                    wanted: wanted.clone(),
                    present: numbered.collect(),
                })
            }
            Self::Reported { issues, error } => Some(Self::Reported {
                issues: issues.clone(),
                error: Box::new(error.unnamed()?),
            }),
            Self::WithoutGpu { error, .. } => error.unnamed(),
            _ => None,
        }
    }
}

/// Hint to a program without phases.
const MARK: &str = "mark phases in the program with os_signpost (category PointsOfInterest), and \
     record the instrument Points of Interest, which `metalens record` adds on its own (in a log, \
     write `phase`); or choose a part by time with --from and --to";

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Reported { error, .. } | Self::WithoutGpu { error, .. } => error.kind(),
            // Without the table that an analysis needs, a trace is as unusable as a broken one.
            Self::Trace(error) if is_missing_table(error) => FailureKind::Unusable,
            Self::Trace(error) => error.kind(),
            Self::WorkFile { .. } => FailureKind::Failed,
            Self::Setting(_) => FailureKind::Misuse,
            _ => FailureKind::Unusable,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Trace(error) if !is_missing_table(error) => return error.hint(),
            Self::Trace(_) => "export that table too: xctrace export --input X.trace --xpath \
                 '/trace-toc/run[@number=\"1\"]/data/table[@schema=\"metal-gpu-intervals\"]' \
                 --output metal-gpu-intervals.xml"
                .to_owned(),
            Self::IntervalsNotRecorded(_) => {
                "the GPU was not recorded: record with the template Metal System Trace".to_owned()
            }
            Self::NoRows { .. } => "record again: xctrace now and then records nothing of any \
                 process. If it is empty again, check that the program uses Metal, and that the \
                 time limit is longer than its startup"
                .to_owned(),
            Self::NoSamples => "record with --cpu; if the recording has CPU samples, export \
                 the tables time-profile and time-sample"
                .to_owned(),
            Self::WorkFile { .. } => "example of a work file: {\"schema\": \"metalens.work/1\", \
                 \"work\": [{\"label\": \"matmul\", \"per\": \"instance\", \"operations\": 1, \
                 \"bytes\": 50331648, \"flops\": 17179869184}]}"
                .to_owned(),
            Self::EmptyWindow { .. } => {
                "choose --from, --to or --step so that the part includes some of them".to_owned()
            }
            Self::Reported { issues, error } => {
                let remedy = issues.iter().find_map(RunIssue::remedy);
                let is_failed = matches!(
                    error.cause(),
                    Self::IntervalsNotRecorded(_) | Self::NoRows { .. } | Self::NoSamples
                );
                match remedy {
                    Some(remedy) => remedy.to_owned(),
                    None if is_failed => {
                        "what Instruments reports may be why: record again".to_owned()
                    }
                    None => return error.hint(),
                }
            }
            Self::WithoutGpu { error, .. } => return error.hint(),
            Self::ImpossibleTimes { table, .. } => format!(
                "the table is damaged: export it again or record again; `metalens tables INPUT \
                 --schema {table}` prints its rows"
            ),
            Self::NoGpuIntervals {
                ending: Some(ending),
                ..
            } => format!(
                "the process ended with {ending}, perhaps before it used the GPU; if another \
                 process did the work, select it with --process; some Macs record no rows of a \
                 program: `metalens record --recorder probe` needs none"
            ),
            Self::NoGpuIntervals {
                wanted, present, ..
            } => format!(
                "{}if another process did the work (a child process, for example), select it \
                 with --process; some Macs record no rows of a program: `metalens record --recorder \
                 probe` needs none",
                did_you_mean(wanted, present.iter().map(|process| process.name.as_str()))
            ),
            Self::OnlyCpu { input, runs, .. } => format!(
                "`metalens stacks {}{}` shows the CPU samples; to see the GPU, record with the \
                 template Metal System Trace, or export metal-gpu-intervals too if it was recorded",
                shell::quoted_path(Path::new(input)),
                if runs.is_empty() { "" } else { " --run N" }
            ),
            Self::NoSamplesOfProcess { wanted, present } => format!(
                "{}perhaps its threads only waited; choose another process with --process",
                did_you_mean(wanted, present.iter().map(|(name, _)| name.as_str()))
            ),
            Self::NoSuchStep {
                wanted,
                present,
                work,
            } => {
                let names = present.iter().chain(work).map(String::as_str);
                let meant = did_you_mean(wanted, names);
                match (present.is_empty(), work.is_empty()) {
                    (true, true) => MARK.to_owned(),
                    (true, false) => format!("{meant}choose one of these with --step; or {MARK}"),
                    _ => format!("{meant}choose one of these with --step"),
                }
            }
            Self::Unanswered { hint, .. } => hint.clone(),
            Self::NoProcesses { .. } | Self::Setting(_) => return None,
        })
    }

    fn without_names(&self) -> Option<Box<dyn Failure>> {
        let unnamed: Box<dyn Failure> = Box::new(self.unnamed()?);
        Some(unnamed)
    }
}

/// Number of CPU samples of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSamples {
    /// Number of the run.
    pub run: u64,
    /// Number of samples.
    pub samples: usize,
}

/// Returns the CPU samples of a recording without GPU intervals, by run if it has several.
fn samples_by_run(table: &str, samples: usize, runs: &[RunSamples]) -> String {
    let plural = if samples == 1 { "" } else { "s" };
    if runs.is_empty() {
        return format!("{samples} CPU sample{plural} in table {table}");
    }
    let list: Vec<String> = runs
        .iter()
        .map(|run| format!("{} in run {}", run.samples, run.run))
        .collect();
    format!("CPU samples in table {table}: {}", list.join(", "))
}

/// Process that used the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuProcess {
    /// Name of the process.
    pub name: String,
    /// Process id; `None` if unknown.
    pub pid: Option<u32>,
    /// Number of its GPU intervals in the trace.
    pub intervals: u64,
}

impl fmt::Display for GpuProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = name_with_pid(&self.name, self.pid);
        let plural = if self.intervals == 1 { "" } else { "s" };
        write!(f, "{name} with {} interval{plural}", self.intervals)
    }
}

fn is_missing_table(error: &metalens_trace::Error) -> bool {
    matches!(error.problem(), metalens_trace::Problem::NoSuchTable { .. })
}

/// Formats nanoseconds as seconds with microseconds: `0.700094 s`.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{}.{:06} s", ns / 1_000_000_000, ns % 1_000_000_000 / 1_000)
}

/// Lists processes behind what they have in common.
fn list_processes(what: &str, present: impl Iterator<Item = String>) -> String {
    let list: Vec<String> = present.collect();
    if list.is_empty() {
        return "the recording names no process".to_owned();
    }
    format!("{what}: {}", list.join(", "))
}

fn name_with_pid(name: &str, pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("{name} (pid {pid})"),
        None => name.to_owned(),
    }
}

fn recorded_names(phases: &[String], work: &[String]) -> String {
    let present: Vec<&str> = phases.iter().chain(work).map(String::as_str).collect();
    if present.is_empty() {
        return "the recording has none".to_owned();
    }

    /// Number of names that fit a message.
    const SHOWN: usize = 20;
    let (shown, more) = present.split_at(present.len().min(SHOWN));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("recorded names: {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the message and the hint without names. The other process is called like a word of
    /// the message, and the requested one like a kernel.
    #[test]
    fn names_are_left_out_and_the_same_words_are_not() {
        let check = |error: &Error, message: &str, hint: &str| {
            let unnamed = error.without_names().unwrap();
            assert_eq!(unnamed.to_string(), message);
            assert_eq!(unnamed.hint().unwrap_or_default(), hint);
            assert_eq!(unnamed.kind(), error.kind());
        };
        let present = ["GPU", "matmul; kernel"].map(|name| GpuProcess {
            name: name.to_owned(),
            pid: Some(7),
            intervals: 2,
        });
        check(
            &Error::NoGpuIntervals {
                wanted: "matmul".to_owned(),
                ending: None,
                present: present.into(),
            },
            "matmul has no GPU interval in this recording; processes that used the GPU: other \
             process 1 (pid 7) with 2 intervals, other process 2 (pid 7) with 2 intervals",
            "if another process did the work (a child process, for example), select it with \
             --process; some Macs record no rows of a program: `metalens record --recorder probe` needs none",
        );
        check(
            &Error::NoSamplesOfProcess {
                wanted: "matmul".to_owned(),
                present: vec![
                    ("samples".to_owned(), None),
                    ("matmul2".to_owned(), Some(8)),
                ],
            },
            "matmul has no CPU samples in this recording; sampled processes: other process 1, \
             other process 2 (pid 8)",
            "perhaps its threads only waited; choose another process with --process",
        );

        // Names of phases are those of the recorded program.
        let phase = Error::NoSuchStep {
            wanted: "decoed".to_owned(),
            present: vec!["decode".to_owned()],
            work: Vec::new(),
        };
        assert!(phase.without_names().is_none());
    }
}
