//! Builds the document of a benchmark: the work, who wins, then tables of all variants.

mod brief;
mod csv;
mod tables;
#[cfg(test)]
mod tests;

use metalens_bench::{Bench, PairResult};
use metalens_comparison::{ChangeClass, GateRow};
use metalens_message::{Message, count, counted, message, name};

use crate::document::{Block, Document, Item, Section};
use crate::gate;
use crate::report::estimates;
use crate::wording::plain;
use crate::{environment, finding_totals};
pub use brief::brief;
pub use csv::csv;
pub(crate) use tables::time_parts;

/// Name of the section with links to all reports.
const REPORTS: &str = "reports";
/// Name of the drawing of busy and idle time.
pub(crate) const TIMES: &str = "times";

/// Number of comparisons that are told in words, however many variants there are.
const TOLD: usize = 3;
const SYNTHETIC: &str = "SYNTHETIC: a simulator made these recordings; no GPU ran any of it, so \
                         no figure says anything about a real machine";

/// Returns the document of a benchmark.
pub fn document(bench: &Bench) -> Document {
    let sections = [
        Some(opening(bench, usize::MAX, TOLD)),
        gate(bench),
        Some(tables::variants(bench)),
        tables::idle(bench),
        tables::work(bench),
        tables::steps(bench),
        tables::kernels(bench),
        estimated(bench),
        tables::machine(bench),
        findings(bench),
        environment::section(&bench.environments, environment::Of::Variants),
        warnings(bench),
        runs(bench),
    ];
    let names = bench.variants.iter().map(|variant| name(&variant.name));
    let names: Vec<Message> = names.collect();
    let title = if names.len() > 4 {
        message!(
            "GPU benchmark of {}",
            counted(names.len() as u64, "variant")
        )
    } else {
        message!("GPU benchmark: {}", Message::joined(names, ", "))
    };

    Document {
        title,
        sections: sections.into_iter().flatten().collect(),
        footer: plain(format!(
            "metalens {}, {}. Figures are exact in bench.json; here they are rounded.",
            bench.metalens, bench.schema
        )),
    }
}

/// Returns the kernels that the mixes of all runs tell.
fn estimated(bench: &Bench) -> Option<Section> {
    let section = Section::new("estimated", "Kernels that share intervals", 3);
    Some(estimates(section, bench.mixes.as_ref()?))
}

/// Returns the document without what only a page can link to, and without what only pages keep.
pub fn screen(bench: &Bench) -> Document {
    let mut document = document(bench);
    let is_of_pages = |id: &str| [REPORTS, "findings", "environment"].contains(&id);
    document.sections.retain(|section| !is_of_pages(section.id));
    document
}

/// Returns the verdict, with this many comparisons behind it, and as many of their causes.
fn opening(bench: &Bench, rivals: usize, causes: usize) -> Section {
    let synthetic = bench.synthetic.then(|| Block::Warning(SYNTHETIC.into()));
    let variants = bench.variants.iter();
    let done = variants.map(|variant| variant.runs.len() as u64).sum();
    let stopped = (!bench.complete).then(|| {
        let runs = counted(done, "run");
        Block::Warning(message!("STOPPED: only {} of the benchmark", runs))
    });
    let work = bench.work.as_ref().map(|work| Block::Warning(work.clone()));
    let missed = bench.missed().count() as u64;
    let missed = (missed > 0).then(|| {
        let all = counted(bench.pairs.len() as u64, "comparison");
        let gates = bench
            .missed()
            .filter_map(|pair| pair.comparison.gate.as_ref());
        Block::Failure(message!(
            "Gate {}: {} of {}",
            gate::word(gates),
            count(missed),
            all
        ))
    });
    let decisions = bench.pairs.iter().filter_map(|pair| pair.decision.clone());
    let decisions: Vec<Message> = decisions.collect();
    let decided = (!decisions.is_empty()).then(|| Block::Lead(Message::joined(decisions, ". ")));
    Section::new("verdict", "", 0)
        .with_some(missed)
        .with_some(decided)
        .with_some(synthetic)
        .with_some(stopped)
        .with_some(work)
        .with(Block::Lead(bench.verdict.clone()))
        .with_some(Block::list(details(bench, rivals, causes)))
        .with(Block::Remark(bench.method.clone()))
}

/// Returns the comparisons behind the verdict, and where the differences come from. Of many variants
/// only the nearest to the fastest one, and those that may be as fast, are told.
fn details(bench: &Bench, most: usize, causes: usize) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    if bench.variants.len() > 2 {
        let rivals = bench.standing.iter().flat_map(|standing| &standing.others);
        let shown = rivals.enumerate().filter(|(at, rival)| {
            *at < TOLD || rival.change.material_class() != ChangeClass::Shrunk
        });
        all.extend(shown.take(most).map(|(_, rival)| rival.says.clone()));
    }
    if bench
        .pairs
        .first()
        .is_some_and(|pair| pair.base == "baseline")
    {
        all.extend(bench.pairs.iter().take(most).map(|pair| pair.says.clone()));
    }

    let standing = bench.standing.as_ref();
    let order = standing.map(|standing| {
        let others = standing.others.iter().map(|rival| rival.variant);
        [standing.best]
            .into_iter()
            .chain(others)
            .collect::<Vec<usize>>()
    });
    let place = |pair: &&PairResult| {
        let order = order.iter().flatten();
        let names = order.filter_map(|&at| bench.variants.get(at));
        names
            .map(|variant| &variant.name)
            .position(|name| *name == pair.new)
    };
    let mut pairs: Vec<&PairResult> = bench.pairs.iter().collect();
    pairs.sort_by_key(place);
    all.extend(pairs.into_iter().filter_map(why).take(causes));
    all
}

fn why(pair: &PairResult) -> Option<Message> {
    let why = pair.why.clone()?;
    let unit = pair.comparison.work.unit();
    let per = unit.map(|unit| message!(", per {}", unit));
    Some(message!(
        "{} vs. {}{}: {}",
        name(&pair.new),
        name(&pair.base),
        per,
        why
    ))
}

fn gate(bench: &Bench) -> Option<Section> {
    let lines = bench.pairs.iter().flat_map(|pair| {
        let lines = pair.comparison.gate.iter().flat_map(gate::lines_of);
        lines.map(|line| message!("{}: {}", name(&pair.new), plain(line)))
    });
    let gates = bench
        .pairs
        .iter()
        .filter_map(|pair| pair.comparison.gate.as_ref());
    let title = gate::title(gates);
    let limits = bench.pairs.iter().flat_map(|pair| {
        let gate = pair.comparison.gate.iter().flat_map(gate::open_limits);
        gate.map(|row| (Some(pair.new.as_str()), row))
    });
    let limits: Vec<(Option<&str>, &GateRow)> = limits.collect();
    let table = (!limits.is_empty()).then(|| Block::Table(gate::table(&limits)));
    Block::list(lines).map(|list| {
        let section = Section::new("gate", title, 1).with(list);
        section.with_some(table)
    })
}

/// Returns the findings of the variants.
fn findings(bench: &Bench) -> Option<Section> {
    let variants = bench.variants.iter();
    let groups = variants.map(|variant| {
        let runs = variant.runs.len() as u64;
        (
            Some(variant.name.as_str()),
            runs,
            variant.findings.as_slice(),
        )
    });
    finding_totals::section(groups, "runs")
}

fn warnings(bench: &Bench) -> Option<Section> {
    let warnings = bench.warnings.iter().cloned();
    let section = Section::new("warnings", "Warnings", 1);
    Block::list(warnings).map(|list| section.with(list))
}

/// Lists the runs, each with a link to its report.
fn runs(bench: &Bench) -> Option<Section> {
    let items = bench.variants.iter().flat_map(|variant| {
        variant
            .runs
            .iter()
            .zip(&variant.wall.values)
            .map(|(run, wall)| {
                let wall = tables::time(*wall);
                Item {
                    report: run.report.clone(),
                    ..Item::from(message!(
                        "{}, round {}: {}",
                        name(&variant.name),
                        count(u64::from(run.round)),
                        wall
                    ))
                }
            })
    });
    let items: Vec<Item> = items.filter(|item| item.report.is_some()).collect();
    let section = Section::new(REPORTS, "Reports of all runs", 6).folded();
    (!items.is_empty()).then(|| section.with(Block::List(items)))
}
