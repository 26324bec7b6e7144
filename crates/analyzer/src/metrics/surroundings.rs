//! What a recording tells beside the GPU's intervals: machine, counters, CPU.

use super::against::Against;
use super::counters::counters;
use super::cpu;
use super::machine::{MachineInput, machine};
use super::shaders::inventory;
use crate::basics::held::Held;
use crate::basics::spans::Span;
use crate::error::Result;
use crate::report::{Counters, Cpu, Machine, NotRecorded, Shader};
use crate::subject::Subject;
use crate::tables::SurroundingTables;
use crate::tables::recording::Recording;

/// All of it, and what is missing.
pub(crate) struct Surroundings {
    pub machine: Machine,
    /// When which performance state held.
    pub performance: Vec<Held>,
    pub counters: Option<Counters>,
    pub cpu: Option<Cpu>,
    pub shaders: Vec<Shader>,
    pub unavailable: Vec<NotRecorded>,
}

impl Surroundings {
    /// Reads the tables, whose memory ends here. `host` are the stretches in which the
    /// GPU waited for the program.
    pub(crate) fn of(
        tables: SurroundingTables,
        recording: &Recording,
        subject: &Subject,
        against: Against<'_>,
        host: &[Span],
    ) -> Result<Self> {
        let mut unavailable = Vec::new();
        let input = MachineInput {
            tables: tables.machine,
            requested_state: recording.gpu_setting("Induced GPU Performance State"),
            against,
            mine: &subject.mine,
            others: &subject.others.users,
            names: &recording.names,
        };
        let (machine, performance) = machine(input, &mut unavailable);
        let counters = counters(tables.counters, recording, against.window, against.busy);
        let counters = counters.map_err(|why| unavailable.push(why)).ok();
        let (target, threads) = (&subject.target, &subject.commands.threads);
        let cpu = cpu::cpu(tables.cpu, recording, target, threads, host, against.window)?;
        unavailable.extend(cpu::unavailable(cpu.as_ref()));
        Ok(Self {
            machine,
            performance,
            counters,
            cpu,
            shaders: inventory(&tables.shader_list, target, &recording.names),
            unavailable,
        })
    }
}
