//! Measures how fast a recording becomes a report, like `analyze --json` without its output.
//!
//! `report_speed PATH [N]` reads PATH with the selection of `analyze`, analyzes it, and writes the
//! report to a sink. It repeats this N times (default 1), and prints one line of fields separated by
//! tabs:
//!
//! * seconds of the fastest repetition;
//! * CPU seconds of that repetition, of all threads;
//! * seconds and CPU seconds of it that were spent reading;
//! * peak memory of the process in MiB;
//! * number of GPU intervals in the recording.
//!
//! CPU time and memory come from `/proc`; without it, they are `-`.
#![expect(
    clippy::disallowed_methods,
    reason = "prints only figures, no text from outside"
)]

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use metalens_analyzer::{Request, analyze, selection};
use metalens_trace::{Input, LoadOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: report_speed PATH [N]")?;
    let times: usize = arguments.next().map_or(Ok(1), |times| times.parse())?;
    let mut best = report(path.as_ref())?;
    for _ in 1..times {
        let next = report(path.as_ref())?;
        if next.seconds < best.seconds {
            best = next;
        }
    }
    let [processor, loading_processor] = [best.processor, best.loading_processor].map(shown);
    let memory = status("VmHWM:").map(|kib| kib / 1024.0);
    writeln!(
        std::io::stdout(),
        "{:.3}\t{processor}\t{:.3}\t{loading_processor}\t{}\t{}",
        best.seconds,
        best.loading,
        memory.map_or_else(|| "-".to_owned(), |mib| format!("{mib:.0}")),
        best.intervals
    )?;
    Ok(())
}

/// Times that one report took.
struct ReportTimes {
    seconds: f64,
    loading: f64,
    processor: Option<f64>,
    loading_processor: Option<f64>,
    intervals: u64,
}

fn report(path: &Path) -> Result<ReportTimes, Box<dyn Error>> {
    let (start, processor) = (Instant::now(), processor_seconds());
    let since = |before: Option<f64>| Some(processor_seconds()? - before?);
    let trace = Input::open(path)?.load(&selection(), LoadOptions::default())?;
    let (loading, loading_processor) = (start.elapsed(), since(processor));
    let analysis = analyze(trace, &Request::default())?;
    serde_json::to_writer_pretty(std::io::sink(), &analysis.report)?;
    Ok(ReportTimes {
        seconds: start.elapsed().as_secs_f64(),
        loading: loading.as_secs_f64(),
        processor: since(processor),
        loading_processor,
        intervals: analysis.report.counts.all_intervals,
    })
}

fn shown(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.3}"))
}

/// Returns the CPU seconds of all threads of this process, ended ones included, in user and system
/// mode.
fn processor_seconds() -> Option<f64> {
    /// Unit of the times in `/proc`, the same on every Linux.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field, the program's name in parentheses, may contain any text.
    let (_, after_name) = stat.rsplit_once(") ")?;
    let mut fields = after_name.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_SECOND)
}

/// Returns a figure of the process's status, in KiB.
fn status(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
