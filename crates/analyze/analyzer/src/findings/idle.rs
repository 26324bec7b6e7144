//! Rules about idle time and its causes.

use metalens_message::{
    Message, Ns, SignedNs, count, counted, function, message, path, process, time, ungrouped,
};

use super::evidence::{Evidence, is_share, longest, matters, of_idle, predicted, share_of};
use super::framework::Knob;
use super::rule::Rule;
use crate::report::{
    Cause, ChosenBy, CpuFrame, Effort, FrameworkName, Replay, ReplayAction, ReplayPart, Report,
    Severity, WaitVerdict,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "serialized",
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
                action: Some("call mx.async_eval instead of mx.eval"),
                advice: "call mx.async_eval instead of mx.eval, and keep .item() and print() out \
                     of each step; then raise MLX_MAX_OPS_PER_BUFFER and MLX_MAX_MB_PER_BUFFER.",
            },
            Knob {
                framework: FrameworkName::PyTorch,
                action: Some("keep .item(), .cpu() and print() of tensors out of each step"),
                advice: ".item(), .cpu(), print() of a tensor and torch.mps.synchronize() wait \
                     for the GPU; keep them out of each step.",
            },
            Knob {
                framework: FrameworkName::Candle,
                action: Some("keep to_scalar and to_vec out of each step"),
                advice: "to_scalar and to_vec wait for the GPU; keep them out of each step. \
                     CANDLE_METAL_COMPUTE_PER_BUFFER (50 by default) sets how many dispatches \
                     share a command buffer.",
            },
            Knob {
                framework: FrameworkName::LlamaCpp,
                action: None,
                advice: "it sends whole graphs already; a larger micro-batch (-ub) gives each more \
                     work, and the remaining wait is sampling on the CPU after each token.",
            },
            Knob {
                framework: FrameworkName::CoreMl,
                action: Some("use the asynchronous prediction call"),
                advice: "use the asynchronous prediction call, so that the next input is prepared \
                     during a prediction.",
            },
        ],
        counter_evidence: "The CPU needs each result before it can encode the next buffer. Then \
                           only shorter round trips help, or a move of that step to the GPU. \
                           Record with \
             several dispatches per buffer to find out.",
        ..Rule::USUAL
    },
    Rule {
        id: "few-in-flight",
        severity: Severity::High,
        effort: Effort::SmallChange,
        title: "the program waits for one of its last command buffers before it encodes the next",
        condition: few_in_flight,
        action: "keep more command buffers in flight",
        advice: "Let the program run further ahead: raise the number of buffers or semaphores that it \
             takes in turn, and wait only for results that the CPU reads. Each command buffer in \
             flight needs memory of its own.",
        counter_evidence: "The CPU needs each result before it can go on: then more in flight is not \
             possible, and only shorter latencies help.",
        ..Rule::USUAL
    },
    Rule {
        id: "submission-latency",
        within: &["serialized"],
        severity: Severity::High,
        effort: Effort::SmallChange,
        title: "submission latency makes up much of the idle time",
        condition: submission_latency,
        action: "submit fewer, larger command buffers, or keep one committed ahead",
        advice: "Each command buffer pays the latency from its commit to its start on the \
             GPU. Submit fewer and larger ones, or keep a second one committed while the \
             first runs, so that the latency overlaps with GPU work.",
        counter_evidence: "Latency that grows with the work in a buffer is not a fixed cost: compare \
             latency.submission of small and large buffers.",
        ..Rule::USUAL
    },
    Rule {
        id: "completion-latency",
        within: &["serialized"],
        severity: Severity::Medium,
        effort: Effort::SmallChange,
        title: "completion latency makes up much of the idle time",
        condition: completion_latency,
        action: "wait less often: read results once for many command buffers",
        advice: "The program sleeps until it is notified that the GPU finished. Wait less \
             often: read results once for many command buffers, use a completion handler, \
             or let the GPU signal the next step itself (MTLSharedEvent).",
        counter_evidence: "latency.completion falls to a few µs when the program polls instead of \
             sleeping: then the wake-up of the thread is slow, not the notification.",
        ..Rule::USUAL
    },
    Rule {
        id: "host-bound",
        severity: Severity::High,
        effort: Effort::Redesign,
        title: "the GPU waits for the CPU between a result and the next submission",
        condition: host_bound,
        action: "prepare the next command buffer while the GPU works",
        advice: "Between a result and the next encoding the program computes, allocates or \
             waits. Prepare the next buffer while the GPU runs the last one, encode on a \
             second thread, or record once and replay (indirect command buffers).",
        knobs: &[
            Knob {
                framework: FrameworkName::Mlx,
                action: Some("call mx.async_eval, and mx.compile the step"),
                advice: "call mx.async_eval, so that Python builds the next step while the GPU \
                     works, and mx.compile the step.",
            },
            Knob {
                framework: FrameworkName::PyTorch,
                action: Some("keep .item(), .cpu() and print() of tensors out of each step"),
                advice: "move .item(), .cpu() and print() out of the step; torch.compile may \
                     help, but is young on MPS.",
            },
            Knob {
                framework: FrameworkName::CoreMl,
                action: Some("use the asynchronous prediction call"),
                advice: "use the asynchronous prediction call, and look at the layers that run on \
                     the CPU: overlap hides no more than the GPU's own time.",
            },
        ],
        counter_evidence: "CPU samples show the encoding thread asleep: it waits for input, a timer or \
             another thread, and faster code would not help.",
        ..Rule::USUAL
    },
    Rule {
        id: "slow-host",
        severity: Severity::High,
        effort: Effort::Redesign,
        title: "the program commits work more slowly than the GPU runs it",
        condition: slow_host,
        action: "do less CPU work for each command buffer, or put more GPU work into each",
        advice: "The program does not wait for the GPU: its CPU work between commits sets the speed. \
             Put more dispatches into a command buffer, do less work on the CPU for each, or \
             encode on a second thread.",
        knobs: &[
            Knob {
                framework: FrameworkName::Mlx,
                action: Some("mx.compile the step, and raise MLX_MAX_OPS_PER_BUFFER"),
                advice: "mx.compile the step, and raise MLX_MAX_OPS_PER_BUFFER.",
            },
            Knob {
                framework: FrameworkName::Candle,
                action: Some("raise CANDLE_METAL_COMPUTE_PER_BUFFER"),
                advice: "raise CANDLE_METAL_COMPUTE_PER_BUFFER.",
            },
            Knob {
                framework: FrameworkName::CoreMl,
                action: Some("look at the layers that run on the CPU"),
                advice: "look at the layers that run on the CPU, and at how inputs are filled.",
            },
        ],
        counter_evidence: "With half of the CPU work for each command buffer, the run takes just as \
                           long.",
        ..Rule::USUAL
    },
    Rule {
        id: "driver-bound",
        within: &["serialized"],
        severity: Severity::High,
        effort: Effort::Investigate,
        title: "the GPU waits while the driver works on command buffers",
        condition: driver_bound,
        action: "submit fewer command buffers, and keep the first use of memory out of the loop",
        advice: "The driver works on the command buffers of a process one after another. The first use \
             of memory and pipelines takes it milliseconds: run the work once before it counts, and \
             keep buffers instead of making new ones. Otherwise submit fewer, larger command buffers.",
        counter_evidence: "Later repetitions of the same work take the driver just as long, and the run \
                           takes just as long with half as many command buffers.",
        ..Rule::USUAL
    },
    Rule {
        id: "encoding-bound",
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
                action: Some("lower MLX_MAX_OPS_PER_BUFFER, and mx.compile the step"),
                advice: "a lower MLX_MAX_OPS_PER_BUFFER commits earlier; mx.compile leaves fewer \
                     kernels to encode.",
            },
            Knob {
                framework: FrameworkName::Candle,
                action: Some("lower CANDLE_METAL_COMPUTE_PER_BUFFER"),
                advice: "a lower CANDLE_METAL_COMPUTE_PER_BUFFER commits earlier.",
            },
        ],
        counter_evidence: "The gaps are just as long when the first encoders are committed on \
                           their own.",
        ..Rule::USUAL
    },
    Rule {
        id: "queue-starved",
        severity: Severity::Medium,
        effort: Effort::SmallChange,
        title: "the GPU was idle although the next work was already encoded",
        condition: queue_starved,
        action: "merge encoders, and remove barriers between them",
        advice: "The next work was encoded before the last work ended. Look at what separates \
             the two encoders: barriers, fences, switches between compute and blit, \
             resources that must become resident. Merge encoders; use one encoder with \
             memoryBarrier for many dispatches.",
        counter_evidence: "If these gaps lie between command buffers, the second buffer may have been \
             encoded early and committed late: compare \
             shape.command_buffers.gaps_inside_ns.",
        ..Rule::USUAL
    },
    Rule {
        id: "starts-late",
        severity: Severity::Medium,
        effort: Effort::Investigate,
        title: "most of the recording passes before the first GPU work",
        condition: starts_late,
        action: "look at what the program does before its first GPU work",
        advice: "All other figures are about the time after the first GPU work. Before it, programs load \
             models, compile and import: load in the background, keep compiled models, or start the \
             first GPU work earlier.",
        counter_evidence: "The program starts once and runs for hours: then its start does not matter.",
        ..Rule::USUAL
    },
    Rule {
        id: "contention",
        severity: Severity::Medium,
        effort: Effort::Setting,
        title: "other processes ran on the GPU while work of this process waited",
        condition: contention,
        action: "close other programs that use the GPU, and record again",
        advice: "Close programs that draw (browsers, animated windows, screen recorders), or \
             record with the display asleep. Measure when no other program uses the GPU.",
        counter_evidence: "A second recording on a quiet machine shows the same gaps.",
        ..Rule::USUAL
    },
];

/// Returns whether the times show that the program waits, or that it does not.
fn waits(report: &Report) -> WaitVerdict {
    let replay = report.replay.as_ref();
    replay.map_or(WaitVerdict::Unknown, |replay| replay.waiting.verdict)
}

fn serialized(report: &Report) -> Option<Evidence> {
    /// Fewer pairs could be chance.
    const PAIRS: u64 = 20;
    const SHARE: f64 = 0.8;
    /// A program may wait every time and lose little time.
    const OF_IDLE: f64 = 0.2;
    let ledger = report.judged().idle;
    let replay = report.replay.as_ref()?;
    // An encoding after a completion proves no wait: it must follow the completion.
    let waiting = &replay.waiting;
    let is_each = waiting.is_recorded || is_share(waiting.pairs, waiting.of, SHARE);
    let is_wait = waiting.verdict == WaitVerdict::Waits && waiting.in_flight == 1 && is_each;
    // A program cannot wait inside a command buffer, so those gaps prove nothing.
    let between = ledger.between_buffers;
    let fires = is_wait
        && between >= PAIRS
        && is_share(ledger.serialized, between, SHARE)
        && matters(ledger.round_trips_ns, report, OF_IDLE);
    let contended_ns = ledger.round_trips_contended_ns;
    let whole_ns = ledger.round_trips_ns + contended_ns;
    let per_pair = |ns: Ns| time(ns / ledger.serialized.max(1));
    let contended = (contended_ns > Ns(0)).then(|| {
        message!(
            ", {} of it while another process ran on the GPU",
            per_pair(contended_ns)
        )
    });
    fires.then(|| {
        Evidence::new(message!(
            "in {} of {} gaps between command buffers the program encoded the next buffer only \
             after the last one completed; the way to the GPU and back took {} each time on \
             average{}: {}{}",
            count(ledger.serialized),
            count(between),
            per_pair(whole_ns),
            contended,
            of_idle(whole_ns, report),
            never_waiting(replay),
        ))
        .at(longest(report, Cause::Submission))
        .at(longest(report, Cause::StartLatency))
        .saving(predicted(report, ReplayAction::TwiceInFlight))
    })
}

fn few_in_flight(report: &Report) -> Option<Evidence> {
    /// Share of the run that twice as many command buffers in flight must save.
    const SHARE: f64 = 0.1;
    let replay = report.replay.as_ref()?;
    let in_flight = replay.waiting.in_flight;
    let is_ring = replay.waiting.verdict == WaitVerdict::Waits && in_flight > 1;
    let gain = predicted(report, ReplayAction::TwiceInFlight)?;
    let saved_ns = gain.ns;
    (is_ring && is_share(saved_ns, replay.span_ns, SHARE)).then(|| {
        let text = message!(
            "the program has at most {} in flight, then it waits for the oldest; a replay with {} \
             takes about {} instead of {}",
            counted(in_flight, "command buffer"),
            count(2 * in_flight),
            replay.span_ns - saved_ns,
            replay.span_ns,
        );
        Evidence::new(text).saving(Some(gain))
    })
}

/// Returns what is left if the program never waits, and what limits it then.
fn never_waiting(replay: &Replay) -> Option<Message> {
    let prediction = replay.prediction(ReplayAction::NeverWait)?;
    let limit = prediction.limited_by?;
    Some(message!(
        "; in a replay that never waits, about {} of its {} are left, limited by {}",
        prediction.left_ns,
        replay.span_ns,
        limit.label()
    ))
}

fn submission_latency(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.3;
    let submission_ns = report.judged().idle.parts.after_commit_ns();
    let fires = matters(submission_ns, report, SHARE);
    let start = report.latency.submission.map(|start| {
        message!(
            "; from commit to GPU start: {} (median)",
            start.median_ns.unsigned()
        )
    });
    // A log of commits alone does not tell what the program would do with shorter latencies.
    let saving = predicted(report, ReplayAction::TenPerBuffer);
    let saving = saving.filter(|_| report.idle.joinable > 0);
    fires.then(|| {
        let text = message!(
            "committed work that had not started on the GPU accounts for {}{}",
            of_idle(submission_ns, report),
            start,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Submission))
            .at(longest(report, Cause::StartLatency))
            .saving(saving)
    })
}

fn completion_latency(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.25;
    let completion_ns = report.judged().idle.parts.completion_ns;
    let fires = matters(completion_ns, report, SHARE);
    let known = report.latency.completion.map(|completion| {
        let side = if completion.median_ns < SignedNs(0) {
            "before"
        } else {
            "after"
        };
        message!(
            "; the notification came {} (median) {} the end of the work",
            completion.median_ns.unsigned(),
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
            .saving(predicted(report, ReplayAction::TenPerBuffer))
    })
}

/// Returns whether a grid of time, requests or another process tell when work begins.
fn is_held(report: &Report) -> bool {
    let replay = report.replay.as_ref();
    report.is_paced() || replay.is_some_and(|replay| replay.waiting.held_by.is_some())
}

/// Share of the idle time that host work and encoding need for a finding.
const CPU_SHARE: f64 = 0.4;

/// Returns host work and encoding in gaps, if they matter.
fn cpu_time(report: &Report) -> Option<(Ns, Ns)> {
    let parts = &report.judged().idle.parts;
    let cpu_ns = parts.host_ns + parts.encoding_ns;
    // A program that keeps a pace spends that time waiting for the next period.
    let is_work = !is_held(report);
    (is_work && matters(cpu_ns, report, CPU_SHARE)).then_some((parts.host_ns, parts.encoding_ns))
}

/// Returns whether the GPU waits for CPU work that took this long. A program that waits for its second or
/// third last command buffer does so between a completion and the next encoding: a replay without CPU
/// work tells that from work.
fn is_in_the_way(cpu_ns: Ns, report: &Report) -> bool {
    /// Part of the CPU work that must be saved without it, as one part in this many.
    const PARTS: u64 = 4;
    let replay = report.replay.as_ref();
    let saved_ns = replay.and_then(|replay| replay.saved_without(&[ReplayPart::Host]));
    let is_saved = saved_ns.is_none_or(|saved_ns| saved_ns.saturating_mul(PARTS) >= cpu_ns);
    is_saved && waits(report) != WaitVerdict::DoesNotWait
}

fn host_bound(report: &Report) -> Option<Evidence> {
    let (host_ns, encoding_ns) = cpu_time(report)?;
    let fires = host_ns >= encoding_ns && is_in_the_way(host_ns + encoding_ns, report);
    fires.then(|| {
        let text = message!(
            "CPU work accounts for {}: {} between a completion and the next encoding, {} of \
             encoding{}",
            of_idle(host_ns + encoding_ns, report),
            host_ns,
            encoding_ns,
            sampled(report),
        );
        Evidence::new(text)
            .at(functions(report))
            .at(longest(report, Cause::Host))
            .saving(predicted(report, ReplayAction::EncodeAhead))
    })
}

fn slow_host(report: &Report) -> Option<Evidence> {
    /// Share of the run that host work and encoding must give.
    const SHARE: f64 = 0.1;
    let replay = report.replay.as_ref()?;
    let is_asynchronous = waits(report) == WaitVerdict::DoesNotWait && !is_held(report);
    let saved_ns = replay.saved_without(&[ReplayPart::Host])?;
    // On one channel, no more can be saved than the GPU was idle.
    let saved_ns = match report.channels.len() {
        0 | 1 => saved_ns.min(report.gaps.total_ns),
        _ => saved_ns,
    };
    let interval = report.latency.commit_interval?;
    let fires = is_asynchronous && is_share(saved_ns, replay.span_ns, SHARE);
    fires.then(|| {
        let text = message!(
            "the program does not wait for the GPU, and commits a command buffer each {} \
             (median); without host work and encoding about {} of {} would be left{}",
            interval.median_ns.unsigned(),
            replay.span_ns - saved_ns,
            replay.span_ns,
            sampled(report),
        );
        Evidence::new(text)
            .at(functions(report))
            .at(longest(report, Cause::Host))
            .at(longest(report, Cause::Encoding))
            .saving_at_most(saved_ns, Some(ReplayAction::NoHost))
    })
}

fn encoding_bound(report: &Report) -> Option<Evidence> {
    let (host_ns, encoding_ns) = cpu_time(report)?;
    let fires = encoding_ns > host_ns && is_in_the_way(host_ns + encoding_ns, report);
    fires.then(|| {
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
            encoding_ns,
            host_ns,
            encoders,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Encoding))
            .saving(predicted(report, ReplayAction::EncodeAhead))
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
    host.map_or_else(Vec::new, |host| most_sampled(&host.callers))
}

/// Returns the first functions of a list, with their binaries and their shares.
fn most_sampled(frames: &[CpuFrame]) -> Vec<Message> {
    let named = frames.iter().take(3).filter_map(|frame| {
        let binary = frame.binary.as_deref();
        let file = binary.map(|path| path.rsplit('/').next().unwrap_or(path));
        let function = frame.function.as_deref();
        let place = match (function, file) {
            (Some(function), Some(file)) => {
                message!("{} of {}", self::function(function), path(file))
            }
            (Some(function), None) => message!("{}", self::function(function)),
            (None, file) => message!("a function of {}", path(file?)),
        };
        Some(message!("{}, in {} of these samples", place, frame.share?))
    });
    named.collect()
}

/// Returns the time before the first GPU work of a launched program, if it is most of the recording and
/// CPU samples tell what the program did.
fn starts_late(report: &Report) -> Option<Evidence> {
    /// Share of the recording before the first GPU work.
    const SHARE: f64 = 0.5;
    /// Fewer samples do not show a pattern.
    const SAMPLES: u64 = 20;
    let before = report.cpu.as_ref()?.before.as_ref()?;
    let duration_ns = report.run.duration_ns?;
    let start_ns = report.window.start_ns;
    let fires = report.process.chosen_by == ChosenBy::Launched
        && is_share(start_ns, duration_ns, SHARE)
        && before.samples >= SAMPLES;
    fires.then(|| {
        let text = message!(
            "the first GPU work of the process began {} after the recording, which took {}; {} \
             show what it did before",
            start_ns,
            duration_ns,
            counted(before.samples, "CPU sample"),
        );
        Evidence::new(text).at(most_sampled(&before.callers))
    })
}

fn driver_bound(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.3;
    let parts = &report.judged().idle.parts;
    let driver_ns = parts.driver_wait_ns + parts.driver_ns;
    let replay = report.replay.as_ref()?;
    let left_ns = replay.left_without(&[ReplayPart::Driver])?;
    matters(driver_ns, report, SHARE).then(|| {
        let text = message!(
            "the driver worked on the next command buffers, or they waited for it, during {}: {} \
             of work and {} of waiting; without the driver's work about {} of {} would be left",
            of_idle(driver_ns, report),
            parts.driver_ns,
            parts.driver_wait_ns,
            left_ns,
            replay.span_ns,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Driver))
            .at(longest(report, Cause::DriverWait))
            .saving_at_most(
                replay.span_ns.saturating_sub(left_ns),
                Some(ReplayAction::NoDriver),
            )
    })
}

fn queue_starved(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.2;
    /// Share of the queued time that gaps inside command buffers must have: encoders of one can be
    /// merged, command buffers cannot.
    const INSIDE: f64 = 0.5;
    let queued_ns = report.judged().idle.parts.queued_ns;
    let buffers = &report.shape.command_buffers;
    let inside_ns = buffers.gaps_inside_ns;
    let fires = matters(queued_ns, report, SHARE) && is_share(inside_ns, queued_ns, INSIDE);
    fires.then(|| {
        let encoders = buffers
            .median_encoders
            .filter(|&median| median > 1)
            .map(|median| message!(" (the median buffer has {} encoders)", ungrouped(median)));
        let text = message!(
            "gaps before work that the GPU already had make up {}; {} lies between encoders of one \
             command buffer{}",
            of_idle(queued_ns, report),
            inside_ns,
            encoders,
        );
        Evidence::new(text)
            .at(longest(report, Cause::Queued))
            .saving_at_most(inside_ns.min(queued_ns), None)
    })
}

fn contention(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.1;
    /// Contention below this share of the window is not worth a finding.
    const OF_WINDOW: f64 = 0.01;
    let judged = report.judged();
    let contention_ns = judged.idle.parts.contention_ns;
    let fires = is_share(contention_ns, judged.idle.total_ns, SHARE)
        && is_share(contention_ns, judged.span_ns, OF_WINDOW);

    let processes = report.processes.iter();
    let using = processes.filter(|other| !other.is_analyzed && other.window_busy_ns > Ns(0));
    let others = using.take(3).map(|other| {
        message!(
            "{}, on the GPU for {} ({} of the window)",
            process(&other.name, other.is_analyzed),
            other.window_busy_ns,
            share_of(other.window_busy_ns, report.window.span_ns)
        )
    });
    let own = &report.process.name;
    let mut known = report.processes.iter();
    let helper = known
        .find(|other| {
            !other.is_analyzed
                && other.window_busy_ns > Ns(0)
                && other.name.starts_with(own.as_str())
        })
        .map(|helper| {
            message!(
                "; {} looks like a helper of the program, whose work would end with it",
                process(&helper.name, false)
            )
        });
    fires.then(|| {
        let text = message!(
            "other processes ran on the GPU while committed work waited: {}{}",
            of_idle(contention_ns, report),
            helper
        );
        Evidence::new(text)
            .at(others)
            .saving(predicted(report, ReplayAction::NoOthers))
    })
}
