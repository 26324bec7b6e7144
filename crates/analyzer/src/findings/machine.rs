//! Rules about the machine: clock, heat, memory, company, accidents.

use super::evidence::{Evidence, is_share, share_of};
use super::rule::Rule;
use crate::basics::message::{
    Message, bytes, count, counted, moment, name, percent, process, quote, time,
};
use crate::message;
use crate::report::{OtherProcess, Report, Severity, StateTime};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "command-buffer-errors",
        severity: Severity::High,
        title: "command buffers ended in an error",
        condition: errors,
        advice: "Read MTLCommandBuffer.error in a completion handler: what failed is not in these \
                 timings, and results may be wrong. Run once with the Metal API validation and \
                 shader validation on.",
        disproved_by: "Nothing: the recording says so.",
    },
    Rule {
        id: "compiling-inside",
        severity: Severity::Medium,
        title: "shaders are compiled while the work is under way",
        condition: compiling,
        advice: "Make pipelines before the work begins, and keep them: cache \
                 MTLComputePipelineState objects, or ship a binary archive (MTLBinaryArchive).",
        disproved_by: "A second run in the same process that compiles nothing.",
    },
    Rule {
        id: "hangs",
        severity: Severity::Medium,
        title: "the program did not respond for a while",
        condition: hangs,
        advice: "The main thread is held up: move waiting for the GPU, and encoding, to another \
                 thread.",
        disproved_by: "A program without windows, which has nobody to respond to.",
    },
    Rule {
        id: "memory-growing",
        severity: Severity::Medium,
        title: "the GPU memory grows and grows",
        condition: memory_growing,
        advice: "Something is kept that should be reused or released: look at buffers made in each \
                 iteration, at caches without a limit (MLX: mx.set_cache_limit), and at \
                 autorelease pools that are never drained.",
        disproved_by: "A cache that stops growing later: record for longer.",
    },
    Rule {
        id: "low-performance-state",
        severity: Severity::Caveat,
        title: "the GPU ran at its lowest clock",
        condition: low_state,
        advice: "The same kernels can be three times as fast at the Maximum state, so compare this \
                 only with recordings of the same state. Light or broken-up work does not raise \
                 the clock: more work at once does. Charge the machine, turn low-power mode off, \
                 or record at another clock to measure kernels (`metalens record --gpu-clock \
                 maximum`; `default` leaves it to the GPU where Apple's template holds it).",
        disproved_by: "A recording at the Maximum state with the same kernel times.",
    },
    Rule {
        id: "thermal",
        severity: Severity::Caveat,
        title: "the machine was hot, and may not have run at full speed",
        condition: thermal,
        advice: "Let it cool down and record again; for long runs report the times of the first \
                 and the last minute apart.",
        disproved_by: "Kernel times that do not change between the cool and the hot part.",
    },
    Rule {
        id: "shared-gpu",
        severity: Severity::Caveat,
        title: "others used the GPU at the same time",
        condition: shared,
        advice: "Their work slows this one down even when it does not hold it up: close browsers \
                 and windows that draw, and record again.",
        disproved_by: "A recording on a quiet machine with the same kernel times.",
    },
];

fn errors(report: &Report) -> Option<Evidence> {
    let errors = report.machine.errors.as_ref()?;
    // A buffer that failed before it reached the GPU is known to be nobody's:
    // it is this program's only where there is nobody else.
    let alone = report.processes.iter().all(|one| one.is_target);
    let own = match alone {
        true => errors.count,
        false => errors.of_target,
    };
    if own == 0 {
        return None;
    }
    let codes = errors.codes.iter().map(|one| {
        let code = one
            .code
            .map_or_else(|| "unknown".into(), |code| name(&code.to_string()));
        let buffers = counted(one.count, "command buffer");
        message!("{} with error code {}{}", buffers, code, meaning(one.code))
    });
    let text = message!(
        "{} of the recording failed, {} of them known to be of this program's work in the window",
        counted(errors.count, "command buffer"),
        count(errors.of_target),
    );
    Some(Evidence::new(text).at(codes))
}

/// What Metal calls the commonest codes (`MTLCommandBufferError`).
fn meaning(code: Option<u64>) -> &'static str {
    match code {
        Some(1) => ", internal",
        Some(2) => ", timeout",
        Some(3) => ", page fault",
        Some(8) => ", out of memory",
        Some(9) => ", invalid resource",
        Some(12) => ", stack overflow",
        _ => "",
    }
}

fn compiling(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.05;
    let compiles = report.machine.shader_compiles?;
    let inside = compiles.inside;
    is_share(compiles.in_gaps_ns, report.ledger.total_ns, SHARE).then(|| {
        let text = message!(
            "{} of shaders took {} inside the window, {} of it while the GPU was idle",
            counted(inside.count, "compilation"),
            time(inside.total_ns),
            time(compiles.in_gaps_ns),
        );
        Evidence::new(text).gaining(compiles.in_gaps_ns)
    })
}

fn hangs(report: &Report) -> Option<Evidence> {
    let hangs = report
        .machine
        .hangs
        .as_ref()
        .filter(|found| found.count > 0)?;
    Some(Evidence::new(message!(
        "{} took {} of the window; the longest lasted {}, the part outside the window included",
        counted(hangs.count, "hang"),
        time(hangs.total_ns),
        time(hangs.max_ns.unwrap_or(0)),
    )))
}

fn memory_growing(report: &Report) -> Option<Evidence> {
    /// Less than a fifth more may be the last of the warm-up.
    const GROWTH: f64 = 0.2;
    /// A single step is an allocation, not a habit.
    const RISES: u64 = 3;
    let memory = report.machine.allocated.as_ref()?;
    let steady = memory.steady.as_ref()?;
    let (first, last) = (memory.first_bytes?, memory.last_bytes?);
    let growth = u64::try_from(steady.growth_bytes).ok()?;
    let habit = steady.rises >= RISES && steady.rises > 4 * steady.falls;
    (habit && is_share(growth, first.max(1), GROWTH)).then(|| {
        let fell = match steady.falls {
            0 => "never fell".into(),
            falls => message!("fell {}", counted(falls, "time")),
        };
        let text = message!(
            "it went from {} to {} within the window; after the window's first quarter it rose {} \
             and {}",
            bytes(first),
            bytes(last),
            counted(steady.rises, "time"),
            fell,
        );
        let peak = memory
            .peak_at_ns
            .map(|at| message!("the peak, at {}", moment(at)));
        Evidence::new(text).at(peak)
    })
}

/// What the states are called, and how long each was.
fn said(states: &[StateTime]) -> Message {
    let said = states.iter().map(|state| {
        let share = state.busy_share.map_or_else(|| "?".into(), percent);
        message!("at {} for {}", name(&state.state), share)
    });
    Message::joined(said, ", ")
}

fn low_state(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.5;
    let performance = report.machine.performance.as_ref()?;
    let low = performance
        .states
        .iter()
        .find(|state| state.state == "Minimum")?;
    is_share(low.busy_ns, report.busy.busy_ns, SHARE).then(|| {
        let induced = if low.induced_ns > 0 {
            "; the recording calls the state induced"
        } else {
            ""
        };
        let text = message!(
            "of the target's busy time the GPU was {}{}",
            said(&performance.states),
            induced,
        );
        let narratives = performance.narratives.iter();
        let words = narratives.map(|text| text.split_whitespace().collect::<Vec<_>>());
        Evidence::new(text).at(words.map(|words| quote(&words.join(" "))))
    })
}

fn thermal(report: &Report) -> Option<Evidence> {
    let thermal = report.machine.thermal.as_ref()?;
    let worst = thermal.worst.as_deref()?;
    matches!(worst, "Serious" | "Critical").then(|| {
        Evidence::new(message!(
            "of the target's busy time the machine was {}; the worst state of the window was {}",
            said(&thermal.states),
            name(worst)
        ))
    })
}

fn shared(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.1;
    let foreign_ns = report.busy.foreign_busy_ns;
    let others = report.machine.others.top.iter().map(other);
    is_share(foreign_ns, report.window.span_ns, SHARE).then(|| {
        let text = message!(
            "other processes were on the GPU for {} of the window, {} of {}; for {} of that this \
             one was, too",
            share_of(foreign_ns, report.window.span_ns),
            time(foreign_ns),
            time(report.window.span_ns),
            time(report.busy.foreign_overlap_ns),
        );
        Evidence::new(text).at(others)
    })
}

fn other(other: &OtherProcess) -> Message {
    let name = other.name.as_deref();
    let name = name.map_or_else(
        || "rows of nobody known".into(),
        |name| process(name, false),
    );
    message!(
        "{}, for {} of this one's gaps",
        name,
        time(other.in_gaps_ns)
    )
}
