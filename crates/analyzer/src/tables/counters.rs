//! The GPU's hardware counters.

use metalens_trace::{Column, Integers, Names, Table};

use super::columns::{Texts, at};
use super::reader::TableReader;

/// Samples with a duration.
pub(crate) const COUNTER_INTERVALS: TableReader<CounterSamples> = TableReader {
    schema: "metal-gpu-counter-intervals",
    columns: &[
        "start",
        "duration",
        "counter-id",
        "name",
        "value",
        "percent-value",
        "is-percentage",
    ],
    read: |table| CounterSamples::read(table, true),
};

/// Samples of one moment.
pub(crate) const COUNTER_VALUES: TableReader<CounterSamples> = TableReader {
    schema: "gpu-counter-value",
    columns: &["timestamp", "counter-id", "value"],
    read: |table| CounterSamples::read(table, false),
};

/// The counters of [`COUNTER_VALUES`].
pub(crate) const COUNTER_INFO: TableReader<CounterInfo> = TableReader {
    schema: "gpu-counter-info",
    columns: &["counter-id", "name", "max-value", "description"],
    read: CounterInfo::read,
};

/// Samples of counters.
#[derive(Debug)]
pub(crate) struct CounterSamples {
    /// The name of the table.
    pub schema: String,
    /// Whether samples have a duration.
    pub timed: bool,
    pub starts: Integers,
    pub durations: Integers,
    pub ids: Integers,
    pub counters: Texts,
    pub values: Numbers,
    pub percents: Numbers,
    /// 1 is a percentage.
    pub are_percents: Integers,
}

/// Values are decimal text in exports; whole numbers, should a version say so.
#[derive(Debug)]
pub(crate) enum Numbers {
    Text(Texts),
    Whole(Integers),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::Text(Vec::new())
    }
}

impl Numbers {
    /// Reads a column of numbers; an error if it has raw numbers whose meaning is unknown.
    fn read(table: &mut Table, mnemonic: &str) -> metalens_trace::Result<Self> {
        let is_whole = table.columns().any(|(spec, column)| {
            let is_known = !spec.engineering_type.starts_with("XR");
            spec.mnemonic == mnemonic && is_known && matches!(column, Column::Integers(_))
        });
        if is_whole {
            table.take_integers(mnemonic).map(Self::Whole)
        } else {
            table.take_texts(mnemonic).map(Self::Text)
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a counter's value needs no more than 53 bits"
    )]
    pub(crate) fn get(&self, row: usize, names: &Names) -> Option<f64> {
        let value = match self {
            Self::Whole(numbers) => numbers.get(row)? as f64,
            Self::Text(texts) => names.text(at(texts, row)?).trim().parse().ok()?,
        };
        value.is_finite().then_some(value)
    }
}

impl CounterSamples {
    /// Refuses samples whose values, or whose counters' names and numbers, are not known.
    fn read(table: &mut Table, timed: bool) -> metalens_trace::Result<Self> {
        let percents = Numbers::read(table, "percent-value");
        let (values, percents) = match (Numbers::read(table, "value"), percents) {
            (Err(error), Err(_)) => return Err(error),
            (values, percents) => (values.unwrap_or_default(), percents.unwrap_or_default()),
        };
        let counters = match table.take_texts("name") {
            Err(error) if timed => return Err(error),
            counters => counters.unwrap_or_default(),
        };
        Ok(Self {
            schema: table.schema.name.clone(),
            timed,
            starts: table.take_integers(if timed { "start" } else { "timestamp" })?,
            durations: table.take_integers("duration").unwrap_or_default(),
            ids: table.take_integers("counter-id").unwrap_or_default(),
            counters,
            values,
            percents,
            are_percents: table.take_integers("is-percentage").unwrap_or_default(),
        })
    }
}

/// What each counter is.
#[derive(Debug)]
pub(crate) struct CounterInfo {
    pub ids: Integers,
    pub names: Texts,
    pub max_values: Numbers,
    pub descriptions: Texts,
}

impl CounterInfo {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            ids: table.take_integers("counter-id")?,
            names: table.take_texts("name").unwrap_or_default(),
            max_values: Numbers::read(table, "max-value").unwrap_or_default(),
            descriptions: table.take_texts("description").unwrap_or_default(),
        })
    }
}
