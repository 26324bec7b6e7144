//! Rules about hardware counters: which unit of the GPU limits a kernel, or that none does.

use metalens_message::{Message, Ns, Share, counted, kernel, message, name};

use super::evidence::{Evidence, bandwidth, is_share, share_of};
use super::rule::Rule;
use crate::report::{Effort, Kernel, KernelCounters, Limiter, Report, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "limiter",
        severity: Severity::Medium,
        effort: Effort::Redesign,
        title: "a kernel is near the limit of one unit of the GPU",
        condition: near_limit,
        action: "give the unit that limits the kernel less to do",
        advice: "Give that unit less to do; less work for other units gains nothing. ALU: half \
             precision, simdgroup matrices, nothing computed twice. Caches, MMU, buffers: read \
             each byte once, keep tiles in threadgroup memory, fuse kernels, use smaller types. \
             Threadgroup memory: keep values in registers, exchange them with simd_shuffle. \
             Texture units: fewer samples, cheaper filters, or a buffer instead.",
        counter_evidence: "A version of the kernel that gives this unit less to do takes just as \
                           long.",
        ..Rule::USUAL
    },
    Rule {
        id: "no-limiter",
        severity: Severity::Medium,
        effort: Effort::Redesign,
        title: "a kernel leaves every unit of the GPU mostly unused",
        condition: far_from_limits,
        action: "give the GPU more threads at once, and each thread more independent work",
        advice: "The kernel is bound by latency: of memory, of barriers, of atomics, or of \
                 operations that depend on each other. Dispatch more threads, let each thread \
                 load several values before it uses the first, use fewer registers and less \
                 threadgroup memory so that more threads fit, and remove barriers. Its occupancy \
                 is in --json, under counters.kernels.",
        counter_evidence: "With twice the threads, or twice the work per thread, the kernel takes \
                           twice as long.",
        ..Rule::USUAL
    },
];

/// A kernel below this share of the GPU time is not worth optimizing.
const MATTERS: f64 = 0.1;
/// Fewer samples may be of an unusual part of the kernel.
const SAMPLES: u64 = 5;
/// Share of the kernel's time that the samples have to cover.
const COVERED: f64 = 0.25;

/// A kernel with its counters and its highest limiter.
type Limited<'a> = (&'a Kernel, &'a KernelCounters, &'a Limiter);

/// Returns the kernels that matter and that samples cover, with their highest limiters. Only samples
/// throughout which a kernel alone ran count for it, so that each of these runs longer than a sample.
fn sampled(report: &Report) -> impl Iterator<Item = Limited<'_>> {
    let recorded = report.counters.as_ref();
    let counters = recorded.map_or(&[][..], |counters| &counters.kernels);
    let kernels = report.kernels.iter();
    let matter = kernels.filter(|kernel| is_share(kernel.total_ns, report.busy.sum_ns, MATTERS));
    matter.filter_map(|kernel| {
        let counted = counters.iter().find(|counters| {
            counters.name == kernel.name
                && counters.channel == kernel.channel
                && counters.named_by == kernel.named_by
        })?;
        let is_covered =
            counted.samples >= SAMPLES && is_share(counted.covered_ns, kernel.total_ns, COVERED);
        let limiter = counted.limiters.first().filter(|_| is_covered)?;
        Some((kernel, counted, limiter))
    })
}

fn near_limit(report: &Report) -> Option<Evidence> {
    /// From this mean on, the unit leaves little room, in percent.
    const NEAR_PCT: f64 = 80.0;
    /// Share of the samples' time in which the unit has to be the highest: otherwise the kernel
    /// has several limits.
    const HIGHEST: Share = Share(0.5);
    let limited: Vec<Limited<'_>> = sampled(report)
        .filter(|(_, _, limiter)| limiter.mean_pct >= NEAR_PCT && limiter.highest_share >= HIGHEST)
        .collect();

    let &(first, counters, limiter) = limited.first()?;
    let second = counters.limiters.get(1);
    let next = second.map(|next| message!(", then {}", reading(next)));
    let traffic = counters.bandwidth.and_then(|traffic| {
        let share = traffic.share?.at_least;
        Some(message!(
            "; memory traffic was {}, {} of the chip's bandwidth",
            bandwidth(traffic.gb_per_s),
            share
        ))
    });
    let text = message!(
        "{} took {} of the GPU time; its highest limiter was {} on average{} ({}){}",
        kernel(&first.name),
        share_of(first.total_ns, report.busy.sum_ns),
        reading(limiter),
        next,
        coverage(first, counters),
        traffic,
    );
    // No gain: how much less this unit could do is not recorded.
    Some(about(&limited, text, report))
}

fn far_from_limits(report: &Report) -> Option<Evidence> {
    /// Below this mean, a unit is mostly unused, in percent.
    const UNUSED_PCT: f64 = 30.0;
    /// The two ends of a roofline. Without both, a unit that was not counted may be the limit.
    const NEEDED: [&str; 2] = ["ALU Limiter", "GPU Last Level Cache Limiter"];
    let unlimited: Vec<Limited<'_>> = sampled(report)
        .filter(|(_, counters, limiter)| {
            limiter.mean_pct < UNUSED_PCT
                && NEEDED.iter().all(|name| {
                    let mut limiters = counters.limiters.iter();
                    limiters.any(|limiter| limiter.counter == *name)
                })
        })
        .collect();

    let &(first, counters, limiter) = unlimited.first()?;
    let text = message!(
        "{} took {} of the GPU time; the highest of its {} was {} on average ({})",
        kernel(&first.name),
        share_of(first.total_ns, report.busy.sum_ns),
        counted(counters.limiters.len() as u64, "limiter"),
        reading(limiter),
        coverage(first, counters),
    );
    // No gain: what the kernel could reach is not recorded.
    Some(about(&unlimited, text, report))
}

/// Returns the evidence about the time of some kernels. Vertex and Fragment work overlaps, so that
/// their sum may exceed the busy time.
fn about(kernels: &[Limited<'_>], text: Message, report: &Report) -> Evidence {
    let total_ns: Ns = kernels.iter().map(|(kernel, ..)| kernel.total_ns).sum();
    Evidence::new(text)
        .at(places(kernels))
        .about(total_ns.min(report.busy.busy_ns))
}

/// Returns the first kernels with their times and limiters.
fn places(kernels: &[Limited<'_>]) -> impl Iterator<Item = Message> {
    kernels.iter().take(3).map(|(kernel, _, limiter)| {
        message!(
            "{}: {}, {}",
            self::kernel(&kernel.name),
            kernel.total_ns,
            reading(limiter)
        )
    })
}

/// Returns a limiter with its mean: `ALU Limiter, 91.0 %`.
fn reading(limiter: &Limiter) -> Message {
    message!(
        "{}, {}",
        name(&limiter.counter),
        Share(limiter.mean_pct / 100.0)
    )
}

/// Returns the samples of a kernel: `24 samples, 62.0 % of its time`.
fn coverage(kernel: &Kernel, counters: &KernelCounters) -> Message {
    message!(
        "{}, {} of its time",
        counted(counters.samples, "sample"),
        share_of(counters.covered_ns, kernel.total_ns)
    )
}
