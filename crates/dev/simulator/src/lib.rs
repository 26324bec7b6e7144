//! Writes synthetic `xctrace export` folders and `.trace` bundles whose contents are known exactly.
//! It never reads a real recording, and starts no process except the program that the
//! [fake `xctrace`](fake_xctrace) launches. It marks everything it writes: every document names this
//! crate in a `synthetic` attribute on its root element, every bundle in its manifest.
//!
//! The input is a [`Scenario`], a small TOML document. It says which processes submit which work
//! to the GPU, and which oddities the recording shows. The output is a folder and its [`Truth`]:
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
//!     count = 3            # three dispatches, with a wait after each
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
//! [`write_export`] writes the scenario as XML, [`write_bundle`] in the format of Instruments. The
//! data goes one way:
//!
//! ```text
//! Scenario -> plan (kicks, encoders, buffers, optional parts) -> rows of cells -> XML
//!                                                            |                \-> binary stores
//!                                                            \-> Truth
//! ```
//!
//! A table is declared once, each column with its value, and written through a trait that both outputs
//! implement, so that an export and a bundle of the same scenario have the same content.
//!
//! [`Scenario`] lists what is optional. A value is NULL in a bundle if no known real bundle shows how
//! it is stored: messages of signposts. Percentages are stored as decimals, as in real bundles, and names
//! of functions in archives of symbols.
//!
//! The truth is computed from the plan by sweeps over events and by counting. The analyzer uses sorted
//! merges and indexed percentiles, so that the two do not share mistakes.

mod error;
mod export;
pub mod fake_xctrace;
mod optional;
mod plan;
mod random;
mod scenario;
mod schedule;
mod sheet;
mod truth;
mod values;

pub use error::Error;
pub use export::bundle::write_bundle;
pub use export::write_export;
pub use optional::*;
pub use plan::names::NamedBy;
pub use plan::sweep::Window;
pub use scenario::presets::{Preset, presets};
pub use scenario::random::random_scenario;
pub use scenario::recording::*;
pub use scenario::table::Table;
pub use scenario::{Process, Scenario};
pub use truth::*;
pub use values::kinds::*;
pub use values::labels::Labels;
pub use values::lengths::Lengths;
pub use values::nanos::Nanos;
pub use values::stream::*;

/// Mark in every synthetic document and bundle: the name and version of this crate.
pub const MARK: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
