//! The analysis: a trace in, a report out.

use metalens_trace::{Names, Trace};

use crate::analysis::Analysis;
use crate::debug_groups::groups_of;
use crate::efficiency::efficiency;
use crate::error::Result;
use crate::facts::{run_facts, source, target_facts};
use crate::figures::{Figures, Known};
use crate::findings::{self, findings};
use crate::gaps::occupancy;
use crate::kernels::{Hints, Kernels, NamedIntervals};
use crate::known_work;
use crate::machine::{self, Against, SanityInput};
use crate::naming::KernelNames;
use crate::notes::{report_notes, trace_notes};
use crate::parallel::both;
use crate::phases;
use crate::report::{Report, RunFacts, SCHEMA, Source, Summary};
use crate::request::Request;
use crate::shaders::shaders_of;
use crate::spans::Span;
use crate::subject::Subject;
use crate::summary::summary;
use crate::surroundings::Surroundings;
use crate::targets::verdicts;
use crate::times;

/// Analyzes a trace that was read with [`selection`](crate::selection). Takes
/// the trace, and frees each of its tables once it is used.
pub fn analyze(mut trace: Trace, request: &Request) -> Result<Analysis> {
    request.settings.limits.check()?;
    findings::check(&request.settings.ignored_findings)?;
    times::check(&mut trace)?;
    let given = Given::of(&trace);
    let mut subject = Subject::of(&mut trace, request)?;
    let (window, mine) = (subject.window(), &subject.mine);
    let (occupancy, kernels) = both(
        || occupancy(mine, window),
        || {
            let named = named(&mut trace, &subject);
            named.map(|named| (named.durations(mine, window), named))
        },
    );
    let (durations, kernels) = kernels?;
    let figures = Known {
        subject: &subject,
        skips_warm_up: request.skip_warm_up,
        occupancy: &occupancy,
        kernels: Kernels {
            named: &kernels,
            durations: &durations,
        },
        names: &trace.names,
    }
    .figures();
    let gaps: Vec<Span> = occupancy.gaps.iter().map(|gap| gap.span).collect();
    let against = Against {
        target: &subject.target,
        window,
        busy: &occupancy.busy,
        gaps: &gaps,
    };
    let mut around = Surroundings::take(&mut trace, &subject, against, &figures.idle.host)?;
    let performance = std::mem::take(&mut around.performance);
    let mut report = report(given, &subject, figures, around, against, &trace.names);
    judge(&mut report, &subject, request);
    // The report has all of them that is asked for, and there may be a million.
    subject.buffers = Vec::new();
    Ok(Analysis::new(
        report,
        subject,
        occupancy.gaps,
        kernels,
        performance,
        &trace.names,
    ))
}

/// What a trace says by itself, before any of its tables is taken.
struct Given {
    source: Source,
    run: RunFacts,
    truncated_tables: Vec<String>,
    notes: Vec<String>,
}

impl Given {
    fn of(trace: &Trace) -> Self {
        Self {
            source: source(trace),
            run: run_facts(trace),
            truncated_tables: machine::truncated_tables(trace),
            notes: trace_notes(trace),
        }
    }
}

/// All figures in their places. What is judged by them is yet to come.
fn report(
    given: Given,
    subject: &Subject,
    figures: Figures,
    around: Surroundings,
    against: Against<'_>,
    names: &Names,
) -> Report {
    let work = figures.work;
    let sanity = machine::sanity(&SanityInput {
        run: &given.run,
        against,
        mine: &subject.mine,
        busy: &work.busy,
        encoders: work.counts.encoders,
        rows: subject.others.rows,
        all_intervals: subject.others.all_intervals,
        unattributed: subject.others.unattributed,
        listed: work.encoders_listed,
        truncated_tables: given.truncated_tables,
        errors: around.machine.errors.as_ref(),
    });
    let steady = figures.phases.warm_up.as_ref().map(|found| &found.steady);
    let wall_ns = given.run.duration_ns;
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        summary: Summary::default(),
        efficiency: efficiency(work.busy.busy_ns, work.program, steady, wall_ns),
        source: given.source,
        run: given.run,
        target: target_facts(&subject.target, names),
        window: subject.cut.facts(),
        counts: work.counts,
        busy: work.busy,
        gaps: figures.idle.gaps,
        ledger: figures.idle.ledger,
        latency: work.latency,
        kernels: figures.kernels,
        channels: work.channels,
        shaders: around.shaders,
        shape: figures.shape,
        phases: figures.phases,
        processes: subject.processes.clone(),
        machine: around.machine,
        counters: around.counters,
        cpu: around.cpu,
        work: None,
        sanity,
        targets: Vec::new(),
        findings: Vec::new(),
        unavailable: around.unavailable,
        notes: given.notes,
    };
    let of_report = report_notes(subject, &report);
    report.notes.extend(of_report);
    report
        .notes
        .extend(phases::notes(&report.phases, against.window));
    report
}

/// What follows from the figures: rates, targets, findings, four sentences.
fn judge(report: &mut Report, subject: &Subject, request: &Request) {
    match &request.work {
        Some(file) => {
            report.work = Some(known_work::work(file, report, &subject.buffers));
            let loud = known_work::simulated(file, report.run.synthetic);
            report.notes.splice(0..0, loud);
        }
        None => report.unavailable.push(known_work::unavailable()),
    }
    report
        .unavailable
        .extend(phases::unavailable(&subject.signposts));
    report.targets = verdicts(report, &request.settings);
    report.findings = findings(report, &request.settings.ignored_findings);
    report.summary = summary(report);
}

/// The kernels of the target's intervals.
fn named(trace: &mut Trace, subject: &Subject) -> Result<NamedIntervals> {
    let (mine, target, commands) = (&subject.mine, &subject.target, &subject.commands);
    let hints = Hints {
        shaders: shaders_of(trace, mine, target)?,
        groups: groups_of(trace, mine, commands, target)?,
    };
    let names = KernelNames::new(&trace.names, &subject.label_pairs);
    Ok(NamedIntervals::of(mine, &names, &hints))
}
