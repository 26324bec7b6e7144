//! Turns a plan into a scenario for the simulator. The times are made up; the counts and the
//! names are those of the plan.

use std::fmt::Write;

use crate::plan::{Phase, WorkloadPlan};
use crate::work::Dispatch;

/// Returns the scenario of a plan, as TOML.
pub fn scenario(plan: &WorkloadPlan) -> String {
    let mut text = format!(
        "# The plan of the workload {0}; all times are made up.\nname = \"{0}\"\nseed = 1\n\n\
         [[process]]\nname = \"metalens\"\npid = 4100\nrole = \"target\"\n",
        plan.workload.name()
    );
    if plan.warm_up > 0 {
        push(&mut text, plan, Phase::WarmUp, plan.warm_up);
    }
    push(&mut text, plan, Phase::Measured, plan.count);
    text.push_str(COMPOSITOR);
    text
}

/// A second process in the scenario, since every real GPU has others.
const COMPOSITOR: &str = "
[[process]]
name = \"Compositor\"
pid = 301
role = \"compositor\"

[[process.stream]]
channel = \"Fragment\"
count = 20
start = \"690ms\"
buffer-label = \"compose\"
encoder-label = \"present\"
duration = [\"150us\", \"300us\"]
host = \"16ms\"
";

/// Appends a stream with the command buffers of a phase to the scenario.
fn push(text: &mut String, plan: &WorkloadPlan, phase: Phase, steps: u64) {
    let list = |value: &dyn Fn(&Dispatch) -> String| {
        let values: Vec<String> = plan.step.iter().map(value).collect();
        values.join(", ")
    };
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\n[[process.stream]]\nchannel = \"Compute\"\ncount = {}\nfollows = {}\n\
         encoders-per-buffer = 1\nin-flight = 1\nbuffer-label = {:?}\n\
         encoder-label = [{}]\nduration = {{ cycle = [{}] }}\nencode = [\"4us\", \"7us\"]\n\
         launch = [\"60us\", \"90us\"]\ncompletion = [\"50us\", \"80us\"]\nhost = [\"5us\", \"15us\"]\n",
        steps * plan.step.len() as u64,
        phase == Phase::Measured && plan.warm_up > 0,
        plan.command_buffer_label(phase),
        list(&|dispatch| format!("{:?}", dispatch.kernel.name())),
        list(&|dispatch| format!("\"{}ns\"", length_ns(dispatch))),
    );
}

/// Returns a made-up duration: 60 bytes and 1,000 operations per nanosecond, at least 4 µs.
fn length_ns(dispatch: &Dispatch) -> u64 {
    let amounts = dispatch.amounts();
    (amounts.bytes / 60 + amounts.flops.unwrap_or(0) / 1_000).max(4_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads;
    use metalens_simulator::Scenario;

    /// The scenario has as many encoders as the plan, with warm-up and without.
    #[test]
    fn every_workload_can_be_simulated() {
        for workload in workloads() {
            for count in [6, 80] {
                let plan = WorkloadPlan::new(workload, Some(count)).unwrap();
                let text = scenario(&plan);
                let planned = Scenario::from_toml(&text).unwrap().intervals_planned();
                let others = 20;
                assert_eq!(planned, plan.command_buffers() + others, "{text}");
            }
        }
    }
}
