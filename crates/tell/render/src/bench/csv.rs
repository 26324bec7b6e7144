//! Writes a benchmark as CSV: one line for each run.

use std::io::{self, Write};

use metalens_bench::Bench;
use metalens_comparison::{Number, metrics};
use metalens_text::csv;

/// Writes a heading, and a line for each run with all of its figures: times in nanoseconds, shares
/// of 1.
pub fn csv(bench: &Bench, out: &mut dyn Write) -> io::Result<()> {
    let is_known = |id: &&str| {
        bench
            .variants
            .iter()
            .any(|variant| variant.figure(id).is_some())
    };
    let ids: Vec<&str> = metrics().map(|metric| metric.id).filter(is_known).collect();

    let mut csv = csv::Writer::new(out);
    let parameters = bench.parameters.iter();
    let parameters = parameters.map(|parameter| format!("parameter_{}", parameter.name));
    let parameters: Vec<String> = parameters.collect();
    let headings = ["variant", "round", "synthetic"].into_iter();
    let headings = headings.chain(parameters.iter().map(String::as_str));
    csv.texts(headings.chain(ids.iter().copied()))?;
    for variant in &bench.variants {
        for (at, run) in variant.runs.iter().enumerate() {
            csv.text(variant.name.as_str())?;
            csv.value(run.round)?;
            csv.value(bench.synthetic)?;
            for parameter in &variant.parameters {
                csv.text(parameter.value.as_str())?;
            }
            for id in &ids {
                let value = variant.recorded.values(id).get(at).copied().flatten();
                csv.optional(value.map(Number::get))?;
            }
            csv.end()?;
        }
    }
    Ok(())
}
