//! Defines the workloads: what each one shows, and the command buffers of one step.

use crate::data::Fill;
use crate::error::{Error, Result};
use crate::expected::Expected;
use crate::kernel::Kernel;
use crate::work::{Array, CommandBuffer, Encoder, Task};

/// A bundled workload, named after what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Workload {
    /// Chain of four kernels, each in its own command buffer, with a wait after each.
    Eager,
    /// The same chain as one kernel.
    Fused,
    /// One small dispatch per command buffer, with a wait after each.
    Sync,
    /// Many encoders and dispatches per command buffer.
    Batched,
    /// Several command buffers in flight.
    Pipelined,
    /// Tiled multiplication of square matrices.
    Matmul,
    /// Many small transfers per command buffer.
    Copies,
    /// Kernel that is limited by memory bandwidth.
    Bandwidth,
    /// Copies, a chain and a matrix multiplication in turn.
    Mixed,
}

/// Sizes and counts of a workload unless the settings name others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub(crate) size: u64,
    pub(crate) count: u64,
    pub(crate) warm_up: u64,
}

/// Arrays and command buffers of one step of a workload.
pub(crate) struct Recipe {
    pub(crate) arrays: Vec<Array>,
    pub(crate) step: Vec<CommandBuffer>,
    pub(crate) in_flight: u64,
}

const ALL: [Workload; 9] = [
    Workload::Eager,
    Workload::Fused,
    Workload::Sync,
    Workload::Batched,
    Workload::Pipelined,
    Workload::Matmul,
    Workload::Copies,
    Workload::Bandwidth,
    Workload::Mixed,
];

/// Returns every workload, in the order of the list.
pub fn workloads() -> impl Iterator<Item = Workload> {
    ALL.into_iter()
}

/// Number of copies that one encoder makes.
const COPIES: u64 = 16;

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
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Fused => "fused",
            Self::Sync => "sync",
            Self::Batched => "batched",
            Self::Pipelined => "pipelined",
            Self::Matmul => "matmul",
            Self::Copies => "copies",
            Self::Bandwidth => "bandwidth",
            Self::Mixed => "mixed",
        }
    }

    /// Returns one line on what the workload shows.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Eager => "sin, cos, exp, log: four kernels per step, a wait after each",
            Self::Fused => "the same chain over the same data as one kernel per step",
            Self::Sync => "one small dispatch per command buffer, a wait after each: mostly gaps",
            Self::Batched => "8 encoders of 8 small dispatches per command buffer",
            Self::Pipelined => "command buffers back to back, up to four in flight: few gaps",
            Self::Matmul => "a tiled f32 matrix multiplication, 2n\u{b3} operations",
            Self::Copies => "16 small transfers per command buffer, on the blit encoder",
            Self::Bandwidth => "a triad over large arrays, limited by memory bandwidth",
            Self::Mixed => "transfers, the chain and a matrix multiplication, in flight together",
        }
    }

    /// Returns sizes and counts for a run of one to two seconds on an M1. They are estimated
    /// from its published memory bandwidth and from waits in real recordings; they have not
    /// been timed there.
    pub(crate) const fn defaults(self) -> Defaults {
        let (size, count, warm_up) = match self {
            // The two are compared with each other, so they do the same work.
            Self::Eager | Self::Fused => (1 << 20, 800, 20),
            Self::Sync => (1 << 14, 4_000, 100),
            Self::Batched => (1 << 16, 1_000, 20),
            Self::Pipelined => (1 << 20, 8_000, 100),
            Self::Matmul => (1_024, 300, 5),
            Self::Copies => (1 << 14, 3_000, 100),
            Self::Bandwidth => (1 << 24, 400, 10),
            Self::Mixed => (1 << 18, 800, 20),
        };

        Defaults {
            size,
            count,
            warm_up,
        }
    }

    /// Returns the largest allowed size: arrays of at most 1 GiB, and indices of 32 bits.
    pub(crate) const fn max_size(self) -> u64 {
        match self {
            Self::Matmul => 1 << 14,
            Self::Copies | Self::Mixed => 1 << 24,
            _ => 1 << 28,
        }
    }

    /// Returns the arrays and command buffers of a step, for a problem of this size.
    pub(crate) fn recipe(self, size: u64) -> Recipe {
        // Numbers in `reads` and `writes` are indices into the arrays of the recipe.
        match self {
            Self::Eager => Recipe {
                arrays: chain_arrays(size),
                step: one_per_buffer(chain(0, size)),
                in_flight: 1,
            },
            Self::Fused => Recipe {
                arrays: vec![
                    array("input", size, Fill::Angles),
                    result("result", size, Expected::Chain),
                ],
                step: one_per_buffer(vec![kernel(Kernel::Chain, 1, [0], 1, size)]),
                in_flight: 1,
            },
            Self::Sync => scale(size, 1),
            Self::Pipelined => scale(size, 4),
            Self::Batched => batched(size),
            Self::Matmul => Recipe {
                arrays: matrices(size),
                step: one_per_buffer(vec![kernel(Kernel::Matmul, 1, [0, 1], 2, size)]),
                in_flight: 1,
            },
            Self::Copies => Recipe {
                arrays: copied(size),
                step: one_per_buffer(vec![copy(0, 1, size)]),
                in_flight: 1,
            },
            Self::Bandwidth => Recipe {
                arrays: vec![
                    array("left", size, Fill::Angles),
                    array("right", size, Fill::Fractions),
                    result("result", size, Expected::Triad),
                ],
                step: one_per_buffer(vec![kernel(Kernel::Triad, 1, [0, 1], 2, size)]),
                in_flight: 1,
            },
            Self::Mixed => mixed(size),
        }
    }
}

/// Returns a recipe of one small dispatch per command buffer.
fn scale(size: u64, in_flight: u64) -> Recipe {
    Recipe {
        arrays: vec![
            array("input", size, Fill::Angles),
            result("result", size, Expected::Scale),
        ],
        step: one_per_buffer(vec![kernel(Kernel::Scale, 1, [0], 1, size)]),
        in_flight,
    }
}

/// Returns a recipe of two alternating kernels, so that the driver cannot join encoders that
/// are alike.
fn batched(size: u64) -> Recipe {
    let arrays = vec![
        array("left", size, Fill::Angles),
        array("right", size, Fill::Fractions),
        result("scaled", size, Expected::Scale),
        result("sum", size, Expected::Triad),
    ];
    let pair = [
        kernel(Kernel::Scale, 8, [0], 2, size),
        kernel(Kernel::Triad, 8, [0, 1], 3, size),
    ];

    Recipe {
        arrays,
        step: vec![CommandBuffer {
            encoders: pair.iter().cycle().take(8).cloned().collect(),
        }],
        in_flight: 1,
    }
}

/// Returns a recipe of copies, a chain and a matrix product. The matrices are the largest
/// squares of at most `size` elements.
fn mixed(size: u64) -> Recipe {
    let rows = size.isqrt();
    let mut arrays = copied(size);
    arrays.extend(chain_arrays(size));
    arrays.extend(matrices(rows));

    Recipe {
        arrays,
        step: vec![
            CommandBuffer {
                encoders: vec![copy(0, 1, size)],
            },
            CommandBuffer {
                encoders: chain(2, size),
            },
            CommandBuffer {
                encoders: vec![kernel(Kernel::Matmul, 1, [5, 6], 7, rows)],
            },
        ],
        in_flight: 3,
    }
}

/// Returns the encoders input → first → second → first → second, from the array at `at` on.
fn chain(first_array: usize, size: u64) -> Vec<Encoder> {
    let (input, first, second) = (first_array, first_array + 1, first_array + 2);
    vec![
        kernel(Kernel::Sin, 1, [input], first, size),
        kernel(Kernel::Cos, 1, [first], second, size),
        kernel(Kernel::Exp, 1, [second], first, size),
        kernel(Kernel::Log, 1, [first], second, size),
    ]
}

fn chain_arrays(size: u64) -> Vec<Array> {
    vec![
        array("input", size, Fill::Angles),
        array("between", size, Fill::Zeros),
        result("result", size, Expected::Chain),
    ]
}

fn matrices(rows: u64) -> Vec<Array> {
    vec![
        array("left", rows * rows, Fill::Fractions),
        array("right", rows * rows, Fill::Angles),
        result("product", rows * rows, Expected::Matmul { rows }),
    ]
}

fn copied(size: u64) -> Vec<Array> {
    vec![
        array("from", COPIES * size, Fill::Angles),
        result("to", COPIES * size, Expected::Copy),
    ]
}

fn array(name: &'static str, elements: u64, fill: Fill) -> Array {
    Array {
        name,
        elements,
        fill,
        result: None,
    }
}

fn result(name: &'static str, elements: u64, expected: Expected) -> Array {
    Array {
        name,
        elements,
        fill: Fill::Zeros,
        result: Some(expected),
    }
}

fn kernel<const READS: usize>(
    kernel: Kernel,
    dispatches: u64,
    reads: [usize; READS],
    writes: usize,
    size: u64,
) -> Encoder {
    Encoder {
        task: Task::Kernel(kernel),
        dispatches,
        reads: reads.to_vec(),
        writes,
        size,
    }
}

fn copy(from: usize, to: usize, size: u64) -> Encoder {
    Encoder {
        task: Task::Copy,
        dispatches: COPIES,
        reads: vec![from],
        writes: to,
        size,
    }
}

/// Puts each encoder into a command buffer of its own.
fn one_per_buffer(encoders: Vec<Encoder>) -> Vec<CommandBuffer> {
    let buffers = encoders.into_iter().map(|encoder| CommandBuffer {
        encoders: vec![encoder],
    });
    buffers.collect()
}
