//! What else the machine did: clock, heat, memory, driver, other processes,
//! and what went wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rest of the machine during the window. A part is null where the
/// recording has no table that tells it, and `unavailable` says which; a part
/// that is there and counts nothing means that nothing of the kind happened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The GPU's performance states: its clock. The same kernels take up to
    /// three times as long at Minimum as at Maximum.
    pub performance: Option<Performance>,
    /// The device's thermal states.
    pub thermal: Option<Thermal>,
    /// The GPU memory that the target had allocated.
    pub allocated: Option<AllocatedMemory>,
    /// The wired system memory of the whole machine.
    pub wired: Option<WiredMemory>,
    /// The GPU driver's work for the target, on the CPU.
    pub driver: Option<Driver>,
    /// The driver's other events for the target (wiring memory and the like), by type.
    pub driver_events: Option<Vec<DriverEvents>>,
    /// Shaders compiled for the target while it ran.
    pub shader_compiles: Option<ShaderCompiles>,
    /// Other processes on the GPU while the target left it idle.
    pub others: Others,
    /// Only context: what showed things on the display.
    pub display: Display,
    /// When the target's program did not respond.
    pub hangs: Option<Hangs>,
    /// Command buffers that ended in an error.
    pub errors: Option<CommandBufferErrors>,
}

/// How long the GPU was in which performance state. The table has rows only
/// from time to time; nothing is assumed between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Performance {
    /// The table that says so.
    pub table: String,
    /// The state that the recording was set to hold the GPU in; `Default` is none.
    pub requested: Option<String>,
    /// The states, the longest first.
    pub states: Vec<StateTime>,
    /// Time in the window that no row covers.
    pub unknown_ns: u64,
    /// The target's busy time that no row covers.
    pub unknown_busy_ns: u64,
    /// How often the state differed from the one before, in the window.
    pub changes: u64,
    /// What the rows say of themselves, such as why a state was induced.
    pub narratives: Vec<String>,
}

/// How long the device was in which thermal state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thermal {
    /// The states, the longest first.
    pub states: Vec<StateTime>,
    /// Time in the window that no row covers.
    pub unknown_ns: u64,
    /// The worst of Nominal, Fair, Serious and Critical; null if there was
    /// none in the window, or another whose rank is unknown.
    pub worst: Option<String>,
}

/// The time in one state, inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateTime {
    /// As the table calls it.
    pub state: String,
    /// How long.
    pub total_ns: u64,
    /// total / window.
    pub share: Option<f64>,
    /// How much of the target's busy time.
    pub busy_ns: u64,
    /// busy / the target's busy time.
    pub busy_share: Option<f64>,
    /// How much of it was marked as induced: not of the GPU's own choosing, or
    /// by the device's conditions, as the narratives may tell.
    pub induced_ns: u64,
}

/// The target's allocated GPU memory, inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocatedMemory {
    /// How often its size was written down, in the window.
    pub changes: u64,
    /// When it is first known, in the window.
    pub first_at_ns: Option<u64>,
    /// Its size then.
    pub first_bytes: Option<u64>,
    /// Its size at the window's end.
    pub last_bytes: Option<u64>,
    /// Its largest size.
    pub peak_bytes: Option<u64>,
    /// When it was first that large.
    pub peak_at_ns: Option<u64>,
    /// Its growth after the start of the window, which is when programs allocate.
    pub steady: Option<SteadyMemory>,
    /// Its size over the window, the most in each of up to sixty equal slices. A
    /// slice with as much as the one before has no point of its own.
    pub points: Vec<MemoryPoint>,
}

/// How memory grew in the window's last three quarters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyMemory {
    /// When that part begins.
    pub from_ns: u64,
    /// How much larger it was at the end; negative if smaller.
    pub growth_bytes: i64,
    /// The median of the slopes between all pairs of points in that part,
    /// which single jumps do not move. Bytes per second.
    pub slope_bytes_per_s: f64,
    /// How often it grew.
    pub rises: u64,
    /// How often it shrank: a leak grows and never shrinks.
    pub falls: u64,
}

/// Memory in one slice of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryPoint {
    /// When the slice begins.
    pub at_ns: u64,
    /// The most in it.
    pub bytes: u64,
}

/// Wired system memory, inside the window; null where no row reaches into it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WiredMemory {
    /// The most.
    pub peak_bytes: Option<u64>,
    /// When it was first that much.
    pub peak_at_ns: Option<u64>,
    /// The least.
    pub min_bytes: Option<u64>,
}

/// The driver's intervals for the target that reach into the window. They
/// carry no id, so that none can be joined with its command buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    /// The intervals by what they process.
    pub types: Vec<DriverEvents>,
    /// The length of their union.
    pub busy_ns: u64,
    /// How much of it lies in the target's gaps.
    pub in_gaps_ns: u64,
    /// in_gaps / the target's idle time.
    pub in_gaps_share: Option<f64>,
}

/// The driver's intervals of one type; those that reach out of the window
/// count with the part inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverEvents {
    /// `Command Buffer`, `Command Encoder`, `Wire Memory`, …
    pub event_type: Option<String>,
    /// How many.
    pub count: u64,
    /// Their summed durations.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Shaders compiled for the target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShaderCompiles {
    /// Begun before the window.
    pub before: Compiles,
    /// Begun in the window: work that a warm-up or a binary archive would have saved.
    pub inside: Compiles,
    /// How much of the target's gaps lies under a compilation for it.
    pub in_gaps_ns: u64,
}

/// Some compilations, whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compiles {
    /// How many.
    pub count: u64,
    /// Their summed durations.
    pub total_ns: u64,
    /// The longest; null of none.
    pub max_ns: Option<u64>,
}

/// Other processes on the GPU while the target left it idle.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Others {
    /// How much of the target's gaps others were on the GPU.
    pub in_gaps_ns: u64,
    /// in_gaps / the target's idle time.
    pub in_gaps_share: Option<f64>,
    /// The five with the most of it. They may overlap each other.
    pub top: Vec<OtherProcess>,
}

/// One other process on the GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherProcess {
    /// Its name; null where the rows name nobody.
    pub name: Option<String>,
    /// Its number.
    pub pid: Option<u32>,
    /// How much of the target's gaps it was on the GPU.
    pub in_gaps_ns: u64,
    /// in_gaps / the target's idle time.
    pub in_gaps_share: Option<f64>,
}

/// What showed things on the display. Null where the table is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Display {
    /// The process that puts the screen together: its work on the GPU is the screen's.
    pub compositor: Option<String>,
    /// The display's refreshes in the window.
    pub vsyncs: Option<u64>,
    /// Surfaces that were on the display in the window.
    pub surfaces: Option<u64>,
}

/// When the target's program did not respond, in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hangs {
    /// How many.
    pub count: u64,
    /// Their summed durations, the parts in the window.
    pub total_ns: u64,
    /// The longest, whole; null of none.
    pub max_ns: Option<u64>,
    /// Calls of the target that risk one; null where that table is absent.
    pub risks: Option<u64>,
}

/// Command buffers that ended in an error, in the whole recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandBufferErrors {
    /// Everyone's.
    pub count: u64,
    /// Those that are known to be the target's, by an interval of its in the window.
    pub of_process: u64,
    /// By code, the smallest first.
    pub codes: Vec<ErrorCode>,
}

/// The errors of one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCode {
    /// Metal's code (`MTLCommandBufferError`); null if the row has none.
    pub code: Option<u64>,
    /// Everyone's of this code.
    pub count: u64,
    /// The target's of this code.
    pub of_process: u64,
}
