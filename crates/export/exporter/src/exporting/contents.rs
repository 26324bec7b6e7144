//! Parses the runs of a table of contents, with their tables and the details of their tracks.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::error::{Error, Result};
use metalens_xctrace::command::TRACK_DETAILS;

/// A run of a recording, with the schemas of its tables in their order. Details of tracks come after
/// the tables, so that these keep their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedRun {
    pub(crate) number: u64,
    pub(crate) schemas: Vec<String>,
    /// Name of the last track.
    track: String,
}

impl ListedRun {
    pub(crate) fn new(number: u64, schemas: Vec<String>) -> Self {
        Self {
            number,
            schemas,
            track: String::new(),
        }
    }
}

/// Parses the runs of a table of contents. Returns `None` for any other text, and if it lists no run.
pub(crate) fn parse(text: &str) -> Option<Vec<ListedRun>> {
    let mut reader = Reader::from_str(text);
    let mut runs: Vec<ListedRun> = Vec::new();
    let mut inside: Vec<String> = Vec::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => {
                add_tag(&tag, &inside, &mut runs)?;
                inside.push(tag.name().as_ref().to_owned());
            }
            Event::Empty(tag) => add_tag(&tag, &inside, &mut runs)?,
            Event::End(_) => {
                inside.pop();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    (inside.is_empty() && !runs.is_empty()).then_some(runs)
}

/// Adds the run or the table of a tag. Returns `None` if the text is not a table of contents.
fn add_tag(tag: &BytesStart<'_>, inside: &[String], runs: &mut Vec<ListedRun>) -> Option<()> {
    let path: Vec<&str> = inside.iter().map(String::as_str).collect();
    match (path.as_slice(), tag.name().as_ref()) {
        ([], "trace-toc") => {}
        ([], _) => return None,
        (["trace-toc"], "run") => {
            let position = runs.len() as u64 + 1;
            let number = attribute(tag, "number").and_then(|number| number.parse().ok());
            runs.push(ListedRun::new(number.unwrap_or(position), Vec::new()));
        }
        (["trace-toc", "run", "tracks"], "track") => {
            runs.last_mut()?.track = attribute(tag, "name").unwrap_or_default();
        }
        (["trace-toc", "run", "tracks", "track", "details"], "detail") => {
            let (run, detail) = (runs.last_mut()?, attribute(tag, "name"));
            let known = TRACK_DETAILS.iter().find(|detailed| {
                detailed.track == run.track && detail.as_deref() == Some(detailed.detail)
            });
            run.schemas
                .extend(known.map(|detailed| detailed.table.to_owned()));
        }
        (["trace-toc", "run", "data"], "table") => {
            // A table without a schema still counts for the positions of the others.
            let schema = attribute(tag, "schema").unwrap_or_default();
            runs.last_mut()?.schemas.push(schema);
        }
        _ => {}
    }
    Some(())
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok()??;
    Some(attribute.value.to_string())
}

/// Returns the index of the requested run, or of the last run.
pub(crate) fn index_of_run(runs: &[ListedRun], number: Option<u64>) -> Result<usize> {
    let Some(number) = number else {
        return Ok(runs.len().saturating_sub(1));
    };
    let index = runs.iter().position(|run| run.number == number);
    index.ok_or_else(|| {
        let numbers: Vec<String> = runs.iter().map(|run| run.number.to_string()).collect();
        Error::NoSuchRun {
            number,
            present: numbers.join(", "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_schemas_are_parsed() {
        let check = |text: &str, expected: Option<&[(u64, &[&str])]>| {
            let mut found = parse(text);
            for run in found.iter_mut().flatten() {
                run.track = String::new();
            }
            let expected = expected.map(|runs| {
                let run = |&(number, schemas): &(u64, &[&str])| {
                    let schemas = schemas.iter().map(|&schema| schema.to_owned());
                    ListedRun::new(number, schemas.collect())
                };
                runs.iter().map(run).collect::<Vec<_>>()
            });
            assert_eq!(found, expected, "{text}");
        };

        let two = "<?xml version=\"1.0\"?>\n<trace-toc><run number=\"1\"><info><table schema=\"no\"/></info>\
            <data><table schema=\"a\" codes='&quot;1&quot;'/><table schema=\"b\"></table><table/></data>\
            <tracks/></run><run number=\"4\"><data><table schema=\"a\"/><table schema=\"a\"/></data></run>\
            </trace-toc>\n";
        check(two, Some(&[(1, &["a", "b", ""]), (4, &["a", "a"])]));
        let tracks = "<trace-toc><run number=\"1\"><data><table schema=\"a\"/></data><tracks>\
            <track name=\"Allocations\"><details><detail name=\"Statistics\" kind=\"table\"/>\
            <detail name=\"Allocations List\" kind=\"table\"/></details></track><track name=\"Other\">\
            <details><detail name=\"Leaks\" kind=\"table\"/></details></track></tracks></run></trace-toc>";
        check(tracks, Some(&[(1, &["a", "allocations-list"])]));
        check("<trace-toc><run/></trace-toc>", Some(&[(1, &[])]));
        check("<trace-toc></trace-toc>", None);
        check("<trace-toc><run number=\"1\"><data>", None);
        check("<trace-query-result/>", None);
        check("", None);
        check("plain", None);
    }
}
