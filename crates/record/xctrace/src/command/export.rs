//! Builds the arguments of `xctrace export`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Error, Result, require};
use crate::version::{Feature, Version};

/// An export to make with `xctrace export`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The bundle to export from.
    pub input: PathBuf,
    /// The part of the bundle to export.
    pub selection: ExportSelection,
    /// The file to write; None for standard output.
    pub output: Option<PathBuf>,
    /// Range of time to export.
    pub range: TimeRange,
}

/// A part of a bundle. Each call exports one table: documents with several tables are
/// inconsistent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportSelection {
    /// The table of contents.
    Contents,
    /// All tables of one schema.
    Schema {
        /// Number of the run.
        run: u64,
        /// Name of the schema.
        schema: String,
    },
    /// The detail of a track.
    Detail {
        /// Number of the run.
        run: u64,
        /// The detail.
        detail: TrackDetail,
    },
    /// One table by its position, for schemas with several tables.
    Place {
        /// Number of the run.
        run: u64,
        /// Position of the table in the run, from 1.
        place: usize,
    },
}

/// A detail of a track: a list that Instruments shows, which is not a table and has no schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackDetail {
    /// Name of its table for metalens.
    pub table: &'static str,
    /// Name of the track.
    pub track: &'static str,
    /// Name of the detail.
    pub detail: &'static str,
}

/// The details that metalens reads.
pub const TRACK_DETAILS: [TrackDetail; 3] = [
    TrackDetail {
        table: "allocations-list",
        track: "Allocations",
        detail: "Allocations List",
    },
    TrackDetail {
        table: "leaks-list",
        track: "Leaks",
        detail: "Leaks",
    },
    TrackDetail {
        table: "vm-regions-map",
        track: "VM Tracker",
        detail: "Regions Map",
    },
];

/// A range of time of a recording, in nanoseconds, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeRange {
    /// Start of the range; None for the start of the recording.
    pub from_ns: Option<u64>,
    /// End of the range; None for the end of the recording.
    pub to_ns: Option<u64>,
}

impl Export {
    /// Returns the arguments of `xctrace`.
    ///
    /// # Errors
    ///
    /// Fails if this version cannot export a range of time, or the name of a table cannot be used
    /// in an expression.
    pub fn arguments(&self, version: &Version) -> Result<Vec<OsString>> {
        let mut arguments: Vec<OsString> =
            vec!["export".into(), "--input".into(), (&self.input).into()];
        match self.selection.expression()? {
            None => arguments.push("--toc".into()),
            Some(expression) => arguments.extend(["--xpath".into(), expression.into()]),
        }

        let times = [
            ("--time-start", self.range.from_ns),
            ("--time-end", self.range.to_ns),
        ];
        for (option, time) in times {
            let Some(time) = time else { continue };
            require(version, Feature::ExportOfAPart, option)?;
            arguments.extend([option.into(), format!("{time}ns").into()]);
        }

        if let Some(output) = &self.output {
            arguments.extend(["--output".into(), output.into()]);
        }
        Ok(arguments)
    }
}

impl ExportSelection {
    /// Returns the `XPath` expression over the table of contents; none for the table of contents
    /// itself.
    fn expression(&self) -> Result<Option<String>> {
        Ok(match self {
            Self::Contents => None,
            Self::Schema { schema, .. } if schema.contains('"') => {
                return Err(Error::Request(format!(
                    "`{schema}` is not a valid table name"
                )));
            }
            Self::Schema { run, schema } => Some(format!(
                "/trace-toc/run[@number=\"{run}\"]/data/table[@schema=\"{schema}\"]"
            )),
            Self::Place { run, place } => Some(format!(
                "/trace-toc/run[@number=\"{run}\"]/data/table[{place}]"
            )),
            Self::Detail { run, detail } => Some(format!(
                "/trace-toc/run[@number=\"{run}\"]/tracks/track[@name=\"{}\"]/details/detail[@name=\"{}\"]",
                detail.track, detail.detail
            )),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        selection: ExportSelection,
        range: TimeRange,
        build: &str,
        expected: Result<&str, &str>,
    ) {
        let export = Export {
            input: "/a.trace".into(),
            selection,
            output: Some("/o.xml".into()),
            range,
        };
        let version = Version {
            dotted: "1.0".to_owned(),
            build: build.to_owned(),
        };
        let found = export
            .arguments(&version)
            .map(|arguments| arguments.join(" ".as_ref()).display().to_string())
            .map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn contents_and_tables_can_be_exported() {
        let all = TimeRange::default();
        let schema = |schema: &str| ExportSelection::Schema {
            run: 2,
            schema: schema.to_owned(),
        };

        let toc = "export --input /a.trace --toc --output /o.xml";
        check(ExportSelection::Contents, all, "12A", Ok(toc));
        let one = "export --input /a.trace --xpath /trace-toc/run[@number=\"2\"]/data/table[@schema=\"a-b\"] --output /o.xml";
        check(schema("a-b"), all, "12A", Ok(one));
        let third = "export --input /a.trace --xpath /trace-toc/run[@number=\"1\"]/data/table[3] --output /o.xml";
        check(
            ExportSelection::Place { run: 1, place: 3 },
            all,
            "12A",
            Ok(third),
        );
        let detail = ExportSelection::Detail {
            run: 1,
            detail: TRACK_DETAILS[0],
        };
        let list = "export --input /a.trace --xpath /trace-toc/run[@number=\"1\"]/tracks/track[@name=\"Allocations\"]/details/detail[@name=\"Allocations List\"] --output /o.xml";
        check(detail, all, "12A", Ok(list));
        check(
            schema("\"] | //*"),
            all,
            "12A",
            Err("`\"] | //*` is not a valid table name"),
        );
    }

    #[test]
    fn a_range_needs_a_new_version() {
        let range = TimeRange {
            from_ns: Some(5),
            to_ns: Some(70),
        };
        let expected =
            "export --input /a.trace --toc --time-start 5ns --time-end 70ns --output /o.xml";
        check(ExportSelection::Contents, range, "27A266a", Ok(expected));
        let old = "--time-start needs Xcode 27.0 or later; this is xctrace 1.0 (17F113)";
        check(ExportSelection::Contents, range, "17F113", Err(old));
    }
}
