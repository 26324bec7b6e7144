//! The GPU's hardware counters.

use metalens_trace::{Integers, Names, Table};

use super::columns::{Column, OrNull, Texts, at, columns};
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

/// Samples of counters.
#[derive(Debug)]
pub(crate) struct CounterSamples {
    /// The name of the table.
    pub schema: String,
    /// Whether samples have a duration.
    pub timed: bool,
    pub starts: Integers,
    pub durations: OrNull<Integers>,
    pub ids: OrNull<Integers>,
    pub counters: Texts,
    pub values: Numbers,
    pub percents: Numbers,
    /// 1 is a percentage.
    pub are_percents: OrNull<Integers>,
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

/// Raw numbers, whose meaning is unknown, are no such column.
impl Column for Numbers {
    fn take(table: &mut Table, mnemonic: &str) -> metalens_trace::Result<Self> {
        let is_raw = table
            .schema
            .columns
            .iter()
            .any(|spec| spec.mnemonic == mnemonic && spec.engineering_type.starts_with("XR"));
        let texts = table.take_texts(mnemonic).map(Self::Text);
        match texts {
            Err(_) if !is_raw => table.take_integers(mnemonic).map(Self::Whole),
            texts => texts,
        }
    }
}

impl Numbers {
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
        let percents = Numbers::take(table, "percent-value");
        let (values, percents) = match (Numbers::take(table, "value"), percents) {
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
            durations: Column::take(table, "duration")?,
            ids: Column::take(table, "counter-id")?,
            counters,
            values,
            percents,
            are_percents: Column::take(table, "is-percentage")?,
        })
    }
}

columns! {
    /// The counters of [`COUNTER_VALUES`].
    table COUNTER_INFO = "gpu-counter-info";
    struct CounterInfo {
        ids: Integers = "counter-id",
        names: OrNull<Texts> = "name",
        max_values: OrNull<Numbers> = "max-value",
        descriptions: OrNull<Texts> = "description",
    }
}
