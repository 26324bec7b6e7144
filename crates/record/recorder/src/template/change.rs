//! Defines the changes of Apple's template, and the keys and values they need.

use super::binary::Scalar;

/// A setting that `xctrace record` has no option for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateChange {
    /// The Shader Timeline is switched on.
    ShaderTimeline,
    /// The performance state of the GPU is held while it records.
    GpuClock(Clock),
}

/// A performance state of the GPU. The template stores its number.
///
/// The numbers come from one public script, which says that they were checked with xctrace
/// 26.4, and in part from Apple's own device conditions, where the maximum is 3 as well. The
/// script also says what the stock template's 0 does: it holds the GPU at its minimum, while
/// the run's settings say `Default`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The lowest clock of the GPU.
    Minimum,
    /// A clock between the lowest and the highest.
    Medium,
    /// The highest clock, as long as the machine stays cool.
    Maximum,
    /// The clock that the GPU chooses, as without a recording.
    Default,
}

impl Clock {
    /// Returns Apple's name for it, in a run's settings and in the table of states.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimum => "Minimum",
            Self::Medium => "Medium",
            Self::Maximum => "Maximum",
            Self::Default => "Default",
        }
    }

    const fn number(self) -> u64 {
        match self {
            Self::Minimum => 1,
            Self::Medium => 2,
            Self::Maximum => 3,
            Self::Default => 4,
        }
    }
}

impl TemplateChange {
    /// Returns the option of `metalens record` for the change.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::ShaderTimeline => "--shader-timeline",
            Self::GpuClock(_) => "--gpu-clock",
        }
    }

    /// Returns what a user does in Instruments for the same effect.
    pub(super) const fn by_hand(self) -> &'static str {
        match self {
            Self::ShaderTimeline => "switch Shader Timeline on",
            Self::GpuClock(_) => "choose the GPU's performance state",
        }
    }

    /// Returns the new value of its keys.
    pub(super) const fn value(self) -> Scalar {
        match self {
            Self::ShaderTimeline => Scalar::Boolean(true),
            Self::GpuClock(clock) => Scalar::Integer(clock.number()),
        }
    }

    /// Returns the key that must exist with a value of this kind, and its companion key.
    pub(super) const fn keys(self) -> [&'static str; 2] {
        match self {
            Self::ShaderTimeline => ["shaderprofiler", "shaderprofilerinternal"],
            Self::GpuClock(_) => ["gpuperformancestate", "gpuperformancestateinternal"],
        }
    }

    /// Returns whether the companion is changed even if it has a value of another kind, such as
    /// null. A script that is known to work does this for the clock. For the Shader Timeline, a
    /// null means that the instrument has no such setting.
    pub(super) const fn always_changes_companion(self) -> bool {
        matches!(self, Self::GpuClock(_))
    }

    /// Returns what is wrong with a template that lacks the first key.
    pub(super) const fn missing_key(self) -> &'static str {
        match self {
            Self::ShaderTimeline => "it has no switch for the Shader Timeline",
            Self::GpuClock(_) => "it has no number for the GPU's performance state",
        }
    }
}
