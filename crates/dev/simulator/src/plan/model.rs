//! Defines the plan of a run as data, and the indices of its parts.

use rustc_hash::FxHashMap;

use crate::values::kinds::{Clock, Role, TargetKind};
use crate::values::stream::Sampled;

/// The work of one run of a scenario, on the GPU and on the way to it.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Number of the run, counted from 1.
    pub(crate) run: u32,
    /// Kind of target that was recorded.
    pub(crate) target_kind: TargetKind,
    /// Name of the Metal device.
    pub(crate) gpu: String,
    /// Processes that exist in this run.
    pub(crate) processes: Vec<PlannedProcess>,
    /// Every label in use, stored once.
    pub(crate) labels: NameTable,
    /// Every channel in use, stored once.
    pub(crate) channels: NameTable,
    /// Command buffers in the order they were planned.
    pub(crate) buffers: Vec<Buffer>,
    /// Encoders, those of one buffer side by side.
    pub(crate) encoders: Vec<Encoder>,
    /// Rows of `metal-gpu-intervals`, in the table's order.
    pub(crate) kicks: Vec<Kick>,
    /// Clock of the recorded machine.
    pub(crate) clock: Clock,
    /// True if the recording has the driver's work on each command buffer, by its id.
    pub(crate) has_chain: bool,
    /// Duration of the whole run.
    pub(crate) wall_ns: u64,
    /// True if the times of shaders were recorded.
    pub(crate) shader_timeline: bool,
    /// Activities of the threads of sampled processes, in no order.
    pub(crate) activities: Vec<Activity>,
}

/// A process as the tables show it.
#[derive(Debug, Clone)]
pub(crate) struct PlannedProcess {
    /// Name of the process.
    pub(crate) name: String,
    /// Process id, unique in the run.
    pub(crate) pid: u32,
    /// Id of its only thread.
    pub(crate) tid: u64,
    /// Relation of the process to the recording.
    pub(crate) role: Role,
    /// Functions in its shader list.
    pub(crate) shaders: Vec<String>,
    /// First encoder of the process; its other encoders follow.
    pub(crate) first_encoder: EncoderIndex,
    /// Function of its thread between a completion and the next encoding; `None` if not sampled.
    pub(crate) host_function: Option<String>,
    /// Functions that allocate Metal resources.
    pub(crate) callers: Vec<String>,
}

/// A command buffer that was encoded and committed.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pub(crate) process: ProcessIndex,
    pub(crate) label: NameIndex,
    /// The driver's id, unique in the run unless buffers are reused.
    pub(crate) id: u64,
    /// Frame number, counted per process from 1.
    pub(crate) frame: u32,
    /// Time when encoding ended and the buffer was committed.
    pub(crate) committed_ns: u64,
    /// Time when the driver began to work on it.
    pub(crate) driver_begins_ns: u64,
    /// Time of the driver's work on it before it submits encoders.
    pub(crate) driver_ns: u64,
    /// Time when the host was notified of its completion.
    pub(crate) completed_ns: u64,
    /// True if the completion was recorded.
    pub(crate) completion_recorded: bool,
    /// True if the tables of submissions and of the application's intervals contain it.
    pub(crate) submission_recorded: bool,
    /// True if it ended in an error: a page fault.
    pub(crate) is_failed: bool,
    pub(crate) first_encoder: EncoderIndex,
    pub(crate) encoder_count: u32,
}

/// An encoder, with its time on the CPU.
#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    pub(crate) label: NameIndex,
    /// The driver's id, unique in the run.
    pub(crate) id: u64,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    /// True if the encoder list contains it.
    pub(crate) recorded: bool,
    /// True if the application's intervals contain it, from which an analysis can recover it.
    pub(crate) recoverable: bool,
    /// Registers that the compiler spilled for it, in bytes; `None` if there is no event.
    pub(crate) spilled_bytes: Option<u32>,
    /// Part of its kicks that the shader timeline samples.
    pub(crate) sampled: Sampled,
}

/// A kick: a GPU interval, in which work occupies a channel. It is one row of `metal-gpu-intervals`.
#[derive(Debug, Clone)]
pub(crate) struct Kick {
    /// Time when the driver submitted it to the GPU.
    pub(crate) submitted_ns: u64,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) buffer: BufferIndex,
    /// Encoder that it ran, the first one if several were coalesced.
    pub(crate) encoder: EncoderIndex,
    /// Encoder part of the row's label.
    pub(crate) label: NameIndex,
    pub(crate) channel: NameIndex,
    /// Submission id; both halves of a split kick have the same.
    pub(crate) submission: u32,
    /// Lane in which Instruments draws the row, from 0.
    pub(crate) depth: u32,
    /// Number of encoders that the driver ran in it.
    pub(crate) encoder_count: u8,
    /// True if the row names its process and ids.
    pub(crate) attributed: bool,
    /// True if the row has a frame number.
    pub(crate) framed: bool,
}

/// Time of the driver for each encoder, and for the buffer itself.
pub(crate) const PER_OBJECT_NS: u64 = 1_500;

impl Plan {
    /// Returns the process that a row names, or `None` for an unattributed row.
    pub(crate) fn process_of(&self, kick: &Kick) -> Option<ProcessIndex> {
        kick.attributed.then(|| self.buffer(kick.buffer).process)
    }

    /// Returns the process that was launched or attached to.
    pub(crate) fn recorded_target(&self) -> Option<ProcessIndex> {
        self.processes
            .iter()
            .position(|process| process.role == Role::Target)
            .map(ProcessIndex::at)
    }

    /// Returns whether the application tables (encodings, submissions) cover a process.
    pub(crate) fn is_instrumented(&self, process: ProcessIndex) -> bool {
        self.target_kind == TargetKind::AllProcesses || self.process(process).role == Role::Target
    }

    pub(crate) fn process(&self, index: ProcessIndex) -> &PlannedProcess {
        &self.processes[index.get()]
    }

    /// Returns the processes with their indices.
    pub(crate) fn indexed_processes(
        &self,
    ) -> impl Iterator<Item = (ProcessIndex, &PlannedProcess)> {
        let processes = self.processes.iter().enumerate();
        processes.map(|(position, process)| (ProcessIndex::at(position), process))
    }

    pub(crate) fn buffer(&self, index: BufferIndex) -> &Buffer {
        &self.buffers[index.get()]
    }

    pub(crate) fn encoder(&self, index: EncoderIndex) -> &Encoder {
        &self.encoders[index.get()]
    }

    /// Returns the encoders of a buffer.
    pub(crate) fn encoders_of(&self, buffer: &Buffer) -> &[Encoder] {
        let first = buffer.first_encoder.get();
        &self.encoders[first..first + buffer.encoder_count as usize]
    }
}

impl Buffer {
    /// Returns the time when the driver is done with the buffer.
    pub(crate) fn driver_end_ns(&self) -> u64 {
        let objects = u64::from(self.encoder_count) + 1;
        self.driver_begins_ns + self.driver_ns + objects * PER_OBJECT_NS
    }
}

impl Kick {
    pub(crate) const fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }
}

impl Encoder {
    pub(crate) const fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }
}

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(u32);

        impl $name {
            /// Returns the index of the element at `position`. The limit on intervals keeps it in 32 bits.
            pub(crate) fn at(position: usize) -> Self {
                Self(u32::try_from(position).unwrap_or(u32::MAX))
            }

            pub(crate) const fn get(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index!(
    /// Index of a process in the plan.
    ProcessIndex,
    /// Index of a buffer in the plan.
    BufferIndex,
    /// Index of an encoder in the plan.
    EncoderIndex,
    /// Index of a label or channel in the plan.
    NameIndex
);

/// A table of texts that occur often, each stored once.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    texts: Vec<String>,
    known: FxHashMap<String, NameIndex>,
}

impl NameTable {
    /// Returns the index of a text, which is added if it is new.
    pub(crate) fn index_of(&mut self, text: &str) -> NameIndex {
        if let Some(index) = self.known.get(text) {
            return *index;
        }

        let index = NameIndex::at(self.texts.len());
        self.texts.push(text.to_owned());
        self.known.insert(text.to_owned(), index);
        index
    }

    pub(crate) fn text(&self, index: NameIndex) -> &str {
        &self.texts[index.get()]
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }
}

/// The kind of a thread's activity, ordered by priority: a sample shows one of several at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ActivityKind {
    /// The thread encodes GPU work.
    Encode,
    /// The thread works between a completion and the next encoding.
    Host,
    /// The thread sleeps between two groups of buffers.
    Pause,
    /// The thread waits for a completion.
    Wait,
}

impl ActivityKind {
    /// Returns whether the thread runs on a processor.
    pub(crate) const fn is_running(self) -> bool {
        matches!(self, Self::Encode | Self::Host)
    }
}

/// A period of one activity of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Activity {
    pub(crate) process: ProcessIndex,
    pub(crate) kind: ActivityKind,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}
