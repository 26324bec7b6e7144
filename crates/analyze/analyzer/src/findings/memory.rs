//! Rules about Metal memory: what the steady loop allocates, what it never frees, and what the driver
//! wires.

use super::evidence::{Evidence, is_share, share_of};
use super::rule::{Concern, Rule};
use crate::basics::message::{
    Message, Value, bytes, counted, function, moment, name, number, time,
};
use crate::basics::statistics::rounded;
use crate::message;
use crate::report::{
    Effort, GroupIterations, MemoryGroup, MemoryGrowth, MemoryIterations, Report, Severity,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "allocates-in-loop",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::Low,
        effort: Effort::SmallChange,
        title: "each iteration allocates Metal memory and frees it again",
        condition: allocates,
        action: "allocate these buffers once, and use them again",
        advice: "Keep the buffers from iteration to iteration, or take them from an MTLHeap or a \
             pool. In MLX and PyTorch a cache does this: look for a limit that is too low \
             (mx.set_cache_limit, PYTORCH_MPS_HIGH_WATERMARK_RATIO) or for calls that empty it.",
        knobs: &[],
        counter_evidence: "With the buffers allocated once, the time per iteration is the same.",
    },
    Rule {
        id: "grows-by-iteration",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::Medium,
        effort: Effort::Investigate,
        title: "Metal memory grows from iteration to iteration",
        condition: grows,
        action: "release what each iteration keeps, or limit the cache",
        advice: "A leak and a cache without a limit look the same. Look at what the named function \
             keeps, at caches (MLX: mx.set_cache_limit), and at autorelease pools that are never \
             drained.",
        knobs: &[],
        counter_evidence: "In a longer recording the growth stops.",
    },
    Rule {
        id: "wires-memory",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::Low,
        effort: Effort::SmallChange,
        title: "the GPU is idle while the driver wires memory",
        condition: wires,
        action: "use large buffers once before the work begins, and keep them",
        advice: "The driver wires memory when a command buffer first uses it, and again after it was \
             unwired. Use large buffers once before the work that counts, keep them, or request \
             their residency ahead (MTLResidencySet). In MLX, mx.set_wired_limit keeps memory \
             wired.",
        knobs: &[],
        counter_evidence: "After a warm-up that uses the same buffers, these gaps are as long.",
    },
];

/// Fewer iterations are no habit.
const ITERATIONS: u64 = 8;
/// Share of the iterations, or of the resources, that a habit covers.
const NEARLY_ALL: f64 = 0.9;
/// Largest number of callers that are named.
const NAMED: usize = 3;

fn iterations(report: &Report) -> Option<&MemoryIterations> {
    let iterations = report.memory.as_ref()?.iterations.as_ref()?;
    (iterations.count >= ITERATIONS).then_some(iterations)
}

/// Returns the callers that allocate in the iterations and fulfill a condition, the first few.
fn callers(
    report: &Report,
    wanted: impl Fn(&GroupIterations) -> bool,
) -> Vec<(&MemoryGroup, &GroupIterations)> {
    let groups = report.memory.iter().flat_map(|memory| &memory.callers);
    let inside = groups.filter_map(|group| Some((group, group.iterations.as_ref()?)));
    inside.filter(|(_, inside)| wanted(inside)).collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share needs no more than 53 bits"
)]
fn allocates(report: &Report) -> Option<Evidence> {
    /// Less is not worth a change: in an iteration of a millisecond it is 1 GiB in a second.
    const BYTES: u64 = 1 << 20;
    /// Fewer small buffers are usual, such as one for the arguments of each kernel.
    const ALLOCATIONS: u64 = 64;
    let iterations = iterations(report)?;
    let is_habit = |inside: &GroupIterations| {
        let (made, all) = (inside.turnover.allocations, iterations.count);
        let passing = inside.passing.count as f64 >= made as f64 * NEARLY_ALL;
        passing && inside.allocating as f64 >= all as f64 * NEARLY_ALL
    };
    let callers = callers(report, is_habit);
    let sum =
        |of: fn(&GroupIterations) -> u64| callers.iter().map(|(_, inside)| of(inside)).sum::<u64>();
    let (made, size) = (
        sum(|inside| inside.passing.count),
        sum(|inside| inside.passing.bytes),
    );
    let is_much = size / iterations.count >= BYTES || made / iterations.count >= ALLOCATIONS;
    is_much.then(|| {
        let text = message!(
            "in {} of the steady part the process made {} an iteration, {}, which were freed again",
            counted(iterations.count, "iteration"),
            per(made, iterations.count, "allocation"),
            bytes(size / iterations.count),
        );
        let named = callers.iter().take(NAMED).map(|(group, inside)| {
            message!(
                "{}, {} of {} an iteration",
                caller(group),
                per(inside.passing.count, iterations.count, "allocation"),
                bytes(inside.passing.bytes / inside.passing.count.max(1)),
            )
        });
        Evidence::new(text).at(named)
    })
}

/// Returns whether growth is certain, and goes on: a cache that has filled up does not grow.
fn is_growing(growth: &MemoryGrowth) -> bool {
    /// Standard errors that chance does not reach.
    const ERRORS: f64 = 3.0;
    let mean = growth.bytes_per_iteration;
    mean > ERRORS * growth.error_bytes && growth.later_bytes_per_iteration > mean / 2.0
}

/// Returns whether the live bytes grow from iteration to iteration.
#[expect(
    clippy::cast_precision_loss,
    reason = "a share needs no more than 53 bits"
)]
pub(super) fn grows_by_iteration(report: &Report) -> bool {
    /// Less is no trouble in any recording.
    const BYTES: i64 = 1 << 20;
    /// Share of the largest number of live bytes.
    const SHARE: f64 = 0.05;
    let peak = report.memory.as_ref().map_or(0, |memory| memory.peak_bytes);
    iterations(report).is_some_and(|iterations| {
        let total = iterations.growth.total_bytes;
        is_growing(&iterations.growth) && total >= BYTES && total as f64 >= peak as f64 * SHARE
    })
}

fn grows(report: &Report) -> Option<Evidence> {
    let iterations = iterations(report).filter(|_| grows_by_iteration(report))?;
    let error = match rounded(iterations.growth.error_bytes) {
        0 => " in each".into(),
        error => message!(" an iteration, with a standard error of {}", bytes(error)),
    };
    let text = message!(
        "in {} of the steady part, live memory grew by {}{}: {} in all",
        counted(iterations.count, "iteration"),
        bytes(rounded(iterations.growth.bytes_per_iteration)),
        error,
        bytes(iterations.growth.total_bytes.unsigned_abs()),
    );
    let growing = callers(report, |inside| is_growing(&inside.growth));
    let callers = growing.iter().take(NAMED).map(|(group, inside)| {
        message!(
            "{}, {} an iteration",
            caller(group),
            bytes(rounded(inside.growth.bytes_per_iteration))
        )
    });
    let from = message!("the growth, from {} on", moment(iterations.start_ns));
    Some(Evidence::new(text).at(callers).at([from]))
}

fn wires(report: &Report) -> Option<Evidence> {
    /// Share of the idle time.
    const SHARE: f64 = 0.05;
    let wiring = report.machine.wiring.as_ref()?;
    let idle_ns = report.idle.total_ns;
    if wiring.in_gaps_ns == 0 || !is_share(wiring.in_gaps_ns, idle_ns, SHARE) {
        return None;
    }
    let (before, inside) = (wiring.before_window, wiring.in_window);
    let text = message!(
        "the driver wired {} in the window ({}) and {} before it, during {} of the idle time ({} of \
         {})",
        bytes(inside.bytes),
        counted(inside.count, "event"),
        bytes(before.bytes),
        share_of(wiring.in_gaps_ns, idle_ns),
        time(wiring.in_gaps_ns),
        time(idle_ns),
    );
    let longest = wiring
        .longest
        .filter(|longest| longest.at_ns >= report.window.start_ns)
        .map(|longest| {
            message!(
                "{} in {} at {}",
                bytes(longest.bytes),
                time(longest.duration_ns),
                moment(longest.at_ns)
            )
        });
    Some(Evidence::new(text).at(longest))
}

/// Returns the function that a group is about.
fn caller(group: &MemoryGroup) -> Message {
    match (&group.name, &group.binary) {
        (Some(name), _) => function(name),
        (None, Some(binary)) => message!("a function without a name in {}", name(binary)),
        (None, None) => "allocations without a caller outside Apple's libraries".into(),
    }
}

/// Returns a number per iteration, such as `4 allocations` or `1.5 allocations`.
#[expect(
    clippy::cast_precision_loss,
    reason = "a mean needs no more than 53 bits"
)]
fn per(total: u64, iterations: u64, noun: &str) -> Message {
    let iterations = iterations.max(1);
    if total.is_multiple_of(iterations) {
        return counted(total / iterations, noun);
    }
    let mean = total as f64 / iterations as f64;
    let value = |number| Value::Number { number };
    number(format!("{mean:.1} {noun}s"), mean, value)
}
