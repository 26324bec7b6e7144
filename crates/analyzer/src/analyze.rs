//! Runs the stages of an analysis: from a trace to its report.

use metalens_trace::Trace;

use crate::analysis::Analysis;
use crate::basics::parallel::both;
use crate::basics::spans::Span;
use crate::error::{Error, Result};
use crate::findings::bound::bound;
use crate::findings::framework::framework;
use crate::findings::notes::{self, report_notes};
use crate::findings::summary::summary;
use crate::findings::verdicts::verdicts;
use crate::findings::{self, findings};
use crate::metrics::busy_window::BusyWindow;
use crate::metrics::efficiency::efficiency;
use crate::metrics::figures::{Figures, FiguresInput};
use crate::metrics::gap_causes::GapSplitter;
use crate::metrics::kernels::Kernels;
use crate::metrics::sanity::{SanityInput, sanity};
use crate::metrics::spills::SpilledEncoders;
use crate::metrics::surroundings::Surroundings;
use crate::metrics::{known_work, phases};
use crate::report::{BoundVerdict, NotRecorded, Note, Report, SCHEMA, SelectedIteration, Summary};
use crate::request::Request;
use crate::subject::facts::analyzed_process;
use crate::subject::gaps::occupancy;
use crate::subject::signposts::Signposts;
use crate::subject::timeline::Timeline;
use crate::subject::{Subject, debug_groups};
use crate::tables;
use crate::tables::cpu::CpuTable;
use crate::tables::recording::Recording;

/// Analyzes a trace that was read with [`selection`](crate::selection). Takes the trace, and
/// frees each of its tables after using it.
pub fn analyze(trace: Trace, request: &Request) -> Result<Analysis> {
    let Some((iteration, note)) = detected_iteration(&trace, request)? else {
        return analyze_part(trace, request, None);
    };

    // The iterations have a warm-up cut off already if that is wanted.
    let part = Request {
        skip_warm_up: false,
        ..request.clone()
    };
    let mut analysis = analyze_part(trace, &part, Some(iteration))?;
    analysis.report.add_note(note);
    Ok(analysis)
}

/// Returns the detected iteration that is requested, with a note about it. It is one of those in the
/// report without a cut, so that both count the same.
pub(crate) fn detected_iteration(
    trace: &Trace,
    request: &Request,
) -> Result<Option<(SelectedIteration, Note)>> {
    let detected = request.iteration.filter(|_| request.phase.is_none());
    let Some(number) = detected else {
        return Ok(None);
    };
    let whole = Request {
        iteration: None,
        keep_everyone: false,
        ..request.clone()
    };
    let found = analyze_part(trace.clone(), &whole, None)?;
    let iteration = found.iteration(number)?;
    let marker = found.report.phases.iterations.as_ref();
    let marker = marker.and_then(|found| found.marker.as_deref());
    let note = phases::iteration_note(&iteration, marker);
    Ok(Some((iteration, note)))
}

/// Analyzes a trace, or one of its iterations.
fn analyze_part(
    trace: Trace,
    request: &Request,
    iteration: Option<SelectedIteration>,
) -> Result<Analysis> {
    request.settings.thresholds.check()?;
    findings::check(&request.settings.ignored_findings)?;
    let (mut recording, tables) = tables::take(trace)?;

    let cpu = tables.surroundings.cpu.as_ref();
    let timeline = Timeline::read(tables.gpu, tables.raw, &mut recording.names)
        .map_err(|error| only_cpu(cpu).unwrap_or(error))?;
    let names = &recording.names;
    let raw_note = timeline.is_raw.then(notes::intervals_from_raw_events);
    let mut subject = Subject::new(
        timeline,
        Signposts::read(tables.signposts, names),
        tables.commands,
        debug_groups::has_any(&tables.names.application_events),
        &recording,
        request,
        iteration,
    )?;

    let (window, mine) = (subject.window(), &subject.mine);
    let (occupancy, kernels) = both(
        || occupancy(mine, window),
        || {
            let named = subject.named_intervals(tables.names, names);
            let spilled = tables.spills.as_ref().ok();
            let spilled = spilled.map(|table| SpilledEncoders::read(table, &subject.chosen));
            named.map(|named| Kernels::new(named, spilled.as_ref(), mine, window))
        },
    );
    let kernels = kernels?;

    let figures = FiguresInput {
        subject: &subject,
        skips_warm_up: request.skip_warm_up,
        occupancy: &occupancy,
        kernels: &kernels,
        names,
    }
    .figures();

    let gaps: Vec<Span> = occupancy.gaps.iter().map(|gap| gap.span).collect();
    let busy_window = BusyWindow {
        chosen: &subject.chosen,
        window,
        busy: &occupancy.busy,
        gaps: &gaps,
    };
    let host = &figures.idle.host;
    let named = (&kernels.named, figures.kernels.as_slice());
    let mut surroundings = Surroundings::new(
        tables.surroundings,
        &recording,
        &subject,
        busy_window,
        (named, host),
        || {
            let splitter = GapSplitter::new(&subject);
            let gaps = occupancy.gaps.iter();
            gaps.flat_map(|gap| splitter.stretches(gap)).collect()
        },
    )?;
    let lanes = std::mem::take(&mut surroundings.lanes);
    if let Err(absent) = &tables.spills {
        let missing = NotRecorded::new("kernels.spills", absent.why());
        surroundings.not_recorded.push(missing);
    }

    let mut report = report(&recording, &subject, figures, surroundings, busy_window);
    judge(&mut report, &subject, request);
    if let Some(note) = raw_note {
        report.add_note(note);
    }
    // The report has all that anyone needs of them, and there may be a million.
    subject.buffers = Vec::new();
    Ok(Analysis::new(
        report,
        subject,
        occupancy.gaps,
        kernels.named,
        lanes,
        names,
    ))
}

/// Returns the error for a trace without GPU intervals if it has CPU samples.
fn only_cpu(table: Option<&CpuTable>) -> Option<Error> {
    let table = table?;
    Some(Error::OnlyCpu {
        table: table.schema.to_owned(),
        samples: table.rows,
    })
}

/// Returns the report with all figures. Thresholds, findings and summary are still empty.
fn report(
    recording: &Recording,
    subject: &Subject,
    figures: Figures,
    surroundings: Surroundings,
    busy_window: BusyWindow<'_>,
) -> Report {
    let work = figures.work;

    let sanity = sanity(&SanityInput {
        run: &recording.facts,
        busy_window,
        mine: &subject.mine,
        busy: &work.busy,
        encoders: work.counts.encoders,
        rows: subject.others.rows,
        all_intervals: subject.others.all_intervals,
        unattributed: subject.others.unattributed,
        listed: work.encoders_listed,
        truncated_tables: &recording.truncated_tables,
        errors: surroundings.machine.errors.as_ref(),
    });

    let steady = figures.phases.warm_up.as_ref().map(|found| &found.steady);
    let wall_ns = recording.facts.duration_ns;
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        summary: Summary::default(),
        verdict: BoundVerdict::default(),
        efficiency: efficiency(work.busy.busy_ns, work.program, steady, wall_ns),
        source: recording.source.clone(),
        run: recording.facts.clone(),
        process: analyzed_process(&subject.chosen, &recording.names),
        framework: None,
        window: subject.cut.facts(),
        counts: work.counts,
        busy: work.busy,
        gaps: figures.idle.gaps,
        idle: figures.idle.time,
        latency: work.latency,
        kernels: figures.kernels,
        channels: work.channels,
        shaders: surroundings.shaders,
        shape: figures.shape,
        phases: figures.phases,
        processes: subject.processes.clone(),
        machine: surroundings.machine,
        counters: surroundings.counters,
        engines: surroundings.engines.engines,
        frames: surroundings.engines.frames,
        cpu: surroundings.cpu,
        work: None,
        sanity,
        thresholds: Vec::new(),
        findings: Vec::new(),
        not_recorded: surroundings.not_recorded,
        notes: Vec::new(),
        note_details: Vec::new(),
    };

    let own_notes = report_notes(subject, &report);
    let phase_notes = phases::notes(&report.phases, busy_window.window);
    let notes = recording
        .notes
        .iter()
        .cloned()
        .chain(own_notes)
        .chain(phase_notes);
    (report.notes, report.note_details) = Note::lists(notes);
    report
}

/// Adds what follows from the figures: throughput, thresholds, findings and the summary.
fn judge(report: &mut Report, subject: &Subject, request: &Request) {
    match &request.work {
        Some(file) => {
            report.work = Some(known_work::work(file, report, &subject.buffers));
            // This note comes before all others: rates of a simulation mean nothing.
            if let Some(note) = known_work::simulated(file, report.run.synthetic) {
                report.notes.insert(0, note.text);
                report.note_details.insert(0, note.detail);
            }
        }
        None => report.not_recorded.push(known_work::not_recorded()),
    }

    report
        .not_recorded
        .extend(phases::not_recorded(&subject.signposts));

    report.verdict = bound(report);
    report.framework = framework(report);
    report.thresholds = verdicts(report, &request.settings.thresholds);
    report.findings = findings(report, &request.settings.ignored_findings);
    // The summary reads the findings.
    report.summary = summary(report);
}
