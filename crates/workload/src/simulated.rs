//! What a simulator shows in the place of a bundled workload: its plan, as a
//! scenario. The times are made up; how many of what and their names are true.

use std::fmt::Write;

use crate::plan::{CommandBuffer, Encoder, Phase, Plan, Task};

/// Returns the scenario of a plan, as TOML.
#[must_use]
pub fn scenario(plan: &Plan) -> String {
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

/// Others are on every real GPU.
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

/// Encoders of one thread: all command buffers of a step if they are alike, else
/// each of them apart.
fn streams(plan: &Plan) -> Vec<Vec<&CommandBuffer>> {
    let shape = |buffer: &CommandBuffer| (buffer.encoders.len(), channel(buffer));
    let alike = plan.step.windows(2).all(|two| match two {
        [one, other] => shape(one) == shape(other),
        _ => true,
    });
    match alike {
        true => vec![plan.step.iter().collect()],
        false => plan.step.iter().map(|buffer| vec![buffer]).collect(),
    }
}

fn channel(buffer: &CommandBuffer) -> &'static str {
    match buffer.encoders.first().map(|encoder| encoder.task) {
        Some(Task::Copy) => "Blit",
        _ => "Compute",
    }
}

fn push(text: &mut String, plan: &Plan, phase: Phase, buffers: &[&CommandBuffer], follows: bool) {
    let steps = match phase {
        Phase::WarmUp => plan.warm_up,
        Phase::Measured => plan.count,
    };
    let encoders: Vec<&Encoder> = buffers.iter().flat_map(|one| &one.encoders).collect();
    let labels: Vec<String> = encoders
        .iter()
        .map(|one| format!("{:?}", one.task.label()))
        .collect();
    let lengths: Vec<String> = encoders
        .iter()
        .map(|one| format!("\"{}ns\"", length_ns(one)))
        .collect();
    let per_buffer = buffers.first().map_or(1, |one| one.encoders.len());
    let channel = buffers.first().map_or("Compute", |one| channel(one));
    // A text takes whatever is written to it.
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

/// As if 60 bytes and 1,000 operations took a nanosecond; nothing is shorter than 4 µs.
fn length_ns(encoder: &Encoder) -> u64 {
    let amounts = encoder.amounts();
    (amounts.bytes / 60 + amounts.flops.unwrap_or(0) / 1_000).max(4_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, workloads};
    use metalens_simulator::Scenario;

    /// What the simulator is told has as many encoders as the plan.
    #[test]
    fn every_workload_can_be_simulated() {
        let settings = Settings {
            count: Some(6),
            warm_up: Some(2),
            ..Settings::default()
        };
        for workload in workloads() {
            let plan = Plan::of(workload, &settings).unwrap();
            let text = scenario(&plan);
            let scenario = Scenario::from_toml(&text).unwrap();
            let others = 20;
            assert_eq!(
                scenario.intervals_planned(),
                plan.whole().encoders + others,
                "{text}"
            );
        }
    }
}
