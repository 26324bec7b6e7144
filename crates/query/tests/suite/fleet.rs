//! Compares the page of datasets with the index of the same recordings: the same work on several chips.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use metalens_simulator::{Scenario, write_export};
use serde_json::Value;

use super::program::{metalens, query, run, stderr, stdout};
use super::{ask_one, stored};

/// Writes the synthetic recording of a chip: so many matrix products, this long each, with gaps of this
/// length. Some chips have counters.
fn recording(folder: &Path, name: &str, gpu: &str, (count, kernel_us, gap_us): (u32, u32, u32)) {
    let counters = if gpu.ends_with('5') {
        "counter = [\n\
         { name = \"GPU Read Bandwidth\", unit = \"gigabytes-per-second\", busy = 90, period = \"50us\" },\n\
         { name = \"GPU Write Bandwidth\", unit = \"gigabytes-per-second\", busy = 30, period = \"50us\" },\n\
         ]\n"
    } else {
        ""
    };
    let scenario = format!(
        "seed = 7\n[recording]\ngpu = \"{gpu}\"\nmodel = \"Mac with {gpu}\"\n{counters}\
         [[process]]\nname = \"infer\"\npid = 4321\nrole = \"target\"\n[[process.stream]]\n\
         count = {count}\nsubmit = \"sync\"\nduration = \"{kernel_us}us\"\nencoder-label = \"matmul\"\n\
         completion = \"20us\"\nhost = \"{gap_us}us\"\nencode = \"5us\"\nlaunch = \"20us\"\n"
    );
    let export = folder.join("runs").join(name);
    write_export(&Scenario::from_toml(&scenario).unwrap(), &export, false).unwrap();
}

/// Returns the works of an index without the names of reports, which those of runs replace.
fn works(mut works: Value) -> Value {
    for work in works.as_array_mut().unwrap() {
        for chip in work["devices"].as_array_mut().unwrap() {
            let chip = chip.as_object_mut().unwrap();
            chip.remove("median_report");
            let reports = chip.remove("reports").unwrap();
            chip.insert("runs".into(), reports.as_array().unwrap().len().into());
        }
    }
    works
}

#[test]
fn a_page_of_a_dataset_puts_the_same_work_of_chips_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (at, gpu) in (1..).zip(["Apple M1", "Apple M2", "Apple M3", "Apple M4", "Apple M5"]) {
        for night in 0..3 {
            let name = format!("m{at}-{night}");
            let work = (40, 600 / at, 10 + 7 * at + 3 * night);
            recording(here, &name, gpu, work);
        }
    }
    // The same program with fewer steps is other work: faster, and no comparison.
    recording(here, "m3-short", "Apple M3", (20, 200, 10));
    let batch = run(metalens(), here, &["batch", "runs", "-o", "out", "-q"]);
    assert!(batch.status.success(), "{}", stderr(&batch));
    let mut write = vec!["analyze", "--parquet", "fleet", "--json", "-q"];
    let inputs = fs::read_dir(here.join("runs")).unwrap();
    let inputs: Vec<String> = inputs
        .map(|one| format!("runs/{}", one.unwrap().file_name().to_str().unwrap()))
        .collect();
    write.extend(inputs.iter().map(String::as_str));
    let written = run(metalens(), here, &write);
    assert!(written.status.success(), "{}", stderr(&written));

    let library = stored(&here.join("fleet"));
    let fleet = library.chips().unwrap();
    let index = fs::read(here.join("out/index.json")).unwrap();
    let index: Value = serde_json::from_slice(&index).unwrap();
    let found = serde_json::to_value(&fleet.works).unwrap();
    assert_eq!(works(found), works(index["devices"].clone()));

    let [work] = fleet.works.as_slice() else {
        panic!("{:?}", fleet.works)
    };
    assert_eq!((fleet.recordings, work.devices.len()), (16, 5));
    for chip in &work.devices {
        // 40 kernels of a length that only the chip decides, as the scenario says.
        let number: u64 = chip.gpu["Apple M".len()..].parse().unwrap();
        assert_eq!(chip.busy_ns, 40 * (600 / number) * 1_000, "{}", chip.gpu);
        let idle = chip.idle.unwrap();
        assert_eq!(chip.span_ns, chip.busy_ns + idle.total_ns());
        let sql = format!(
            "SELECT CAST(median(window_ns) AS BIGINT), count(*) FROM runs \
             WHERE gpu = '{}' AND interval_count = 40",
            chip.gpu
        );
        let expected = [chip.span_ns.to_string(), "3".to_owned()];
        assert_eq!(ask_one(&library, &sql), expected, "{}", chip.gpu);
    }

    let screen = query(here, &["--chips", "fleet"]);
    assert_snapshot!(stdout(&screen));
    // Recordings are read like a dataset, and a page has the bars.
    let page = |arguments: &[&str]| {
        let done = query(
            here,
            &[&["--chips", "-o", "chips.html", "--force"], arguments].concat(),
        );
        assert!(done.status.success(), "{}", stderr(&done));
        fs::read_to_string(here.join("chips.html")).unwrap()
    };
    let of_dataset = page(&["fleet"]);
    metalens_testing::check_policy(&of_dataset);
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    assert_eq!(page(&inputs), of_dataset);
    for part in ["class=\"times\"", "id=\"chips-table\"", "SYNTHETIC"] {
        assert!(of_dataset.contains(part), "{part}");
    }
    let refused = query(here, &["--chips", "-o", "chips.json", "fleet"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--chips writes .html, .md or .txt"));
}
