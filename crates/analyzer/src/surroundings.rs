//! What a recording tells beside the GPU's intervals: machine, counters, CPU.

use metalens_trace::Trace;

use crate::analysis::Held;
use crate::counters::counters;
use crate::cpu;
use crate::error::Result;
use crate::machine::{Against, machine, others};
use crate::report::{Counters, Cpu, Machine, Shader, Unavailable};
use crate::shaders::inventory;
use crate::spans::Span;
use crate::subject::Subject;

/// All of it, and what is missing.
pub(crate) struct Surroundings {
    pub machine: Machine,
    /// When which performance state held.
    pub performance: Vec<Held>,
    pub counters: Option<Counters>,
    pub cpu: Option<Cpu>,
    pub shaders: Vec<Shader>,
    pub unavailable: Vec<Unavailable>,
}

impl Surroundings {
    /// Takes their tables out of a trace. `host` are the stretches in which the
    /// GPU waited for the program.
    pub(crate) fn take(
        trace: &mut Trace,
        subject: &Subject,
        against: Against<'_>,
        host: &[Span],
    ) -> Result<Self> {
        let mut unavailable = Vec::new();
        let users = &subject.others.users;
        let foreign = others(users, against.gaps, &trace.names);
        let (machine, performance) =
            machine(trace, against, &subject.mine, foreign, &mut unavailable);
        let counters = counters(trace, against.window, against.busy);
        let counters = counters.map_err(|why| unavailable.push(why)).ok();
        let threads = &subject.commands.threads;
        let cpu = cpu::cpu(trace, &subject.target, threads, host, against.window)?;
        unavailable.extend(cpu::unavailable(cpu.as_ref()));
        Ok(Self {
            machine,
            performance,
            counters,
            cpu,
            shaders: inventory(trace, &subject.target),
            unavailable,
        })
    }
}
