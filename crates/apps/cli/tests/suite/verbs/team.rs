//! Tests what a team keeps: environments, limits, and findings with their
//! effort.

use std::fs;
use std::path::Path;

use metalens_simulator::{Scenario, write_export};

use super::record::Bench;
use crate::{metalens, stderr};

/// Writes the recording of a night: the same work on any chip, with gaps of this length.
fn night(folder: &Path, name: &str, gpu: &str, day: u32, gap_us: u32) {
    let scenario = format!(
        "seed = {day}\n[recording]\ngpu = \"{gpu}\"\nmodel = \"Mac of {gpu}\"\n\
         [[process]]\nname = \"infer\"\npid = 4321\nrole = \"target\"\n[[process.stream]]\n\
         count = 40\nsubmit = \"sync\"\nduration = \"300us\"\nencoder-label = \"matmul\"\n\
         completion = \"20us\"\nhost = [\"{gap_us}us\", \"{}us\"]\nencode = \"5us\"\nlaunch = \"20us\"\n",
        gap_us + 1
    );
    let export = folder.join("runs").join(name);
    write_export(&Scenario::from_toml(&scenario).unwrap(), &export, false).unwrap();
    let toc = export.join("toc.xml");
    let text = fs::read_to_string(&toc).unwrap();
    let dated = text.replace("2026-01-01T", &format!("2026-01-{day:02}T"));
    fs::write(toc, dated).unwrap();
}

/// Returns the page without its last line, which has the version.
fn page(folder: &Path, file: &str) -> String {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.contains("metalens.index/"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_page_has_limits_findings_and_environments() {
    let folder = metalens_testing::scratch();
    let here = folder.path();
    // The nights on the M5 are other work, and those on the M2 become slower.
    for day in 1..=5 {
        night(here, &format!("m2-{day}"), "Apple M2", day, 10 + day);
    }
    for day in 6..=9 {
        night(here, &format!("m2-{day}"), "Apple M2", day, 60 + day);
        night(here, &format!("m5-{day}"), "Apple M5", day, day);
    }
    let limits = "[gate.metrics]\n\"gaps.mean_ns\" = { max = \"70us\" }\n";
    fs::write(here.join("metalens.toml"), limits).unwrap();
    let output = metalens(here, &["batch", "runs", "-o", "out", "--gate"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    insta::assert_snapshot!("page", page(here, "out/index.md"));
}

#[test]
fn a_benchmark_has_environments_and_findings() {
    let bench = Bench::new();
    let commands = ["./bench -c 'exit 0'", "./bench -c 'true; exit 0'"];
    let names = [
        "-n", "old", "-n", "new", "--gate", "-o", "out", "--runs", "2",
    ];
    let arguments = [&["bench", "--simulate"], &commands[..], &names].concat();
    let output = bench.run(&[], &arguments);
    let said = bench.seen(&output);
    assert!(bench.here().join("out/bench.json").is_file(), "{said}");
    let result = bench.json("out/bench.json");
    // The fake xctrace names one machine.
    let [environment] = result["environments"].as_array().unwrap().as_slice() else {
        panic!("{}", result["environments"])
    };
    assert_eq!(environment["of"], serde_json::json!(["old", "new"]));
    let page = fs::read_to_string(bench.here().join("out/bench.md")).unwrap();
    for part in [
        "## Environment",
        "## Gate: INCONCLUSIVE",
        "## Findings and their effort",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
