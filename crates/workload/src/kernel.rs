//! The kernels: what they are called, what they take, and how much work they are.

use crate::plan::Amounts;

/// The source of all kernels, in Metal's language.
pub const KERNELS_SOURCE: &str = include_str!("kernels.metal");

/// Bytes of an `f32`.
pub(crate) const ELEMENT_BYTES: u64 = 4;

/// A kernel of [`KERNELS_SOURCE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// sin x.
    Sin,
    /// cos x.
    Cos,
    /// e to the x.
    Exp,
    /// The natural logarithm.
    Log,
    /// log exp cos sin x, at once.
    Chain,
    /// 1.5 x.
    Scale,
    /// a + 3 b.
    Triad,
    /// A × B of square matrices, in tiles.
    Matmul,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Sin,
        Self::Cos,
        Self::Exp,
        Self::Log,
        Self::Chain,
        Self::Scale,
        Self::Triad,
        Self::Matmul,
    ];

    /// Its function in the source, and the label of encoders that run it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sin => "sin_f32",
            Self::Cos => "cos_f32",
            Self::Exp => "exp_f32",
            Self::Log => "log_f32",
            Self::Chain => "sin_cos_exp_log_f32",
            Self::Scale => "scale_f32",
            Self::Triad => "triad_f32",
            Self::Matmul => "matmul_f32",
        }
    }

    /// How many arrays it reads; it writes one, and takes a number after that.
    #[must_use]
    pub const fn reads(self) -> usize {
        match self {
            Self::Triad | Self::Matmul => 2,
            _ => 1,
        }
    }

    /// The work of one dispatch over so many elements; for matrices, rows.
    ///
    /// Bytes are those that must move at least once: each array read and
    /// written once. Operations are counted where they are defined: nobody can
    /// say how many a sine is, so the chain has none.
    #[must_use]
    pub fn amounts(self, size: u64) -> Amounts {
        let arrays = self.reads() as u64 + 1;
        let elements = match self {
            Self::Matmul => size * size,
            _ => size,
        };
        let flops = match self {
            Self::Scale => Some(size),
            Self::Triad => Some(2 * size),
            Self::Matmul => Some(2 * size * size * size),
            _ => None,
        };
        Amounts {
            bytes: arrays * elements * ELEMENT_BYTES,
            flops,
        }
    }

    /// Threads of a threadgroup, by width and height.
    #[must_use]
    pub const fn group(self) -> (u64, u64) {
        match self {
            // TILE of the source.
            Self::Matmul => (16, 16),
            _ => (256, 1),
        }
    }

    /// Threadgroups of a dispatch, by width and height: all elements, and up to
    /// a group more.
    #[must_use]
    pub const fn groups(self, size: u64) -> (u64, u64) {
        let (width, height) = self.group();
        match self {
            Self::Matmul => (size.div_ceil(width), size.div_ceil(height)),
            _ => (size.div_ceil(width), 1),
        }
    }
}
