//! NSKeyedArchiver's archives: a flat list of objects that refer to each other
//! by number.
//!
//! Objects are looked at one step at a time and only as far as somebody asks.
//! An archive whose objects share each other a million times over can still be
//! asked for without end, so each archive answers only so often: see [`Keyed::exhausted`].

use std::cell::Cell;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::bplist::{Binary, Node, References};

/// An archive.
pub(crate) struct Keyed {
    plist: Binary,
    objects: References,
    /// How much may still be asked.
    left: Cell<usize>,
}

/// So many answers for each byte, and some; the real bundles at hand are read
/// whole within it.
const ANSWERS_PER_BYTE: usize = 64;
const ANSWERS: usize = 1 << 16;

impl Keyed {
    /// What is wrong with an archive that is [`exhausted`](Self::exhausted).
    pub(crate) const ENDLESS: &str = "its objects share each other without end";

    /// Reads an archive; `None` if it is none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let plist = Binary::parse(bytes)?;
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

    /// The object that the archive is of.
    pub(crate) fn root(&self) -> Option<Object<'_>> {
        self.top("root")
    }

    /// An object by its name in `$top`.
    pub(crate) fn top(&self, name: &str) -> Option<Object<'_>> {
        let top = member(&self.plist, self.plist.root()?, "$top")?;
        self.object(member(&self.plist, top, name)?)
    }

    /// Whether the archive was asked for more than any real one, and has
    /// stopped to answer: what was read of it is not all.
    pub(crate) fn exhausted(&self) -> bool {
        self.left.get() == 0
    }

    fn pay(&self, cost: usize) -> Option<()> {
        let left = self.left.get().checked_sub(cost.saturating_add(1));
        self.left.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    fn object<'a>(&'a self, node: &'a Node) -> Option<Object<'a>> {
        self.pay(0)?;
        let node = match node {
            Node::Uid(number) => self
                .plist
                .item(self.objects, usize::try_from(*number).ok()?)?,
            node => node,
        };
        let null = self.plist.text_bytes(node) == Some(b"$null");
        (!null).then_some(Object {
            archive: self,
            node,
        })
    }
}

fn member<'a>(plist: &'a Binary, node: &'a Node, name: &str) -> Option<&'a Node> {
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
    /// A member by name, or an entry of a dictionary by its key.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        if let Some(value) = self.member(name)? {
            return self.archive.object(value);
        }
        self.entries()
            .find(|(key, _)| key.text() == Some(name))
            .map(|(_, value)| value)
    }

    /// A member by name; `None` if this has no members.
    fn member(self, name: &str) -> Option<Option<&'a Node>> {
        let Node::Dictionary { keys, .. } = self.node else {
            return None;
        };
        self.archive.pay(keys.count())?;
        Some(member(&self.archive.plist, self.node, name))
    }

    /// The items of an array or set.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        let items = self.list("NS.objects").into_iter();
        let items = items.flat_map(move |items| self.archive.plist.items(items));
        items
            .map_while(move |node| self.archive.pay(0).map(|()| node))
            .filter_map(move |node| self.archive.object(node))
    }

    /// The entries of a dictionary.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Self, Self)> {
        let lists = self.list("NS.keys").zip(self.list("NS.objects"));
        let archive = self.archive;
        let entries = lists.into_iter().flat_map(move |(keys, values)| {
            let pairs = (0..keys.count().min(values.count())).map_while(move |at| {
                archive.pay(0)?;
                Some((archive.plist.item(keys, at), archive.plist.item(values, at)))
            });
            pairs.filter_map(|(key, value)| Some((key?, value?)))
        });
        entries.filter_map(move |(key, value)| Some((archive.object(key)?, archive.object(value)?)))
    }

    fn list(self, name: &str) -> Option<References> {
        match self.member(name)?? {
            &Node::List(references) => Some(references),
            _ => None,
        }
    }

    /// The entries of an XRIntKeyedDictionary: `$0` is their count, then key
    /// and value in turn.
    pub(crate) fn numbered_entries(self) -> impl Iterator<Item = (u64, Self)> {
        let count = self.get("$0").and_then(Self::integer).unwrap_or(0);
        let members = self.numbered_members();
        // However many there are said to be, there are no more than members.
        let count = count.min(members.len() as u64 / 2);
        (0..count).filter_map(move |at| {
            let object = |number: u64| self.archive.object(members.get(&number)?);
            Some((object(2 * at + 1)?.integer()?, object(2 * at + 2)?))
        })
    }

    /// The members `$1`, `$2`, …
    fn numbered_members(self) -> HashMap<u64, &'a Node, FxBuildHasher> {
        let Node::Dictionary { keys, .. } = self.node else {
            return HashMap::default();
        };
        if self.archive.pay(keys.count()).is_none() {
            return HashMap::default();
        }
        let members = self.archive.plist.members(self.node);
        let numbered = members.filter_map(|(key, value)| {
            let digits = std::str::from_utf8(key.strip_prefix(b"$")?).ok()?;
            Some((digits.parse().ok()?, value))
        });
        numbered.collect()
    }

    /// A string, mutable or not.
    pub(crate) fn text(self) -> Option<&'a str> {
        let plist = &self.archive.plist;
        let node = match self.node {
            Node::Dictionary { .. } => self.member("NS.string")??,
            node => node,
        };
        self.archive.pay(plist.text_bytes(node)?.len())?;
        plist.text(node)
    }

    /// Bytes, mutable or not.
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

/// For fuzzing: everything that can be asked of an archive, from its roots down.
pub(crate) fn walk_archive(bytes: &[u8]) {
    let Some(archive) = Keyed::parse(bytes) else {
        return;
    };
    let roots = ["root", "com.apple.xray.run.data"].map(|name| archive.top(name));
    let mut open: Vec<Object<'_>> = roots.into_iter().flatten().collect();
    // Objects may contain each other, so the walk has an end of its own.
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
