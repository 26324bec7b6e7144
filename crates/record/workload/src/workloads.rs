//! Defines the workloads: what each one shows, and the dispatches of one step.

use crate::data::Fill;
use crate::error::{Error, Result};
use crate::expected::Expected;
use crate::kernel::Kernel;
use crate::work::{Array, Dispatch};

/// A bundled workload, named after what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Workload {
    /// Chain of four kernels.
    Eager,
    /// The same chain as one kernel.
    Fused,
    /// Tiled multiplication of square matrices.
    Matmul,
    /// Kernel that is limited by memory bandwidth.
    Bandwidth,
}

/// Returns every workload, in the order of the list.
pub fn workloads() -> impl Iterator<Item = Workload> {
    use Workload::{Bandwidth, Eager, Fused, Matmul};
    [Eager, Fused, Matmul, Bandwidth].into_iter()
}

impl Workload {
    /// Returns the workload with this name.
    pub fn from_name(name: &str) -> Result<Self> {
        workloads()
            .find(|workload| workload.name() == name)
            .ok_or_else(|| Error::NoSuchWorkload {
                name: name.to_owned(),
                known: workloads().map(Self::name).collect(),
            })
    }

    /// Returns the name that users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Fused => "fused",
            Self::Matmul => "matmul",
            Self::Bandwidth => "bandwidth",
        }
    }

    /// Returns one line on what the workload shows.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Eager => "sin, cos, exp, log: four kernels per step, a wait after each",
            Self::Fused => "the same chain over the same data as one kernel per step",
            Self::Matmul => "a tiled f32 matrix multiplication, 2n\u{b3} operations",
            Self::Bandwidth => "a triad over large arrays, limited by memory bandwidth",
        }
    }

    /// Returns the elements of an array (matmul: rows).
    pub(crate) const fn size(self) -> u64 {
        match self {
            // The two are compared with each other, so they do the same work.
            Self::Eager | Self::Fused => 1 << 20,
            Self::Matmul => 1_024,
            Self::Bandwidth => 1 << 24,
        }
    }

    /// Returns the number of measured steps of a run of one to two seconds on an M1. They are estimated
    /// from its published memory bandwidth and from waits in real recordings; they have not
    /// been timed there.
    pub(crate) const fn count(self) -> u64 {
        match self {
            Self::Eager | Self::Fused => 800,
            Self::Matmul => 300,
            Self::Bandwidth => 400,
        }
    }

    /// Returns the arrays and the dispatches of a step, for a problem of this size.
    pub(crate) fn recipe(self, size: u64) -> (Vec<Array>, Vec<Dispatch>) {
        // Numbers are indices into the arrays.
        let dispatch = |kernel, reads: &[usize], writes| Dispatch {
            kernel,
            reads: reads.to_vec(),
            writes,
            size,
        };
        let input = array("input", size, Fill::Angles);
        match self {
            Self::Eager => (
                vec![
                    input,
                    array("scratch", size, Fill::Zeros),
                    result(size, Expected::Chain),
                ],
                vec![
                    dispatch(Kernel::Sin, &[0], 1),
                    dispatch(Kernel::Cos, &[1], 2),
                    dispatch(Kernel::Exp, &[2], 1),
                    dispatch(Kernel::Log, &[1], 2),
                ],
            ),
            Self::Fused => (
                vec![input, result(size, Expected::Chain)],
                vec![dispatch(Kernel::Chain, &[0], 1)],
            ),
            Self::Matmul => (
                vec![
                    array("left", size * size, Fill::Fractions),
                    array("right", size * size, Fill::Angles),
                    result(size * size, Expected::Matmul { rows: size }),
                ],
                vec![dispatch(Kernel::Matmul, &[0, 1], 2)],
            ),
            Self::Bandwidth => (
                vec![
                    array("left", size, Fill::Angles),
                    array("right", size, Fill::Fractions),
                    result(size, Expected::Triad),
                ],
                vec![dispatch(Kernel::Triad, &[0, 1], 2)],
            ),
        }
    }
}

fn array(name: &'static str, elements: u64, fill: Fill) -> Array {
    Array {
        name,
        elements,
        fill,
        result: None,
    }
}

/// Returns the array of the results.
fn result(elements: u64, expected: Expected) -> Array {
    Array {
        result: Some(expected),
        ..array("result", elements, Fill::Zeros)
    }
}
