//! Names a run by a hash of the recorded intervals and the analyzed process.
//!
//! Writing the same recording again, from any path, replaces its rows instead of duplicating them.
//! This is also true for another window of it (`--from`, `--step`). A report on another
//! process of the same recording is another run.

use metalens_analyzer::{Analysis, AnyInterval, Report};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::hive::Partition;

/// Returns the partition of a run.
pub(crate) fn partition(analysis: &Analysis) -> Result<Partition> {
    let run = &analysis.report.run;
    let (device, start) = (run.device.model.as_deref(), run.start.as_deref());
    Ok(Partition::new(device, start, name(analysis)?))
}

/// Returns the name: `r` and 32 hexadecimal digits. The letter keeps readers that guess types from
/// treating it as a number.
fn name(analysis: &Analysis) -> Result<String> {
    let everyone = analysis.everyone().ok_or(Error::OnlyTarget)?;
    let mut hash = Hash(Sha256::new());
    hash.recording(&analysis.report);
    hash.number(everyone.len() as u64);
    everyone.for_each(|interval| hash.interval(&interval));

    let digest = hash.0.finalize();
    let digits: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!("r{digits}"))
}

/// A hash of a list of parts. Each part has its length before it, so that no two lists have the same
/// bytes.
struct Hash(Sha256);

impl Hash {
    /// Adds the facts that a bundle and its export have in common. A bundle lacks the machine and the
    /// time zone.
    fn recording(&mut self, report: &Report) {
        self.number(report.run.number);
        self.number(report.process.processes.len() as u64);
        for process in &report.process.processes {
            self.text(&process.name);
            self.optional(process.pid.map(u64::from));
        }
    }

    fn interval(&mut self, interval: &AnyInterval<'_>) {
        self.number(interval.start_ns);
        self.number(interval.end_ns);
        self.optional(interval.pid.map(u64::from));
        self.optional(interval.command_buffer);
        self.optional(interval.encoder);
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn optional(&mut self, number: Option<u64>) {
        self.0.update([u8::from(number.is_some())]);
        self.number(number.unwrap_or_default());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }
}
