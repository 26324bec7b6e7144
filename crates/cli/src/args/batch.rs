//! Arguments of `metalens batch`.

use std::path::PathBuf;

use clap::Args;

use super::shared::AnalysisArguments;

const AFTER_BATCH: &str = "\
PATH is a folder to search, a .trace bundle, an export, a .zip, a table, or a pattern such as \
'runs/*.trace'. Hidden folders, bundles and exports are not searched.

DIR gets a folder for each recording, with what `analyze -o` writes, and an index: index.html, \
index.md, index.json, index.csv. In CSV, text that a spreadsheet would run as a formula gets a leading '; JSON has it \
unchanged. The next run analyzes only what changed: an input, the options, or metalens.

Only recordings of the same work are compared: one program on one GPU that ran the same kernels \
the same number of times, in the same number of command buffers. A bundle and its export count once.

Exit codes: 0 success, 1 an input failed (the others are done), 5 a threshold was missed (--check), \
130 interrupted: complete reports, and an index of them.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_BATCH)]
pub(crate) struct BatchArguments {
    /// Folders, .trace bundles, exports, .zip, tables, patterns
    #[arg(required = true, value_name = "PATH")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder to write, or to continue
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Recordings to analyze at once [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
    /// Memory limit for all recordings at once, such as 4GB; a larger one is analyzed alone
    /// [default: half of the memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// Add each run to a dataset in this folder: Parquet files for SQL engines and `query`
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// Analyze everything again
    #[arg(long)]
    pub(crate) redo: bool,
    /// Print the index as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show names of other processes and the inputs' folders in pages and charts [default: leave
    /// them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Replace files in DIR that metalens did not write, or that changed since
    #[arg(long)]
    pub(crate) force: bool,
    /// Exit with 5 if a threshold is missed or cannot be measured
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

fn jobs(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "a number of recordings is 1 or more".to_owned())
}

/// Parses `4GB`, `512 MiB` or `1.5G` into bytes. The unit is required.
fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 11] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("M", 1 << 20),
        ("G", 1 << 30),
        ("T", 1 << 40),
    ];
    let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
    let &(unit, bytes) = unit.ok_or("a size needs a unit: 512MB, 4GB, 8GiB")?;
    let number = text.strip_suffix(unit).unwrap_or(text).trim_end();
    let wrong = || format!("`{number}` is not a number of {unit}");
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if fraction.len() > 3 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let thousandths: u64 = format!("{fraction:0<3}").parse().map_err(|_| wrong())?;
    let sum = u128::from(whole) * u128::from(bytes) + u128::from(thousandths * (bytes / 1_000));
    match u64::try_from(sum) {
        Ok(0) | Err(_) => Err(wrong()),
        Ok(size) => Ok(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_need_a_unit() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(size(text).ok(), expected, "{text}");
        };
        check("4GB", Some(4_000_000_000));
        check("512 MiB", Some(512 << 20));
        check("1.5GB", Some(1_500_000_000));
        check("8G", Some(8 << 30));
        check("100KB", Some(100_000));
        check("4", None);
        check("0GB", None);
        check("-1GB", None);
        check("1.GB", Some(1_000_000_000));
        check("fourGB", None);
        check("99999999999TB", None);
    }
}
