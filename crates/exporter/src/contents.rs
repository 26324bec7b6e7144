//! The table of contents, as far as it takes to ask for tables.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::error::{Error, Result};

/// One run: its number, and its tables' schemas in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) number: u64,
    pub(crate) schemas: Vec<String>,
}

/// Its runs. None if that is no table of contents, or lists no run.
pub(crate) fn parse(text: &str) -> Option<Vec<Run>> {
    let mut reader = Reader::from_str(text);
    let mut runs: Vec<Run> = Vec::new();
    let mut inside: Vec<String> = Vec::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => {
                look_at(&tag, &inside, &mut runs)?;
                inside.push(tag.name().as_ref().to_owned());
            }
            Event::Empty(tag) => look_at(&tag, &inside, &mut runs)?,
            Event::End(_) => {
                inside.pop();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    (inside.is_empty() && !runs.is_empty()).then_some(runs)
}

fn look_at(tag: &BytesStart<'_>, inside: &[String], runs: &mut Vec<Run>) -> Option<()> {
    let path: Vec<&str> = inside.iter().map(String::as_str).collect();
    match (path.as_slice(), tag.name().as_ref()) {
        ([], "trace-toc") => {}
        ([], _) => return None,
        (["trace-toc"], "run") => {
            let position = runs.len() as u64 + 1;
            let number = attribute(tag, "number").and_then(|number| number.parse().ok());
            runs.push(Run {
                number: number.unwrap_or(position),
                schemas: Vec::new(),
            });
        }
        (["trace-toc", "run", "data"], "table") => {
            // One without a name still has its place.
            let schema = attribute(tag, "schema").unwrap_or_default();
            runs.last_mut()?.schemas.push(schema);
        }
        _ => {}
    }
    Some(())
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok()??;
    Some(found.value.to_string())
}

/// Where the run that was asked for is, else the last.
pub(crate) fn position_of(runs: &[Run], asked: Option<u64>) -> Result<usize> {
    let Some(asked) = asked else {
        return Ok(runs.len().saturating_sub(1));
    };
    let found = runs.iter().position(|run| run.number == asked);
    found.ok_or_else(|| {
        let numbers: Vec<String> = runs.iter().map(|run| run.number.to_string()).collect();
        Error::NoSuchRun {
            asked,
            present: numbers.join(", "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed() {
        let check = |text: &str, expected: Option<&[(u64, &[&str])]>| {
            let found = parse(text);
            let expected = expected.map(|runs| {
                let run = |&(number, schemas): &(u64, &[&str])| Run {
                    number,
                    schemas: schemas.iter().map(|&schema| schema.to_owned()).collect(),
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
        check("<trace-toc><run/></trace-toc>", Some(&[(1, &[])]));
        check("<trace-toc></trace-toc>", None);
        check("<trace-toc><run number=\"1\"><data>", None);
        check("<trace-query-result/>", None);
        check("", None);
        check("plain", None);
    }
}
