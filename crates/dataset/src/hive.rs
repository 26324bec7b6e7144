//! Where a run's files lie: folders called `key=value`, as Hive began it and
//! polars, DuckDB, Spark and pyarrow read it.
//!
//! A value is percent-encoded but for letters, digits and `_-.,` of ASCII: all of
//! those readers decode it, and no shell, glob or file system stumbles over it.
//! An unknown value is `__HIVE_DEFAULT_PARTITION__`, which they read as null.

use std::path::{Path, PathBuf};

use time::{Date, Duration, Month, UtcDateTime};

/// What Hive calls an unknown value.
pub(crate) const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";
/// The file of each folder.
pub(crate) const FILE: &str = "part.parquet";
/// File systems have names of up to 255 bytes.
const LONGEST: usize = 200;

/// Which machine, which day, which run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Partition {
    pub(crate) device: Option<String>,
    /// Days since 1970-01-01.
    pub(crate) date: Option<i32>,
    pub(crate) run: String,
}

impl Partition {
    /// Of a device's model, the moment a recording began, and a run's name. What no
    /// folder can be called is not kept: an empty model is none, a long one is cut.
    pub(crate) fn new(device: Option<&str>, start: Option<&str>, run: String) -> Self {
        let device = device.map(|device| decode(&encode(device)));
        Self {
            device: device.filter(|device| !device.is_empty()),
            date: start.and_then(|start| day(start.get(..10)?)),
            run,
        }
    }

    /// The folder of one of its tables, below the dataset's.
    pub(crate) fn folder(&self, table: &str) -> PathBuf {
        let value = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
        let device = value(self.device.as_deref().map(encode));
        let date = value(self.date.map(date_text));
        let run = encode(&self.run);
        let path = [
            table.to_owned(),
            format!("device={device}"),
            format!("date={date}"),
            format!("run={run}"),
        ];
        path.iter().collect()
    }

    /// Of the three folders' names, if they are such.
    pub(crate) fn of_folders(device: &str, date: &str, run: &str) -> Option<Self> {
        let known = |value: &str| (value != UNKNOWN).then(|| decode(value));
        let date = match date.strip_prefix("date=")? {
            UNKNOWN => None,
            date => Some(day(date)?),
        };
        Some(Self {
            device: known(device.strip_prefix("device=")?),
            date,
            run: decode(run.strip_prefix("run=")?),
        })
    }

    /// The file of one of its tables.
    pub(crate) fn file(&self, dataset: &Path, table: &str) -> PathBuf {
        dataset.join(self.folder(table)).join(FILE)
    }
}

fn encode(value: &str) -> String {
    let mut encoded = String::new();
    for character in value.chars() {
        let mut bytes = [0; 4];
        let plain = character.is_ascii_alphanumeric() || "_-.,".contains(character);
        let part = match plain {
            true => character.to_string(),
            false => {
                let bytes = character.encode_utf8(&mut bytes).bytes();
                bytes.map(|byte| format!("%{byte:02X}")).collect()
            }
        };
        if encoded.len() + part.len() > LONGEST {
            break;
        }
        encoded.push_str(&part);
    }
    match encoded == UNKNOWN {
        // Somebody's machine is not unknown because it is called that.
        true => encoded.replacen('_', "%5F", 1),
        false => encoded,
    }
}

/// What is not encoded as it should be stays as it is.
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

/// Returns the day that a text like `2026-11-21` names, as days since 1970-01-01.
pub(crate) fn day(text: &str) -> Option<i32> {
    let mut parts = text.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
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

/// Returns the text of a day that is counted since 1970-01-01, as `2026-11-21`. One beyond the
/// calendar is at its edge.
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
    fn folders_say_what_they_hold_and_are_read_back() {
        let check = |device: Option<&str>, date: Option<&str>, folder: &str| {
            let partition = Partition::new(device, date, "r1".to_owned());
            assert_eq!(partition.folder("gaps"), Path::new(folder));
            let parts: Vec<&str> = folder.split('/').collect();
            let read = Partition::of_folders(parts[1], parts[2], parts[3]);
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
            "gaps/device=Mac16,1/date=__HIVE_DEFAULT_PARTITION__/run=r1",
        );
        let nowhere =
            "gaps/device=__HIVE_DEFAULT_PARTITION__/date=__HIVE_DEFAULT_PARTITION__/run=r1";
        check(None, None, nowhere);
        check(Some(""), Some("2026-02-30"), nowhere);
        check(
            Some("../é=%2F*"),
            None,
            "gaps/device=..%2F%C3%A9%3D%252F%2A/date=__HIVE_DEFAULT_PARTITION__/run=r1",
        );
        check(
            Some(UNKNOWN),
            None,
            "gaps/device=%5F_HIVE_DEFAULT_PARTITION__/date=__HIVE_DEFAULT_PARTITION__/run=r1",
        );
    }

    #[test]
    fn a_long_value_is_cut_where_a_character_ends() {
        let partition = Partition::new(Some(&"é".repeat(300)), None, "r1".to_owned());
        assert_eq!(partition.device, Some("é".repeat(33)));
        let folder = partition.folder("runs");
        let longest = folder.iter().map(std::ffi::OsStr::len).max();
        assert!(longest.unwrap() <= 255);
    }

    #[test]
    fn days() {
        // From `date -d … +%s` / 86400.
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
