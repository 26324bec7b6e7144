//! Rules about the recording: how far its numbers can be trusted.

use super::evidence::{Evidence, is_share};
use super::rule::Rule;
use crate::basics::message::{Message, count, counted, moment, name, percent, table, time};
use crate::message;
use crate::report::{NamedBy, Report, Severity, TimingVerdict};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "incomplete-recording",
        severity: Severity::Caveat,
        title: "the recording is incomplete",
        condition: incomplete,
        advice: "Record a shorter stretch (--time-limit), close what else is recorded, and let the \
                 recorder finish writing. What the ledger calls unexplained is where the rows are \
                 missing.",
        disproved_by: "metalens tables, if it lists as many rows as the program made.",
    },
    Rule {
        id: "tables-disagree",
        severity: Severity::Caveat,
        title: "two tables of the recording contradict each other",
        condition: tables_disagree,
        advice: "Record again before believing either: the GPU's own Active time and the intervals \
                 of all processes have agreed to the nanosecond in every sound recording seen.",
        disproved_by: "A window that begins with the recording: work that ran then already is \
                       known to one table only.",
    },
    Rule {
        id: "clock-fault",
        severity: Severity::Caveat,
        title: "the program's own timings contradict the recording",
        condition: clock_fault,
        advice: "Do not use either until they agree: check that both are of the same run, and that \
                 the timings are GPUStartTime and GPUEndTime of the same command buffers.",
        disproved_by: "Timings of another run, or in another order.",
    },
    Rule {
        id: "warm-up-inside",
        severity: Severity::Caveat,
        title: "the window holds a warm-up that is unlike the rest",
        condition: warm_up,
        advice: "Judge the steady part: --skip-warmup cuts the warm-up off, and phases.warm_up has \
                 both results.",
        disproved_by: "A second recording whose beginning is like its rest.",
    },
    Rule {
        id: "unlabelled",
        severity: Severity::Caveat,
        title: "none of the work is labelled, so kernels cannot be told apart",
        condition: unlabelled,
        advice: "Give encoders and command buffers a label (setLabel) or push a debug group on the \
                 command buffer. MLX: a build with MLX_METAL_DEBUG=ON; candle: its debug-labels \
                 feature. Functions' own names need a recording with the Shader Timeline.",
        disproved_by: "Nothing: it is a fact of the recording.",
    },
    Rule {
        id: "little-work",
        severity: Severity::Caveat,
        title: "there is too little work to judge by",
        condition: little_work,
        advice: "Record more of it: a hundred repetitions tell a habit from an accident.",
        disproved_by: "A program that really does no more.",
    },
];

fn incomplete(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.05;
    let ledger = &report.ledger;
    let lost = ledger.pairs - ledger.joinable.min(ledger.pairs);
    let recovered = ledger.recovered.unwrap_or_default();
    let recovered = recovered.from_intervals + recovered.from_submissions;
    let mut says = Vec::new();
    // Without either table that is no loss of rows but of the table, and said elsewhere.
    if is_share(lost, ledger.pairs, SHARE) && lost < ledger.pairs {
        says.push(message!(
            "{} of {} gaps cannot be explained, since the encoding after them or the completion \
             before them is not in the recording",
            count(lost),
            count(ledger.pairs)
        ));
    }
    if is_share(recovered, ledger.pairs, SHARE) {
        says.push(message!(
            "after {} of {} gaps the encoding is only known from other tables, since the encoder \
             list lost it",
            count(recovered),
            count(ledger.pairs)
        ));
    }
    let truncated = &report.sanity.truncated_tables;
    if !truncated.is_empty() {
        says.push(message!(
            "these tables break off: {}",
            Message::joined(truncated.iter().map(|name| table(name)), ", ")
        ));
    }
    (!says.is_empty()).then(|| Evidence::new(Message::joined(says, "; ")))
}

fn tables_disagree(report: &Report) -> Option<Evidence> {
    const SHARE: f64 = 0.01;
    let busy = &report.busy;
    let active_ns = busy.machine_active_ns?;
    let apart_ns = active_ns.abs_diff(busy.machine_busy_ns);
    is_share(apart_ns, active_ns.max(busy.machine_busy_ns), SHARE).then(|| {
        Evidence::new(message!(
            "the intervals of all processes cover {} of the window, but by the GPU's own states it \
             was active for {}",
            time(busy.machine_busy_ns),
            time(active_ns)
        ))
    })
}

fn clock_fault(report: &Report) -> Option<Evidence> {
    let timings = report.work.as_ref()?.timings.as_ref()?;
    (timings.verdict == TimingVerdict::ClockFault).then(|| {
        let by = timings
            .median_drift
            .map(|drift| message!("half of them by {} or more", percent(drift)));
        let clocks = timings.clock_drift.map(|drift| {
            message!(
                "from the first start to the last the two clocks differ by {}",
                percent(drift.abs())
            )
        });
        let why = Message::new(&timings.why, &timings.why_values);
        let numbers = Message::joined(by.into_iter().chain(clocks), "; ");
        Evidence::new(message!("{} ({})", why, numbers))
    })
}

fn warm_up(report: &Report) -> Option<Evidence> {
    /// What moves the result by less is not worth a word.
    const CHANGE: f64 = 0.1;
    let warm_up = report
        .phases
        .warm_up
        .as_ref()
        .filter(|found| !found.skipped)?;
    let (steady, whole) = (warm_up.steady.ratio?, warm_up.whole.ratio?);
    let change = (steady - whole).abs() / whole.max(f64::MIN_POSITIVE);
    (change >= CHANGE).then(|| {
        let explanation = Message::new(&warm_up.explanation, &warm_up.explanation_values);
        let text = message!(
            "{}; the GPU was busy {} of the time without it, {} with it",
            explanation,
            percent(steady),
            percent(whole),
        );
        Evidence::new(text).at([message!("its end, at {}", moment(warm_up.end_ns))])
    })
}

fn unlabelled(report: &Report) -> Option<Evidence> {
    let mut kernels = report.kernels.iter();
    let none = kernels.all(|kernel| kernel.named_by == NamedBy::None);
    (none && !report.kernels.is_empty()).then(|| {
        let listed = report.shaders.iter().take(8);
        let listed = listed.map(|shader| {
            message!(
                "the shader {}, which the recording lists",
                name(&shader.name)
            )
        });
        let text = match report.counts.intervals {
            1 => "the only GPU interval carries Metal's default labels, or none".into(),
            all => message!(
                "all {} GPU intervals carry Metal's default labels, or none",
                count(all)
            ),
        };
        Evidence::new(text).at(listed)
    })
}

fn little_work(report: &Report) -> Option<Evidence> {
    const FEW: u64 = 10;
    let intervals = report.counts.intervals;
    (intervals < FEW).then(|| {
        Evidence::new(message!(
            "the target has only {} in the window",
            counted(intervals, "GPU interval")
        ))
    })
}
