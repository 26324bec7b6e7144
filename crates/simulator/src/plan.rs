//! The plan of one run: every kick, encoding and command buffer, in integer nanoseconds. All
//! tables and the truth are written from it.

pub(crate) mod host;
pub(crate) mod machine;
mod oddities;
pub(crate) mod random;
mod schedule;
pub(crate) mod shaders;
pub(crate) mod states;
mod table_order;

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::scenario::nanos::Nanos;
use crate::scenario::recording::TargetKind;
use crate::scenario::{Clock, Role, Scenario};
use host::{Activity, Hung, Marked, Sample};
use machine::{Held, Stretch};

/// One run of a scenario, worked out.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Counted from 1.
    pub(crate) run: u32,
    /// What was recorded.
    pub(crate) target_kind: TargetKind,
    /// The processes alive in this run.
    pub(crate) processes: Vec<PlannedProcess>,
    /// Every label used, once.
    pub(crate) labels: Names,
    /// Every channel used, once.
    pub(crate) channels: Names,
    /// In the order they were planned.
    pub(crate) buffers: Vec<Buffer>,
    /// Those of one buffer side by side.
    pub(crate) encoders: Vec<Encoder>,
    /// The rows of `metal-gpu-intervals`, in the table's order.
    pub(crate) kicks: Vec<Kick>,
    /// The run's whole length.
    pub(crate) wall_ns: u64,
    /// Whether the shaders' times were recorded.
    pub(crate) shader_timeline: bool,
    /// The GPU's performance states.
    pub(crate) performance: Vec<Stretch>,
    /// The device's thermal states.
    pub(crate) thermal: Vec<Stretch>,
    /// What Metal has allocated for whom.
    pub(crate) memory: Vec<(ProcessIndex, Vec<Held>)>,
    /// Wired system memory.
    pub(crate) wired: Vec<Held>,
    /// Signposts, by their beginnings.
    pub(crate) signposts: Vec<Marked>,
    /// What the threads of sampled processes do, in no order.
    pub(crate) activities: Vec<Activity>,
    /// Their samples.
    pub(crate) samples: Vec<Sample>,
    /// When main threads did not answer.
    pub(crate) hangs: Vec<Hung>,
}

/// A process as the tables show it.
#[derive(Debug, Clone)]
pub(crate) struct PlannedProcess {
    /// Its name.
    pub(crate) name: String,
    /// Its process id.
    pub(crate) pid: u32,
    /// The id of its one thread.
    pub(crate) tid: u64,
    /// What it is to the recording.
    pub(crate) role: Role,
    /// What the shader list says of it.
    pub(crate) shaders: Vec<String>,
    /// Its first encoder; the others of it follow.
    pub(crate) first_encoder: EncoderIndex,
    /// What its thread is called to do between completion and encoding; none when not sampled.
    pub(crate) host_function: Option<String>,
}

/// A committed command buffer.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pub(crate) process: ProcessIndex,
    pub(crate) label: NameIndex,
    /// The driver's id, unique in the run.
    pub(crate) id: u64,
    /// Counted per process from 1.
    pub(crate) frame: u32,
    /// When encoding ended and the buffer was committed.
    pub(crate) committed_ns: u64,
    /// When the host learnt of its completion.
    pub(crate) completed_ns: u64,
    /// Whether the completion was recorded.
    pub(crate) completion_recorded: bool,
    /// Whether the application's other tables have it.
    pub(crate) submission_recorded: bool,
    /// The error it ended in.
    pub(crate) error: Option<u32>,
    pub(crate) first_encoder: EncoderIndex,
    pub(crate) encoder_count: u32,
}

/// One encoder's time on the CPU.
#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    pub(crate) label: NameIndex,
    /// The driver's id, unique in the run.
    pub(crate) id: u64,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    /// Whether the encoder list kept it.
    pub(crate) recorded: bool,
    /// Whether the application's other tables have it.
    pub(crate) recoverable: bool,
}

/// One row of `metal-gpu-intervals`: a stretch of time a channel was held.
#[derive(Debug, Clone)]
pub(crate) struct Kick {
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) buffer: BufferIndex,
    /// The encoder it ran, the first of them when several were coalesced.
    pub(crate) encoder: EncoderIndex,
    /// The encoder part of the row's label.
    pub(crate) label: NameIndex,
    pub(crate) channel: NameIndex,
    /// Both halves of a split kick have the same.
    pub(crate) submission: u32,
    /// The lane Instruments draws it in.
    pub(crate) depth: u32,
    /// How many encoders the driver ran in it.
    pub(crate) encoder_count: u8,
    /// Whether the row names its process and ids.
    pub(crate) attributed: bool,
    /// Whether the row has a frame number.
    pub(crate) framed: bool,
}

/// Works out one run.
pub(crate) fn plan(scenario: &Scenario, run: u32) -> Result<Plan, Error> {
    let mut plan = Plan {
        run,
        target_kind: scenario.recording.target,
        processes: Vec::new(),
        labels: Names::default(),
        channels: Names::default(),
        buffers: Vec::new(),
        encoders: Vec::new(),
        kicks: Vec::new(),
        wall_ns: 0,
        shader_timeline: scenario.recording.shader_timeline,
        performance: Vec::new(),
        thermal: Vec::new(),
        memory: Vec::new(),
        wired: Vec::new(),
        signposts: Vec::new(),
        activities: Vec::new(),
        samples: Vec::new(),
        hangs: Vec::new(),
    };
    for (position, process) in scenario.processes_of(run) {
        schedule::process(&mut plan, scenario, position, process)?;
    }
    table_order::settle(&mut plan, scenario.clock);
    plan.wall_ns = wall_ns(&plan, scenario)?;
    surroundings(&mut plan, scenario)?;
    Ok(plan)
}

/// What goes on beside the work, all of it within the run.
fn surroundings(plan: &mut Plan, scenario: &Scenario) -> Result<(), Error> {
    plan.performance = machine::performance(scenario, plan.wall_ns);
    plan.thermal = machine::thermal(scenario, plan.wall_ns);
    plan.memory = machine::memory(scenario, plan);
    plan.wired = machine::wired(scenario, plan.wall_ns);
    plan.signposts = host::signposts(scenario, plan);
    plan.hangs = host::hangs(scenario, plan);
    plan.samples = host::samples(scenario, plan)?;
    Ok(())
}

/// The longest run; it keeps the end date within the start date's day.
pub(crate) const WALL_NS_MAX: u64 = 3_600_000_000_000;

fn wall_ns(plan: &Plan, scenario: &Scenario) -> Result<u64, Error> {
    let kicks_end = plan.kicks.iter().map(Kick::end_ns).max().unwrap_or(0);
    let completed = plan
        .buffers
        .iter()
        .map(|buffer| buffer.completed_ns)
        .max()
        .unwrap_or(0);
    let last_ns = kicks_end.max(completed);
    let wall_ns = scenario
        .recording
        .wall
        .map_or(last_ns + scenario.recording.tail.get(), Nanos::get);
    if wall_ns < last_ns {
        let problem = format!(
            "ends at {wall_ns} ns, before the last event of run {}",
            plan.run
        );
        return Err(Error::field(
            "recording.wall",
            problem,
            format!("{last_ns} ns or more"),
        ));
    }
    if wall_ns > WALL_NS_MAX {
        return Err(too_long("recording", plan.run));
    }
    Ok(wall_ns)
}

/// The error of a run that would not end within [`WALL_NS_MAX`].
fn too_long(field: &str, run: u32) -> Error {
    Error::field(
        field,
        format!("makes run {run} longer than an hour"),
        "runs of up to one hour",
    )
}

impl Plan {
    /// The process a row names; none for an unattributed row.
    pub(crate) fn process_of(&self, kick: &Kick) -> Option<ProcessIndex> {
        kick.attributed.then(|| self.buffer(kick.buffer).process)
    }

    /// The process launched or attached to.
    pub(crate) fn recorded_target(&self) -> Option<ProcessIndex> {
        let is_analyzed = |process: &PlannedProcess| process.role == Role::Target;
        self.processes
            .iter()
            .position(is_analyzed)
            .map(ProcessIndex::at)
    }

    /// Whether the application tables (encodings, submissions) cover this process.
    pub(crate) fn is_instrumented(&self, process: ProcessIndex) -> bool {
        self.target_kind == TargetKind::AllProcesses || self.process(process).role == Role::Target
    }

    pub(crate) fn process(&self, index: ProcessIndex) -> &PlannedProcess {
        &self.processes[index.get()]
    }

    pub(crate) fn buffer(&self, index: BufferIndex) -> &Buffer {
        &self.buffers[index.get()]
    }

    pub(crate) fn encoder(&self, index: EncoderIndex) -> &Encoder {
        &self.encoders[index.get()]
    }

    /// The encoders of a buffer.
    pub(crate) fn encoders_of(&self, buffer: &Buffer) -> &[Encoder] {
        let first = buffer.first_encoder.get();
        &self.encoders[first..first + buffer.encoder_count as usize]
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

impl Clock {
    /// The last instant or length the clock can show, in whole nanoseconds.
    pub(crate) const fn cut(self, ns: u64) -> u64 {
        match self {
            Self::Free => ns,
            // 24 ticks are 1000 ns. Rounding to the nearest tick first leaves a cut value as it is.
            Self::Mhz24 => ((ns * 24 + 500) / 1_000) * 125 / 3,
        }
    }
}

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(u32);

        impl $name {
            /// The index of the element at `position`; the interval cap keeps it within 32 bits.
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
    /// Which process of the plan.
    ProcessIndex,
    /// Which buffer of the plan.
    BufferIndex,
    /// Which encoder of the plan.
    EncoderIndex,
    /// Which label or channel of the plan.
    NameIndex
);

/// Texts that occur often, kept once.
#[derive(Debug, Default)]
pub(crate) struct Names {
    texts: Vec<String>,
    known: FxHashMap<String, NameIndex>,
}

impl Names {
    /// The index of a text, new or known.
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
