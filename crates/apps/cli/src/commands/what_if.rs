//! Runs `metalens what-if`: predicts what a change of the program would leave.

use metalens_analyzer::{ProgramChange, selection};
use metalens_comparison::Patterns;
use metalens_render::what_if;

use crate::args::what_if::WhatIfArguments;
use crate::exit::Misuse;
use crate::progress::LongWork;
use crate::view;

pub(crate) fn run(arguments: &WhatIfArguments, quiet: bool) -> anyhow::Result<()> {
    let analyzing = arguments.analysis.analyzing()?;
    let kernels = &arguments.kernels;
    let patterns = Patterns::new(kernels.iter().map(|kernel| kernel.pattern.as_str()));
    let kernel = |name: &str| {
        let own = patterns.matching(name);
        let own = own.first().and_then(|&(place, _)| kernels.get(place));
        own.map_or(1.0, |kernel| kernel.factor)
    };
    let change = ProgramChange {
        in_flight: arguments.in_flight,
        per_buffer: arguments.per_buffer,
        encode_ahead: arguments.encode_ahead,
        host: arguments.host.unwrap_or(1.0),
        driver: arguments.driver.unwrap_or(1.0),
        latency: arguments.latency.unwrap_or(1.0),
        others: !arguments.no_others,
        kernel: &kernel,
    };
    let trace = LongWork::begin(quiet).load(&arguments.input, &selection(), analyzing.reading)?;
    let predicted = metalens_analyzer::what_if(trace, &analyzing.request, &change)?;
    if !arguments.kernels.is_empty() && predicted.changed_kernels.is_empty() {
        return Err(Misuse("no kernel has a name that --kernel matches".to_owned()).into());
    }

    if arguments.json {
        view::print_json(&predicted)
    } else {
        view::print(&what_if::document(&predicted), arguments.markdown)
    }
}
