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
use crate::kernels::{Hints, Kernels, NamedIntervals, channels, sum_ns};
use crate::known_work;
use crate::latency::latency;
use crate::ledger::Book;
use crate::machine::{self, Against, SanityInput};
use crate::naming::KernelNames;
use crate::notes::{report_notes, trace_notes};
use crate::parallel::both;
use crate::phases::{self, Before, phases, warm_up};
use crate::report::{
    Busy, Channel, Counts, Efficiency, Kernel, Latency, Phases, Report, SCHEMA, Shape, Summary,
    WarmUp,
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
    let around = Surroundings::take(&mut trace, &subject, against, &figures.idle.host)?;
    let names = &trace.names;
    let busy = busy(&subject, &occupancy);
    let listed = subject.commands.listed_encoders();
    let sanity = machine::sanity(&SanityInput {
        run: &run,
        against,
        mine: &subject.mine,
        busy: &busy,
        encoders: figures.encoders.len() as u64,
        rows: subject.others.rows,
        all_intervals: subject.others.all_intervals,
        unattributed: subject.others.unattributed,
        listed: listed.map(|listed| machine::joined(&figures.encoders, listed)),
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
        counts: counts(&subject, &kernels, &figures),
        busy,
        efficiency: Efficiency::default(),
        gaps: figures.idle.gaps,
        ledger: figures.idle.ledger,
        latency: figures.latency,
        kernels: figures.summaries,
        channels: figures.channels,
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
        notes: Vec::new(),
    };
    notes.extend(report_notes(&subject, &report));
    notes.extend(phases::notes(&report.phases, window));
    report.notes = notes;
    let steady = report.phases.warm_up.as_ref().map(|found| &found.steady);
    let wall_ns = report.run.duration_ns;
    report.efficiency = efficiency(report.busy.busy_ns, figures.program, steady, wall_ns);
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

/// What the figures are made of.
struct Known<'a> {
    subject: &'a Subject,
    occupancy: &'a Occupancy,
    kernels: Kernels<'a>,
    names: &'a Names,
}

impl Known<'_> {
    /// Works them out on four threads: there may be millions of intervals, and none
    /// of these needs another.
    fn figures(&self) -> Figures {
        let (subject, names, window) = (self.subject, self.names, self.subject.window());
        let mine = &subject.mine;
        let Kernels { named, durations } = self.kernels;
        let of_idle = || idle(&self.occupancy.gaps, &Book::of(subject), named);
        let of_work = || {
            let buffers = buffers(mine);
            let latency = latency(&buffers, &subject.commands, window, names);
            let channels = channels(mine, window, names);
            // Where the window was cut, the program's run time is cut there too.
            let asked = match subject.cut.facts().excluded.is_empty() {
                true => WHOLE,
                false => window,
            };
            let program = program(mine, &buffers, &subject.commands, asked);
            (buffers, latency, channels, program, encoders(mine))
        };
        let ((idle, phases), (work, shape)) = both(
            || both(of_idle, || self.phases()),
            || both(of_work, || self.shape()),
        );
        let (buffers, latency, channels, program, encoders) = work;
        Figures {
            idle,
            buffers,
            encoders,
            latency,
            summaries: named.summaries(durations, names),
            channels,
            shape,
            phases,
            program,
        }
    }

    fn shape(&self) -> Shape {
        let (subject, window) = (self.subject, self.subject.window());
        let (mine, others) = (&subject.mine, &subject.others.busy);
        shape(
            mine,
            self.kernels,
            self.occupancy,
            others,
            window,
            self.names,
        )
    }

    /// A warm-up that is not left out. Where one is, the rest has none.
    fn warm_up(&self) -> Option<WarmUp> {
        let (subject, window) = (self.subject, self.subject.window());
        if subject.skips_warm_up {
            return None;
        }
        let (mine, kernels) = (&subject.mine, self.kernels.named);
        let by_label = || {
            let names = KernelNames::new(self.names, &subject.label_pairs);
            NamedIntervals::of(mine, &names, &Hints::default())
        };
        let found = match kernels.by_label {
            true => warm_up::find(mine.iter(), kernels, window, self.names),
            false => warm_up::find(mine.iter(), &by_label(), window, self.names),
        };
        found.map(|found| found.report(mine, window, false))
    }

    fn phases(&self) -> Phases {
        let subject = self.subject;
        let before = Before {
            warm_up: subject.skipped.clone().or_else(|| self.warm_up()),
            signposts: &subject.signposts,
            selected: subject.cut.phase.clone(),
        };
        phases(
            &subject.mine,
            self.kernels.named,
            self.occupancy,
            subject.window(),
            before,
            &subject.target,
            self.names,
        )
    }
}

/// The kernels of the target's intervals.
fn named(trace: &mut Trace, subject: &Subject) -> Result<NamedIntervals> {
    let (mine, target, commands) = (&subject.mine, &subject.target, &subject.commands);
    let label_pairs = &subject.label_pairs;
    let hints = Hints {
        shaders: shaders_of(trace, mine, target)?,
        groups: groups_of(trace, mine, commands, target)?,
    };
    let names = KernelNames::new(&trace.names, label_pairs);
    Ok(NamedIntervals::of(mine, &names, &hints))
}

fn counts(subject: &Subject, kernels: &NamedIntervals, figures: &Figures) -> Counts {
    Counts {
        intervals: subject.mine.len() as u64,
        encoders: figures.encoders.len() as u64,
        command_buffers: figures.buffers.len() as u64,
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
