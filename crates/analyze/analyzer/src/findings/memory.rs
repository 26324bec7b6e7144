//! Rules about Metal memory: what a loop allocates, what it never frees, and what the driver
//! wires.

use super::evidence::{Evidence, is_share, share_of};
use super::rule::Rule;
use crate::report::{Effort, GroupSteps, MemoryGroup, MemorySteps, Report, Severity};
use metalens_message::{
    Bytes, Message, Ns, Quantity, Value, counted, function, message, moment, name, number,
};
use metalens_text::number::{Float, rounded};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "allocates-in-loop",
        severity: Severity::Low,
        effort: Effort::SmallChange,
        title: "each step allocates Metal memory and frees it again",
        condition: allocates,
        action: "allocate these buffers once, and use them again",
        advice: "Keep the buffers from step to step, or take them from an MTLHeap or a \
             pool. In MLX and PyTorch a cache does this: look for a limit that is too low \
             (mx.set_cache_limit, PYTORCH_MPS_HIGH_WATERMARK_RATIO) or for calls that empty it.",
        counter_evidence: "With the buffers allocated once, the time per step is the same.",
        ..Rule::USUAL
    },
    Rule {
        id: "grows-by-step",
        severity: Severity::Medium,
        effort: Effort::Investigate,
        title: "Metal memory grows from step to step",
        condition: grows,
        action: "release what each step keeps, or limit the cache",
        advice: "A leak and a cache without a limit look the same. Look at what the named function \
             keeps, at caches (MLX: mx.set_cache_limit), and at autorelease pools that are never \
             drained.",
        counter_evidence: "In a longer recording the growth stops.",
        ..Rule::USUAL
    },
    Rule {
        id: "wires-memory",
        severity: Severity::Low,
        effort: Effort::SmallChange,
        title: "the GPU is idle while the driver wires memory",
        condition: wires,
        action: "use large buffers once before the work begins, and keep them",
        advice: "The driver wires memory when a command buffer first uses it, and again after it was \
             unwired. Use large buffers once before the work that counts, keep them, or request \
             their residency ahead (MTLResidencySet). In MLX, mx.set_wired_limit keeps memory \
             wired.",
        counter_evidence: "After a warm-up that uses the same buffers, these gaps are as long.",
        ..Rule::USUAL
    },
];

/// Fewer steps are no habit.
const STEPS: u64 = 8;
/// Share of the steps, or of the resources, that a habit covers.
const NEARLY_ALL: f64 = 0.9;
/// Largest number of callers that are named.
const NAMED: usize = 3;

fn steps(report: &Report) -> Option<&MemorySteps> {
    let steps = report.memory.as_ref()?.steps.as_ref()?;
    (steps.count >= STEPS).then_some(steps)
}

/// Returns the callers that allocate in the steps and fulfill a condition, the first few.
fn callers(
    report: &Report,
    wanted: impl Fn(&GroupSteps) -> bool,
) -> Vec<(&MemoryGroup, &GroupSteps)> {
    let groups = report.memory.iter().flat_map(|memory| &memory.callers);
    let inside = groups.filter_map(|group| Some((group, group.steps.as_ref()?)));
    inside.filter(|(_, inside)| wanted(inside)).collect()
}

fn allocates(report: &Report) -> Option<Evidence> {
    /// Less is not worth a change: in a step of a millisecond it is 1 GiB in a second.
    const BYTES: Bytes = Bytes(1 << 20);
    /// Fewer small buffers are usual, such as one for the arguments of each kernel.
    const ALLOCATIONS: u64 = 64;
    let steps = steps(report)?;
    let is_habit = |inside: &GroupSteps| {
        let (made, all) = (inside.turnover.allocations, steps.count);
        let passing = inside.passing.count.float() >= made.float() * NEARLY_ALL;
        passing && inside.allocating.float() >= all.float() * NEARLY_ALL
    };
    let callers = callers(report, is_habit);
    let passing = || callers.iter().map(|(_, inside)| inside.passing);
    let made: u64 = passing().map(|passing| passing.count).sum();
    let size: Bytes = passing().map(|passing| passing.bytes).sum();
    let is_much = size / steps.count >= BYTES || made / steps.count >= ALLOCATIONS;
    is_much.then(|| {
        let text = message!(
            "in {} the process made {} a step, {}, which were freed again",
            counted(steps.count, "step"),
            per(made, steps.count, "allocation"),
            size / steps.count,
        );
        let named = callers.iter().take(NAMED).map(|(group, inside)| {
            message!(
                "{}, {} of {} a step",
                caller(group),
                per(inside.passing.count, steps.count, "allocation"),
                inside.passing.bytes / inside.passing.count.max(1),
            )
        });
        Evidence::new(text).at(named)
    })
}

/// Returns whether the live bytes grow from step to step.
pub(super) fn grows_by_step(report: &Report) -> bool {
    /// Less is no trouble in any recording.
    const BYTES: i64 = 1 << 20;
    /// Share of the largest number of live bytes.
    const SHARE: f64 = 0.05;
    let peak = report
        .memory
        .as_ref()
        .map_or(Bytes(0), |memory| memory.peak_bytes);
    steps(report).is_some_and(|steps| {
        let total = steps.growth.total_bytes;
        steps.growth.is_growing() && total >= BYTES && total.float() >= peak.number() * SHARE
    })
}

fn grows(report: &Report) -> Option<Evidence> {
    let steps = steps(report).filter(|_| grows_by_step(report))?;
    let error = match rounded(steps.growth.error_bytes) {
        0 => " in each".into(),
        error => message!(" a step, with a standard error of {}", Bytes(error)),
    };
    let text = message!(
        "in {}, live memory grew by {}{}: {} in all",
        counted(steps.count, "step"),
        Bytes(rounded(steps.growth.bytes_per_step)),
        error,
        Bytes(steps.growth.total_bytes.unsigned_abs()),
    );
    let growing = callers(report, |inside| inside.growth.is_growing());
    let callers = growing.iter().take(NAMED).map(|(group, inside)| {
        message!(
            "{}, {} a step",
            caller(group),
            Bytes(rounded(inside.growth.bytes_per_step))
        )
    });
    let from = message!("the growth, from {} on", moment(steps.start_ns));
    Some(Evidence::new(text).at(callers).at([from]))
}

fn wires(report: &Report) -> Option<Evidence> {
    /// Share of the idle time.
    const SHARE: f64 = 0.05;
    let wiring = report.machine.wiring.as_ref()?;
    let idle_ns = report.idle.total_ns;
    if wiring.in_gaps_ns == Ns(0) || !is_share(wiring.in_gaps_ns, idle_ns, SHARE) {
        return None;
    }
    let (before, inside) = (wiring.before_window, wiring.in_window);
    let text = message!(
        "the driver wired {} in the window ({}) and {} before it, during {} of the idle time ({} of \
         {})",
        inside.bytes,
        counted(inside.count, "event"),
        before.bytes,
        share_of(wiring.in_gaps_ns, idle_ns),
        wiring.in_gaps_ns,
        idle_ns,
    );
    let longest = wiring
        .longest
        .filter(|longest| longest.at_ns >= report.window.start_ns)
        .map(|longest| {
            message!(
                "{} in {} at {}",
                longest.bytes,
                longest.duration_ns,
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

/// Returns a number per step, such as `4 allocations` or `1.5 allocations`.
fn per(total: u64, steps: u64, noun: &str) -> Message {
    let steps = steps.max(1);
    if total.is_multiple_of(steps) {
        return counted(total / steps, noun);
    }
    let mean = total.float() / steps.float();
    let value = |number| Value::Number { number };
    number(format!("{mean:.1} {noun}s"), mean, value)
}
