//! What a chart shows, for those who cannot see it.

use metalens_analyzer::Report;
use metalens_analyzer::units::{percent, time};

use crate::canvas::{fault, ratio};
use crate::chart::Chart;
use crate::palette::cause_label;

/// A chart in words.
#[must_use]
pub fn alt(chart: Chart, report: &Report) -> String {
    let busy = &report.summary.busy;
    let idle = &report.summary.idle;
    let said = match chart {
        Chart::Timeline => {
            let fault = fault(report).map_or(String::new(), |fault| format!(" {fault}."));
            format!("Timeline of the GPU. {busy}. {idle}.{fault}")
        }
        Chart::Ledger => format!("Where the idle time went. {}", causes(report)),
        Chart::Gaps => format!("Gaps by length. {idle}."),
        Chart::Busy => format!("How busy the GPU was over time. {busy}."),
        Chart::Kernels => format!("The kernels that took the most time. {}", kernels(report)),
    };
    crate::font::clean(&said).trim_end().to_owned()
}

fn causes(report: &Report) -> String {
    let ledger = &report.ledger;
    let parts = ledger.parts.in_words().into_iter().map(|(cause, ns, _)| {
        let share = percent(ratio(ns, ledger.total_ns));
        format!("{}: {share}, {}", cause_label(cause), time(ns))
    });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => "There was none.".to_owned(),
        false => format!("{}.", parts.join("; ")),
    }
}

fn kernels(report: &Report) -> String {
    let kernels = report.kernels.iter().take(5).map(|kernel| {
        let share = percent(kernel.time_pct / 100.0);
        format!("{}: {share}, {}", kernel.name, time(kernel.total_ns))
    });
    let kernels: Vec<String> = kernels.collect();
    format!("{}.", kernels.join("; "))
}
