//! Rules about the idle time: who keeps the GPU waiting.

use super::evidence::{Evidence, is_saturated, is_share, longest, of_idle, share_of};
use super::rule::Rule;
use crate::basics::message::{Message, count, counted, function, percent, process, time};
use crate::message;
use crate::report::{Cause, Report, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "serialised",
        severity: Severity::High,
        title: "the program waits for each command buffer before it makes the next",
        condition: serialised,
        advice: "Do not wait after every buffer. Put many dispatches into one command buffer \
                 (MLX: fewer mx.eval calls, a higher MLX_MAX_OPS_PER_BUFFER; candle and \
                 llama.cpp: one buffer for a whole graph), or commit the next buffer before the \
                 last is done and wait only for the result that is read \
                 (addCompletedHandler instead of waitUntilCompleted).",
        disproved_by: "If every buffer truly needs the last one's result on the CPU, batching \
                       cannot help: then only shorter round trips can, or moving that step to \
                       the GPU. A recording with several dispatches to a buffer shows it.",
    },
    Rule {
        id: "launch-overhead",
        severity: Severity::High,
        title: "much of the idle time passes while work is on its way to the GPU",
        condition: launch_overhead,
        advice: "Every command buffer pays for its way to the GPU. Send fewer and larger ones, \
                 or keep a second one committed while the first runs, so that the way is \
                 travelled while the GPU works.",
        disproved_by: "If the way grows with the work in a buffer, it is not a fixed cost: \
                       compare latency.start of small and large buffers.",
    },
    Rule {
        id: "waiting-for-completion",
        severity: Severity::Medium,
        title: "much of the idle time passes before the program learns that the GPU is done",
        condition: waiting_for_completion,
        advice: "The program sleeps until it is told, and the telling takes longer than the \
                 work. Wait less often: read results back once for many buffers, use a completion \
                 handler, or let the GPU signal the next step itself (MTLSharedEvent).",
        disproved_by: "If latency.completion shrinks to a few µs when the program polls instead \
                       of sleeping, it is the wake-up that is slow, not the GPU's report.",
    },
    Rule {
        id: "host-bound",
        severity: Severity::High,
        title: "the GPU waits for the program, between one result and the next submission",
        condition: host_bound,
        advice: "Between one result and the next work the program computes, allocates, waits or \
                 encodes. Prepare the next buffer while the GPU runs the last, encode on a second thread, \
                 or record once and replay (MLX: mx.compile; indirect command buffers). Record \
                 with CPU samples to see which functions it is in.",
        disproved_by: "CPU samples that find the encoding thread asleep: then it waits for input, a \
                       timer or another thread, and faster code would not help.",
    },
    Rule {
        id: "queue-starved",
        severity: Severity::Medium,
        title: "the GPU stood idle although the next work was already encoded",
        condition: queue_starved,
        advice: "The next work was encoded before the last had ended. Look at what stands between \
                 two encoders: barriers, fences, switches between compute and blit, resources \
                 that must be made resident. Merge encoders; use one encoder with \
                 memoryBarrier for many dispatches.",
        disproved_by: "If these gaps lie between command buffers, the second may have been \
                       committed late though encoded early: compare shape.command_buffers.gaps_inside_ns.",
    },
    Rule {
        id: "foreign-delays",
        severity: Severity::Medium,
        title: "other processes held the GPU while this one's work was waiting",
        condition: foreign_delays,
        advice: "Close what draws (browsers, animated windows, the screen recorder), or record \
                 with the display asleep; run the measurement when nobody else uses the GPU.",
        disproved_by: "A second recording on a quiet machine with the same gaps.",
    },
];

fn serialised(report: &Report) -> Option<Evidence> {
    /// Below this a handful of pairs could be chance.
    const PAIRS: u64 = 20;
    const SHARE: f64 = 0.8;
    /// A program may wait every time and lose little by it.
    const OF_IDLE: f64 = 0.2;
    let ledger = &report.ledger;
    // Inside a buffer nothing can be waited for: those gaps say nothing either way.
    let between = ledger.between_buffers;
    let fires = between >= PAIRS
        && is_share(ledger.serialised, between, SHARE)
        && is_share(ledger.round_trips_ns, ledger.total_ns, OF_IDLE)
        && !is_saturated(report);
    let per_pair = ledger.round_trips_ns / ledger.serialised.max(1);
    fires.then(|| {
        Evidence::new(message!(
            "in {} of {} gaps between command buffers the next was encoded only after the last \
             was known to be done; the way to the GPU and back took {} each time on average, \
             together {}",
            count(ledger.serialised),
            count(between),
            time(per_pair),
            of_idle(ledger.round_trips_ns, report),
        ))
        .at(longest(report, Cause::Launch))
        .gaining(ledger.round_trips_ns + overlap_ns(report))
    })
}

/// What a program that does not wait can do besides saving round trips: work on
/// the CPU while the GPU does. Neither can hide more than the other takes, so
/// that what is left is no less than the longer of the two.
fn overlap_ns(report: &Report) -> u64 {
    let parts = &report.ledger.parts;
    (parts.host_ns + parts.encode_ns).min(report.busy.busy_ns)
}

fn launch_overhead(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.3;
    let launch_ns = report.ledger.parts.launch_ns;
    let fires = is_share(launch_ns, report.ledger.total_ns, SHARE) && !is_saturated(report);
    let start = report.latency.start.map(|start| {
        message!(
            "; from commit to GPU start a buffer took {} (median)",
            time(start.median_ns.unsigned_abs())
        )
    });
    fires.then(|| {
        let text = message!(
            "work that was encoded and not yet on the GPU accounts for {}{}",
            of_idle(launch_ns, report),
            start,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Launch))
            .gaining(launch_ns)
    })
}

fn waiting_for_completion(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.25;
    let completion_ns = report.ledger.parts.completion_ns;
    let fires = is_share(completion_ns, report.ledger.total_ns, SHARE) && !is_saturated(report);
    let known = report.latency.completion.map(|completion| {
        let side = if completion.median_ns < 0 {
            "before"
        } else {
            "after"
        };
        message!(
            "; a buffer's completion came {} (median) {} the end of its work",
            time(completion.median_ns.unsigned_abs()),
            side
        )
    });
    fires.then(|| {
        let text = message!(
            "waiting to learn that the GPU is done accounts for {}{}",
            of_idle(completion_ns, report),
            known,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Completion))
            .gaining(completion_ns)
    })
}

fn host_bound(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.4;
    let parts = &report.ledger.parts;
    let host_ns = parts.host_ns + parts.encode_ns;
    let fires = is_share(host_ns, report.ledger.total_ns, SHARE) && !is_saturated(report);
    fires.then(|| {
        let text = message!(
            "the program's own time accounts for {}: {} between a completion and the next \
             encoding, {} encoding{}",
            of_idle(host_ns, report),
            time(parts.host_ns),
            time(parts.encode_ns),
            sampled(report),
        );
        Evidence::new(text)
            .at(functions(report))
            .at(longest(report, Cause::Host))
            .gaining(host_ns)
    })
}

/// Whether the program ran or waited, if its threads were sampled.
fn sampled(report: &Report) -> Option<Message> {
    /// Fewer samples say little of what it usually does.
    const SAMPLES: u64 = 10;
    let host = report.cpu.as_ref()?.host.as_ref()?;
    (host.samples >= SAMPLES).then(|| {
        message!(
            "; of {} in that time {} found it running and {} in a call that waits",
            counted(host.samples, "CPU sample"),
            count(host.running),
            count(host.in_waiting_calls)
        )
    })
}

/// The functions that it was in.
fn functions(report: &Report) -> Vec<Message> {
    let host = report.cpu.as_ref().and_then(|cpu| cpu.host.as_ref());
    let frames = host.map_or(&[][..], |host| &host.self_frames);
    let named = frames.iter().take(3).filter_map(|frame| {
        let (function, share) = (frame.function.as_ref()?, frame.share?);
        Some(message!(
            "{}, in {} of these samples",
            self::function(function),
            percent(share)
        ))
    });
    named.collect()
}

fn queue_starved(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.2;
    let queued_ns = report.ledger.parts.queued_ns;
    let fires = is_share(queued_ns, report.ledger.total_ns, SHARE) && !is_saturated(report);
    fires.then(|| {
        let inside = match report.shape.command_buffers.gaps_inside_ns {
            0 => "none of the idle time".into(),
            ns => message!("{} of the idle time", time(ns)),
        };
        let text = message!(
            "gaps whose next work had been encoded before they began make up {}; {} lies between \
             encoders of one command buffer",
            of_idle(queued_ns, report),
            inside,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Queued))
            .gaining(queued_ns)
    })
}

fn foreign_delays(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.1;
    /// Nor is it worth a word where the GPU was hardly idle.
    const OF_WINDOW: f64 = 0.01;
    let foreign_ns = report.ledger.parts.foreign_ns;
    let fires = is_share(foreign_ns, report.ledger.total_ns, SHARE)
        && is_share(foreign_ns, report.window.span_ns, OF_WINDOW);
    let others = report.processes.iter().filter(|one| !one.is_target);
    let others = others.filter(|one| one.window_busy_ns > 0).take(3);
    let others = others.map(|one| {
        message!(
            "{}, on the GPU for {} ({} of the window)",
            process(&one.name, one.is_target),
            time(one.window_busy_ns),
            share_of(one.window_busy_ns, report.window.span_ns)
        )
    });
    fires.then(|| {
        let text = message!(
            "other processes held the GPU while encoded work waited, which took {}",
            of_idle(foreign_ns, report)
        );
        Evidence::new(text).at(others).gaining(foreign_ns)
    })
}
