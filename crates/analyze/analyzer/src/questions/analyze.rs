//! Runs the stages of an analysis: from a trace to its report.

use metalens_trace::Trace;

use crate::analysis::Analysis;
use crate::basics::spans::Span;
use crate::error::Result;
use crate::findings::bound::bound;
use crate::findings::framework::framework;
use crate::findings::notes::{self, report_notes};
use crate::findings::summary::summary;
use crate::findings::{self, findings};
use crate::metrics::busy_window::BusyWindow;
use crate::metrics::efficiency::efficiency;
use crate::metrics::figures::{Figures, WorkFigures};
use crate::metrics::machine::name_events;
use crate::metrics::sanity::{SanityInput, sanity};
use crate::metrics::surroundings::{Surroundings, SurroundingsInput};
use crate::metrics::{known_work, latency, mixes, phases, slowdown};
use crate::questions::measure::Measured;
use crate::report::{
    BoundVerdict, CommandBufferErrors, Report, SCHEMA, Sanity, SelectedStep, Summary,
};
use crate::request::Request;
use crate::subject::Subject;
use crate::subject::facts::analyzed_process;
use crate::tables::recording::Recording;

/// Analyzes a trace that was read with [`selection`](crate::selection). Takes the trace, and
/// frees each of its tables after using it.
pub fn analyze(trace: Trace, request: &Request) -> Result<Analysis> {
    findings::check(&request.ignored_findings)?;

    let issues = trace.run.issues.clone();
    analyze_checked(trace, request).map_err(|error| error.with_issues(&issues))
}

/// Returns the one step that is requested. It is one of those in the report without a cut, so that both
/// count the same.
pub(crate) fn selected_step(trace: &Trace, request: &Request) -> Result<Option<SelectedStep>> {
    let choice = request.step.as_ref();
    let Some(number) = choice.and_then(|choice| choice.number) else {
        return Ok(None);
    };
    let whole = Request {
        from_ns: None,
        to_ns: None,
        keep_everyone: false,
        ..request.clone()
    };
    Measured::new(trace.clone(), &whole, None)?
        .step(number)
        .map(Some)
}

/// Analyzes a trace, or one of its steps, by a request whose settings are valid.
fn analyze_checked(trace: Trace, request: &Request) -> Result<Analysis> {
    let step = selected_step(&trace, request)?;
    let Measured {
        recording,
        subject,
        occupancy,
        kernels,
        mut figures,
        is_raw,
        absent_spills,
        tables,
    } = Measured::new(trace, request, step)?;

    let gaps: Vec<Span> = occupancy.gaps.iter().map(|gap| gap.span).collect();
    let busy_window = BusyWindow {
        chosen: &subject.chosen,
        window: subject.window(),
        busy: &occupancy.busy,
        gaps: &gaps,
    };
    if let Ok(events) = &tables.machine.driver_events {
        let top = &mut figures.idle.gaps.top;
        name_events(top, events, &recording.names, busy_window);
    }
    let input = SurroundingsInput {
        recording: &recording,
        subject: &subject,
        busy_window,
        named: &kernels.named,
        kernels: &figures.kernels,
        host: &figures.idle.host,
        steps: subject.series.first(),
    };
    let mut surroundings = Surroundings::new(tables, &input)?;
    let lanes = std::mem::take(&mut surroundings.lanes);
    surroundings.not_recorded.extend(absent_spills);

    let mut report = report(&recording, &subject, figures, surroundings, busy_window);
    let window = subject.window();
    report.mixes = mixes::of_recording(&kernels.named, &subject.mine, window, &recording.names);
    report.slowdown = slowdown::slowdown(&kernels.named, &subject.mine);
    judge(&mut report, &subject, request);
    if is_raw {
        report.notes.push(notes::intervals_from_raw_events());
    }

    Ok(Analysis::new(
        report,
        subject,
        occupancy.gaps,
        kernels.named,
        lanes,
        &recording.names,
    ))
}

/// Returns the report with all figures. Findings and summary are still empty.
fn report(
    recording: &Recording,
    subject: &Subject,
    figures: Figures,
    surroundings: Surroundings,
    busy_window: BusyWindow<'_>,
) -> Report {
    let work = figures.work;
    let errors = surroundings.machine.errors.as_ref();
    let sanity = sanity_of(recording, subject, &work, busy_window, errors);

    let wall_ns = recording.facts.duration_ns;
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        summary: Summary::default(),
        verdict: BoundVerdict::default(),
        efficiency: efficiency(work.busy.busy_ns, work.program, wall_ns),
        source: recording.source.clone(),
        run: recording.facts.clone(),
        process: analyzed_process(&subject.chosen, &recording.names),
        framework: None,
        window: subject.cut.facts(),
        counts: work.counts,
        busy: work.busy,
        gaps: figures.idle.gaps,
        idle: figures.idle.time,
        judged: figures.judged,
        steps: figures.steps,
        selected_step: subject.cut.step,
        once: figures.once,
        replay: figures.replay,
        latency: work.latency,
        kernels: figures.kernels,
        channels: work.channels,
        shaders: surroundings.shaders,
        mixes: None,
        slowdown: None,
        shape: figures.shape,
        phases: figures.phases,
        processes: subject.processes.clone(),
        machine: surroundings.machine,
        memory: surroundings.memory,
        heap: surroundings.heap,
        counters: surroundings.counters,
        engines: surroundings.engines,
        cpu: surroundings.cpu,
        work: None,
        sanity,
        gate: None,
        findings: Vec::new(),
        not_recorded: surroundings.not_recorded,
        notes: Vec::new(),
    };

    let outside = recording.outside.as_deref().unwrap_or_default();
    let own_notes = report_notes(subject, &report, outside);
    let phase_notes = phases::notes(&report.phases);
    let notes = recording
        .notes
        .iter()
        .cloned()
        .chain(own_notes)
        .chain(phase_notes);
    report.notes = notes.collect();
    report
}

/// Returns the checks of the recording.
pub(crate) fn sanity_of(
    recording: &Recording,
    subject: &Subject,
    work: &WorkFigures,
    busy_window: BusyWindow<'_>,
    errors: Option<&CommandBufferErrors>,
) -> Sanity {
    let doubtful = subject.without_process().into_iter();
    sanity(&SanityInput {
        run: &recording.facts,
        source: recording.source.kind,
        busy_window,
        mine: &subject.mine,
        busy: &work.busy,
        encoders: work.counts.encoders,
        rows: subject.others.rows,
        all_intervals: subject.others.all_intervals,
        unattributed: subject.others.unattributed,
        doubtful: doubtful.chain(recording.measured).collect(),
        listed: work.encoders_listed,
        finished: recording.lost.or(subject.finished),
        outside: recording.outside.as_deref(),
        truncated_tables: &recording.truncated_tables,
        errors,
    })
}

/// Adds what follows from the figures: throughput, findings and the summary.
fn judge(report: &mut Report, subject: &Subject, request: &Request) {
    match request.known_work() {
        Some(file) => {
            report.work = Some(known_work::work(&file, report));
            // This note comes before all others: rates of a simulation mean nothing.
            if let Some(note) = known_work::simulated(&file, report.run.synthetic) {
                report.notes.insert(0, note);
            }
        }
        None => report.not_recorded.push(known_work::not_recorded()),
    }

    let phases = phases::not_recorded(&subject.signposts);
    let latency = latency::not_recorded(&subject.buffers);
    report
        .not_recorded
        .extend(phases.into_iter().chain(latency));

    report.verdict = bound(report);
    report.framework = framework(report);
    report.findings = findings(report, &request.ignored_findings);
    // The summary reads the findings.
    report.summary = summary(report);
}
