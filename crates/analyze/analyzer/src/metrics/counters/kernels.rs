//! Computes the counters of each kernel: its limiters and its memory bandwidth.
//!
//! Counters count the whole GPU. A sample tells about a kernel only if this kernel alone ran
//! throughout it.

use rustc_hash::FxHashMap;

use super::CounterInput;
use super::alone::Alone;
use super::bandwidth::{Bandwidth, READ, WRITE};
use super::series::ReadCounter;
use crate::basics::spans::Span;
use crate::report::{CounterMean, CounterUnit, Kernel, KernelCounters, Limiter, NamedBy};
use metalens_message::{Message, Ns, Share, message};
use metalens_text::number::Float;

/// End of the names of counters that tell in which share of time a unit of the GPU worked or held
/// work up.
pub(super) const LIMITER: &str = " Limiter";

/// Sums over the samples of one kernel.
#[derive(Default)]
struct KernelSums {
    /// Summed value × time, and time, by counter.
    by_counter: FxHashMap<usize, (f64, u64)>,
    /// The highest limiter at each moment: its value, its counter and the time.
    highest: FxHashMap<u64, (f64, usize, u64)>,
    /// Time of each moment with a sample.
    moments: FxHashMap<u64, u64>,
}

/// Returns the counters of each kernel of the report, in its order.
pub(super) fn kernels(
    counters: &[ReadCounter],
    input: &CounterInput<'_>,
    step_ns: Option<u64>,
    bandwidth: &Bandwidth,
) -> Vec<KernelCounters> {
    let (named, listed) = input.kernels;
    let numbered = input.mine.iter().zip(named.numbers());
    let own = numbered.map(|(interval, kernel)| (interval.span.clip(input.window), kernel));
    let alone = Alone::new(own, named.count(), input.others);
    let sums = sums(counters, &alone, named.count());
    let longest_ns = alone.longest_ns(named.count());

    let names = &input.recording.names;
    let key = |number: usize| {
        let channel = named.channel(number).map(|channel| names.text(channel));
        (named.name(number), channel, named.named_by(number))
    };
    let numbers: FxHashMap<(&str, Option<&str>, NamedBy), usize> = (0..named.count())
        .map(|number| (key(number), number))
        .collect();

    let kernels = listed.iter().filter_map(|kernel| {
        let key = (
            kernel.name.as_str(),
            kernel.channel.as_deref(),
            kernel.named_by,
        );
        let number = *numbers.get(&key)?;
        let longest_ns = longest_ns.get(number).copied().unwrap_or(0);
        Some(summary(
            kernel,
            sums.get(number)?,
            counters,
            bandwidth,
            || why_none(kernel, longest_ns, step_ns),
        ))
    });
    kernels.collect()
}

fn sums(counters: &[ReadCounter], alone: &Alone, count: usize) -> Vec<KernelSums> {
    let mut sums_by_kernel: Vec<KernelSums> = Vec::new();
    sums_by_kernel.resize_with(count, KernelSums::default);
    for (index, counter) in counters.iter().enumerate() {
        let is_limiter = is_limiter(counter);
        for sample in &counter.series.samples {
            let span = Span::new(sample.start_ns, sample.end_ns.unwrap_or(sample.start_ns));
            let kernel = alone.throughout(span);
            let Some(sums) = kernel.and_then(|kernel| sums_by_kernel.get_mut(kernel)) else {
                continue;
            };

            let length_ns = span.length_ns();
            let (area, total_ns) = sums.by_counter.entry(index).or_default();
            *area += sample.value * length_ns.float();
            *total_ns += length_ns;
            sums.moments.insert(span.start_ns, length_ns);
            if is_limiter {
                let this = (sample.value, index, length_ns);
                let highest = sums.highest.entry(span.start_ns).or_insert(this);
                if sample.value > highest.0 {
                    *highest = this;
                }
            }
        }
    }
    sums_by_kernel
}

fn is_limiter(counter: &ReadCounter) -> bool {
    counter.series.name.ends_with(LIMITER) && counter.series.unit == Some(CounterUnit::Percent)
}

fn summary(
    kernel: &Kernel,
    sums: &KernelSums,
    counters: &[ReadCounter],
    bandwidth: &Bandwidth,
    why_none: impl FnOnce() -> Message,
) -> KernelCounters {
    let mean = |index: usize| {
        let &(area, total_ns) = sums.by_counter.get(&index)?;
        Some(area / total_ns.float())
    };
    let highest_ns: u64 = sums.highest.values().map(|highest| highest.2).sum();
    let share_of = |index: usize| {
        let highest = sums.highest.values().filter(|highest| highest.1 == index);
        let own_ns: u64 = highest.map(|highest| highest.2).sum();
        own_ns.float() / highest_ns.float()
    };

    let (mut limiters, mut means) = (Vec::new(), Vec::new());
    for (index, counter) in counters.iter().enumerate() {
        let Some(mean) = mean(index) else {
            continue;
        };
        let name = counter.series.name.clone();
        if is_limiter(counter) {
            limiters.push(Limiter {
                counter: name,
                mean_pct: mean,
                highest_share: Share(share_of(index)),
            });
        } else {
            means.push(CounterMean {
                counter: name,
                unit: counter.series.unit,
                mean,
            });
        }
    }
    limiters.sort_by(|a, b| b.mean_pct.total_cmp(&a.mean_pct));

    let of = |wanted: &str| {
        let mut numbered = counters.iter().enumerate();
        numbered
            .find(|(_, counter)| counter.series.name == wanted)
            .and_then(|(index, _)| mean(index))
    };
    KernelCounters {
        name: kernel.name.clone(),
        channel: kernel.channel.clone(),
        named_by: kernel.named_by,
        samples: sums.moments.len() as u64,
        covered_ns: Ns(sums.moments.values().sum()),
        limiters,
        means,
        bandwidth: bandwidth.of(of(READ), of(WRITE)),
        why_none: sums.moments.is_empty().then(why_none),
    }
}

/// Returns the reason why no sample tells about a kernel. `longest_ns` is the longest time that it
/// ran alone.
fn why_none(kernel: &Kernel, longest_ns: u64, step_ns: Option<u64>) -> Message {
    let Some(step_ns) = step_ns else {
        return "it is unknown which time the samples cover".into();
    };
    if longest_ns >= step_ns {
        return message!(
            "it ran alone for at most {}, and no sample was taken in that time",
            Ns(longest_ns)
        );
    }
    if kernel.max_ns < Ns(step_ns) {
        return message!(
            "too short: it ran for at most {}, but a sample covers {}",
            kernel.max_ns,
            Ns(step_ns)
        );
    }
    message!(
        "other work ran at the same time: it ran alone for at most {}, but a sample covers {}",
        Ns(longest_ns),
        Ns(step_ns)
    )
}
