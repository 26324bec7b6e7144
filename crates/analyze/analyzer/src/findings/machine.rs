//! Rules about the machine: errors, clock, heat, memory, other processes.

use metalens_message::{
    Bytes, Message, count, counted, message, moment, name, percent, process, quote,
};

use super::evidence::{Evidence, is_share, share_of};
use super::memory::grows_by_step;
use super::rule::{Concern, Rule};
use crate::report::{Effort, OtherProcess, Report, Severity, StateTime};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "command-buffer-errors",
        concern: Concern::Results,
        severity: Severity::High,
        effort: Effort::Investigate,
        title: "command buffers ended in an error",
        condition: errors,
        action: "read MTLCommandBuffer.error: results may be wrong",
        advice: "Read MTLCommandBuffer.error in a completion handler. These timings leave out \
             the work that failed, and results may be wrong. Run once with Metal API \
             validation and shader validation.",
        counter_evidence: "None: the recording lists the errors.",
        ..Rule::USUAL
    },
    Rule {
        id: "compiling-inside",
        severity: Severity::Medium,
        effort: Effort::SmallChange,
        title: "shaders are compiled during the work",
        condition: compiling,
        action: "create pipelines before the work begins, and keep them",
        advice: "Create pipelines before the work begins, and keep them: cache \
             MTLComputePipelineState objects, or ship a binary archive \
             (MTLBinaryArchive).",
        counter_evidence: "A second run in the same process compiles nothing.",
        ..Rule::USUAL
    },
    Rule {
        id: "hangs",
        severity: Severity::Medium,
        effort: Effort::Redesign,
        title: "the program did not respond for some time",
        condition: hangs,
        action: "move encoding and waiting off the main thread",
        advice: "The main thread is blocked. Wait for the GPU and encode on another thread.",
        counter_evidence: "The program has no windows, so it has nothing to respond to.",
        ..Rule::USUAL
    },
    Rule {
        id: "memory-growing",
        severity: Severity::Medium,
        effort: Effort::Investigate,
        title: "GPU memory grows steadily",
        condition: memory_growing,
        action: "reuse or release buffers that each step allocates",
        advice: "The program keeps memory that it should reuse or release. Look at buffers \
             allocated in each step, at caches without a limit (MLX: \
             mx.set_cache_limit), and at autorelease pools that are never drained.",
        counter_evidence: "A cache that stops growing later: record for longer.",
        ..Rule::USUAL
    },
    Rule {
        id: "low-performance-state",
        concern: Concern::Numbers,
        severity: Severity::Caveat,
        effort: Effort::Setting,
        title: "the GPU ran mostly at its lowest clock",
        condition: low_state,
        action: "compare only with recordings at the same performance state",
        advice: "The same kernels can be three times as fast in the Maximum state, so compare \
             only with recordings in the same state. Light or fragmented work does not \
             raise the clock; more work at once does. Turn low-power mode off, charge a MacBook, \
             or choose the performance state in a template of Instruments \
             (`metalens record --template FILE`).",
        counter_evidence: "A recording in the Maximum state shows the same kernel times.",
        ..Rule::USUAL
    },
    Rule {
        id: "thermal",
        concern: Concern::Numbers,
        severity: Severity::Caveat,
        effort: Effort::Setting,
        title: "the machine was hot and may have run below full speed",
        condition: thermal,
        action: "let the machine cool down, and record again",
        advice: "Let the machine cool down and record again. For long runs, report the first \
             and the last minute separately.",
        counter_evidence: "Kernel times do not differ between the cool and the hot part.",
        ..Rule::USUAL
    },
    Rule {
        id: "shared-gpu",
        within: &["contention"],
        severity: Severity::Caveat,
        effort: Effort::Setting,
        title: "other processes used the GPU at the same time",
        condition: shared,
        action: "close other programs that use the GPU, and record again",
        advice: "Work of other processes slows this process down even when it does not delay it. \
                 Close browsers and windows that draw, and record again.",
        counter_evidence: "A recording on a quiet machine shows the same kernel times.",
        ..Rule::USUAL
    },
];

fn errors(report: &Report) -> Option<Evidence> {
    let errors = report.machine.errors.as_ref()?;
    // A buffer that failed before it reached the GPU has no process: it is this program's only
    // where no other process used the GPU.
    let is_alone = report.processes.iter().all(|process| process.is_analyzed);
    let own = if is_alone {
        errors.count
    } else {
        errors.of_process
    };
    if own == 0 {
        return None;
    }

    let codes = errors.codes.iter().map(|error| {
        let code = error
            .code
            .map_or_else(|| "unknown".into(), |code| name(&code.to_string()));
        let buffers = counted(error.count, "command buffer");
        message!(
            "{} with error code {}{}",
            buffers,
            code,
            meaning(error.code)
        )
    });
    let text = message!(
        "{} of the recording failed; at least {} of them belong to this process and lie in the window",
        counted(errors.count, "command buffer"),
        count(errors.of_process),
    );
    Some(Evidence::new(text).at(codes))
}

/// Returns the name of the most common codes (`MTLCommandBufferError`).
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
    is_share(compiles.in_gaps_ns, report.idle.total_ns, SHARE).then(|| {
        let text = message!(
            "{} of shaders took {} in the window, {} of it while the GPU was idle",
            counted(inside.count, "compilation"),
            inside.total_ns,
            compiles.in_gaps_ns,
        );
        Evidence::new(text).saving_at_most(compiles.in_gaps_ns, None)
    })
}

fn hangs(report: &Report) -> Option<Evidence> {
    let hangs = report
        .machine
        .hangs
        .as_ref()
        .filter(|hangs| hangs.count > 0)?;
    let text = message!(
        "{} took {} of the window; the longest lasted {} (including time outside the window)",
        counted(hangs.count, "hang"),
        hangs.total_ns,
        hangs.max_ns.unwrap_or_default(),
    );
    Some(Evidence::new(text).about(hangs.total_ns))
}

fn memory_growing(report: &Report) -> Option<Evidence> {
    /// Smaller growth may be the end of the warm-up.
    const GROWTH: f64 = 0.2;
    /// Fewer steps are allocations, not a leak.
    const RISES: u64 = 3;
    if grows_by_step(report) {
        // That rule says more about the same growth.
        return None;
    }
    let memory = report.machine.allocated.as_ref()?;
    let steady = memory.steady.as_ref()?;
    let last = memory.last_bytes?;
    let growth = Bytes(u64::try_from(steady.growth_bytes).ok()?);
    // What the program had at first may be gone by then.
    let first = last.saturating_sub(growth);
    let habit = steady.rises >= RISES && steady.rises > 4 * steady.falls;
    (habit && is_share(growth, first.max(Bytes(1)), GROWTH)).then(|| {
        let fell = match steady.falls {
            0 => "never fell".into(),
            falls => message!("fell {}", counted(falls, "time")),
        };
        let text = message!(
            "after the first quarter of the window, memory grew from {} to {}: it rose {} and {}",
            first,
            last,
            counted(steady.rises, "time"),
            fell,
        );
        let from = message!("the growth, from {} on", moment(steady.from_ns));
        let peak_ns = memory
            .peak_at_ns
            .filter(|&peak_ns| peak_ns >= steady.from_ns);
        let peak = peak_ns.map(|peak_ns| message!("the peak, at {}", moment(peak_ns)));
        Evidence::new(text).at([from]).at(peak)
    })
}

/// Returns the states and the share of time in each: `Maximum 80.0 %, Minimum 20.0 %`.
pub(super) fn said(states: &[StateTime]) -> Message {
    let said = states.iter().map(|state| {
        let share = state.busy_share.map_or_else(|| "?".into(), percent);
        message!("{} {}", name(&state.state), share)
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
        // The flag `is-induced` tells nothing: stock recordings mark all states so.
        let text = message!(
            "performance states while the process ran on the GPU: {}",
            said(&performance.states),
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
            "thermal states while the process ran on the GPU: {}; worst in the window: {}",
            said(&thermal.states),
            name(worst)
        ))
    })
}

fn shared(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.1;
    let (contention_ns, overlap_ns) = report
        .busy
        .others_busy_ns
        .zip(report.busy.others_overlap_ns)?;
    let others = report.machine.others.iter().flat_map(|others| &others.top);
    is_share(contention_ns, report.window.span_ns, SHARE).then(|| {
        let text = message!(
            "other processes used the GPU for {} of the window, {} of {}; for {} of that \
             time this process used it too",
            share_of(contention_ns, report.window.span_ns),
            contention_ns,
            report.window.span_ns,
            overlap_ns,
        );
        Evidence::new(text).at(others.map(other))
    })
}

fn other(other: &OtherProcess) -> Message {
    let name = other.name.as_deref().map_or_else(
        || "rows without a process".into(),
        |name| process(name, false),
    );
    message!("{}, on the GPU for {} of the gaps", name, other.in_gaps_ns)
}
