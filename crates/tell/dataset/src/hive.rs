//! Chooses the folders of a run's files: `key=value`, a convention of Hive that polars, DuckDB,
//! Spark and pyarrow read.
//!
//! A value is percent-encoded except for ASCII letters, digits and `_-.,`. All of these readers
//! decode it, and no shell, glob or file system has a problem with it. An unknown value is
//! `unknown`: pandas and pyarrow refuse Hive's name for null, `__HIVE_DEFAULT_PARTITION__`.

use std::path::{Path, PathBuf};

use time::{Date, Duration, Month, UtcDateTime};

/// Name of an unknown value.
pub const UNKNOWN: &str = "unknown";
/// Hive's name of it, which earlier versions of metalens wrote.
const HIVE_NULL: &str = "__HIVE_DEFAULT_PARTITION__";
/// Name of the file in each folder.
pub(crate) const FILE: &str = "part.parquet";
/// Length at which values are cut, in bytes: file systems allow names of up to 255 bytes.
const LONGEST: usize = 200;

/// Identity of a run in a dataset: machine, day and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    /// Model of the recorded machine; `None` if it is unknown.
    pub device: Option<String>,
    /// Date in days since 1970-01-01; `None` if it is unknown.
    pub date: Option<i32>,
    /// Name of the run.
    pub run: String,
}

impl Partition {
    /// Makes a partition from a device's model, the start of a recording, and a run's name. Values
    /// that are not allowed as folder names are changed: an empty model becomes none, a long one is
    /// cut.
    pub(crate) fn new(device: Option<&str>, start: Option<&str>, run: String) -> Self {
        let device = device.map(|device| decode(&encode(device)));
        Self {
            device: device.filter(|device| !device.is_empty()),
            date: start.and_then(|start| day(start.get(..10)?)),
            run,
        }
    }

    /// Returns the folder of one of the run's tables, below the dataset's folder.
    pub(crate) fn folder(&self, table: &str) -> PathBuf {
        Path::new(table).join(self.below())
    }

    /// Returns the run's folder below that of any table.
    pub(crate) fn below(&self) -> PathBuf {
        let value = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());

        let device = value(self.device.as_deref().map(encode));
        let date = value(self.date.map(date_text));
        let run = encode(&self.run);

        let path = [
            format!("device={device}"),
            format!("date={date}"),
            format!("run={run}"),
        ];
        path.iter().collect()
    }

    /// Parses a partition from the names of three folders. Returns `None` if a name has another form.
    pub(crate) fn from_folders(device: &str, date: &str, run: &str) -> Option<Self> {
        let known = |value: &str| (![UNKNOWN, HIVE_NULL].contains(&value)).then(|| decode(value));
        let date = match date.strip_prefix("date=")? {
            UNKNOWN | HIVE_NULL => None,
            date => Some(day(date)?),
        };
        Some(Self {
            device: known(device.strip_prefix("device=")?),
            date,
            run: decode(run.strip_prefix("run=")?),
        })
    }

    /// Returns the file of one of the run's tables.
    pub(crate) fn file(&self, dataset: &Path, table: &str) -> PathBuf {
        dataset.join(self.folder(table)).join(FILE)
    }
}

fn encode(value: &str) -> String {
    let mut encoded = String::new();
    for character in value.chars() {
        let mut bytes = [0; 4];

        let is_plain = character.is_ascii_alphanumeric() || "_-.,".contains(character);
        let part = if is_plain {
            character.to_string()
        } else {
            let bytes = character.encode_utf8(&mut bytes).bytes();
            bytes.map(|byte| format!("%{byte:02X}")).collect()
        };
        if encoded.len() + part.len() > LONGEST {
            break;
        }
        encoded.push_str(&part);
    }

    match encoded.as_str() {
        // A device may really have this name, which must not be read as unknown.
        UNKNOWN => encoded.replacen('u', "%75", 1),
        HIVE_NULL => encoded.replacen('_', "%5F", 1),
        _ => encoded,
    }
}

/// Decodes a value. Parts that are not encoded correctly stay as they are.
fn decode(encoded: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| encoded.to_owned())
}

/// Returns the day of a text like `2026-11-21`, as days since 1970-01-01.
pub(crate) fn day(text: &str) -> Option<i32> {
    let mut parts = text.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u16>().ok().filter(|_| is_number)
    };
    let (year, month, of_month) = (number(4)?, number(2)?, number(2)?);
    if parts.next().is_some() {
        return None;
    }

    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let of_month = u8::try_from(of_month).ok()?;
    let date = Date::from_calendar_date(year.into(), month, of_month).ok()?;
    Some(date.to_julian_day() - UtcDateTime::UNIX_EPOCH.to_julian_day())
}

/// Returns a day, counted since 1970-01-01, as text like `2026-11-21`. A day beyond the calendar is
/// moved to its edge.
pub(crate) fn date_text(days: i32) -> String {
    let since_1970 = Duration::days(days.into());
    let date = UtcDateTime::UNIX_EPOCH.date().saturating_add(since_1970);
    let (year, month, of_month) = date.to_calendar_date();
    format!("{year:04}-{:02}-{of_month:02}", u8::from(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_are_parsed_back() {
        let check = |device: Option<&str>, date: Option<&str>, folder: &str| {
            let partition = Partition::new(device, date, "r1".to_owned());
            assert_eq!(partition.folder("gaps"), Path::new(folder));
            let parts: Vec<&str> = folder.split('/').collect();
            let read = Partition::from_folders(parts[1], parts[2], parts[3]);
            assert_eq!(read, Some(partition), "{folder}");
        };

        check(
            Some("MacBook Air"),
            Some("2026-03-14T11:22:33.123+01:00"),
            "gaps/device=MacBook%20Air/date=2026-03-14/run=r1",
        );
        check(
            Some("Mac16,1"),
            Some("yesterday"),
            "gaps/device=Mac16,1/date=unknown/run=r1",
        );
        let nowhere = "gaps/device=unknown/date=unknown/run=r1";
        check(None, None, nowhere);
        check(Some(""), Some("2026-02-30"), nowhere);
        check(
            Some("../é=%2F*"),
            None,
            "gaps/device=..%2F%C3%A9%3D%252F%2A/date=unknown/run=r1",
        );
        check(
            Some(UNKNOWN),
            None,
            "gaps/device=%75nknown/date=unknown/run=r1",
        );
        check(
            Some(HIVE_NULL),
            None,
            "gaps/device=%5F_HIVE_DEFAULT_PARTITION__/date=unknown/run=r1",
        );

        let [device, date] = ["device", "date"].map(|key| format!("{key}={HIVE_NULL}"));
        let read = Partition::from_folders(&device, &date, "run=r1");
        assert_eq!(read, Some(Partition::new(None, None, "r1".to_owned())));
    }

    #[test]
    fn a_long_value_is_cut_between_characters() {
        let partition = Partition::new(Some(&"é".repeat(300)), None, "r1".to_owned());
        assert_eq!(partition.device, Some("é".repeat(33)));
        let folder = partition.folder("runs");
        let longest = folder.iter().map(std::ffi::OsStr::len).max();
        assert!(longest.unwrap() <= 255);
    }

    #[test]
    fn days_are_parsed_and_formatted() {
        // The expected values are from `date -d … +%s`, divided by 86400.
        let cases = [
            ("1970-01-01", Some(0)),
            ("2000-02-29", Some(11_016)),
            ("2026-11-21", Some(20_778)),
            ("1969-12-31", Some(-1)),
            ("2026-02-29", None),
            ("2026-13-01", None),
            ("2026-1-01", None),
            ("2026-11-2x", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(day(text), expected, "{text}");
            if let Some(days) = expected {
                assert_eq!(date_text(days), text);
            }
        }
    }
}
