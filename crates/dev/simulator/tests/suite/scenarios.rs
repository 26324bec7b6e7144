//! Tests that presets can be read, and that errors of a scenario name what is wrong.

use std::error::Error as _;

use metalens_simulator::{Scenario, presets, random_scenario, truths};

#[test]
fn every_preset_can_be_read() {
    for preset in presets() {
        let scenario = preset
            .scenario()
            .unwrap_or_else(|error| panic!("{}: {error:?}", preset.name));
        assert_eq!(scenario.name, preset.name);
        assert!(scenario.intervals_planned() > 0);
    }
    assert!(Scenario::preset("no such preset").is_none());
}

#[test]
fn random_scenarios_are_valid_and_small() {
    for seed in 0..2_000 {
        let scenario = random_scenario(seed);
        scenario
            .validate()
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(scenario.intervals_planned() <= 300, "seed {seed}");
    }
}

#[test]
fn random_scenarios_reach_every_oddity() {
    let texts: Vec<String> = (0..300)
        .map(|seed| format!("{:?}", random_scenario(seed)))
        .collect();
    for sign in [
        "coalesce_every: Some",
        "split_every: Some",
        "AllProcesses",
        "Mhz24",
        "then: Some",
        "ns::f",
        "Everywhere",
        "error_every: Some",
        "samples: Some",
        "Growth {",
        "Signpost {",
        "Hang {",
        "Counter {",
        "induced: true",
    ] {
        assert!(texts.iter().any(|text| text.contains(sign)), "{sign}");
    }

    let without_rows = |seed| truths(&random_scenario(seed)).unwrap()[0].window.is_none();
    assert!((0..300).any(without_rows));
}

/// Returns the complete error message of a scenario.
fn refused(toml: &str) -> String {
    let error = Scenario::from_toml(toml).unwrap_err();
    let cause = error
        .source()
        .map(|cause| format!(": {cause}"))
        .unwrap_or_default();
    format!("{error}{cause}")
}

/// Returns a scenario of one process with one stream, and adds a line to the stream.
fn with_line(line: &str) -> String {
    format!(
        "[[process]]\nname = \"a\"\npid = 1\nrole = \"target\"\n[[process.stream]]\ncount = 1\n{line}\n"
    )
}

#[test]
fn errors_name_the_field_and_what_is_allowed() {
    let check = |toml: &str, parts: &[&str]| {
        let message = refused(toml);
        for part in parts {
            assert!(message.contains(part), "no `{part}` in: {message}");
        }
    };

    check("sede = 1", &["sede", "expected one of", "seed"]);
    check(
        &with_line("duration = \"6 parsecs\""),
        &["duration", "expected a duration such as"],
    );
    check(
        &with_line("duration = \"0us\""),
        &["process[0].stream[0].duration", "can be 0ns", "1ns to 60s"],
    );
    check(
        &with_line("duration = [\"9us\", \"3us\"]"),
        &["as the longest", "the shortest first"],
    );
    check(&with_line("duration = { cycle = [] }"), &["empty cycle"]);
    check(
        &with_line("duration = \"6us\"\nencoder-label = \"\""),
        &["has an empty label", "together"],
    );
    check(
        &with_line("duration = \"6us\"\nbuffer-label = \"a\\u0007\""),
        &["buffer-label", "control character"],
    );
    check(
        &with_line("duration = \"6us\"\noddities.split-every = 0"),
        &["split-every", "nonzero"],
    );
    check(
        &with_line("duration = \"6us\"\noddities.coalesce-every = 2"),
        &["coalesce-every", "encoders-per-buffer"],
    );
    check(
        "tables = [\"metal-gpu-interval\"]",
        &["metal-gpu-interval", "expected one of"],
    );
    check(
        "",
        &["process[].role", "0 processes", "exactly one per run"],
    );
    check(
        "[recording]\nwall = \"1us\"\n[[process]]\nname = \" \"\npid = 1\nrole = \"target\"",
        &["process[0].name", "blank"],
    );
}

#[test]
fn errors_of_optional_parts_name_the_field_too() {
    let recording =
        |lines: &str| format!("[recording]\n{lines}\n{}", with_line("duration = \"1us\""));
    let process = |lines: &str| format!("{}\n{lines}", with_line("duration = \"1us\""));
    let cases = [
        (
            recording(
                "performance = [{ state = \"A\", start = \"2ms\" }, { state = \"B\", start = \"1ms\" }]",
            ),
            "`recording.performance[1].start` is 1ms, before the end of the previous piece",
        ),
        (
            recording("thermal = [{ state = \"A\", start = \"2ms\", end = \"2ms\" }]"),
            "`recording.thermal[0].end` can be 2ms",
        ),
        (
            recording("counter = [{ name = \"a\", busy = 1, period = \"5s\" }]"),
            "`recording.counter[0].period` is 5s",
        ),
        (
            recording("wired = [{ at = \"0ms\", bytes = 100_000_000_000_000 }]"),
            "`recording.wired[0].bytes` is 100000000000000",
        ),
        (
            process("[[process.signpost]]\nname = \"a\"\nto = \"1ms\""),
            "`process[0].signpost[0]` has no time",
        ),
        (
            process("[[process.hang]]\nstart = \"1ms\"\nlength = \"0ms\""),
            "`process[0].hang[0].length` can be 0ns",
        ),
        (
            process("[process.samples]\nperiod = \"1ns\""),
            "`process[0].samples.period` can be 1ns",
        ),
        (
            with_line("duration = \"1us\"").replace("pid = 1", "pid = 1\nmemory = 5"),
            "expected levels such as",
        ),
    ];

    for (toml, part) in cases {
        let message = refused(&toml);
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

#[test]
fn the_example_in_the_documentation_is_valid() {
    let page = include_str!("../../src/scenario.rs");
    let (_, example) = page.split_once("/// ```toml\n").unwrap();
    let (example, _) = example.split_once("/// ```\n").unwrap();
    let lines = example.lines().map(|line| line.trim_start_matches("///"));
    let toml = lines.collect::<Vec<_>>().join("\n");
    let truth = truths(&Scenario::from_toml(&toml).unwrap())
        .unwrap()
        .remove(0);
    assert_eq!(truth.optional.signposts[0].count, 2);
    assert_eq!((truth.errors, truth.optional.hangs), (2, 1));
    // Each interval has an outer sample and a nested one.
    assert_eq!(truth.optional.shaders[0].count, 2 * truth.counts.intervals);
    assert_eq!(truth.optional.memory.unwrap().last_bytes, 65_536 + 4_096);
}

#[test]
fn optional_parts_do_not_change_the_work() {
    let plain = with_line("duration = \"10us\"").replace("count = 1", "count = 50");
    let busy = format!(
        "{plain}[process.samples]\nblocked = true\n[[process.signpost]]\nname = \"step\"\nevery = 5\n\
         [recording]\nshader-timeline = true\ncounter = [{{ name = \"a\", busy = 1 }}]\n"
    );
    let truth = |toml: &str| {
        truths(&Scenario::from_toml(toml).unwrap())
            .unwrap()
            .remove(0)
    };
    let (plain, busy) = (truth(&plain), truth(&busy));
    assert_eq!(plain.idle, busy.idle);
    assert_eq!(plain.kernels, busy.kernels);
    assert_eq!(
        (
            plain.optional.signposts.len(),
            busy.optional.signposts[0].count
        ),
        (0, 10)
    );
}

#[test]
fn impossible_runs_are_refused_when_they_are_planned() {
    let too_short = with_line("duration = \"6us\"\n[recording]\nwall = \"1us\"");
    let scenario = Scenario::from_toml(&too_short).unwrap();
    let message = truths(&scenario).unwrap_err().to_string();
    assert!(
        message.contains("recording.wall") && message.contains("before the last event"),
        "{message}"
    );

    let too_long =
        with_line("duration = \"6us\"").replace("count = 1", "count = 200000\nhost = \"1s\"");
    let scenario = Scenario::from_toml(&too_long).unwrap();
    let message = truths(&scenario).unwrap_err().to_string();
    assert!(message.contains("longer than an hour"), "{message}");
}

#[test]
fn the_awkward_preset_has_its_oddities() {
    let truth = &truths(&Scenario::preset("awkward").unwrap()).unwrap()[0];
    let ledger = truth.idle.as_ref().unwrap();
    let names: Vec<&str> = truth
        .kernels
        .iter()
        .map(|kernel| kernel.name.as_str())
        .collect();
    assert!(truth.counts.unattributed > 0);
    assert!(ledger.joinable < ledger.pairs);
    assert!(names.contains(&"Coelasced 2 Encoders"), "{names:?}");
    assert!(
        names.iter().any(|name| name.contains(" & mlp")),
        "{names:?}"
    );
    assert!(names.contains(&"(unlabeled Tile & Post)"), "{names:?}");
    assert!(truth.busy.as_ref().unwrap().overlap_factor > 1.0);
}

#[test]
fn fused_does_the_work_of_eager_with_fewer_gaps() {
    let truth = |name: &str| truths(&Scenario::preset(name).unwrap()).unwrap().remove(0);
    let (eager, fused) = (truth("eager"), truth("fused"));
    let busy_ns = |truth: &metalens_simulator::Truth| truth.busy.as_ref().unwrap().busy_ns;
    assert_eq!(busy_ns(&eager), busy_ns(&fused));
    assert_eq!(eager.gaps.unwrap().count, 999);
    assert_eq!(fused.gaps.unwrap().count, 249);
}
