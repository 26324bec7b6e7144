//! Measures inner loops of the analysis, each beside a naive version, and the whole analysis for
//! growing recordings: `cargo bench -p metalens-analyzer`.

#![expect(clippy::expect_used, reason = "a benchmark has no caller to report to")]

use std::num::NonZeroU64;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use metalens_analyzer::benching::{Ids, Spans, percentiles};
use metalens_analyzer::{Request, analyze, selection};
use metalens_simulator::{Scenario, write_bundle};
use metalens_trace::{Input, LoadOptions};

fn main() {
    divan::main();
}

/// Approximate number of intervals in a second of a busy program.
const MANY: u64 = 100_000;

#[divan::bench]
fn union(bencher: Bencher<'_, '_>) {
    let spans = Spans::regular(MANY, 10, 7);
    bencher
        .counter(ItemsCount::new(MANY))
        .bench_local(|| black_box(&spans).union());
}

mod overlap {
    use super::*;

    /// Measures two lists of the same length, which are both walked.
    #[divan::bench]
    fn same_length(bencher: Bencher<'_, '_>) {
        measure(bencher, &Spans::regular(MANY, 10, 6));
    }

    /// Measures a short list, each span of which is searched in a long one.
    #[divan::bench]
    fn short_and_long(bencher: Bencher<'_, '_>) {
        measure(bencher, &Spans::regular(MANY / 100, 1_000, 300));
    }

    fn measure(bencher: Bencher<'_, '_>, others: &Spans) {
        let spans = Spans::regular(MANY, 10, 7);
        bencher
            .counter(ItemsCount::new(MANY))
            .bench_local(|| black_box(&spans).overlap_ns(black_box(others)));
    }
}

mod lookup {
    use super::*;

    /// Measures nearly consecutive ids; other programs have some.
    #[divan::bench]
    fn consecutive(bencher: Bencher<'_, '_>) {
        measure(bencher, |at| 5_000 + at + at / 300);
    }

    /// Measures ids in random order.
    #[divan::bench]
    fn random(bencher: Bencher<'_, '_>) {
        measure(bencher, scrambled);
    }

    fn measure(bencher: Bencher<'_, '_>, id: impl Fn(u64) -> u64) {
        let ids = || (1..=MANY).filter_map(|at| NonZeroU64::new(id(at)));
        let by_id = Ids::new(ids());
        let asked: Vec<NonZeroU64> = ids().collect();
        bencher.counter(ItemsCount::new(MANY)).bench_local(|| {
            let found = black_box(&asked).iter().filter_map(|&id| by_id.get(id));
            found.fold(0, u64::wrapping_add)
        });
    }
}

mod percentile {
    use super::*;

    #[divan::bench]
    fn selected(bencher: Bencher<'_, '_>) {
        measure(bencher, percentiles);
    }

    /// Measures a full sort instead.
    #[divan::bench]
    fn sorted(bencher: Bencher<'_, '_>) {
        measure(bencher, |values| {
            values.sort_unstable();
            let at = |percent: usize| values.get(values.len() * percent / 100).copied();
            Some([at(50)?, at(95)?, at(99)?])
        });
    }

    fn measure(bencher: Bencher<'_, '_>, compute: impl Fn(&mut [u64]) -> Option<[u64; 3]>) {
        bencher
            .counter(ItemsCount::new(MANY))
            .with_inputs(|| {
                (0..MANY)
                    .map(|at| scrambled(at) % 100_000)
                    .collect::<Vec<u64>>()
            })
            .bench_local_values(|mut values| compute(&mut values));
    }
}

/// Measures the analysis from a trace in memory to its report.
#[divan::bench(args = [1_000_u64, 10_000, 100_000], sample_count = 10)]
fn whole_analysis(bencher: Bencher<'_, '_>, intervals: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made-up.trace");
    let toml = format!(
        "[[process]]\nname = \"bench\"\npid = 4321\nrole = \"target\"\n[[process.stream]]\n\
         count = {intervals}\nsubmit = \"pipelined\"\nencoders-per-buffer = 20\n\
         duration = [\"5us\", \"60us\"]\nencoder-label = [\"sin\", \"cos\", \"exp\"]\n"
    );
    let scenario = Scenario::from_toml(&toml).expect("a scenario");
    write_bundle(&scenario, &path, false).expect("a bundle");
    let read = || {
        let input = Input::open(&path).expect("an input");
        let trace = input.load(&selection(), LoadOptions::default());
        trace.expect("a trace")
    };
    bencher
        .counter(ItemsCount::new(intervals))
        .with_inputs(read)
        .bench_local_values(|trace| analyze(trace, &Request::default()));
}

/// Returns a pseudo-random number (a step of xorshift64*).
fn scrambled(at: u64) -> u64 {
    let mut number = at.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    number ^= number >> 12;
    number ^= number << 25;
    number ^= number >> 27;
    number.wrapping_mul(0x2545_F491_4F6C_DD1D)
}
