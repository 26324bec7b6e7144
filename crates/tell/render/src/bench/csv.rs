//! Writes a benchmark as CSV: one line for each run.

use std::io::{self, Write};

use metalens_bench::Bench;
use metalens_text::csv;

/// Writes a heading, and a line for each run with all of its figures: times in nanoseconds, shares
/// of 1.
pub fn csv(bench: &Bench, out: &mut dyn Write) -> io::Result<()> {
    let mut ids: Vec<&str> = Vec::new();
    for figure in bench.variants.iter().flat_map(|variant| &variant.figures) {
        if !ids.contains(&figure.id.as_str()) {
            ids.push(&figure.id);
        }
    }

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
                let values = variant.figure(id).map(|figure| figure.values.as_slice());
                let value = values.and_then(|values| *values.get(at)?);
                csv.optional(value.map(metalens_comparison::Number::get))?;
            }
            csv.end()?;
        }
    }
    Ok(())
}
