//! Computes the least time that the work of a step takes on the chip, and what the GPU takes beyond it.
//!
//! ```text
//! 16.5 GB a token, 819 GB/s:   |── memory 20.1 ms ──|─ above 8.6 ms ─|─ idle 2.2 ms ─|
//! ```

use metalens_message::{Bytes, Ns, message, name};
use metalens_text::number::{Float, rounded};

use super::rates::Amounts;
use crate::report::{ChipFacts, ChipLimits, Note, ROOF_UNKNOWN, Report, RoofLimit, StepRoof};
use crate::request::work_file::{AmountScope, WorkFile};

/// Returns the least time of a step's work; `None` if the file has none, and with a note if it does not follow.
pub(super) fn roof(
    file: &WorkFile,
    chip: Option<&ChipFacts>,
    report: &Report,
    notes: &mut Vec<Note>,
) -> Option<StepRoof> {
    let of_step = file
        .work
        .iter()
        .filter(|entry| entry.per == AmountScope::Step);
    let amounts = of_step.map(Amounts::of).reduce(Amounts::plus)?;
    let kind = report.steps.first().and_then(|main| main.kinds.first());
    let Some(typical) = kind.and_then(|kind| kind.typical) else {
        let text = "unknown, since the recording has no typical step: --step says what a step is";
        notes.push(Note::quiet(ROOF_UNKNOWN, text));
        return None;
    };

    // GB/s are bytes per nanosecond.
    let bandwidth = chip.and_then(|chip| chip.bandwidth_gb_s);
    let flops_per_ns = chip.and_then(|chip| chip.peak_tflops).map(per_ns);
    let memory_ns = least_ns(amounts.bytes, bandwidth);
    let arithmetic_ns = least_ns(amounts.flops, flops_per_ns);
    let is_in_part = (amounts.bytes.is_some(), amounts.flops.is_some())
        != (memory_ns.is_some(), arithmetic_ns.is_some());
    if is_in_part {
        let text = "unknown, or too low, since the bandwidth or the peak of the GPU is unknown: give \
                    bandwidth_gb_s or peak_tflops in the work file";
        notes.push(Note::quiet(ROOF_UNKNOWN, text));
    }
    let memory = memory_ns.map(|ns| (ns, RoofLimit::Memory, bandwidth));
    let arithmetic = arithmetic_ns.map(|ns| (ns, RoofLimit::Arithmetic, flops_per_ns));
    let limits = memory.into_iter().chain(arithmetic);
    let (roof_ns, limit, range) = limits.max_by_key(|&(ns, ..)| ns)?;
    if let Some(chip) = chip.filter(|_| range.is_some_and(|range| range.min < range.max)) {
        let text = message!(
            "the least time of a step's work is that of the fastest {}: gpu_cores in the work file says \
             which it is",
            name(&chip.name)
        );
        notes.push(Note::quiet("roof-of-fastest", text));
    }
    let above_ns = typical.gpu_ns.0.checked_sub(roof_ns).map(Ns);
    if above_ns.is_none() {
        let text = message!(
            "the GPU takes {} for a step, and its work at least {}: caches or matrix units did part of it, \
             or the amount is too high",
            typical.gpu_ns,
            Ns(roof_ns)
        );
        notes.push(Note::quiet("roof-too-high", text));
    }
    let told = |amount: Option<u128>| u64::try_from(amount?).ok();
    Some(StepRoof {
        bytes: told(amounts.bytes).map(Bytes),
        flops: told(amounts.flops),
        limit,
        roof_ns: Ns(roof_ns),
        above_ns,
    })
}

/// Returns the limits in operations per nanosecond.
fn per_ns(tflop_per_s: ChipLimits) -> ChipLimits {
    ChipLimits {
        min: tflop_per_s.min * 1e3,
        max: tflop_per_s.max * 1e3,
    }
}

/// Returns the least time of an amount, in nanoseconds.
fn least_ns(amount: Option<u128>, per_ns: Option<ChipLimits>) -> Option<u64> {
    Some(rounded(amount?.float() / per_ns?.max))
}
