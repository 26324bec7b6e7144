//! Checks phases and states, and names with characters that have a meaning in JSON.

use metalens_analyzer::{Analysis, Request};
use metalens_simulator::Scenario;
use metalens_testing::analyze_scenario;

use crate::{check, written};

/// A scenario with nested phases, crossing phases and phases of another process; states with a hole
/// between them; names with characters that have a meaning in JSON.
const SCENARIO: &str = r#"
[[recording.performance]]
state = "Minimum"
start = "0ms"
end = "702ms"
induced = true

[[recording.performance]]
state = "Maximum"
start = "703ms"

[[process]]
name = "bench \\ \"quoted\" 日本"
pid = 4200
role = "target"

[[process.stream]]
count = 200
duration = "10us"
gap = "0ns"
host = "20us"
encode = "6us"
launch = "40us"
completion = "40us"
submit = "sync"
encoder-label = ["}],\"ph\":\"X\"", "\\u0041\\", "a\uFFFDb 🦀", "</script>", "LONG"]

[process.stream.warm-up]
first = 10
factor = 20

[[process.signpost]]
name = "step"
every = 4

[[process.signpost]]
name = "epoch \"1\""
from = "701ms"
to = "718ms"

[[process.signpost]]
name = "io"
from = "705ms"
to = "725ms"

[[process.signpost]]
name = "read"
from = "705ms"
to = "706ms"

[[process]]
name = "Private Messenger"
pid = 4300

[[process.stream]]
channel = "Fragment"
count = 100
duration = "30us"
host = "100us"
encode = "6us"
launch = "40us"
completion = "40us"
submit = "sync"
encoder-label = "confidential"

[[process.signpost]]
name = "private call"
from = "701ms"
to = "705ms"
"#;

fn analyzed(request: &Request) -> Analysis {
    let text = SCENARIO.replace("LONG", &"very_long_".repeat(20));
    let scenario = Scenario::from_toml(&text).unwrap();
    analyze_scenario(&scenario, request).unwrap()
}

#[test]
fn phases_and_states_are_drawn() {
    let analysis = analyzed(&Request::default());
    let drawn = check("states", &analysis);
    let text = String::from_utf8(written(&analysis)).unwrap();

    assert!(!text.contains("confidential") && !text.contains("private call"));

    // Steps do not overlap. `read` is inside both of the others, and drawn on the shorter one.
    let phases = drawn.on(4200, |track| track.starts_with("phases"));
    assert_eq!(phases.len(), analysis.named_phases().len());

    let tracks = |name: &str| {
        let slices = phases.iter().filter(|slice| slice.name == name);
        let mut tids: Vec<u64> = slices.map(|slice| slice.tid).collect();
        tids.dedup();
        tids
    };
    assert_eq!(tracks("step").len(), 1);
    assert_eq!(tracks("read"), tracks("epoch \"1\""));
    assert_ne!(tracks("read"), tracks("io"));

    let states: Vec<&str> = drawn
        .on(100_002, |track| track == "GPU performance state")
        .iter()
        .map(|slice| slice.name.as_str())
        .collect();
    assert_eq!(states, ["Minimum", "Maximum"]);
}
