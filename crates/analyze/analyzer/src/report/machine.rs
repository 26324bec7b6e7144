//! Types of the machine's activity: GPU clock, heat, memory, driver, other processes, and
//! errors.

use metalens_message::{Bytes, Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CountedBytes;

/// Activity of the machine during the window. A part is null if the recording has no table for
/// it; `not_recorded` gives the reason. A part that is there and counts nothing means that
/// nothing of the kind happened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Performance states of the GPU, which set its clock. The same kernels take up to three times
    /// as long at Minimum as at Maximum.
    pub performance: Option<Performance>,
    /// Thermal states of the device; null if not recorded.
    pub thermal: Option<Thermal>,
    /// GPU memory that the process had allocated; null if not recorded.
    pub allocated: Option<AllocatedMemory>,
    /// Wired system memory of the whole machine; null if not recorded.
    pub wired: Option<WiredMemory>,
    /// Intervals in which the GPU driver worked for the process; null if not recorded.
    pub driver: Option<Driver>,
    /// Other events of the driver for the process, such as wiring memory, by type; null if not
    /// recorded.
    pub driver_events: Option<Vec<DriverEvents>>,
    /// System memory that the driver wired for the process, by the same events; null if not recorded.
    #[serde(default)]
    pub wiring: Option<Wiring>,
    /// Shaders compiled for the process during the recording; null if not recorded.
    pub shader_compiles: Option<ShaderCompiles>,
    /// Other processes that used the GPU while the process left it idle.
    pub others: Option<OtherProcesses>,
    /// Activity of the display, as context for the other figures.
    pub display: Display,
    /// Hangs: times when the program of the process did not respond; null if not recorded.
    pub hangs: Option<Hangs>,
    /// Command buffers that ended in an error; null if not recorded.
    pub errors: Option<CommandBufferErrors>,
}

/// Time that the GPU spent in each performance state. The table has rows only from time to
/// time; nothing is assumed between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Performance {
    /// Name of the table with the states.
    pub table: String,
    /// State that the recording was set to hold the GPU in; `Default` means none, null unknown.
    pub requested: Option<String>,
    /// Time in each state, the longest first.
    pub states: Vec<StateTime>,
    /// Time in the window that no row covers, in nanoseconds.
    pub unknown_ns: Ns,
    /// Busy time of the process that no row covers, in nanoseconds.
    pub unknown_busy_ns: Ns,
    /// Number of changes from one state to another in the window.
    pub changes: u64,
    /// Narratives of the rows, such as the reason why a state was induced.
    pub narratives: Vec<String>,
}

/// Time that the device spent in each thermal state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thermal {
    /// Time in each state, the longest first.
    pub states: Vec<StateTime>,
    /// Time in the window that no row covers, in nanoseconds.
    pub unknown_ns: Ns,
    /// Worst state in the window, of Nominal, Fair, Serious and Critical; null if no row reaches
    /// into the window, or if a state has another name.
    pub worst: Option<String>,
}

/// Time in one state, inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateTime {
    /// Name of the state, as the table has it.
    pub state: String,
    /// Time in this state in nanoseconds.
    pub total_ns: Ns,
    /// Time in this state divided by the window; null if the window has no length.
    pub share: Option<Share>,
    /// Busy time of the process in this state, in nanoseconds.
    pub busy_ns: Ns,
    /// Busy time in this state divided by all busy time of the process; null if it has none.
    pub busy_share: Option<Share>,
    /// Part of the time in nanoseconds that the table marks as induced. The meaning of the mark is not
    /// known: recordings of stock templates have it on all states.
    pub induced_ns: Ns,
}

/// Allocated GPU memory of the process, inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocatedMemory {
    /// Number of recorded changes of its size in the window.
    pub changes: u64,
    /// First time in the window at which its size is known, in nanoseconds since the recording
    /// began; null if it is never known.
    pub first_at_ns: Option<Ns>,
    /// Size at that time in bytes; null if never known.
    pub first_bytes: Option<Bytes>,
    /// Size at the end of the window in bytes; null if unknown.
    pub last_bytes: Option<Bytes>,
    /// Largest size in the window in bytes; null if unknown.
    pub peak_bytes: Option<Bytes>,
    /// First time at which it was that large, in nanoseconds since the recording began; null if
    /// unknown.
    pub peak_at_ns: Option<Ns>,
    /// Growth after the start of the window, which is when programs allocate; null if too little is
    /// known.
    pub steady: Option<SteadyMemory>,
    /// Largest size in each of up to 60 equal slices of the window. A slice with the same size as
    /// the one before has no point of its own.
    pub points: Vec<MemoryPoint>,
}

/// Growth of memory in the last three quarters of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyMemory {
    /// Start of that part of the window, in nanoseconds since the recording began.
    pub from_ns: Ns,
    /// Size at its end minus size at its start, in bytes; negative if memory shrank.
    pub growth_bytes: i64,
    /// Number of times that the size grew.
    pub rises: u64,
    /// Number of times that the size shrank; a leak grows and never shrinks.
    pub falls: u64,
}

/// Memory in one slice of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryPoint {
    /// Start of the slice, in nanoseconds since the recording began.
    pub at_ns: Ns,
    /// Largest size in the slice, in bytes.
    pub bytes: Bytes,
}

/// Wired system memory inside the window; null fields if no row reaches into it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WiredMemory {
    /// Largest amount in bytes; null if unknown.
    pub peak_bytes: Option<Bytes>,
    /// First time at which it was that large, in nanoseconds since the recording began; null if
    /// unknown.
    pub peak_at_ns: Option<Ns>,
}

/// Intervals of the GPU driver for the process that reach into the window. They carry no id, so
/// that they cannot be joined with command buffers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    /// Intervals by the type of what they process.
    pub types: Vec<DriverEvents>,
    /// Length of the union of the intervals of all threads, in nanoseconds: time that passed, not CPU
    /// time.
    pub busy_ns: Ns,
    /// Part of that union in nanoseconds that lies in gaps of the process.
    pub in_gaps_ns: Ns,
    /// `in_gaps_ns` divided by the idle time of the process; null if it was never idle.
    pub in_gaps_share: Option<Share>,
}

/// Driver intervals of one type. An interval that reaches out of the window counts with the
/// part inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverEvents {
    /// Type of the intervals: `Command Buffer`, `Command Encoder`, `Wire Memory`, …; null if the
    /// table has none.
    pub event_type: Option<String>,
    /// Number of intervals of this type.
    pub count: u64,
    /// Summed durations in nanoseconds. Intervals of several threads overlap: the sum may exceed the
    /// time that passed.
    pub total_ns: Ns,
    /// Longest duration in nanoseconds.
    pub max_ns: Ns,
}

/// System memory that the driver wired for the process, so that the GPU can use it. Sizes are as the
/// table shows them: rounded to a hundredth of their unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wiring {
    /// Events that began before the window, and the bytes that they wired.
    pub before_window: CountedBytes,
    /// Events that began in the window.
    pub in_window: CountedBytes,
    /// Events that began after the window.
    pub after_window: CountedBytes,
    /// Requests to unwire memory, in the whole recording.
    pub unwire_requests: CountedBytes,
    /// Time in gaps during which the driver wired memory, in nanoseconds.
    pub in_gaps_ns: Ns,
    /// Longest event that began before the end of the window; null if there is none.
    pub longest: Option<WireEvent>,
    /// Number of these events and requests whose size cannot be read; they count with 0 bytes.
    pub without_size: u64,
}

/// Event of the driver that wires memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireEvent {
    /// Start, in nanoseconds since the recording began.
    pub at_ns: Ns,
    /// Duration of the event, in nanoseconds.
    pub duration_ns: Ns,
    /// Bytes that were wired.
    pub bytes: Bytes,
}

/// Shader compilations for the process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShaderCompiles {
    /// Compilations that began before the window.
    pub before: CompileTimes,
    /// Compilations that began in the window, which a warm-up or a binary archive would have
    /// avoided.
    pub inside: CompileTimes,
    /// Time in nanoseconds of gaps of the process during which a shader was compiled for it.
    pub in_gaps_ns: Ns,
}

/// Number and durations of some compilations, which are never cut at the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompileTimes {
    /// Number of shader compilations.
    pub count: u64,
    /// Length of their union in nanoseconds.
    pub total_ns: Ns,
    /// Longest duration in nanoseconds; null if there are none.
    pub max_ns: Option<Ns>,
}

/// Other processes that used the GPU while the process left it idle.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherProcesses {
    /// Time in nanoseconds of gaps of the process during which others ran on the GPU.
    pub in_gaps_ns: Ns,
    /// `in_gaps_ns` divided by the idle time of the process; null if it was never idle.
    pub in_gaps_share: Option<Share>,
    /// The five processes with the most of that time. They may overlap each other.
    pub top: Vec<OtherProcess>,
}

/// GPU use of one other process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherProcess {
    /// Name of the process; null if the rows name none.
    pub name: Option<String>,
    /// Process id; null if unknown.
    pub pid: Option<u32>,
    /// Time in nanoseconds of gaps of the analyzed process during which this one ran on the GPU.
    pub in_gaps_ns: Ns,
    /// `in_gaps_ns` divided by the idle time of the analyzed process; null if it was never idle.
    pub in_gaps_share: Option<Share>,
}

/// Activity of the display. A field is null if its table is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Display {
    /// Name of the process that composes the screen; its GPU work is the work of the screen.
    pub compositor: Option<String>,
    /// Number of refreshes of the display in the window.
    pub vsyncs: Option<u64>,
    /// Number of surfaces shown on the display in the window.
    pub surfaces: Option<u64>,
}

/// Hangs in the window: times when the program of the process did not respond.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hangs {
    /// Number of hangs in the window.
    pub count: u64,
    /// Length of the union of their parts in the window, in nanoseconds.
    pub total_ns: Ns,
    /// Longest whole duration in nanoseconds; null if there are none.
    pub max_ns: Option<Ns>,
}

/// Command buffers that ended in an error, in the whole recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandBufferErrors {
    /// Number of errors of all processes.
    pub count: u64,
    /// Number of errors that are known to be of the analyzed process, by a GPU interval of its in
    /// the window.
    pub of_process: u64,
    /// Errors by code, the smallest code first.
    pub codes: Vec<ErrorCode>,
}

/// Errors with the same code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCode {
    /// Code of Metal (`MTLCommandBufferError`); null if the row has none.
    pub code: Option<u64>,
    /// Number of errors of all processes with this code.
    pub count: u64,
    /// Number of errors of the analyzed process with this code.
    pub of_process: u64,
}
