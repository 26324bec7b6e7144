//! Ends a query that needs more memory than the limit.
//!
//! A join without a condition grows until the system ends this program, and perhaps others. A thread
//! checks the memory ten times per second and ends the program before that, with an error.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Starts the thread that checks the memory. The default limit is three quarters of the machine's.
pub(crate) fn watch(limit: Option<u64>) -> anyhow::Result<()> {
    let mut system = System::new();
    system.refresh_memory();
    let limit = limit.unwrap_or(system.total_memory() / 4 * 3);
    std::thread::Builder::new()
        .spawn(move || {
            loop {
                if used(&mut system).is_some_and(|used| used > limit) {
                    end(limit);
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        })
        .context("cannot start a thread")?;
    Ok(())
}

/// Returns the memory that this program uses.
fn used(system: &mut System) -> Option<u64> {
    let pid = Pid::from_u32(std::process::id());
    let wanted = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, wanted);
    system.process(pid).map(sysinfo::Process::memory)
}

/// Ends the program from this thread, because the threads of polars cannot be stopped.
#[expect(clippy::exit, reason = "no other way ends a query that polars runs")]
fn end(limit: u64) -> ! {
    let tenths = limit / 100_000_000;
    let (whole, tenth) = (tenths / 10, tenths % 10);
    // If this cannot be written, no other output can report it.
    let _ = writeln!(
        metalens_text::streams::messages(),
        "error: the query needs more than {whole}.{tenth} GB of memory, and was stopped\n\
         hint: join on more columns, or filter before joining; --max-memory allows more"
    );
    std::process::exit(1)
}
