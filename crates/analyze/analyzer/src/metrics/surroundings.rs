//! Computes the parts of a report that need other tables than the GPU's: machine, counters,
//! CPU.

use metalens_message::Quantity;

use super::busy_window::BusyWindow;
use super::counters::{CounterInput, CounterSample, counters};
use super::cpu::{self, CpuSpans};
use super::engines::engines;
use super::heap::heap;
use super::lanes::Lanes;
use super::machine::{MachineInput, machine};
use super::memory::{MemoryInput, memory};
use super::shaders::inventory;
use crate::basics::spans::Span;
use crate::error::Result;
use crate::metrics::machine::others;
use crate::report::{
    AllocatedMemory, Counters, Cpu, Engine, Heap, Kernel, Machine, Memory, NotRecorded, Shader,
};
use crate::subject::Subject;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::steps::Series;
use crate::tables::SurroundingTables;
use crate::tables::recording::Recording;

/// Parts of a report beside the GPU intervals, with those that are not recorded.
pub(crate) struct Surroundings {
    pub machine: Machine,
    pub memory: Option<Memory>,
    pub heap: Option<Heap>,
    pub counters: Option<Counters>,
    pub engines: Vec<Engine>,
    pub lanes: Lanes,
    pub cpu: Option<Cpu>,
    pub shaders: Vec<Shader>,
    pub not_recorded: Vec<NotRecorded>,
}

/// Inputs of the surroundings of the process, beside their tables.
pub(crate) struct SurroundingsInput<'a> {
    pub recording: &'a Recording,
    pub subject: &'a Subject,
    pub busy_window: BusyWindow<'a>,
    /// The process's intervals by kernel.
    pub named: &'a NamedIntervals,
    /// Kernels of the report.
    pub kernels: &'a [Kernel],
    /// Stretches of idle time that host work caused.
    pub host: &'a [Span],
    /// Main series of steps.
    pub steps: Option<&'a Series>,
}

impl Surroundings {
    /// Computes the parts, and frees the memory of the tables.
    pub(crate) fn new(tables: SurroundingTables, input: &SurroundingsInput<'_>) -> Result<Self> {
        let (recording, subject) = (input.recording, input.subject);
        let busy_window = input.busy_window;
        let mut not_recorded = Vec::new();
        if subject.others.are_unrecorded {
            not_recorded.push(others::not_recorded());
        }
        let machine_input = MachineInput {
            tables: tables.machine,
            requested_state: recording.gpu_setting("Induced GPU Performance State"),
            busy_window,
            mine: &subject.mine,
            others: &subject.others,
            names: &recording.names,
        };
        let (machine, performance) = machine(machine_input, &mut not_recorded);

        let window = busy_window.window;
        let memory_input = MemoryInput {
            chosen: &subject.chosen,
            names: &recording.names,
            window,
            starts: input
                .steps
                .into_iter()
                .flat_map(|steps| steps.begun_in(window))
                .map(|(_, step)| step.start_ns)
                .collect(),
            signposts: &subject.signposts,
        };
        let memory = memory(tables.allocations, &memory_input)
            .map_err(|why| not_recorded.push(why))
            .ok();

        let counter_input = CounterInput {
            recording,
            window,
            busy: busy_window.busy,
            mine: &subject.mine,
            others: &subject.others.busy,
            kernels: (input.named, input.kernels),
        };
        let (read_counters, series) = counters(tables.counters, &counter_input);
        let counters = read_counters.map_err(|why| not_recorded.push(why)).ok();

        let (buffers, names) = (&subject.buffers, &recording.names);
        let (engines, absent) = engines(tables.engines, busy_window, buffers, names);
        not_recorded.extend(absent);
        let (chosen, threads) = (&subject.chosen, &subject.commands.threads);
        let before = Span::new(0, window.start_ns);
        let before = (subject.cut.reach().start_ns == 0).then_some(before);
        let spans = CpuSpans {
            window,
            before,
            host: input.host,
        };
        let (cpu, sampled) = cpu::cpu(tables.cpu, recording, chosen, threads, &spans)?.unzip();
        not_recorded.extend(cpu::not_recorded(
            cpu.as_ref(),
            subject.others.are_unrecorded,
        ));
        let lanes = Lanes {
            performance,
            counters: series,
            memory: levels(machine.allocated.as_ref(), window),
            sampled: sampled.unwrap_or_default(),
        };

        Ok(Self {
            machine,
            memory,
            heap: heap(tables.heap, &recording.names),
            counters,
            engines,
            lanes,
            cpu,
            shaders: if input.named.functions.is_empty() {
                inventory(&tables.shader_list, chosen, &recording.names)
            } else {
                input.named.functions.clone()
            },
            not_recorded,
        })
    }
}

/// Returns the allocated memory as samples, each until the next one.
fn levels(allocated: Option<&AllocatedMemory>, window: Span) -> Vec<CounterSample> {
    let points = allocated.map_or(&[][..], |allocated| &allocated.points);
    if points.len() < 2 {
        return Vec::new();
    }
    let ends = points.iter().skip(1).map(|point| point.at_ns.0);
    let pieces = points.iter().zip(ends.chain([window.end_ns]));
    pieces
        .map(|(point, end_ns)| CounterSample {
            start_ns: point.at_ns.0,
            end_ns: Some(end_ns),
            value: point.bytes.number(),
        })
        .collect()
}
