//! Writes synthetic `xctrace export` folders and `.trace` bundles whose truth is known. It starts
//! no process, never reads a real trace, and writes nothing unmarked: every document names this
//! crate in a `synthetic` attribute on its root element, every bundle in its manifest.
//!
//! The way in is a [`Scenario`]: a small TOML document that says which processes put which work
//! on the GPU, and which oddities the recording shows. From it come the folder and its [`Truth`]:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use metalens_simulator::{Scenario, truths};
//!
//! let scenario = Scenario::from_toml(
//!     r#"
//!     [[process]]
//!     name = "bench"
//!     pid = 4321
//!     role = "target"
//!
//!     [[process.stream]]
//!     count = 3            # three dispatches, each waited for
//!     duration = "10us"    # on the GPU
//!     encode = "5us"       # on the CPU, before
//!     launch = "20us"      # from commit to the first kick
//!     completion = "15us"  # from the last kick until the host knows
//!     "#,
//! )?;
//! let truth = &truths(&scenario)?[0];
//! let gaps = truth.gaps.as_ref().ok_or("the target reached the GPU")?;
//! assert_eq!(gaps.count, 2);
//! assert_eq!(gaps.total_ns, 2 * (15_000 + 5_000 + 20_000));
//! # Ok(())
//! # }
//! ```
//!
//! [`write_export`] writes the same to disk as XML, [`write_bundle`] as Instruments itself would
//! store it. The data goes one way:
//!
//! ```text
//! Scenario -> plan (kicks, encoders, buffers in integer ns) -> rows of cells -> XML
//!                                                          |                \-> binary stores
//!                                                          \-> Truth
//! ```
//!
//! The rows of a table are written once, against a trait both outputs implement, so an export and
//! a bundle of the same scenario cannot differ in content.
//!
//! The truth is counted from the plan by event sweeps and by counting, on purpose unlike the
//! sorted merges and indexed percentiles of a reader that is to be checked against it.

mod error;
mod export;
mod plan;
mod scenario;
mod truth;

pub use error::Error;
pub use export::bundle::{BundleOptions, write_bundle, write_bundle_with};
pub use export::table::Table;
pub use export::write_export;
pub use scenario::labels::Labels;
pub use scenario::lengths::Lengths;
pub use scenario::nanos::Nanos;
pub use scenario::presets::{Preset, presets};
pub use scenario::random::random_scenario;
pub use scenario::recording::{Recording, TargetKind};
pub use scenario::stream::{
    CoalescedName, Oddities, Pause, SecondPass, Stream, Submission, WarmUp,
};
pub use scenario::{Clock, Generation, Process, Role, Scenario};
pub use truth::{
    Busy, Channel, Counts, Gaps, HistogramBin, How, Kernel, Ledger, NamedBy, ProcessShare, Target,
    Truth, TruthFile, Window, truths,
};

/// The mark every document of an export carries: this crate's name and version.
pub const MARK: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
