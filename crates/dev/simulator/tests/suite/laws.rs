//! Tests laws that hold for every scenario.

use metalens_simulator::{Ledger, Truth, random_scenario, truths};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_truth_keeps_the_laws(seed: u64) {
        for truth in truths(&random_scenario(seed)).unwrap() {
            parts_add_up(&truth)?;
            if truth.window.is_some() {
                busy_and_gaps_tile_the_window(&truth)?;
                the_histogram_counts_every_gap_once(&truth)?;
                the_ledger_explains_every_gap(&truth)?;
            }
        }
    }
}

fn parts_add_up(truth: &Truth) -> Result<(), TestCaseError> {
    let counts = truth.counts;
    prop_assert_eq!(
        counts.intervals,
        truth
            .kernels
            .iter()
            .map(|kernel| kernel.instances)
            .sum::<u64>()
    );
    prop_assert_eq!(
        counts.intervals,
        truth
            .channels
            .iter()
            .map(|channel| channel.intervals)
            .sum::<u64>()
    );

    let intervals_of_processes: u64 = truth
        .processes
        .iter()
        .map(|process| process.intervals)
        .sum();
    prop_assert_eq!(
        counts.all_intervals,
        intervals_of_processes + counts.unattributed
    );

    prop_assert_eq!(counts.kernels, truth.kernels.len() as u64);
    prop_assert!(counts.encoders <= counts.intervals && counts.command_buffers <= counts.encoders);
    prop_assert_eq!(truth.window.is_none(), counts.intervals == 0);
    prop_assert_eq!(
        (
            truth.busy.is_none(),
            truth.gaps.is_none(),
            truth.idle.is_none()
        ),
        (
            truth.window.is_none(),
            truth.window.is_none(),
            truth.window.is_none()
        )
    );
    Ok(())
}

fn busy_and_gaps_tile_the_window(truth: &Truth) -> Result<(), TestCaseError> {
    let (window, busy, gaps) = (
        truth.window.unwrap(),
        truth.busy.unwrap(),
        truth.gaps.as_ref().unwrap(),
    );

    prop_assert_eq!(window.span_ns, window.end_ns - window.start_ns);
    prop_assert_eq!(busy.busy_ns + gaps.total_ns, window.span_ns);
    prop_assert!(busy.busy_ns <= busy.sum_ns && busy.overlap_factor >= 1.0);
    prop_assert_eq!(
        busy.machine_busy_ns,
        busy.busy_ns + busy.others_busy_ns - busy.others_overlap_ns
    );
    prop_assert_eq!(busy.machine_busy_ns, busy.machine_active_ns);

    prop_assert_eq!(
        busy.sum_ns,
        truth
            .kernels
            .iter()
            .map(|kernel| kernel.total_ns)
            .sum::<u64>()
    );
    prop_assert_eq!(
        busy.sum_ns,
        truth
            .channels
            .iter()
            .map(|channel| channel.sum_ns)
            .sum::<u64>()
    );
    prop_assert!(window.end_ns <= truth.duration_ns);
    Ok(())
}

fn the_histogram_counts_every_gap_once(truth: &Truth) -> Result<(), TestCaseError> {
    let gaps = truth.gaps.as_ref().unwrap();
    prop_assert_eq!(
        gaps.count,
        gaps.histogram.iter().map(|bin| bin.count).sum::<u64>()
    );
    prop_assert_eq!(
        gaps.total_ns,
        gaps.histogram.iter().map(|bin| bin.total_ns).sum::<u64>()
    );
    prop_assert_eq!(gaps.below_1us, gaps.histogram[0].count);
    prop_assert_eq!(gaps.max_ns.is_none(), gaps.count == 0);
    prop_assert!(
        gaps.median_ns <= gaps.p95_ns && gaps.p95_ns <= gaps.p99_ns && gaps.p99_ns <= gaps.max_ns
    );
    Ok(())
}

fn the_ledger_explains_every_gap(truth: &Truth) -> Result<(), TestCaseError> {
    let (ledger, gaps) = (truth.idle.unwrap(), truth.gaps.as_ref().unwrap());
    prop_assert_eq!(components_ns(&ledger), ledger.total_ns);
    prop_assert_eq!(ledger.total_ns, gaps.total_ns);
    prop_assert_eq!(ledger.pairs, gaps.count);
    prop_assert!(ledger.serialized <= ledger.joinable && ledger.joinable <= ledger.pairs);
    Ok(())
}

fn components_ns(ledger: &Ledger) -> u64 {
    let causes = [
        ledger.completion_ns,
        ledger.host_ns,
        ledger.encoding_ns,
        ledger.driver_wait_ns,
        ledger.driver_ns,
        ledger.start_latency_ns,
        ledger.submission_ns,
        ledger.queued_ns,
        ledger.contention_ns,
        ledger.unknown_ns,
    ];
    causes.into_iter().sum()
}
