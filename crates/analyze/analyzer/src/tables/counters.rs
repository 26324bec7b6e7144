//! Tables of the GPU's hardware counters.

use metalens_text::number::Float;
use metalens_trace::{Integers, Names, Table, Values};

use super::columns::{OrNull, Texts, at, columns};
use super::reader::{TableReader, tables};

tables! {
    /// Tables of the GPU's hardware counters.
    struct CounterTables {
        intervals: CounterSamples = COUNTER_INTERVALS,
        values: CounterSamples = COUNTER_VALUES,
        info: CounterInfo = COUNTER_INFO,
    }
}

/// Table of samples with a duration.
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

/// Table of samples at a point in time.
pub(crate) const COUNTER_VALUES: TableReader<CounterSamples> = TableReader {
    schema: "gpu-counter-value",
    columns: &["timestamp", "counter-id", "value"],
    read: |table| CounterSamples::read(table, false),
};

/// Columns of a table of counter samples.
#[derive(Debug)]
pub(crate) struct CounterSamples {
    /// Name of the table.
    pub schema: String,
    /// True if samples have a duration.
    pub timed: bool,
    pub starts: Integers,
    pub durations: OrNull<Integers>,
    pub ids: OrNull<Integers>,
    pub counters: Texts,
    pub values: Numbers,
    pub percents: Numbers,
    /// Flags of percentages; 1 means percentage.
    pub are_percents: OrNull<Integers>,
}

/// Column of values: decimal text in exports, whole numbers in case some version writes them.
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

/// Rejects raw numbers, whose meaning is unknown.
impl Values for Numbers {
    fn take(table: &mut Table, mnemonic: &str) -> metalens_trace::Result<Self> {
        let is_raw = table
            .schema
            .columns
            .iter()
            .any(|spec| spec.mnemonic == mnemonic && spec.engineering_type.starts_with("XR"));

        match Texts::take(table, mnemonic).map(Self::Text) {
            Err(_) if !is_raw => Integers::take(table, mnemonic).map(Self::Whole),
            texts => texts,
        }
    }
}

impl Numbers {
    /// Returns the value of a row; `None` if it is null or not a finite number.
    pub(crate) fn get(&self, row: usize, names: &Names) -> Option<f64> {
        let value = match self {
            Self::Whole(numbers) => numbers.get(row)?.float(),
            Self::Text(texts) => names.text(at(texts, row)?).trim().parse().ok()?,
        };
        value.is_finite().then_some(value)
    }
}

impl CounterSamples {
    /// Reads the columns; fails if the values, or the names and numbers of the counters, are
    /// unknown.
    fn read(table: &mut Table, timed: bool) -> metalens_trace::Result<Self> {
        let percents = Numbers::take(table, "percent-value");
        let (values, percents) = match (Numbers::take(table, "value"), percents) {
            (Err(error), Err(_)) => return Err(error),
            (values, percents) => (values.unwrap_or_default(), percents.unwrap_or_default()),
        };
        let counters = match Texts::take(table, "name") {
            Err(error) if timed => return Err(error),
            counters => counters.unwrap_or_default(),
        };

        Ok(Self {
            schema: table.schema.name.clone(),
            timed,
            starts: Integers::take(table, if timed { "start" } else { "timestamp" })?,
            durations: Values::take(table, "duration")?,
            ids: Values::take(table, "counter-id")?,
            counters,
            values,
            percents,
            are_percents: Values::take(table, "is-percentage")?,
        })
    }
}

impl CounterSamples {
    /// Returns whether a row that is marked as a percentage has no value.
    pub(crate) fn lacks_percentages(&self, names: &Names) -> bool {
        (0..self.starts.len()).any(|row| {
            self.are_percents.get(row) == Some(1)
                && self.percents.get(row, names).is_none()
                && self.values.get(row, names).is_none()
        })
    }
}

columns! {
    /// Table of the counters in [`COUNTER_VALUES`].
    table COUNTER_INFO = "gpu-counter-info";
    struct CounterInfo {
        ids: Integers = "counter-id",
        names: OrNull<Texts> = "name",
        descriptions: OrNull<Texts> = "description",
        kinds: OrNull<Texts> = "type",
    }
}
