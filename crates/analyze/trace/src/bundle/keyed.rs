//! Reads archives of NSKeyedArchiver: a flat list of objects that refer to each other by number.
//!
//! Objects are read one by one and only on demand. An archive whose objects share each other a
//! million times could be read without end, so each archive has a limited number of answers. It
//! also stops to answer after a broken reference, since a table or a name must not disappear
//! silently. See [`Keyed::exhausted`].

use std::cell::Cell;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::bplist::{BinaryPlist, Node, References};

/// A keyed archive that was parsed.
pub(crate) struct Keyed {
    plist: BinaryPlist,
    objects: References,
    /// Number of remaining answers.
    left: Cell<usize>,
}

/// Number of answers for each byte, and for each archive. Real bundles need one for each byte of a
/// small archive, and fewer for a large one.
const ANSWERS_PER_BYTE: usize = 8;
const ANSWERS: usize = 1 << 16;

impl Keyed {
    /// Fault of bytes that [`parse`](Self::parse) does not accept.
    pub(crate) const INVALID: &str = "it is not a keyed archive, or is damaged";
    /// Fault of an archive that is [`exhausted`](Self::exhausted).
    pub(crate) const EXHAUSTED: &str = "its objects are broken, or contain each other without end";

    /// Parses an archive. `None` if the bytes are not an archive, or are damaged anywhere.
    pub(crate) fn parse(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        Self::parse_damaged(bytes).filter(Self::is_sound)
    }

    /// Parses an archive that may be damaged in part. `None` if the bytes are not an archive.
    pub(crate) fn parse_damaged(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let plist = BinaryPlist::parse(bytes)?;
        let member = |name: &str| member(&plist, plist.root()?, name);
        let &Node::List(objects) = member("$objects")? else {
            return None;
        };
        member("$top").filter(|top| matches!(top, Node::Dictionary { .. }))?;
        let left = plist.len().saturating_mul(ANSWERS_PER_BYTE);
        Some(Self {
            left: Cell::new(left.saturating_add(ANSWERS)),
            plist,
            objects,
        })
    }

    /// Returns the root object.
    pub(crate) fn root(&self) -> Option<Object<'_>> {
        self.top("root")
    }

    /// Returns an object by its name in `$top`.
    pub(crate) fn top(&self, name: &str) -> Option<Object<'_>> {
        let top = member(&self.plist, self.plist.root()?, "$top")?;
        self.object(member(&self.plist, top, name)?)
    }

    /// Returns true if the archive has stopped to answer, because of too many questions or a broken
    /// object. The data that was read is then incomplete.
    pub(crate) fn exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// Returns true if every object can be read and all references are valid.
    pub(crate) fn is_sound(&self) -> bool {
        let count = self.objects.count() as u64;
        self.plist.is_sound() && self.plist.uids().all(|number| number < count)
    }

    fn pay(&self, cost: usize) -> Option<()> {
        let left = self.left.get().checked_sub(cost.saturating_add(1));
        self.left.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// Returns a value. If there is none, the archive stops to answer.
    fn sound<T>(&self, found: Option<T>) -> Option<T> {
        if found.is_none() {
            self.left.set(0);
        }
        found
    }

    fn object<'a>(&'a self, node: &'a Node) -> Option<Object<'a>> {
        self.pay(0)?;
        let node = match node {
            Node::Uid(number) => {
                let at = usize::try_from(*number).ok();
                self.sound(at.and_then(|at| self.plist.item(self.objects, at)))?
            }
            node => node,
        };
        let node = self.sound((!matches!(node, Node::Broken)).then_some(node))?;
        let null = self.plist.text_bytes(node) == Some(b"$null");
        (!null).then_some(Object {
            archive: self,
            node,
        })
    }
}

fn member<'a>(plist: &'a BinaryPlist, node: &'a Node, name: &str) -> Option<&'a Node> {
    let mut members = plist.members(node);
    members
        .find(|(key, _)| *key == name.as_bytes())
        .map(|(_, value)| value)
}

/// An object of an archive.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a> {
    archive: &'a Keyed,
    node: &'a Node,
}

impl<'a> Object<'a> {
    /// Returns a member by its name, or an entry of a dictionary by its key.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        if let Some(value) = self.member(name)? {
            return self.archive.object(value);
        }
        self.entries()
            .find(|(key, _)| key.text() == Some(name))
            .map(|(_, value)| value)
    }

    /// Returns a member by its name. `None` if the object has no members.
    fn member(self, name: &str) -> Option<Option<&'a Node>> {
        let Node::Dictionary { keys, .. } = self.node else {
            return None;
        };
        self.archive.pay(keys.count())?;
        let found = member(&self.archive.plist, self.node, name);
        if found.is_none() {
            self.sound_members()?;
        }
        Some(found)
    }

    /// Returns `None` if a member is broken.
    fn sound_members(self) -> Option<()> {
        let broken = self.archive.plist.has_broken_member(self.node);
        self.archive.sound((!broken).then_some(()))
    }

    /// Returns the items of an array or a set.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        let archive = self.archive;
        let items = self.list("NS.objects").into_iter();
        let items = items.flat_map(move |items| {
            (0..items.count()).map_while(move |at| {
                archive.pay(0)?;
                archive.sound(archive.plist.item(items, at))
            })
        });
        items.filter_map(move |node| archive.object(node))
    }

    /// Returns the entries of a dictionary.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Self, Self)> {
        let lists = self.list("NS.keys").zip(self.list("NS.objects"));
        let archive = self.archive;
        let entries = lists.into_iter().flat_map(move |(keys, values)| {
            let common_count = (keys.count() == values.count()).then_some(keys.count());
            let count = archive.sound(common_count).unwrap_or(0);
            (0..count).map_while(move |at| {
                archive.pay(0)?;
                let key = archive.sound(archive.plist.item(keys, at))?;
                Some((key, archive.sound(archive.plist.item(values, at))?))
            })
        });
        entries.filter_map(move |(key, value)| Some((archive.object(key)?, archive.object(value)?)))
    }

    fn list(self, name: &str) -> Option<References> {
        match self.member(name)?? {
            &Node::List(references) => Some(references),
            _ => None,
        }
    }

    /// Returns the entries of an XRIntKeyedDictionary: `$0` is their number, then keys and values
    /// alternate. The archive stops to answer if these do not match.
    pub(crate) fn numbered_entries(self) -> impl Iterator<Item = (u64, Self)> {
        let members = self.numbered_members();
        let count = self.get("$0").and_then(Self::integer);
        let expected = |count: &u64| count.checked_mul(2)?.checked_add(1);
        let count = count.filter(|count| expected(count) == Some(members.len() as u64));
        let count = self.archive.sound(count).unwrap_or(0);
        (0..count).map_while(move |at| {
            let object = |number: u64| self.archive.object(members.get(&number)?);
            let key = object(2 * at + 1).and_then(Self::integer);
            self.archive.sound(key.zip(object(2 * at + 2)))
        })
    }

    /// Returns the members `$0`, `$1`, `$2` and so on, by number.
    fn numbered_members(self) -> HashMap<u64, &'a Node, FxBuildHasher> {
        let Node::Dictionary { keys, .. } = self.node else {
            return HashMap::default();
        };
        let paid = self.archive.pay(keys.count());
        if paid.and_then(|()| self.sound_members()).is_none() {
            return HashMap::default();
        }
        let members = self.archive.plist.members(self.node);
        let numbered = members.filter_map(|(key, value)| {
            let digits = std::str::from_utf8(key.strip_prefix(b"$")?).ok()?;
            Some((digits.parse().ok()?, value))
        });
        numbered.collect()
    }

    /// Returns a string, mutable or not.
    pub(crate) fn text(self) -> Option<&'a str> {
        let plist = &self.archive.plist;
        let node = match self.node {
            Node::Dictionary { .. } => self.member("NS.string")??,
            node => node,
        };
        self.archive.pay(plist.text_bytes(node)?.len())?;
        self.archive.sound(plist.text(node))
    }

    /// Returns bytes, mutable or not.
    pub(crate) fn data(self) -> Option<&'a [u8]> {
        let plist = &self.archive.plist;
        let node = match self.node {
            Node::Dictionary { .. } => self.member("NS.data")??,
            node => node,
        };
        self.archive.pay(plist.data(node)?.len())?;
        plist.data(node)
    }

    pub(crate) fn integer(self) -> Option<u64> {
        match self.node {
            Node::Integer(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn real(self) -> Option<f64> {
        match self.node {
            Node::Real(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn boolean(self) -> Option<bool> {
        match self.node {
            Node::Boolean(boolean) => Some(*boolean),
            _ => None,
        }
    }
}

/// Reads everything in an archive, from its roots down, for fuzzing.
pub(crate) fn walk_archive(bytes: &[u8]) {
    let Some(archive) = Keyed::parse_damaged(bytes) else {
        return;
    };
    let roots = ["root", "com.apple.xray.run.data"].map(|name| archive.top(name));
    let mut open: Vec<Object<'_>> = roots.into_iter().flatten().collect();
    // Objects may contain each other, so the number of steps is limited.
    for _ in 0..1_000 {
        let Some(object) = open.pop() else {
            return;
        };
        let _ = (object.text(), object.integer(), object.real());
        let _ = (object.boolean(), object.get("NS.string").is_some());
        open.extend(object.get("$0"));
        open.extend(object.items().take(64));
        open.extend(object.entries().take(64).flat_map(<[_; 2]>::from));
        open.extend(object.numbered_entries().take(64).map(|(_, value)| value));
    }
}
