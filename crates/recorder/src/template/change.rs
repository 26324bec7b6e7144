//! What can be changed in Apple's template, and how that is known.

use plist::Value;

/// A setting that `xctrace record` has no option for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The Shader Timeline, switched on.
    ShaderTimeline,
    /// The GPU's performance state, held while it records.
    GpuClock(Clock),
}

/// A performance state of the GPU. The template holds its number.
///
/// The numbers are known from one public script that says to have checked them
/// with xctrace 26.4, and in part from Apple's own device conditions, where the
/// maximum is 3, too. That script says as well what the stock template's 0 does:
/// it holds the GPU at its minimum, while the run's settings say `Default`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The lowest clock.
    Minimum,
    /// One between.
    Medium,
    /// The highest, as long as the machine stays cool.
    Maximum,
    /// The GPU chooses, as it does when nobody records.
    Default,
}

impl Clock {
    /// What Apple calls it, in a run's settings and in the table of states.
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

impl Change {
    /// The option of `metalens record` that asks for it.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::ShaderTimeline => "--shader-timeline",
            Self::GpuClock(_) => "--gpu-clock",
        }
    }

    /// How a person does it.
    pub(super) const fn by_hand(self) -> &'static str {
        match self {
            Self::ShaderTimeline => "switch Shader Timeline on",
            Self::GpuClock(_) => "choose the GPU's performance state",
        }
    }

    /// What its key holds from now on.
    pub(super) fn value(self) -> Value {
        match self {
            Self::ShaderTimeline => Value::Boolean(true),
            Self::GpuClock(clock) => Value::Integer(clock.number().into()),
        }
    }

    /// The key that must be there with a value of this kind, and its companion.
    pub(super) const fn keys(self) -> [&'static str; 2] {
        match self {
            Self::ShaderTimeline => ["shaderprofiler", "shaderprofilerinternal"],
            Self::GpuClock(_) => ["gpuperformancestate", "gpuperformancestateinternal"],
        }
    }

    /// Whether the companion is changed even if it holds something else, such as
    /// a null. The script that is known to work does so with the clock; of the
    /// Shader Timeline a null says that the instrument has no such setting.
    pub(super) const fn is_of_both(self) -> bool {
        matches!(self, Self::GpuClock(_))
    }

    /// What is wrong with a template without the first key.
    pub(super) const fn absent(self) -> &'static str {
        match self {
            Self::ShaderTimeline => "it has no switch for the Shader Timeline",
            Self::GpuClock(_) => "it has no number for the GPU's performance state",
        }
    }
}
