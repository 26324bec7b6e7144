//! The analysis: a trace in, a report out.

use metalens_trace::{Names, Trace};

use crate::analysis::Analysis;
use crate::buffers::{Buffer, buffers};
use crate::debug_groups::groups_of;
use crate::efficiency::{efficiency, program};
use crate::error::Result;
use crate::facts::{run_facts, source, target_facts};
use crate::findings::{self, findings};
use crate::gaps::{Occupancy, occupancy};
use crate::idle::{Idle, idle};
use crate::kernels::{Hints, NamedIntervals, channels, sum_ns};
use crate::known_work;
use crate::latency::latency;
use crate::ledger::Book;
use crate::machine::{self, Against, SanityInput};
use crate::naming::KernelNames;
use crate::notes::{report_notes, trace_notes};
use crate::parallel::both;
use crate::phases::{self, Before, phases};
use crate::report::{
    Busy, Channel, Counts, Efficiency, Kernel, Latency, Phases, Report, SCHEMA, Shape, Summary,
};
use crate::request::Request;
use crate::shaders::shaders_of;
use crate::shape::shape;
use crate::spans::{Span, length_ns, overlap_ns};
use crate::statistics::ratio;
use crate::subject::{Subject, WHOLE};
use crate::summary::summary;
use crate::surroundings::Surroundings;
use crate::targets::verdicts;
use crate::timeline::encoders;

/// Analyzes a trace that was read with [`selection`](crate::selection). Takes
/// the trace, and frees each of its tables once it is used.
pub fn analyze(mut trace: Trace, request: &Request) -> Result<Analysis> {
    request.settings.limits.check()?;
    findings::check(&request.settings.ignored_findings)?;
    let (source, run) = (source(&trace), run_facts(&trace));
    let truncated_tables = machine::truncated_tables(&trace);
    let mut notes = trace_notes(&trace);

    let subject = Subject::of(&mut trace, request)?;
    let window = subject.window();
    let occupancy = occupancy(&subject.mine, window);
    let kernels = named(&mut trace, &subject)?;
    let Figures {
        idle,
        buffers,
        encoders,
        latency,
        summaries,
        channels,
        shape,
        phases,
        program,
    } = figures(&subject, &occupancy, &kernels, &trace.names);
    let gaps: Vec<Span> = occupancy.gaps.iter().map(|gap| gap.span).collect();
    let against = Against {
        target: &subject.target,
        window,
        busy: &occupancy.busy,
        gaps: &gaps,
    };
    let around = Surroundings::take(&mut trace, &subject, against, &idle.host)?;
    let names = &trace.names;
    let busy = busy(&subject, &occupancy);
    let sanity = machine::sanity(&SanityInput {
        run: &run,
        against,
        mine: &subject.mine,
        busy: &busy,
        encoders: &encoders,
        rows: subject.others.rows,
        all_intervals: subject.others.all_intervals,
        unattributed: subject.others.unattributed,
        listed: subject.commands.listed_encoders().as_deref(),
        truncated_tables,
        errors: around.machine.errors.as_ref(),
    });
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        summary: Summary::default(),
        source,
        run,
        target: target_facts(&subject.target, names),
        window: subject.cut.facts(),
        counts: counts(&subject, &kernels, &encoders, &buffers),
        busy,
        efficiency: Efficiency::default(),
        gaps: idle.gaps,
        ledger: idle.ledger,
        latency,
        kernels: summaries,
        channels,
        shaders: around.shaders,
        shape,
        phases,
        processes: subject.processes.clone(),
        machine: around.machine,
        counters: around.counters,
        cpu: around.cpu,
        work: None,
        sanity,
        targets: Vec::new(),
        findings: Vec::new(),
        unavailable: around.unavailable,
        notes: Vec::new(),
    };
    notes.extend(report_notes(&subject, &report));
    notes.extend(phases::notes(&report.phases, window));
    report.notes = notes;
    let steady = report.phases.warm_up.as_ref().map(|found| &found.steady);
    let wall_ns = report.run.duration_ns;
    report.efficiency = efficiency(report.busy.busy_ns, program, steady, wall_ns);
    judge(&mut report, &subject, request);
    Ok(Analysis::new(
        report,
        subject,
        occupancy.gaps,
        kernels,
        around.performance,
        &trace.names,
    ))
}

/// What follows from the figures: rates, targets, findings, four sentences.
fn judge(report: &mut Report, subject: &Subject, request: &Request) {
    match &request.work {
        Some(file) => {
            report.work = Some(known_work::work(file, report, &subject.timed_buffers));
            let loud = known_work::simulated(file, report.run.synthetic);
            report.notes.splice(0..0, loud);
        }
        None => report.unavailable.push(known_work::unavailable()),
    }
    report
        .unavailable
        .extend(phases::unavailable(&subject.signposts));
    report.targets = verdicts(report, request.settings.limits);
    report.findings = findings(report, &request.settings.ignored_findings);
    report.summary = summary(report);
}

/// What follows from the target's intervals, its gaps and its commands alone.
struct Figures {
    idle: Idle,
    buffers: Vec<Buffer>,
    encoders: Vec<u64>,
    latency: Latency,
    summaries: Vec<Kernel>,
    channels: Vec<Channel>,
    shape: Shape,
    phases: Phases,
    program: Option<Span>,
}

/// Works them out on three threads: there may be millions of intervals, and none
/// of these needs another.
fn figures(
    subject: &Subject,
    occupancy: &Occupancy,
    kernels: &NamedIntervals,
    names: &Names,
) -> Figures {
    let (mine, window) = (&subject.mine, subject.window());
    let of_idle = || idle(&occupancy.gaps, &Book::of(subject), kernels);
    let of_work = || {
        let buffers = buffers(mine);
        let latency = latency(&buffers, &subject.commands, window, names);
        let summaries = kernels.summaries(mine, window, names);
        let channels = channels(mine, window, names);
        // Where the window was cut, the program's run time is cut there too.
        let asked = match subject.cut.facts().excluded.is_empty() {
            true => WHOLE,
            false => window,
        };
        let program = program(mine, &buffers, &subject.commands, asked);
        let encoders = encoders(mine);
        (buffers, latency, summaries, channels, program, encoders)
    };
    let of_shape = || {
        let shape = shape_of(subject, kernels, occupancy, names);
        (shape, phases_of(subject, kernels, occupancy, names))
    };
    let (idle, (work, (shape, phases))) = both(of_idle, || both(of_work, of_shape));
    let (buffers, latency, summaries, channels, program, encoders) = work;
    Figures {
        idle,
        buffers,
        encoders,
        latency,
        summaries,
        channels,
        shape,
        phases,
        program,
    }
}

fn shape_of(
    subject: &Subject,
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
    names: &Names,
) -> Shape {
    let (mine, others) = (&subject.mine, &subject.others.busy);
    shape(mine, kernels, occupancy, others, subject.window(), names)
}

fn phases_of(
    subject: &Subject,
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
    names: &Names,
) -> Phases {
    let before = Before {
        warm_up: subject.warm_up.clone(),
        signposts: &subject.signposts,
        selected: subject.cut.phase.clone(),
    };
    let (mine, target) = (&subject.mine, &subject.target);
    phases(
        mine,
        kernels,
        occupancy,
        subject.window(),
        before,
        target,
        names,
    )
}

/// The kernels of the target's intervals.
fn named(trace: &mut Trace, subject: &Subject) -> Result<NamedIntervals> {
    let (mine, target, commands) = (&subject.mine, &subject.target, &subject.commands);
    let hints = Hints {
        shaders: shaders_of(trace, mine, target)?,
        groups: groups_of(trace, mine, commands, target)?,
    };
    let names = KernelNames::new(&trace.names, &commands.label_pairs);
    Ok(NamedIntervals::of(mine, &names, &hints))
}

fn counts(
    subject: &Subject,
    kernels: &NamedIntervals,
    encoders: &[u64],
    buffers: &[Buffer],
) -> Counts {
    Counts {
        intervals: subject.mine.len() as u64,
        encoders: encoders.len() as u64,
        command_buffers: buffers.len() as u64,
        kernels: kernels.count() as u64,
        coalesced: kernels.coalesced,
        coalesced_encoders: kernels.coalesced_encoders,
        all_intervals: subject.others.all_intervals,
        unattributed: subject.others.unattributed,
    }
}

fn busy(subject: &Subject, occupancy: &Occupancy) -> Busy {
    let window = subject.window();
    let others = &subject.others.busy;
    let busy_ns = length_ns(&occupancy.busy);
    let sum_ns = sum_ns(&subject.mine, window);
    let foreign_busy_ns = length_ns(others);
    let foreign_overlap_ns = overlap_ns(&occupancy.busy, others);
    let active = subject.active.as_deref();
    Busy {
        busy_ns,
        sum_ns,
        ratio: ratio(busy_ns, window.length_ns()),
        overlap_factor: ratio(sum_ns, busy_ns),
        machine_busy_ns: busy_ns + foreign_busy_ns - foreign_overlap_ns,
        machine_active_ns: active.map(|active| overlap_ns(active, &[window])),
        foreign_busy_ns,
        foreign_overlap_ns,
    }
}
