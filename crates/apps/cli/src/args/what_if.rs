//! Arguments of `metalens what-if`.

use std::path::PathBuf;

use clap::Args;

use super::shared::AnalysisArguments;

const EXAMPLES: &str = "\
Examples:
  metalens what-if run.trace
  metalens what-if run.trace --in-flight 2
  metalens what-if run.trace --kernel 'matmul*=0.5x'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WhatIfArguments {
    /// .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// The program keeps N times as many command buffers in flight; 0: it never waits
    #[arg(long, value_name = "N")]
    pub(crate) in_flight: Option<usize>,
    /// N recorded command buffers become one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    pub(crate) per_buffer: usize,
    /// Prepare each command buffer during a wait, and commit it after
    #[arg(long)]
    pub(crate) encode_ahead: bool,
    /// Host work and encoding take F times as long, such as 0.5x
    #[arg(long, value_name = "F", value_parser = parse_factor)]
    pub(crate) host: Option<f64>,
    /// The driver's work takes F times as long
    #[arg(long, value_name = "F", value_parser = parse_factor)]
    pub(crate) driver: Option<f64>,
    /// Latencies are F times as long
    #[arg(long, value_name = "F", value_parser = parse_factor)]
    pub(crate) latency: Option<f64>,
    /// A kernel takes F times as long on the GPU, such as 'gemm*=0.5x'; * stands for any text, and
    /// the first pattern that matches counts
    #[arg(long = "kernel", value_name = "NAME=F", value_parser = parse_kernel)]
    pub(crate) kernels: Vec<KernelFactor>,
    /// No other process uses the GPU
    #[arg(long)]
    pub(crate) no_others: bool,
    /// Print the prediction as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the prediction as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// Pattern of kernels, and the factor of their GPU time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KernelFactor {
    pub(crate) pattern: String,
    pub(crate) factor: f64,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number: Option<usize> = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| "expected a number from 1".to_owned())
}

/// Parses a factor, such as `0.5x` or `0.5`.
fn parse_factor(text: &str) -> Result<f64, String> {
    let read: Option<f64> = text.strip_suffix('x').unwrap_or(text).parse().ok();
    let factor = read.filter(|factor| (0.0..=1_000.0).contains(factor));
    factor.ok_or_else(|| "expected a factor from 0 to 1000, such as 0.5x".to_owned())
}

fn parse_kernel(text: &str) -> Result<KernelFactor, String> {
    let (pattern, factor) = text
        .rsplit_once('=')
        .filter(|(pattern, _)| !pattern.is_empty())
        .ok_or_else(|| "expected NAME=FACTOR, such as 'gemm*=0.5x'".to_owned())?;
    Ok(KernelFactor {
        pattern: pattern.to_owned(),
        factor: parse_factor(factor)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_parsed() {
        let check = |text: &str, expected: Option<f64>| {
            assert_eq!(parse_factor(text).ok(), expected, "{text}");
        };
        check("0.5x", Some(0.5));
        check("2", Some(2.0));
        check("0x", Some(0.0));
        check("-1x", None);
        check("NaN", None);
        check("inf", None);
        check("1e9", None);
        check("x", None);
        check("", None);
    }

    #[test]
    fn kernels_are_parsed() {
        let check = |text: &str, expected: Option<(&str, f64)>| {
            let found = parse_kernel(text).ok();
            let expected = expected.map(|(pattern, factor)| KernelFactor {
                pattern: pattern.to_owned(),
                factor,
            });
            assert_eq!(found, expected, "{text}");
        };
        check("gemm*=0.5x", Some(("gemm*", 0.5)));
        check("a=b=2", Some(("a=b", 2.0)));
        check("gemm", None);
        check("=2x", None);
        check("gemm=fast", None);
    }
}
