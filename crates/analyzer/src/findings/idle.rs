//! Rules about idle time and its causes.

use super::evidence::{Evidence, is_share, longest, matters, of_idle, share_of};
use super::framework::Knob;
use super::rule::{Concern, Rule};
use crate::basics::message::{
    Message, count, counted, function, percent, process, time, ungrouped,
};
use crate::message;
use crate::report::{Cause, Effort, FrameworkName, Report, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "serialized",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::High,
        effort: Effort::SmallChange,
        title: "the program waits for every command buffer before it encodes the next",
        condition: serialized,
        action: "commit the next command buffer before the last one finishes",
        advice: "Do not wait after every command buffer. Commit the next buffer before the last \
             one finishes, wait only for results that the CPU reads (addCompletedHandler instead \
             of waitUntilCompleted), and encode many dispatches into one command buffer.",
        knobs: &[
            Knob {
                framework: FrameworkName::Mlx,
                advice: "call mx.async_eval instead of mx.eval, and keep .item() and print() out \
                     of each step; then raise MLX_MAX_OPS_PER_BUFFER and MLX_MAX_MB_PER_BUFFER.",
            },
            Knob {
                framework: FrameworkName::PyTorch,
                advice: ".item(), .cpu(), print() of a tensor and torch.mps.synchronize() wait \
                     for the GPU; keep them out of each step.",
            },
            Knob {
                framework: FrameworkName::Candle,
                advice: "to_scalar and to_vec wait for the GPU; keep them out of each step. \
                     CANDLE_METAL_COMPUTE_PER_BUFFER (50 by default) sets how many dispatches \
                     share a command buffer.",
            },
            Knob {
                framework: FrameworkName::LlamaCpp,
                advice: "it sends whole graphs already; a larger micro-batch (-ub) gives each more \
                     work, and the remaining wait is sampling on the CPU after each token.",
            },
            Knob {
                framework: FrameworkName::CoreMl,
                advice: "use the asynchronous prediction call, so that the next input is prepared \
                     during a prediction.",
            },
        ],
        counter_evidence: "The CPU needs each result before it can encode the next buffer. Then \
                           only shorter round trips help, or a move of that step to the GPU. \
                           Record with \
             several dispatches per buffer to find out.",
    },
    Rule {
        id: "submission-latency",
        concern: Concern::Speed,
        within: &["serialized"],
        severity: Severity::High,
        effort: Effort::SmallChange,
        title: "submission latency makes up much of the idle time",
        condition: submission_latency,
        action: "submit fewer, larger command buffers, or keep one committed ahead",
        advice: "Each command buffer pays the latency from its commit to its start on the \
             GPU. Submit fewer and larger ones, or keep a second one committed while the \
             first runs, so that the latency overlaps with GPU work.",
        knobs: &[],
        counter_evidence: "Latency that grows with the work in a buffer is not a fixed cost: compare \
             latency.submission of small and large buffers.",
    },
    Rule {
        id: "completion-latency",
        concern: Concern::Speed,
        within: &["serialized"],
        severity: Severity::Medium,
        effort: Effort::SmallChange,
        title: "completion latency makes up much of the idle time",
        condition: completion_latency,
        action: "wait less often: read results once for many command buffers",
        advice: "The program sleeps until it is notified that the GPU finished. Wait less \
             often: read results once for many command buffers, use a completion handler, \
             or let the GPU signal the next step itself (MTLSharedEvent).",
        knobs: &[],
        counter_evidence: "latency.completion falls to a few µs when the program polls instead of \
             sleeping: then the wake-up of the thread is slow, not the notification.",
    },
    Rule {
        id: "host-bound",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::High,
        effort: Effort::Redesign,
        title: "the GPU waits for the CPU between a result and the next submission",
        condition: host_bound,
        action: "prepare the next command buffer while the GPU runs the last one",
        advice: "Between a result and the next encoding the program computes, allocates or \
             waits. Prepare the next buffer while the GPU runs the last one, encode on a \
             second thread, or record once and replay (indirect command buffers). Record with \
             CPU samples to see the functions.",
        knobs: &[
            Knob {
                framework: FrameworkName::Mlx,
                advice: "call mx.async_eval, so that Python builds the next step while the GPU \
                     works, and mx.compile the step.",
            },
            Knob {
                framework: FrameworkName::PyTorch,
                advice: "move .item(), .cpu() and print() out of the step; torch.compile may \
                     help, but is young on MPS.",
            },
        ],
        counter_evidence: "CPU samples show the encoding thread asleep: it waits for input, a timer or \
             another thread, and faster code would not help.",
    },
    Rule {
        id: "encoding-bound",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::High,
        effort: Effort::SmallChange,
        title: "the GPU waits while the program encodes the next command buffer",
        condition: encoding_bound,
        action: "commit earlier, in smaller command buffers, or encode ahead",
        advice: "The GPU starts a command buffer only after its commit, so it waits for the encoding of \
             all its encoders. Commit the first encoders early in a command buffer of their own, \
             encode the next buffer while the GPU runs the last one, or encode on several threads. \
             Reuse encoded work where the API allows it (indirect command buffers). A renderer \
             keeps several frames in flight, or encodes a pass on several threads \
             (MTLParallelRenderCommandEncoder).",
        knobs: &[
            Knob {
                framework: FrameworkName::Mlx,
                advice: "a lower MLX_MAX_OPS_PER_BUFFER commits earlier; mx.compile leaves fewer \
                     kernels to encode.",
            },
            Knob {
                framework: FrameworkName::Candle,
                advice: "a lower CANDLE_METAL_COMPUTE_PER_BUFFER commits earlier.",
            },
        ],
        counter_evidence: "The gaps are just as long when the first encoders are committed on \
                           their own.",
    },
    Rule {
        id: "queue-starved",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::Medium,
        effort: Effort::SmallChange,
        title: "the GPU was idle although the next work was already encoded",
        condition: queue_starved,
        action: "merge encoders, and remove barriers between them",
        advice: "The next work was encoded before the last work ended. Look at what separates \
             the two encoders: barriers, fences, switches between compute and blit, \
             resources that must become resident. Merge encoders; use one encoder with \
             memoryBarrier for many dispatches.",
        knobs: &[],
        counter_evidence: "If these gaps lie between command buffers, the second buffer may have been \
             encoded early and committed late: compare \
             shape.command_buffers.gaps_inside_ns.",
    },
    Rule {
        id: "contention",
        concern: Concern::Speed,
        within: &[],
        severity: Severity::Medium,
        effort: Effort::Setting,
        title: "other processes ran on the GPU while work of this process waited",
        condition: contention,
        action: "close other programs that use the GPU, and record again",
        advice: "Close programs that draw (browsers, animated windows, screen recorders), or \
             record with the display asleep. Measure when no other program uses the GPU.",
        knobs: &[],
        counter_evidence: "A second recording on a quiet machine shows the same gaps.",
    },
];

fn serialized(report: &Report) -> Option<Evidence> {
    /// Fewer pairs could be chance.
    const PAIRS: u64 = 20;
    const SHARE: f64 = 0.8;
    /// A program may wait every time and lose little time.
    const OF_IDLE: f64 = 0.2;
    let ledger = &report.idle;
    // A program cannot wait inside a command buffer, so those gaps prove nothing.
    let between = ledger.between_buffers;
    let fires = between >= PAIRS
        && is_share(ledger.serialized, between, SHARE)
        && matters(ledger.round_trips_ns, report, OF_IDLE);
    let contended_ns = ledger.round_trips_contended_ns;
    let whole_ns = ledger.round_trips_ns + contended_ns;
    // The wait for a GPU that another process uses ends with the round trip only if the GPU runs work of
    // both at once.
    let runs_both = report.busy.others_overlap_ns > 0;
    let round_trips_ns = if runs_both {
        whole_ns
    } else {
        ledger.round_trips_ns
    };
    let per_pair = |ns: u64| time(ns / ledger.serialized.max(1));
    let contended = (contended_ns > 0).then(|| {
        message!(
            ", {} of it while another process ran on the GPU",
            per_pair(contended_ns)
        )
    });
    fires.then(|| {
        Evidence::new(message!(
            "in {} of {} gaps between command buffers the program encoded the next buffer only \
             after the last one completed; submission and completion latency took {} each time on \
             average{}: {}",
            count(ledger.serialized),
            count(between),
            per_pair(whole_ns),
            contended,
            of_idle(whole_ns, report),
        ))
        .at(longest(report, Cause::Submission))
        .gaining(round_trips_ns + overlap_ns(report))
    })
}

/// Returns the time of host work and encoding that a program that does not wait can overlap with GPU
/// work. Neither can hide more than the other takes, so that at least the longer of the two is left.
fn overlap_ns(report: &Report) -> u64 {
    let parts = &report.idle.parts;
    (parts.host_ns + parts.encoding_ns).min(report.busy.busy_ns)
}

fn submission_latency(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.3;
    let submission_ns = report.idle.parts.submission_ns;
    let fires = matters(submission_ns, report, SHARE);
    let start = report.latency.submission.map(|start| {
        message!(
            "; from commit to GPU start: {} (median)",
            time(start.median_ns.unsigned_abs())
        )
    });
    fires.then(|| {
        let text = message!(
            "committed work that had not started on the GPU accounts for {}{}",
            of_idle(submission_ns, report),
            start,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Submission))
            .gaining(submission_ns)
    })
}

fn completion_latency(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.25;
    let completion_ns = report.idle.parts.completion_ns;
    let fires = matters(completion_ns, report, SHARE);
    let known = report.latency.completion.map(|completion| {
        let side = if completion.median_ns < 0 {
            "before"
        } else {
            "after"
        };
        message!(
            "; the notification came {} (median) {} the end of the work",
            time(completion.median_ns.unsigned_abs()),
            side
        )
    });

    fires.then(|| {
        let text = message!(
            "the time until the program was notified accounts for {}{}",
            of_idle(completion_ns, report),
            known,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Completion))
            .gaining(completion_ns)
    })
}

/// Share of the idle time that host work and encoding need for a finding.
const CPU_SHARE: f64 = 0.4;

/// Returns host work and encoding in gaps, if they matter.
fn cpu_time(report: &Report) -> Option<(u64, u64)> {
    let parts = &report.idle.parts;
    let cpu_ns = parts.host_ns + parts.encoding_ns;
    matters(cpu_ns, report, CPU_SHARE).then_some((parts.host_ns, parts.encoding_ns))
}

fn host_bound(report: &Report) -> Option<Evidence> {
    let (host_ns, encoding_ns) = cpu_time(report)?;
    (host_ns >= encoding_ns).then(|| {
        let text = message!(
            "CPU work accounts for {}: {} between a completion and the next encoding, {} of \
             encoding{}",
            of_idle(host_ns + encoding_ns, report),
            time(host_ns),
            time(encoding_ns),
            sampled(report),
        );
        Evidence::new(text)
            .at(functions(report))
            .at(longest(report, Cause::Host))
            .gaining(host_ns + encoding_ns)
    })
}

fn encoding_bound(report: &Report) -> Option<Evidence> {
    let (host_ns, encoding_ns) = cpu_time(report)?;
    (encoding_ns > host_ns).then(|| {
        let buffers = &report.shape.command_buffers;
        let encoders = buffers.median_encoders.map(|median| {
            message!(
                "; the median command buffer has {} encoders",
                ungrouped(median)
            )
        });
        let text = message!(
            "CPU work accounts for {}: {} of encoding up to the commit, {} of other host work{}",
            of_idle(host_ns + encoding_ns, report),
            time(encoding_ns),
            time(host_ns),
            encoders,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Encoding))
            .gaining(host_ns + encoding_ns)
    })
}

/// Returns whether the program ran or waited in that time, if the recording has CPU samples.
fn sampled(report: &Report) -> Option<Message> {
    /// Fewer samples do not show a pattern.
    const SAMPLES: u64 = 10;
    let host = report.cpu.as_ref()?.host.as_ref()?;
    (host.samples >= SAMPLES).then(|| {
        message!(
            "; of {} in that time, {} found the program running and {} waiting",
            counted(host.samples, "CPU sample"),
            count(host.running),
            count(host.waiting)
        )
    })
}

/// Returns the functions that took most of the samples.
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
    let queued_ns = report.idle.parts.queued_ns;
    let fires = matters(queued_ns, report, SHARE);
    fires.then(|| {
        let inside = match report.shape.command_buffers.gaps_inside_ns {
            0 => "none of the idle time".into(),
            ns => message!("{} of the idle time", time(ns)),
        };
        let encoders = report.shape.command_buffers.median_encoders;
        let encoders = encoders
            .filter(|&median| median > 1)
            .map(|median| message!(" (the median buffer has {} encoders)", ungrouped(median)));
        let text = message!(
            "gaps before work that was already encoded make up {}; {} lies between encoders of \
             one command buffer{}",
            of_idle(queued_ns, report),
            inside,
            encoders,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Queued))
            .gaining(queued_ns)
    })
}

fn contention(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.1;
    /// Contention below this share of the window is not worth a finding.
    const OF_WINDOW: f64 = 0.01;
    let contention_ns = report.idle.parts.contention_ns;
    let fires = is_share(contention_ns, report.idle.total_ns, SHARE)
        && is_share(contention_ns, report.window.span_ns, OF_WINDOW);

    let others = report.processes.iter();
    let others = others.filter(|other| !other.is_analyzed && other.window_busy_ns > 0);
    let others = others.take(3).map(|other| {
        message!(
            "{}, on the GPU for {} ({} of the window)",
            process(&other.name, other.is_analyzed),
            time(other.window_busy_ns),
            share_of(other.window_busy_ns, report.window.span_ns)
        )
    });
    fires.then(|| {
        let text = message!(
            "other processes ran on the GPU while committed work waited: {}",
            of_idle(contention_ns, report)
        );
        Evidence::new(text).at(others).gaining(contention_ns)
    })
}
