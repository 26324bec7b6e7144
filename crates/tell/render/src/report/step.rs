//! Builds the section on steps: what the time of one consists of, and what the best change leaves of it.

use metalens_analyzer::{
    Cause, Finding, Gain, GainCertainty, OnceKind, OncePart, Report, StepParts,
};
use metalens_message::{
    Message, Ns, count, counted, message, moment, name, steps_per_second, time,
};

use super::work;
use crate::document::{BarPart, Block, Chart, Column, Drawing, Fact, Section, StepBar, Table};
use crate::wording::{known, plain};

/// Returns the steps: the typical one as a bar, above what the best change leaves, its roof, all series, and what
/// runs once. `None` if no step has a known length, and nobody asked for a roof.
pub(super) fn step(report: &Report) -> Option<Section> {
    let main = report.steps.first().filter(|main| !main.kinds.is_empty());
    let typical = main
        .and_then(|main| main.kinds.first())
        .and_then(|kind| kind.typical.as_ref());
    let title = match main.zip(typical) {
        Some((main, typical)) => message!(
            "One {}, the typical one: number {}",
            plain(main.noun()),
            count(typical.number)
        ),
        None => "Steps".into(),
    };
    let roof = work::roof(report, typical).map(|roof| Block::Facts(vec![roof]));
    if main.is_none() && roof.is_none() {
        return None;
    }
    let section = Section::new("step", "Steps", 2).titled(title);
    let section = section.with_some(typical.map(|typical| bars(report, typical)));
    let section = section.with_some(roof);
    let section = section.with_some(main.map(|_| Block::Table(series(report))));
    Some(section.with_some(Block::facts(report.once.iter().map(once).collect())))
}

/// Returns the typical step as a bar, and what the best change leaves of it.
fn bars(report: &Report, typical: &StepParts) -> Block {
    let name = report.steps.first().map_or("step", |main| main.noun());
    let mut bars = vec![StepBar {
        name: format!("a {name}"),
        parts: parts(report, typical),
        command: None,
    }];
    let changed = best(report).and_then(|gain| {
        let left_ns = gain.step?.median_ns.min(typical.length_ns());
        let gpu_ns = typical.gpu_ns.min(left_ns);
        let option = gain.change?.option();
        Some(StepBar {
            name: match gain.certainty {
                GainCertainty::AtMost => "at best",
                _ => "changed",
            }
            .to_owned(),
            parts: busy(report, gpu_ns)
                .into_iter()
                .chain([(BarPart::Rest, left_ns - gpu_ns)])
                .collect(),
            command: Some(format!("what-if {option}")),
        })
    });
    bars.extend(changed);
    Block::Chart(Chart {
        id: "step".to_owned(),
        drawing: Drawing::Step(bars),
    })
}

/// Returns all series, a row for each kind of steps.
fn series(report: &Report) -> Table {
    let columns = vec![
        Column::name("steps"),
        Column::label("found as").spare(2),
        Column::number("count"),
        Column::number("a second"),
        Column::number("med"),
        Column::number("p95").spare(1),
        Column::number("p99").spare(3),
        Column::number("max"),
        Column::number("own").spare(4),
        Column::number("GPU intervals").spare(5),
    ];
    let mut table = Table::new("steps", "Series of steps", columns).limited(10, 50);
    for steps in &report.steps {
        for (place, kind) in steps.kinds.iter().enumerate() {
            let first = |text: Message| if place == 0 { text } else { "".into() };
            table.row([
                first(name(&steps.name)),
                first(steps.by.label().into()),
                count(kind.count),
                first(known(steps.per_second, steps_per_second)),
                known(kind.median_ns, time),
                known(kind.p95_ns, time),
                known(kind.p99_ns, time),
                time(kind.max_ns),
                known(kind.own_ns, time),
                count(kind.intervals),
            ]);
        }
    }
    table
}

/// Returns a part of the run that is no step.
fn once(part: &OncePart) -> Fact {
    let place = match part.what {
        OnceKind::Before => "before",
        OnceKind::Between => "between",
        OnceKind::After => "after",
    };
    let turns = (part.turns > 0).then(|| message!(", {}", counted(part.turns, "turn")));
    let text = message!(
        "{} from {}, GPU busy {}{}",
        part.end_ns - part.start_ns,
        moment(part.start_ns),
        part.gpu_ns,
        turns
    );
    Fact::new(place, text)
}

/// Returns the largest gain that was replayed.
fn best(report: &Report) -> Option<Gain> {
    let gain = |finding: &Finding| finding.gain.filter(|gain| gain.step.is_some());
    let gains = report.findings.iter().filter_map(gain);
    gains.max_by_key(|gain| gain.saves_ns)
}

/// Returns the parts of a step, in the order of time.
fn parts(report: &Report, step: &StepParts) -> Vec<(BarPart, Ns)> {
    let idle = Cause::ALL.map(|cause| (BarPart::Idle(cause), step.idle.get(cause)));
    let all = busy(report, step.gpu_ns).into_iter().chain(idle);
    all.filter(|&(_, ns)| ns > Ns(0)).collect()
}

/// Returns the parts of GPU time: that at the roof and that above it, if they are known.
fn busy(report: &Report, gpu_ns: Ns) -> Vec<(BarPart, Ns)> {
    let roof = report.work.as_ref().and_then(|work| work.step);
    match roof.filter(|roof| roof.above_ns.is_some()) {
        Some(roof) => {
            let roof_ns = roof.roof_ns.min(gpu_ns);
            vec![
                (BarPart::Roof, roof_ns),
                (BarPart::AboveRoof, gpu_ns - roof_ns),
            ]
        }
        None => vec![(BarPart::Gpu, gpu_ns)],
    }
}
