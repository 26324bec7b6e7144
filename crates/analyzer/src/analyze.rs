//! The analysis: a trace in, a report out.

use metalens_trace::Trace;

use crate::analysis::Analysis;
use crate::basics::parallel::both;
use crate::basics::spans::Span;
use crate::error::{Error, Result};
use crate::findings::notes::report_notes;
use crate::findings::summary::summary;
use crate::findings::verdicts::verdicts;
use crate::findings::{self, findings};
use crate::metrics::against::Against;
use crate::metrics::efficiency::efficiency;
use crate::metrics::figures::{Figures, Known};
use crate::metrics::kernels::Kernels;
use crate::metrics::sanity::{SanityInput, sanity};
use crate::metrics::surroundings::Surroundings;
use crate::metrics::{known_work, phases};
use crate::report::{Note, Report, SCHEMA, Summary};
use crate::request::Request;
use crate::subject::facts::target_facts;
use crate::subject::gaps::occupancy;
use crate::subject::signposts::Signposts;
use crate::subject::timeline::Timeline;
use crate::subject::{Subject, debug_groups};
use crate::tables;
use crate::tables::cpu::CpuTable;
use crate::tables::recording::Recording;

/// Analyzes a trace that was read with [`selection`](crate::selection). Takes
/// the trace, and frees each of its tables once it is used.
pub fn analyze(trace: Trace, request: &Request) -> Result<Analysis> {
    request.settings.limits.check()?;
    findings::check(&request.settings.ignored_findings)?;
    let (recording, tables) = tables::take(trace)?;
    let names = &recording.names;

    let cpu = tables.surroundings.cpu.as_ref();
    let timeline =
        Timeline::of(tables.gpu, names).map_err(|error| only_cpu(cpu).unwrap_or(error))?;
    let mut subject = Subject::of(
        timeline,
        Signposts::of(tables.signposts, names),
        tables.commands,
        debug_groups::has_any(&tables.names.application_events),
        &recording,
        request,
    )?;

    let (window, mine) = (subject.window(), &subject.mine);
    let (occupancy, kernels) = both(
        || occupancy(mine, window),
        || {
            let named = subject.named_intervals(tables.names, names);
            named.map(|named| Kernels::of(named, mine, window))
        },
    );
    let kernels = kernels?;
    let figures = Known {
        subject: &subject,
        skips_warm_up: request.skip_warm_up,
        occupancy: &occupancy,
        kernels: &kernels,
        names,
    }
    .figures();
    let gaps: Vec<Span> = occupancy.gaps.iter().map(|gap| gap.span).collect();
    let against = Against {
        target: &subject.target,
        window,
        busy: &occupancy.busy,
        gaps: &gaps,
    };
    let host = &figures.idle.host;
    let mut around = Surroundings::of(tables.surroundings, &recording, &subject, against, host)?;
    let performance = std::mem::take(&mut around.performance);

    let mut report = report(&recording, &subject, figures, around, against);
    judge(&mut report, &subject, request);
    // The report has all of them that is asked for, and there may be a million.
    subject.buffers = Vec::new();
    Ok(Analysis::new(
        report,
        subject,
        occupancy.gaps,
        kernels.named,
        performance,
        names,
    ))
}

/// What to say instead of a missing table of GPU intervals, if the trace is
/// about the CPU.
fn only_cpu(table: Option<&CpuTable>) -> Option<Error> {
    let table = table?;
    Some(Error::OnlyCpu {
        table: table.schema.to_owned(),
        samples: table.rows,
    })
}

/// All figures in their places. What is judged by them is yet to come.
fn report(
    recording: &Recording,
    subject: &Subject,
    figures: Figures,
    around: Surroundings,
    against: Against<'_>,
) -> Report {
    let work = figures.work;
    let sanity = sanity(&SanityInput {
        run: &recording.facts,
        against,
        mine: &subject.mine,
        busy: &work.busy,
        encoders: work.counts.encoders,
        rows: subject.others.rows,
        all_intervals: subject.others.all_intervals,
        unattributed: subject.others.unattributed,
        listed: work.encoders_listed,
        truncated_tables: &recording.truncated_tables,
        errors: around.machine.errors.as_ref(),
    });
    let steady = figures.phases.warm_up.as_ref().map(|found| &found.steady);
    let wall_ns = recording.facts.duration_ns;
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        summary: Summary::default(),
        efficiency: efficiency(work.busy.busy_ns, work.program, steady, wall_ns),
        source: recording.source.clone(),
        run: recording.facts.clone(),
        process: target_facts(&subject.target, &recording.names),
        window: subject.cut.facts(),
        counts: work.counts,
        busy: work.busy,
        gaps: figures.idle.gaps,
        idle: figures.idle.ledger,
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
        thresholds: Vec::new(),
        findings: Vec::new(),
        not_recorded: around.unavailable,
        notes: Vec::new(),
        note_details: Vec::new(),
    };
    let of_report = report_notes(subject, &report);
    let of_phases = phases::notes(&report.phases, against.window);
    let notes = recording
        .notes
        .iter()
        .cloned()
        .chain(of_report)
        .chain(of_phases);
    (report.notes, report.note_details) = Note::lists(notes);
    report
}

/// What follows from the figures: rates, targets, findings, four sentences.
fn judge(report: &mut Report, subject: &Subject, request: &Request) {
    match &request.work {
        Some(file) => {
            report.work = Some(known_work::work(file, report, &subject.buffers));
            // Before all others: rates are not true of anything.
            if let Some(note) = known_work::simulated(file, report.run.synthetic) {
                report.notes.insert(0, note.text);
                report.note_details.insert(0, note.detail);
            }
        }
        None => report.not_recorded.push(known_work::unavailable()),
    }
    report
        .not_recorded
        .extend(phases::unavailable(&subject.signposts));
    report.thresholds = verdicts(report, &request.settings);
    report.findings = findings(report, &request.settings.ignored_findings);
    report.summary = summary(report);
}
