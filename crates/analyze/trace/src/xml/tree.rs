//! Reads a small document as a tree, such as the table of contents, which has no rows.

use std::io::Read;

use super::attributes::all;
use super::pull::{Pull, Token};
use crate::error::{Problem, Result, malformed, too_many};

/// Maximum number of elements. The largest real table of contents has 600.
const MAX_ELEMENTS: usize = 200_000;

/// An element with its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Element>,
    /// Text directly inside the element, trimmed.
    pub(crate) text: String,
}

impl Element {
    /// Returns the first child with a name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// Returns all children with a name.
    pub(crate) fn children_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Returns the value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the text of the first child with a name. None if it is empty.
    pub(crate) fn child_text(&self, name: &str) -> Option<String> {
        let child = self.child(name)?;
        (!child.text.is_empty()).then(|| child.text.clone())
    }
}

/// Reads a document whose root must have this name.
pub(crate) fn read_tree<R: Read>(input: R, file: &str, root: &str) -> Result<Element> {
    let mut pull = Pull::new(input, file);
    // An element without a name around the document collects its root.
    let mut open = vec![Element::default()];
    let mut count = 0;
    loop {
        let problem = match pull.next()? {
            Token::Open { tag, empty } => match all(tag.attributes_raw()) {
                Ok(attributes) if count < MAX_ELEMENTS => {
                    count += 1;
                    open.push(Element {
                        name: tag.name().as_ref().to_owned(),
                        attributes,
                        ..Element::default()
                    });
                    if empty {
                        close(&mut open);
                    }
                    continue;
                }
                Ok(_) => too_many("elements in a table of contents", MAX_ELEMENTS),
                Err(problem) => problem,
            },
            Token::Text(text) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&text);
                }
                continue;
            }
            Token::Close => {
                close(&mut open);
                continue;
            }
            Token::Nothing => continue,
            Token::End => break,
        };
        return Err(pull.error(problem));
    }

    let document = open.pop().unwrap_or_default();
    if document.children.len() > 1 || !document.text.trim().is_empty() {
        return Err(pull.error(malformed("content outside the root element")));
    }

    match document.children.into_iter().next() {
        Some(element) if element.name == root => Ok(element),
        Some(element) if element.name == "trace-query-result" => Err(pull.error(Problem::NotToc)),
        Some(element) => Err(pull.error(Problem::NotAnExport { root: element.name })),
        None => Err(pull.error(Problem::NotXml {
            found: "an empty file",
        })),
    }
}

fn close(open: &mut Vec<Element>) {
    if let Some(mut element) = open.pop() {
        element.text = element.text.trim().to_owned();
        if let Some(parent) = open.last_mut() {
            parent.children.push(element);
        }
    }
}
