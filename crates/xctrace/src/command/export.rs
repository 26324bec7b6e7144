//! `xctrace export`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::version::{Feature, Version};

/// What is to be exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The bundle.
    pub input: PathBuf,
    /// What of it.
    pub what: What,
    /// The file to write; standard output if none.
    pub output: Option<PathBuf>,
    /// Only rows of a part of the recording.
    pub part: Part,
}

/// What of a bundle. One table per call: documents of several are confused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The table of contents.
    Contents,
    /// The tables of this name; there may be several of them.
    Schema {
        /// The run.
        run: u64,
        /// The name.
        schema: String,
    },
    /// One table by its place, where several have one name.
    Place {
        /// The run.
        run: u64,
        /// From 1.
        place: usize,
    },
}

/// A part of a recording, ns; the end is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Part {
    /// From here.
    pub from_ns: Option<u64>,
    /// To here.
    pub to_ns: Option<u64>,
}

impl Export {
    /// The arguments.
    ///
    /// # Errors
    ///
    /// If this version cannot export a part, or a table has a name that no
    /// expression can hold.
    pub fn arguments(&self, version: &Version) -> Result<Vec<OsString>> {
        let mut all: Vec<OsString> = vec!["export".into(), "--input".into(), (&self.input).into()];
        match self.what.expression()? {
            None => all.push("--toc".into()),
            Some(expression) => all.extend(["--xpath".into(), expression.into()]),
        }
        let times = [
            ("--time-start", self.part.from_ns),
            ("--time-end", self.part.to_ns),
        ];
        for (option, time) in times {
            let Some(time) = time else { continue };
            let feature = Feature::ExportOfAPart;
            if !version.has(feature) {
                let version = version.clone();
                return Err(Error::TooOld {
                    option,
                    feature,
                    version,
                });
            }
            all.extend([option.into(), format!("{time}ns").into()]);
        }
        if let Some(output) = &self.output {
            all.extend(["--output".into(), output.into()]);
        }
        Ok(all)
    }
}

impl What {
    /// The `XPath` expression over the table of contents; none for that itself.
    fn expression(&self) -> Result<Option<String>> {
        Ok(match self {
            Self::Contents => None,
            Self::Schema { schema, .. } if schema.contains('"') => {
                return Err(Error::Request(format!("no table can be called `{schema}`")));
            }
            Self::Schema { run, schema } => Some(format!(
                "/trace-toc/run[@number=\"{run}\"]/data/table[@schema=\"{schema}\"]"
            )),
            Self::Place { run, place } => Some(format!(
                "/trace-toc/run[@number=\"{run}\"]/data/table[{place}]"
            )),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(what: What, part: Part, build: &str, expected: Result<&str, &str>) {
        let export = Export {
            input: "/a.trace".into(),
            what,
            output: Some("/o.xml".into()),
            part,
        };
        let version = Version {
            dotted: "1.0".to_owned(),
            build: build.to_owned(),
        };
        let found = export
            .arguments(&version)
            .map_err(|error| error.to_string());
        let found = found.map(|words| {
            let words: Vec<String> = words.iter().map(|one| one.display().to_string()).collect();
            words.join(" ")
        });
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn what_can_be_exported() {
        let all = Part::default();
        let schema = |schema: &str| What::Schema {
            run: 2,
            schema: schema.to_owned(),
        };
        let toc = "export --input /a.trace --toc --output /o.xml";
        check(What::Contents, all, "12A", Ok(toc));
        let one = "export --input /a.trace --xpath /trace-toc/run[@number=\"2\"]/data/table[@schema=\"a-b\"] --output /o.xml";
        check(schema("a-b"), all, "12A", Ok(one));
        let third = "export --input /a.trace --xpath /trace-toc/run[@number=\"1\"]/data/table[3] --output /o.xml";
        check(What::Place { run: 1, place: 3 }, all, "12A", Ok(third));
        check(
            schema("\"] | //*"),
            all,
            "12A",
            Err("no table can be called `\"] | //*`"),
        );
    }

    #[test]
    fn parts_of_recordings() {
        let part = Part {
            from_ns: Some(5),
            to_ns: Some(70),
        };
        let expected =
            "export --input /a.trace --toc --time-start 5ns --time-end 70ns --output /o.xml";
        check(What::Contents, part, "18A100", Ok(expected));
        let old = "--time-start needs Xcode 27.0 or newer, and this is xctrace 1.0 (17F113)";
        check(What::Contents, part, "17F113", Err(old));
    }
}
