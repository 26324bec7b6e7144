//! Tests of the shape of the work: laws on random scenarios, figures of known ones.

use metalens_analyzer::{Report, Request};
use metalens_message::Ns;
use metalens_simulator::{Scenario, random_scenario};

use super::report_of;

fn try_report(scenario: &Scenario) -> Option<Report> {
    report_of(scenario, &Request::default()).ok()
}

fn preset(name: &str) -> Report {
    try_report(&Scenario::preset(name).unwrap()).unwrap()
}

/// Checks laws of every recording: parts sum to their totals.
fn check(report: &Report) {
    let (shape, busy, window) = (&report.shape, &report.busy, &report.window);
    let durations = &shape.durations;
    assert_eq!(durations.count, report.counts.intervals);
    assert_eq!(durations.total_ns, busy.sum_ns);
    let buckets = durations.histogram.iter();
    assert_eq!(
        buckets.clone().map(|b| b.count).sum::<u64>(),
        durations.count
    );
    assert_eq!(buckets.map(|b| b.total_ns).sum::<Ns>(), durations.total_ns);

    let chunks = shape.utilization.iter();
    assert_eq!(chunks.clone().map(|c| c.busy_ns).sum::<Ns>(), busy.busy_ns);
    let others: Ns = chunks.clone().map(|c| c.others_ns).sum();
    assert_eq!(Some(others), busy.others_busy_ns);
    let starts: Vec<Ns> = chunks.map(|c| c.start_ns).collect();
    assert_eq!(starts.first(), Some(&window.start_ns));
    assert!(starts.is_sorted() && starts.last() < Some(&window.end_ns));

    // The histogram has no bucket that ends at 10 µs, so the kernels are checked instead.
    let short = &shape.short;
    assert!(short.total_ns <= durations.total_ns && short.count <= durations.count);
    for kernel in &short.kernels {
        let same = report.kernels.iter().filter(|k| k.name == kernel.name);
        let mut same = same.filter(|k| k.channel == kernel.channel);
        assert!(same.any(|k| (k.instances, k.total_ns, k.med_ns)
            == (kernel.instances, kernel.total_ns, kernel.median_ns)));
        assert!(kernel.median_ns < short.limit_ns);
    }

    assert_eq!(shape.command_buffers.count, report.counts.command_buffers);
    assert!(shape.command_buffers.gaps_inside_ns <= report.gaps.total_ns);
    let overlap: Ns = shape.overlap.iter().map(|pair| pair.overlap_ns).sum();
    if report.channels.len() == 2 {
        let both: Ns = report.channels.iter().map(|c| c.busy_ns).sum();
        assert_eq!(
            both - overlap,
            busy.busy_ns,
            "both channels minus their overlap"
        );
    }
    for outlier in &shape.outliers.top {
        assert!(outlier.duration_ns > 5 * outlier.median_ns);
    }
}

#[test]
fn parts_sum_to_the_whole() {
    let mut checked = 0;
    for seed in 0..120 {
        if let Some(report) = try_report(&random_scenario(seed)) {
            check(&report);
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
    for name in ["eager", "renderer", "awkward", "shared-machine"] {
        check(&preset(name));
    }
}

#[test]
fn command_buffers_of_presets_are_counted() {
    let cases = [
        ("eager", 1_000, 1, 0),
        ("batched", 40, 25, 40 * 24),
        ("pipelined", 25, 40, 25 * 39),
    ];
    for (name, count, encoders, gaps_inside) in cases {
        let buffers = preset(name).shape.command_buffers;
        let all = [
            buffers.min_encoders,
            buffers.median_encoders,
            buffers.max_encoders,
        ];
        assert_eq!(all, [Some(encoders); 3], "{name}");
        assert_eq!(
            (buffers.count, buffers.gaps_inside),
            (count, gaps_inside),
            "{name}"
        );
    }
}

/// One kick among many takes forty times the usual time.
#[test]
fn a_long_interval_is_an_outlier() {
    let mut scenario = Scenario::preset("fused").unwrap();
    let stream = &mut scenario.process[0].stream[0];
    stream.warm_up.as_mut().unwrap().factor = 40;
    let outliers = try_report(&scenario).unwrap().shape.outliers;
    assert_eq!((outliers.count, outliers.excess_ns), (1, Ns(39 * 18_000)));
    let only = &outliers.top[0];
    assert_eq!(
        (only.duration_ns, only.median_ns),
        (Ns(40 * 18_000), Ns(18_000))
    );
    assert_eq!(only.name, "fused_block");
    assert_eq!(
        preset("fused").shape.outliers.count,
        0,
        "five times is not more than five"
    );
}
