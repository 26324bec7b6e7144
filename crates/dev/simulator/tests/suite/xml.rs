//! Reads XML, with code that shares nothing with the writer. Checks the grammar on the way.

use std::collections::HashMap;

/// An element of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) tag: String,
    pub(crate) attributes: HashMap<String, String>,
    pub(crate) children: Vec<Element>,
    pub(crate) text: String,
}

/// A query document with resolved references.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) xpath: String,
    pub(crate) name: String,
    /// Mnemonic, display name and engineering type of each column.
    pub(crate) columns: Vec<(String, String, String)>,
    pub(crate) documentation: Option<String>,
    pub(crate) rows: Vec<Vec<Element>>,
    pub(crate) references: usize,
}

impl Element {
    pub(crate) fn child(&self, tag: &str) -> &Self {
        self.children
            .iter()
            .find(|child| child.tag == tag)
            .unwrap_or_else(|| panic!("no <{tag}> in {self:?}"))
    }

    pub(crate) fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.tag == tag)
    }

    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes
            .get(name)
            .unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    pub(crate) fn number(&self) -> u64 {
        self.text
            .parse()
            .unwrap_or_else(|_| panic!("not a number: {self:?}"))
    }

    pub(crate) fn fmt(&self) -> &str {
        self.attribute("fmt")
    }
}

impl Table {
    pub(crate) fn column(&self, mnemonic: &str) -> usize {
        self.columns
            .iter()
            .position(|(name, ..)| name == mnemonic)
            .unwrap_or_else(|| panic!("no column {mnemonic}"))
    }
}

/// Parses the root element of a document.
pub(crate) fn parse(text: &str) -> Element {
    let rest = text
        .strip_prefix("<?xml version=\"1.0\"?>")
        .expect("an XML declaration first")
        .trim_start();
    let (root, rest) = element(rest);
    assert_eq!(rest, "\n", "one root and a newline");
    root
}

fn element(text: &str) -> (Element, &str) {
    let text = text
        .strip_prefix('<')
        .unwrap_or_else(|| panic!("no element at {text:.80}"));
    let end = text.find(['>', '/', ' ']).expect("a tag ends");
    let mut found = Element {
        tag: text[..end].to_owned(),
        ..Element::default()
    };
    let mut rest = &text[end..];

    loop {
        rest = rest.trim_start_matches(' ');
        if let Some(after) = rest.strip_prefix("/>") {
            return (found, after);
        }
        if let Some(after) = rest.strip_prefix('>') {
            rest = after;
            break;
        }
        let (name, after) = rest.split_once('=').expect("attribute=");
        let quote = after.chars().next().expect("a quote");
        assert!(quote == '"' || quote == '\'');
        let (value, after) = after[1..].split_once(quote).expect("a closing quote");
        assert!(!value.contains('<'), "markup in attribute {value}");
        assert!(
            found
                .attributes
                .insert(name.to_owned(), unescaped(value))
                .is_none(),
            "{name} twice"
        );
        rest = after;
    }

    content(found, rest)
}

fn content(mut found: Element, mut rest: &str) -> (Element, &str) {
    loop {
        let at = rest.find('<').expect("an element ends");
        found.text.push_str(&unescaped(&rest[..at]));
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("</") {
            let after = after
                .strip_prefix(found.tag.as_str())
                .expect("the same tag closes");
            return (found, after.strip_prefix('>').expect(">"));
        }
        let (child, after) = element(rest);
        found.children.push(child);
        rest = after;
    }
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';').expect("& starts an entity");
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            other => panic!("unknown entity {other}"),
        });
        out.push_str(rest);
    }
    out
}

/// Reads a query document and checks its grammar: ids are dense in document order at every depth,
/// references go backwards to the same tag, and each cell has the type of its column.
pub(crate) fn table(text: &str) -> Table {
    let root = parse(text);
    assert_eq!(root.tag, "trace-query-result");
    let [node] = root.children.as_slice() else {
        panic!("one node")
    };
    let schema = node.child("schema");
    let columns = schema.all("col").map(|col| {
        let part = |tag| col.child(tag).text.clone();
        (part("mnemonic"), part("name"), part("engineering-type"))
    });

    let mut known = KnownElements::default();
    let mut table = Table {
        xpath: node.attribute("xpath").to_owned(),
        name: schema.attribute("name").to_owned(),
        columns: columns.collect(),
        documentation: schema.attributes.get("documentation").cloned(),
        rows: Vec::new(),
        references: 0,
    };

    for row in node.all("row") {
        assert!(row.attributes.is_empty(), "a row has no attributes");
        assert_eq!(
            row.children.len(),
            table.columns.len(),
            "cells of {}",
            table.name
        );
        let cells: Vec<Element> = row
            .children
            .iter()
            .map(|cell| known.resolve(cell))
            .collect();
        for (cell, (mnemonic, _, engineering_type)) in cells.iter().zip(&table.columns) {
            assert!(
                cell.tag == *engineering_type || cell.tag == "sentinel",
                "{mnemonic}: {cell:?}"
            );
        }
        table.rows.push(cells);
    }
    table.references = known.references;
    table
}

/// The elements by id, in document order.
#[derive(Default)]
struct KnownElements {
    elements: Vec<Option<Element>>,
    references: usize,
}

impl KnownElements {
    fn resolve(&mut self, cell: &Element) -> Element {
        if cell.tag == "sentinel" {
            assert_eq!(
                *cell,
                Element {
                    tag: "sentinel".to_owned(),
                    ..Element::default()
                }
            );
            return cell.clone();
        }

        if let Some(reference) = cell.attributes.get("ref") {
            assert_eq!(cell.attributes.len(), 1);
            let id: usize = reference.parse().unwrap();
            let known = self.elements.get(id - 1).and_then(Option::as_ref);
            let known = known.unwrap_or_else(|| panic!("<{}> refers forward to {id}", cell.tag));
            assert_eq!(known.tag, cell.tag, "a reference keeps its tag");
            self.references += 1;
            return known.clone();
        }

        let id: usize = cell.attribute("id").parse().unwrap();
        match cell.tag.as_str() {
            // These three have attributes of their own in place of a display form.
            "backtrace" | "frame" | "binary" => assert!(!cell.attributes.contains_key("fmt")),
            _ => assert_eq!(cell.attributes.len(), 2, "id and fmt: {cell:?}"),
        }
        assert_eq!(id, self.elements.len() + 1, "ids are dense");
        self.elements.push(None);

        let mut resolved = cell.clone();
        resolved.attributes.remove("id");
        resolved.children = cell
            .children
            .iter()
            .map(|child| self.resolve(child))
            .collect();
        self.elements[id - 1] = Some(resolved.clone());
        resolved
    }
}
