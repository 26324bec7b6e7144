//! Tests of the throughput of known work, recomputed from the report's kernels.

use metalens_analyzer::{
    ChipNamedBy, Report, Request, RoofLimit, WorkFile, WorkRow, WorkThroughput,
};
use metalens_message::{Bytes, Ns, Quantity};
use metalens_simulator::Scenario;

use super::real::recordings;
use super::{report, report_of};

fn request(work: &str) -> Request {
    let text = format!(r#"{{"schema": "metalens.work/1", {work}}}"#);
    Request {
        work: Some(WorkFile::parse(&text, "work.json").unwrap()),
        ..Request::default()
    }
}

fn preset(name: &str) -> Scenario {
    Scenario::preset(name).unwrap()
}

fn close(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs(),
        "{found} {expected}"
    );
}

fn parts(report: Report) -> (Report, WorkThroughput) {
    let work = report.work.clone().unwrap();
    (report, work)
}

/// Checks the rates by another computation: seconds first, then units.
fn recompute(row: &WorkRow, per_instance: (u64, u64, u64), span_ns: u64) {
    let (operations, bytes, flops) = per_instance;
    let instances = row.instances as f64;
    for (rates, over_ns) in [(&row.gpu_time, row.total_ns), (&row.window, Ns(span_ns))] {
        let seconds = over_ns.number() / 1e9;
        assert_eq!(rates.operations, Some(operations * row.instances));
        close(
            rates.operations_per_s,
            operations as f64 * instances / seconds,
        );
        close(rates.gb_per_s, bytes as f64 * instances / seconds / 1e9);
        close(rates.tflop_per_s, flops as f64 * instances / seconds / 1e12);
    }
}

#[test]
fn rates_per_instance_are_recomputed() {
    let request = request(
        r#""bandwidth_gb_s": 100, "work": [{"label": "*", "per": "instance",
           "operations": 3, "bytes": 4000, "flops": 5000000}]"#,
    );
    let (report, work) = parts(report_of(&preset("shared-machine"), &request).unwrap());
    assert_eq!(work.rows.len(), report.kernels.len());
    for row in &work.rows {
        recompute(row, (3, 4000, 5_000_000), report.window.span_ns.0);
    }
    let instances: u64 = report.kernels.iter().map(|kernel| kernel.instances).sum();
    assert_eq!(work.all.operations, Some(3 * instances));
    assert!(work.kernels_without.is_empty() && work.labels_without.is_empty());
    let chip = work.chip.unwrap();
    assert_eq!(chip.named_by, ChipNamedBy::Recording);
    // The share of the chip is the rate divided by Apple's bandwidth.
    let (row, limits) = (&work.rows[0], chip.bandwidth_gb_s.unwrap());
    let share = row.bandwidth_share.unwrap();
    close(
        Some(share.at_least.0),
        row.gpu_time.gb_per_s.unwrap() / limits.max,
    );
    assert!(share.at_least <= share.at_most);
}

/// A label has priority over `*`. A total belongs to all kernels that match, and is unknown for a
/// part of the recording. Amounts that the file does not give stay unknown.
#[test]
fn labels_and_totals_are_assigned() {
    let scenario = preset("shared-machine");
    let plain = report_of(&scenario, &Request::default()).unwrap();
    assert_eq!(plain.work, None);
    let why = plain.not_recorded.iter().find(|part| part.what == "work");
    assert!(why.unwrap().why.text.contains("need the amount of work"));

    let name = &plain.kernels[0].name;
    let both = format!(
        r#""work": [{{"label": "*", "per": "total", "bytes": 77}},
           {{"label": {name:?}, "per": "instance", "flops": 2}},
           {{"label": "no such kernel", "per": "total", "flops": 2}}]"#
    );
    let mut request = request(&both);
    let (report, work) = parts(report_of(&scenario, &request).unwrap());
    let row = |label: &str| work.rows.iter().find(|row| row.label == label);
    let named = row(name).unwrap();
    assert_eq!(named.gpu_time.flops, Some(2 * report.kernels[0].instances));
    assert_eq!((named.gpu_time.bytes, named.bandwidth_share), (None, None));
    assert_eq!(work.labels_without.last().unwrap(), "no such kernel");
    let note = "no kernel in the window matches no such kernel";
    assert!(
        work.notes.iter().any(|said| said.text() == note),
        "{:?}",
        work.notes
    );
    let others = report.kernels.iter().filter(|kernel| kernel.name != *name);
    let others_ns: Ns = others.map(|kernel| kernel.total_ns).sum();
    match row("*") {
        Some(rest) => assert_eq!(
            (rest.gpu_time.bytes, rest.total_ns),
            (Some(Bytes(77)), others_ns)
        ),
        None => assert_eq!(others_ns, Ns(0)),
    }

    request.from_ns = Some((report.window.start_ns + report.window.span_ns / 2).0);
    if let Some(file) = request.work.as_mut() {
        file.work[1].per = metalens_analyzer::AmountScope::Total;
    }
    let (_, part) = parts(report_of(&scenario, &request).unwrap());
    assert!(part.rows.iter().all(|row| row.gpu_time.flops.is_none()));
    assert!(
        part.notes
            .iter()
            .any(|note| note.text().contains("only a part of it"))
    );
}

/// A file that describes no kernel makes a note with both spellings, and no rate.
#[test]
fn labels_that_no_kernel_has_are_named() {
    let labels = ["a", "b", "c", "d", "e", "f", "g"];
    let entries =
        labels.map(|label| format!(r#"{{"label": "{label}", "per": "total", "bytes": 1}}"#));
    let request = request(&format!(r#""work": [{}]"#, entries.join(", ")));
    let scenario = Scenario::from_toml(
        r#"
        [[process]]
        name = "bench"
        pid = 4200
        role = "target"
        [[process.stream]]
        count = 4
        duration = "10us"
        encoder-label = ["matmul", "rope"]
        "#,
    );
    let (_, work) = parts(report_of(&scenario.unwrap(), &request).unwrap());
    assert!(work.rows.is_empty());
    let note = "no kernel in the window matches a, b, c, d, e, … and 2 more; kernels without an \
                amount: matmul, rope";
    assert!(
        work.notes.iter().any(|said| said.text() == note),
        "{:?}",
        work.notes
    );
}

/// The table of chips has a real recording's GPU, which Instruments names `M1`.
#[test]
fn shares_of_a_real_chip() {
    let Some(recordings) = recordings() else {
        return;
    };
    let request = request(r#""work": [{"label": "*", "per": "instance", "bytes": 1048576}]"#);
    let folder = recordings.join("m1-launched-1000");
    let work = report(&folder, None, &request).unwrap().work.unwrap();
    let chip = work.chip.unwrap();
    assert_eq!(
        (chip.name.as_str(), chip.gpu_cores.as_slice()),
        ("Apple M1", &[7, 8][..])
    );
    // 1,000 MiB in 6,698,335 ns of GPU time are 156.5 GB/s: more than 68.25.
    let row = &work.rows[0];
    close(row.gpu_time.gb_per_s, 1_048_576_000.0 / 6_698_335.0);
    close(row.window.gb_per_s, 1_048_576_000.0 / 200_189_875.0);
    close(
        row.bandwidth_share.map(|share| share.at_least.0),
        1_048_576_000.0 / 6_698_335.0 / 68.25,
    );
    assert!(
        work.notes.iter().any(|note| note.text().contains("caches")),
        "{:?}",
        work.notes
    );
}

/// Returns the report of a loop of 350 µs on this GPU, with this work.
fn decode(gpu: &str, work: &str) -> (Report, WorkThroughput) {
    let scenario = Scenario::from_toml(&format!(
        r#"
        [recording]
        gpu = {gpu:?}

        [[process]]
        name = "generate"
        pid = 4400
        role = "target"

        [[process.stream]]
        start = "20ms"
        count = 300
        submit = "sync"
        encoders-per-buffer = 3
        gap = ["10us", "12us"]
        duration = {{ cycle = ["20us", "90us", "240us"] }}
        "#,
    ));
    parts(report_of(&scenario.unwrap(), &request(work)).unwrap())
}

/// The least time of a step's work is the larger of what its bytes and its flops take on the fastest chip of that
/// name; roof, what is above it and the idle time are the step, to the nanosecond.
#[test]
fn a_step_is_its_roof_what_is_above_it_and_idle_time() {
    use RoofLimit::{Arithmetic, Memory};
    let both = r#", "bandwidth_gb_s": 100, "peak_tflops": 2"#;
    // The GPU, facts of the file, bytes and flops of a step, its roof, and whether something is unknown.
    let cases = [
        (
            "?",
            r#", "bandwidth_gb_s": 100"#,
            20e6,
            None,
            Some((Memory, 200_000)),
            false,
        ),
        (
            "?",
            both,
            20e6,
            Some(600e6),
            Some((Arithmetic, 300_000)),
            false,
        ),
        ("?", both, 20e6, Some(300e6), Some((Memory, 200_000)), false),
        // An M4 Max has 410 or 546 GB/s, and no published clock.
        (
            "Apple M4 Max",
            "",
            54.6e6,
            None,
            Some((Memory, 100_000)),
            false,
        ),
        (
            "Apple M4 Max",
            r#", "gpu_cores": 32"#,
            82e6,
            None,
            Some((Memory, 200_000)),
            false,
        ),
        (
            "Apple M4 Max",
            "",
            54.6e6,
            Some(600e6),
            Some((Memory, 100_000)),
            true,
        ),
        ("?", "", 20e6, None, None, true),
    ];
    for (gpu, facts, bytes, flops, expected, is_unknown) in cases {
        let case = format!("{gpu}{facts} {bytes} {flops:?}");
        // Two entries add up, whatever their names are.
        let flops = flops.map(|flops: f64| {
            format!(r#", {{"label": "attention", "per": "step", "flops": {flops}}}"#)
        });
        let (report, work) = decode(
            gpu,
            &format!(
                r#""work": [{{"label": "weights", "per": "step", "bytes": {bytes}}}{}]{facts}"#,
                flops.unwrap_or_default()
            ),
        );
        assert!(
            work.rows.is_empty() && work.labels_without.is_empty(),
            "{case}"
        );
        assert_eq!(
            work.step.map(|roof| (roof.limit, roof.roof_ns.0)),
            expected,
            "{case}"
        );
        assert_eq!(work.why_no_roof().is_some(), is_unknown, "{case}");
        let typical = report.steps[0].kinds[0].typical.unwrap();
        if let Some(roof) = work.step {
            let parts_ns = roof.roof_ns + roof.above_ns.unwrap() + typical.idle.total_ns();
            assert_eq!(parts_ns, typical.end_ns - typical.start_ns, "{case}");
        }
    }
}

/// Work that takes longer at the limits than it took is told, and nothing is split. A number of the command line
/// is instead of the file's, and needs no file.
#[test]
fn a_roof_above_the_step_is_told() {
    let (_, work) = decode(
        "?",
        r#""bandwidth_gb_s": 1, "work": [{"label": "*", "per": "step", "bytes": 350001}]"#,
    );
    assert_eq!(work.step.unwrap().above_ns, None);
    assert!(work.notes.iter().any(|note| note.id == "roof-too-high"));

    let file = r#""bandwidth_gb_s": 1, "work": [{"label": "*", "per": "step", "bytes": 9}]"#;
    let mut request = request(file);
    request.bytes_per_step = Some(100_000);
    let (_, work) = parts(report_of(&preset("batched"), &request).unwrap());
    assert_eq!(work.step.unwrap().roof_ns, Ns(100_000));

    request.work = None;
    let (_, work) = parts(report_of(&preset("batched"), &request).unwrap());
    assert_eq!((work.step, work.file.as_str()), (None, "--bytes-per-step"));
    assert!(work.why_no_roof().is_some());
}
