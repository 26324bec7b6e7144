//! Turns a plan into a scenario for the simulator. The times are made up; the counts and the
//! names are those of the plan.

use std::fmt::Write;

use crate::plan::{Phase, WorkloadPlan};
use crate::work::{CommandBuffer, Encoder, Task};

/// Returns the scenario of a plan, as TOML.
#[must_use]
pub fn scenario(plan: &WorkloadPlan) -> String {
    let mut text = format!(
        "# The plan of the workload {0}; all times are made up.\nname = \"{0}\"\nseed = 1\n\n\
         [[process]]\nname = \"metalens\"\npid = 4100\nrole = \"target\"\n",
        plan.workload.name()
    );
    for stream in streams(plan) {
        if plan.warm_up > 0 {
            push(&mut text, plan, Phase::WarmUp, &stream, false);
        }
        push(&mut text, plan, Phase::Measured, &stream, plan.warm_up > 0);
    }

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

/// Splits the command buffers of a step into streams, one per thread: one stream if all
/// command buffers are alike, else a stream for each.
fn streams(plan: &WorkloadPlan) -> Vec<Vec<&CommandBuffer>> {
    let shape = |buffer: &CommandBuffer| (buffer.encoders.len(), channel(buffer));
    let are_alike = plan.step.windows(2).all(|pair| match pair {
        [left, right] => shape(left) == shape(right),
        _ => true,
    });

    if are_alike {
        vec![plan.step.iter().collect()]
    } else {
        plan.step.iter().map(|buffer| vec![buffer]).collect()
    }
}

fn channel(buffer: &CommandBuffer) -> &'static str {
    match buffer.encoders.first().map(|encoder| encoder.task) {
        Some(Task::Copy) => "Blit",
        _ => "Compute",
    }
}

/// Appends a stream with the command buffers of a phase to the scenario.
fn push(
    text: &mut String,
    plan: &WorkloadPlan,
    phase: Phase,
    buffers: &[&CommandBuffer],
    follows: bool,
) {
    // In the scenario, `count` counts encoders, not command buffers.
    let steps = match phase {
        Phase::WarmUp => plan.warm_up,
        Phase::Measured => plan.count,
    };
    let encoders: Vec<&Encoder> = buffers.iter().flat_map(|buffer| &buffer.encoders).collect();
    let labels: Vec<String> = encoders
        .iter()
        .map(|encoder| format!("{:?}", encoder.task.label()))
        .collect();
    let lengths: Vec<String> = encoders
        .iter()
        .map(|encoder| format!("\"{}ns\"", length_ns(encoder)))
        .collect();
    let per_buffer = buffers.first().map_or(1, |buffer| buffer.encoders.len());
    let channel = buffers.first().map_or("Compute", |buffer| channel(buffer));

    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\n[[process.stream]]\nchannel = \"{channel}\"\ncount = {}\nfollows = {follows}\n\
         encoders-per-buffer = {per_buffer}\nin-flight = {}\nbuffer-label = {:?}\n\
         encoder-label = [{}]\nduration = {{ cycle = [{}] }}\nencode = [\"4us\", \"7us\"]\n\
         launch = [\"60us\", \"90us\"]\ncompletion = [\"50us\", \"80us\"]\nhost = [\"5us\", \"15us\"]\n",
        steps * encoders.len() as u64,
        plan.in_flight,
        plan.command_buffer_label(phase),
        labels.join(", "),
        lengths.join(", "),
    );
}

/// Returns a made-up duration: 60 bytes and 1,000 operations per nanosecond, at least 4 µs.
fn length_ns(encoder: &Encoder) -> u64 {
    let amounts = encoder.amounts();
    (amounts.bytes / 60 + amounts.flops.unwrap_or(0) / 1_000).max(4_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{WorkloadSettings, workloads};
    use metalens_simulator::Scenario;

    /// The scenario has as many encoders as the plan.
    #[test]
    fn every_workload_can_be_simulated() {
        let settings = WorkloadSettings {
            count: Some(6),
            warm_up: Some(2),
            ..WorkloadSettings::default()
        };
        for workload in workloads() {
            let plan = WorkloadPlan::for_workload(workload, &settings).unwrap();
            let text = scenario(&plan);
            let scenario = Scenario::from_toml(&text).unwrap();
            let others = 20;
            assert_eq!(
                scenario.intervals_planned(),
                plan.total().encoders + others,
                "{text}"
            );
        }
    }
}
