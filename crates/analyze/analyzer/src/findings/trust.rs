//! Rules about how far the numbers of a recording can be trusted.

use metalens_message::{Message, count, counted, message, name, table};

use super::bound::is_undecided;
use super::distrust::lost_buffers;
use super::evidence::{Evidence, is_share, of_idle};
use super::framework::Knob;
use super::rule::{Concern, Rule};
use crate::report::{Effort, FrameworkName, NamedBy, Report, Severity};
use crate::tables::commands::{COMPLETIONS, ENCODERS};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "incomplete-recording",
        concern: Concern::Numbers,
        severity: Severity::Caveat,
        effort: Effort::Setting,
        title: "the recording is incomplete",
        condition: incomplete,
        action: "record a shorter stretch, and let the recorder finish",
        advice: "Record a shorter stretch (--time-limit), record fewer instruments, and let \
             the recorder finish writing. Idle time with the cause unknown marks where \
             rows are missing.",
        counter_evidence: "`metalens tables` lists a row for each encoder and command buffer of \
                           the program.",
        ..Rule::USUAL
    },
    Rule {
        id: "unknown-causes",
        concern: Concern::Numbers,
        within: &["incomplete-recording"],
        severity: Severity::Caveat,
        effort: Effort::Setting,
        title: "the recording does not show what limits the program",
        condition: unknown_causes,
        action: "record the process itself, and export its encodings and completions",
        advice: "The cause of a gap follows from the completion before it and the encoding after \
             it. If the tables were exported by hand, export metal-application-encoders-list and \
             metal-command-buffer-completed too. Otherwise launch this process or attach to it \
             when you record: of other processes, the encoder list often has nothing.",
        for_logs: Some([
            "write `encode` and `completed` of each command buffer",
            "The cause of a gap follows from the completion before it and the encoding after it: write \
             the keys `completed` and `encode`, and `wait` objects for what the program waits for.",
        ]),
        counter_evidence: "`metalens tables` lists a row of both tables for each command buffer \
                           of the process.",
        ..Rule::USUAL
    },
    Rule {
        id: "tables-disagree",
        concern: Concern::Numbers,
        severity: Severity::Caveat,
        effort: Effort::Setting,
        title: "two tables of the recording contradict each other",
        condition: tables_disagree,
        action: "record again before you rely on either table",
        advice: "Record again before you rely on either table. In the window of a program, \
             the Active time of the GPU and the intervals of all processes agreed to the \
             nanosecond in every sound recording so far. Over whole recordings, they differed \
             by less than 0.2 ms.",
        counter_evidence: "The window starts with the recording: only one table has the work that \
                           was already running.",
        ..Rule::USUAL
    },
    Rule {
        id: "unlabeled",
        severity: Severity::Caveat,
        effort: Effort::SmallChange,
        title: "no work is labeled, so kernels cannot be told apart",
        condition: unlabeled,
        action: "label encoders and command buffers",
        for_logs: Some([
            "write the `kernels` of each encoder",
            "Write the `encoders` of each command buffer with their `kernels`, or else with a `label`.",
        ]),
        advice: "Label encoders and command buffers (setLabel), or push a debug group on the \
             command buffer. The names of functions need a recording with the Shader \
             Timeline.",
        knobs: &[
            Knob {
                framework: FrameworkName::Mlx,
                action: Some("build MLX with MLX_METAL_DEBUG=ON"),
                advice: "build it with MLX_METAL_DEBUG=ON.",
            },
            Knob {
                framework: FrameworkName::Candle,
                action: Some("enable the feature metal-debug-labels of candle-core"),
                advice: "enable the feature metal-debug-labels of candle-core.",
            },
            Knob {
                framework: FrameworkName::PyTorch,
                action: Some("record the signposts of torch.mps.profiler.profile()"),
                advice: "torch.mps.profiler.profile() emits signposts: record them with --instrument \
                     os_signpost, and select them with --step.",
            },
        ],
        counter_evidence: "None: the recording has no labels.",
        ..Rule::USUAL
    },
    Rule {
        id: "little-work",
        concern: Concern::Numbers,
        severity: Severity::Caveat,
        effort: Effort::Setting,
        title: "there is too little work to judge",
        condition: little_work,
        action: "record at least a hundred repetitions",
        advice: "Record more work: a hundred repetitions separate a pattern from an accident, and the \
             first one makes pipelines and wires memory.",
        counter_evidence: "The program does no more work than this.",
        ..Rule::USUAL
    },
];

fn incomplete(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.05;
    let ledger = &report.idle;
    let lost = ledger.pairs - ledger.joinable.min(ledger.pairs);
    let recovered = ledger.recovered.unwrap_or_default();
    let recovered = recovered.from_intervals + recovered.from_submissions;
    let mut says = Vec::new();
    let truncated = &report.sanity.truncated_tables;
    // Without a row for any gap, nothing was lost on the way: the rows were never there.
    let is_partly_lost = lost < ledger.pairs || !truncated.is_empty();
    if is_share(lost, ledger.pairs, SHARE) && is_partly_lost {
        says.push(message!(
            "the cause of {} of {} gaps is unknown, because the recording lacks the encoding after \
             them or the completion before them",
            count(lost),
            count(ledger.pairs)
        ));
    }

    if is_share(recovered, ledger.pairs, SHARE) {
        says.push(message!(
            "for {} of {} gaps the encoding is only known from other tables, because the encoder \
             list lost it",
            count(recovered),
            count(ledger.pairs)
        ));
    }

    says.extend(lost_buffers(&report.sanity, report.source.kind));
    if !truncated.is_empty() {
        says.push(message!(
            "truncated tables: {}",
            Message::joined(truncated.iter().map(|name| table(name)), ", ")
        ));
    }
    (!says.is_empty()).then(|| Evidence::new(Message::joined(says, "; ")))
}

fn unknown_causes(report: &Report) -> Option<Evidence> {
    let ledger = &report.idle;
    is_undecided(report).then(|| {
        let known = |without: u64| count(ledger.pairs - without.min(ledger.pairs));
        Evidence::new(message!(
            "the cause of {} is not recorded: of {}, the completion before {} and the encoding \
             after {} are known",
            of_idle(ledger.parts.unknown_ns, report),
            counted(ledger.pairs, "gap"),
            known(ledger.without_completion),
            known(ledger.without_encoding),
        ))
        .at((!report.source.is_log()).then(|| {
            message!(
                "tables {} and {}",
                table(ENCODERS.schema),
                table(COMPLETIONS.schema)
            )
        }))
    })
}

fn tables_disagree(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.01;
    let busy = &report.busy;
    let active_ns = busy.machine_active_ns?;
    let apart_ns = active_ns.abs_diff(busy.machine_busy_ns);
    is_share(apart_ns, active_ns.max(busy.machine_busy_ns), SHARE).then(|| {
        Evidence::new(message!(
            "the intervals of all processes cover {} of the window, but according to its own \
             states the GPU was active for {}",
            busy.machine_busy_ns,
            active_ns
        ))
    })
}

fn unlabeled(report: &Report) -> Option<Evidence> {
    let mut kernels = report.kernels.iter();
    let none = kernels.all(|kernel| kernel.named_by == NamedBy::None);
    (none && !report.kernels.is_empty()).then(|| {
        let shaders = report.shaders.iter().take(8);
        let listed = shaders
            .map(|shader| message!("shader {} (listed in the recording)", name(&shader.name)));
        let text = match report.counts.intervals {
            1 => "the only GPU interval has no label or a default label of Metal".into(),
            intervals => message!(
                "all {} GPU intervals have no label or a default label of Metal",
                count(intervals)
            ),
        };
        Evidence::new(text).at(listed)
    })
}

fn little_work(report: &Report) -> Option<Evidence> {
    const FEW: u64 = 10;
    let intervals = report.counts.intervals;
    if intervals < FEW {
        return Some(Evidence::new(message!(
            "the process has only {} in the window",
            counted(intervals, "GPU interval")
        )));
    }
    // A first use makes pipelines and wires memory; only a repetition shows what is usual.
    let is_first_use = report.kernels.iter().all(|kernel| kernel.instances == 1);
    is_first_use.then(|| {
        Evidence::new(message!(
            "no kernel ran twice, so that nothing tells first use from usual work ({})",
            counted(intervals, "GPU interval")
        ))
    })
}
