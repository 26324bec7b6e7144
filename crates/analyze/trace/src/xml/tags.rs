//! Numbers the tag names of a document, with the kind and the role of each.

use rustc_hash::FxHashMap;

use super::ids::TagId;
use crate::error::{Problem, too_many};
use crate::kind::Kind;

/// Maximum number of different tags. Real exports have about seventy.
const MAX_TAGS: usize = 4096;

/// The role of an element in the composite around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Pid,
    Tid,
    /// Number at the end of a GPU label.
    Submission,
    /// Fixed text between the parts of a label or narrative.
    Narrative,
    Process,
    Thread,
    Stack,
    Addresses,
    Frame,
    Binary,
    /// A text of its own.
    Words,
    /// Any other element.
    Other,
}

/// A tag with the properties that decide how it is read.
#[derive(Debug, Clone)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) role: Role,
}

/// All tags of a document, by number and by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tags {
    tags: Vec<Tag>,
    numbers: FxHashMap<String, TagId>,
}

impl Tags {
    /// Returns the number of a tag, and assigns one to a new tag.
    pub(crate) fn number(&mut self, name: &str) -> Result<TagId, Problem> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        let too_many = || too_many("different tags", MAX_TAGS);
        let kind = Kind::from_type(name);
        self.tags.push(Tag {
            name: name.to_owned(),
            kind,
            role: role(name, kind),
        });
        let number = TagId::try_from(self.tags.len()).map_err(|_| too_many())?;
        if self.tags.len() > MAX_TAGS {
            return Err(too_many());
        }
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }

    pub(crate) fn len(&self) -> usize {
        self.tags.len()
    }

    pub(crate) fn get(&self, number: TagId) -> Option<&Tag> {
        self.tags.get(usize::from(number).checked_sub(1)?)
    }

    pub(crate) fn name(&self, number: TagId) -> String {
        let tag = self.get(number);
        tag.map_or_else(|| "sentinel".to_owned(), |tag| tag.name.clone())
    }
}

fn role(name: &str, kind: Kind) -> Role {
    match (name, kind) {
        ("pid", _) => Role::Pid,
        ("tid", _) => Role::Tid,
        ("metal-encoder-id", _) => Role::Submission,
        ("narrative-text", _) => Role::Narrative,
        (_, Kind::Addresses) => Role::Addresses,
        (_, Kind::Process) => Role::Process,
        (_, Kind::Thread) => Role::Thread,
        (_, Kind::Stack) => Role::Stack,
        (_, Kind::Frame) => Role::Frame,
        (_, Kind::Binary) => Role::Binary,
        (_, Kind::Text) => Role::Words,
        (_, Kind::Integer | Kind::Label) => Role::Other,
    }
}
