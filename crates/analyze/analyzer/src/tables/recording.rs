//! Reads the facts of a trace that are not in tables.

use metalens_message::Ns;
use metalens_trace::{Device, InputKind, Loudness, Names, NoteKind, Run, Trace, TraceNote};

use super::gpu::GPU_INTERVALS;
use super::times::RowsOutside;
use crate::report::{
    DeviceFacts, DoubtReason, DoubtfulRows, Note, Reader, RunFacts, Source, SourceKind,
};

/// Facts of a trace, without its tables.
pub(crate) struct Recording {
    /// Run as the trace describes it.
    pub run: Run,
    /// Texts, processes, threads and stacks that tables refer to by number.
    pub names: Names,
    /// Input of the analysis, for the report.
    pub source: Source,
    /// Facts about the run, for the report.
    pub facts: RunFacts,
    /// Names of tables that were read only in part.
    pub truncated_tables: Vec<String>,
    /// Rows that were dropped because they are outside of the recording; `None` if its length is
    /// unknown.
    pub outside: Option<Vec<RowsOutside>>,
    /// Command buffers that a log has and lacks, if it lacks some.
    pub lost: Option<FinishedBuffers>,
    /// Encoders of a log that were made to measure, if there are any.
    pub measured: Option<DoubtfulRows>,
    /// Notes from reading the trace.
    pub notes: Vec<Note>,
}

/// Command buffers of the process that were encoded and completed in the recording, so that their work
/// was on the GPU in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FinishedBuffers {
    /// Number of these command buffers.
    pub count: u64,
    /// Number of them that no GPU interval of any process names.
    pub without_interval: u64,
}

impl Recording {
    /// Reads the facts of a trace; its tables must still be there, and stay in it. `read_once` are the
    /// names of tables of which one is read.
    pub(super) fn new(
        trace: &mut Trace,
        outside: Option<Vec<RowsOutside>>,
        read_once: &[&str],
    ) -> Self {
        let (mut lost, mut measured) = (None, None);
        for note in &trace.notes {
            match *note {
                TraceNote::LogLost { lost: rows, all } => {
                    let (count, without_interval) = (all, rows);
                    lost = Some(FinishedBuffers {
                        count,
                        without_interval,
                    });
                }
                TraceNote::UpperBounds {
                    encoders: rows,
                    all: of,
                } => {
                    let reason = DoubtReason::UpperBound;
                    measured = Some(DoubtfulRows { reason, rows, of });
                }
                _ => {}
            }
        }
        Self {
            source: source(trace),
            facts: run_facts(trace),
            truncated_tables: truncated_tables(trace),
            lost,
            measured,
            notes: notes(trace, read_once),
            outside,
            run: trace.run.clone(),
            names: std::mem::take(&mut trace.names),
        }
    }

    /// Returns a setting of the GPU, such as its `Counter Set`.
    pub(crate) fn gpu_setting(&self, name: &str) -> Option<String> {
        let settings = self.run.settings.iter();
        let values = settings
            .filter(|setting| setting.key == "GPU")
            .flat_map(|setting| &setting.values);
        let mut settings = values.filter_map(|value| value.strip_prefix(name)?.strip_prefix(':'));
        settings.next().map(|value| value.trim().to_owned())
    }
}

/// Returns the input of a trace.
pub(crate) fn source(trace: &Trace) -> Source {
    Source {
        path: trace.path.clone(),
        kind: match trace.kind {
            InputKind::Bundle => SourceKind::Bundle,
            InputKind::Export => SourceKind::Export,
            InputKind::Xml => SourceKind::Xml,
            InputKind::Log => SourceKind::Log,
        },
        reader: match trace.kind {
            InputKind::Bundle => Reader::Native,
            InputKind::Export | InputKind::Xml => Reader::Xml,
            InputKind::Log => Reader::Log,
        },
    }
}

/// Returns the facts about the run; its tables must still be there.
pub(crate) fn run_facts(trace: &Trace) -> RunFacts {
    let run = &trace.run;
    let device = run.device.as_ref();
    RunFacts {
        number: run.number,
        synthetic: run.synthetic,
        template: run.template.clone(),
        instruments_version: run.instruments_version.clone(),
        start: run.start_date.clone(),
        duration_ns: run.duration_ns.map(Ns),
        end_reason: run.end_reason.clone(),
        recording_mode: run.recording_mode.clone(),
        device: DeviceFacts {
            model: device.and_then(|device| device.model.clone()),
            os: device.and_then(operating_system),
            gpu: gpu_name(trace),
        },
    }
}

/// Returns the operating system with its version: `macOS 26.3.1 (25D2128)`.
fn operating_system(device: &Device) -> Option<String> {
    let version = device.os_version.as_ref()?;
    Some(match &device.platform {
        Some(platform) => format!("{platform} {version}"),
        None => version.clone(),
    })
}

/// Returns the name of the first GPU that a row names.
fn gpu_name(trace: &Trace) -> Option<String> {
    let gpus = trace.find_table(GPU_INTERVALS.schema)?.texts("gpu").ok()?;
    let first = gpus.iter().find_map(|gpu| *gpu)?;
    Some(trace.names.text(first).to_owned())
}

/// Returns the names of tables that were read only in part.
fn truncated_tables(trace: &Trace) -> Vec<String> {
    let truncated = trace.tables().iter().filter(|table| table.truncated);
    let mut names: Vec<String> = truncated.map(|table| table.schema.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the notes from reading the trace.
fn notes(trace: &Trace, read_once: &[&str]) -> Vec<Note> {
    let ambiguities = trace.ambiguities(read_once);
    trace.notes.iter().chain(&ambiguities).map(note).collect()
}

fn note(trace_note: &TraceNote) -> Note {
    let message = trace_note.message();
    let NoteKind { id, loudness } = trace_note.kind();
    match loudness {
        Loudness::Loud => Note::loud(id, message),
        Loudness::Quiet => Note::quiet(id, message),
    }
}
