//! Checks comparisons: laws, scenarios with known results, and a baseline that is written and read.
#![expect(
    clippy::unwrap_used,
    reason = "a panic is the failure report, in the helpers too"
)]

mod absence;
mod classes;
mod laws;
mod looks;
mod pairs;
mod signs;
mod trials;
mod turns;

use metalens_analyzer::{Report, Request};
use metalens_simulator::Scenario;
use metalens_testing::analyze_scenario;

/// A scenario that is small and quick to write: forty dispatches of two kernels, each waited for.
const SMALL: &str = r#"
[[process]]
name = "bench"
pid = 4101
role = "target"

[[process.stream]]
count = 40
submit = "sync"
encoder-label = ["matmul", "softmax"]
duration = ["9us", "10us"]
encode = ["6us", "9us"]
launch = ["80us", "95us"]
completion = ["55us", "80us"]
"#;

/// Returns the report of a scenario with a seed.
fn report(toml: &str, seed: u64) -> Report {
    let mut scenario = Scenario::from_toml(toml).unwrap();
    scenario.seed = seed;
    let analysis = analyze_scenario(&scenario, &Request::default());
    analysis.unwrap().report
}

fn reports(toml: &str, seeds: std::ops::Range<u64>) -> Vec<Report> {
    seeds.map(|seed| report(toml, seed)).collect()
}
