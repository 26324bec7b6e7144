//! Which run it is: a name made from what was recorded, and of whom.
//!
//! Whoever writes the same trace again, from wherever, replaces its rows instead
//! of doubling them; that goes for another part of it (`--from`, `--skip-warmup`)
//! too. A report on another process of the same trace is another run.

use metalens_analyzer::{Analysis, AnyInterval, Report};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::hive::Partition;

/// Where a run belongs.
pub(crate) fn partition(analysis: &Analysis) -> Result<Partition> {
    let run = &analysis.report.run;
    let (device, start) = (run.device.model.as_deref(), run.start.as_deref());
    Ok(Partition::new(device, start, name(analysis)?))
}

/// `r` and 32 hexadecimal digits: the letter keeps readers that guess types from
/// taking one of digits alone for a number.
fn name(analysis: &Analysis) -> Result<String> {
    let everyone = analysis.everyone().ok_or(Error::OnlyTarget)?;
    let mut hash = Hash(Sha256::new());
    hash.recording(&analysis.report);
    hash.number(everyone.len() as u64);
    everyone.for_each(|one| hash.interval(&one));
    let digest = hash.0.finalize();
    let digits: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!("r{digits}"))
}

/// Each part with its length before it, so that no two lists of parts are alike.
struct Hash(Sha256);

impl Hash {
    /// What both readers of a trace tell alike: a bundle knows neither its machine nor
    /// its time zone.
    fn recording(&mut self, report: &Report) {
        self.number(report.run.number);
        self.number(report.process.processes.len() as u64);
        for process in &report.process.processes {
            self.text(&process.name);
            self.optional(process.pid.map(u64::from));
        }
    }

    fn interval(&mut self, one: &AnyInterval<'_>) {
        self.number(one.start_ns);
        self.number(one.end_ns);
        self.optional(one.pid.map(u64::from));
        self.optional(one.command_buffer);
        self.optional(one.encoder);
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
