//! Describes the kernels: their names, their arguments, and the work of a dispatch.

/// Source of all kernels, in the Metal Shading Language.
pub const KERNELS_SOURCE: &str = include_str!("kernels.metal");

/// Size of an `f32`, in bytes.
pub(crate) const ELEMENT_BYTES: u64 = 4;

/// Amount of work in bytes and operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Bytes read and written, each array counted once.
    pub bytes: u64,
    /// Floating-point operations, or `None` if their number is not defined.
    pub flops: Option<u64>,
}

/// A kernel of [`KERNELS_SOURCE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// `sin x` of each element.
    Sin,
    /// `cos x` of each element.
    Cos,
    /// `exp x` of each element.
    Exp,
    /// `ln x` of each element.
    Log,
    /// `log exp cos sin x` of each element, in one kernel.
    Chain,
    /// `a + 3 b` of each pair of elements.
    Triad,
    /// Product of two square matrices, computed in tiles.
    Matmul,
}

impl Kernel {
    /// All kernels of the source.
    pub const ALL: [Self; 7] = [
        Self::Sin,
        Self::Cos,
        Self::Exp,
        Self::Log,
        Self::Chain,
        Self::Triad,
        Self::Matmul,
    ];

    /// Returns the name of its function in the source, which labels the encoders that run it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sin => "sin_f32",
            Self::Cos => "cos_f32",
            Self::Exp => "exp_f32",
            Self::Log => "log_f32",
            Self::Chain => "sin_cos_exp_log_f32",
            Self::Triad => "triad_f32",
            Self::Matmul => "matmul_f32",
        }
    }

    /// Returns the number of arrays it reads. It writes one more, and takes a number after that.
    pub const fn reads(self) -> usize {
        match self {
            Self::Triad | Self::Matmul => 2,
            _ => 1,
        }
    }

    /// Returns the work of one dispatch over `size` elements (for matrices, rows).
    ///
    /// The bytes are those that must move at least once: each array is read or written once.
    /// Operations are counted where their number is defined. No specification says how many
    /// operations a sine takes, so the chain has none.
    pub fn amounts(self, size: u64) -> Amounts {
        let arrays = self.reads() as u64 + 1;
        let elements = match self {
            Self::Matmul => size * size,
            _ => size,
        };
        let flops = match self {
            Self::Triad => Some(2 * size),
            Self::Matmul => Some(2 * size * size * size),
            _ => None,
        };

        Amounts {
            bytes: arrays * elements * ELEMENT_BYTES,
            flops,
        }
    }

    /// Returns the threads of a threadgroup, as width and height.
    pub const fn group(self) -> (u64, u64) {
        match self {
            // TILE in the source.
            Self::Matmul => (16, 16),
            _ => (256, 1),
        }
    }

    /// Returns the threadgroups of a dispatch, as width and height. The grid covers all
    /// elements and may exceed them by less than a threadgroup.
    pub const fn groups(self, size: u64) -> (u64, u64) {
        let (width, height) = self.group();
        match self {
            Self::Matmul => (size.div_ceil(width), size.div_ceil(height)),
            _ => (size.div_ceil(width), 1),
        }
    }
}
