//! Computes the time that other processes were on the GPU while the process left it idle.

use metalens_message::{Ns, share};
use metalens_trace::Names;

use crate::basics::spans::{Span, length_ns, overlap_ns, union};
use crate::report::{NotRecorded, OtherProcess, OtherProcesses};
use crate::subject::others::UseByProcess;

/// Number of other processes that are listed.
const TOP: usize = 5;

/// Returns the time of the gaps during which other processes ran on the GPU.
pub(crate) fn others(
    use_by_process: &UseByProcess,
    gaps: &[Span],
    names: &Names,
) -> OtherProcesses {
    let idle_ns = length_ns(gaps);
    let mut used: Vec<Span> = Vec::new();
    let mut top: Vec<OtherProcess> = Vec::new();
    for (process, spans) in use_by_process.users() {
        used.extend(spans);
        let in_gaps_ns = overlap_ns(spans, gaps);
        let process = process.and_then(|process| names.process(process));
        top.push(OtherProcess {
            name: process.map(|process| names.text(process.name).to_owned()),
            pid: process.and_then(|process| process.pid),
            in_gaps_ns: Ns(in_gaps_ns),
            in_gaps_share: share(in_gaps_ns, idle_ns),
        });
    }

    used.sort_unstable();
    let in_gaps_ns = overlap_ns(&union(used), gaps);
    top.retain(|process| process.in_gaps_ns > Ns(0));
    top.sort_by_cached_key(|process| {
        let most = std::cmp::Reverse(process.in_gaps_ns);
        (most, process.name.clone(), process.pid)
    });
    top.truncate(TOP);

    OtherProcesses {
        in_gaps_ns: Ns(in_gaps_ns),
        in_gaps_share: share(in_gaps_ns, idle_ns),
        top,
    }
}

/// Returns why the work of other processes is unknown.
pub(crate) fn not_recorded() -> NotRecorded {
    NotRecorded::new(
        "machine.others",
        "a command-buffer log has the work of its own program alone, so that idle time in which another \
         process held the GPU counts as submission latency or as queued: record with xctrace, too",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{chosen, interval};
    use metalens_message::Share;
    use metalens_trace::Process;

    /// Checks overlapping intervals of two processes and of an unknown one.
    ///
    /// ```text
    /// window    0├──────────────────────────┤100
    /// process   0├──┤10             50├─────┤100
    /// first        5├────┤20   40├────┤60
    /// second          15├───┤30
    /// unknown                 35├┤38
    /// ```
    #[test]
    fn overlaps_count_once_in_all_and_for_each() {
        let mut names = Names::new();
        let (name, first, second) = (names.symbol("t"), names.symbol("a"), names.symbol("b"));
        let mut id = |name, pid| names.process_id(Process { name, pid });
        let (mine, a, b) = (id(name, Some(1)), id(first, Some(2)), id(second, Some(3)));
        let at = |start, end, process| {
            let mut interval = interval(start, end);
            interval.process = process;
            interval
        };
        let all = [
            at(0, 10, Some(mine)),
            at(5, 20, Some(a)),
            at(15, 30, Some(b)),
            at(35, 38, None),
            at(40, 60, Some(a)),
            at(50, 100, Some(mine)),
        ];
        let (chosen, mut use_by_process) = (chosen(mine), UseByProcess::default());
        for interval in &all {
            if !chosen.contains(interval.process) {
                use_by_process.add(interval.process, interval.span);
            }
        }
        let found = others(&use_by_process, &[Span::new(10, 50)], &names);
        let top: Vec<_> = found
            .top
            .iter()
            .map(|process| (process.name.as_deref(), process.pid, process.in_gaps_ns))
            .collect();
        assert_eq!(
            top,
            [
                (Some("a"), Some(2), Ns(20)),
                (Some("b"), Some(3), Ns(15)),
                (None, None, Ns(3))
            ]
        );
        assert_eq!(found.in_gaps_ns, Ns(33));
        assert_eq!(found.top[0].in_gaps_share, Some(Share(0.5)));
    }
}
