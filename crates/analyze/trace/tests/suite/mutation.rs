//! Breaks good bytes: the one engine behind the tests with every fault, those with random faults,
//! the property tests and the fuzz targets. A fault is a value, so that a failed test can show it.

use std::ops::Range;

/// A change of bytes. Places beyond the end change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// Flips the bits of a byte that are set in the mask.
    Flip(usize, u8),
    /// Replaces a byte.
    Set(usize, u8),
    /// Cuts everything off from here.
    CutOff(usize),
    Remove(Range<usize>),
    /// Repeats a range right behind itself.
    Repeat(Range<usize>),
    /// Removes a range, and inserts it at a place of the rest.
    Move(Range<usize>, usize),
    /// Swaps two ranges. The first ends before the second begins.
    Swap(Range<usize>, Range<usize>),
    Insert(usize, Vec<u8>),
    /// Writes over what is there, and on beyond the end.
    Overwrite(usize, Vec<u8>),
    /// Replaces everything.
    Replace(Vec<u8>),
}

impl Mutation {
    /// Applies the change.
    pub(crate) fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        let within = |range: &Range<usize>| range.start.min(length)..range.end.min(length);
        match self {
            Self::Flip(at, mask) => bytes.iter_mut().skip(*at).take(1).for_each(|b| *b ^= mask),
            Self::Set(at, byte) => bytes.iter_mut().skip(*at).take(1).for_each(|b| *b = *byte),
            Self::CutOff(at) => bytes.truncate(*at),
            Self::Remove(range) => drop(bytes.drain(within(range))),
            Self::Repeat(range) => {
                let range = within(range);
                let again = bytes[range.clone()].to_vec();
                bytes.splice(range.end..range.end, again);
            }
            Self::Move(range, to) => {
                let moved: Vec<u8> = bytes.drain(within(range)).collect();
                let to = (*to).min(bytes.len());
                bytes.splice(to..to, moved);
            }
            Self::Swap(first, second) => {
                let (first, second) = (within(first), within(second));
                *bytes = [
                    &bytes[..first.start],
                    &bytes[second.clone()],
                    &bytes[first.end..second.start],
                    &bytes[first],
                    &bytes[second.end..],
                ]
                .concat();
            }
            Self::Insert(at, new) => {
                let at = (*at).min(length);
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Overwrite(at, new) => {
                let range = within(&(*at..at.saturating_add(new.len())));
                bytes.splice(range, new.iter().copied());
            }
            Self::Replace(new) => bytes.clone_from(new),
        }
    }

    /// Returns changed bytes.
    pub(crate) fn of(&self, good: &[u8]) -> Vec<u8> {
        let mut bytes = good.to_vec();
        self.apply(&mut bytes);
        bytes
    }

    /// Returns every fault of one byte.
    pub(crate) fn every_byte(length: usize) -> impl Iterator<Item = Self> {
        (0..length).flat_map(|at| {
            let flips = (0..8).map(move |bit| Self::Flip(at, 1 << bit));
            let sets = b"<>&\"/ 0\0".iter().map(move |&byte| Self::Set(at, byte));
            let others = [
                Self::CutOff(at),
                Self::Remove(at..at + 1),
                Self::Repeat(at..at + 1),
                Self::Swap(at..at + 1, at + 1..at + 2),
            ];
            flips.chain(others).chain(sets)
        })
    }

    /// Returns faults of elements: each removed, repeated, and swapped with each one behind it.
    pub(crate) fn every_element(elements: &[Range<usize>]) -> Vec<Self> {
        let mut all = Vec::new();
        for element in elements {
            all.push(Self::Remove(element.clone()));
            all.push(Self::Repeat(element.clone()));
            let behind = elements.iter().filter(|one| one.start >= element.end);
            all.extend(behind.map(|other| Self::Swap(element.clone(), other.clone())));
        }
        all
    }
}

/// A kind of random fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flip,
    /// Replaces a byte by another one of the file.
    Copy,
    CutOff,
    Remove,
    Repeat,
    Move,
    /// Swaps two bytes.
    Swap,
    /// Inserts one of [`SNIPPETS`].
    Insert,
    /// Removes a tag with the text behind it.
    RemoveTag,
    /// Swaps two tags with the texts behind them.
    SwapTags,
}

/// All kinds. The one whose results are the most various is there twice.
pub(crate) const KINDS: [Kind; 11] = [
    Kind::Flip,
    Kind::Copy,
    Kind::CutOff,
    Kind::Remove,
    Kind::Repeat,
    Kind::Move,
    Kind::Swap,
    Kind::Insert,
    Kind::Insert,
    Kind::RemoveTag,
    Kind::SwapTags,
];

/// Texts that are inserted at random places.
const SNIPPETS: &[&str] = &[
    "<row>",
    "</row>",
    "<row/>",
    "<sentinel/>",
    "<!-- x -->",
    "<![CDATA[x]]>",
    "<?p?>",
    "&amp;",
    "&#0;",
    "&x;",
    "&",
    "'",
    "\"",
    "<",
    ">",
    "/>",
    " ",
    "\n",
    "\0",
    "\u{1}",
    "µ",
    " ref=\"3\"",
    " id=\"3\"",
    " id=\"99\" fmt=\"\"",
    "<string ref=\"12\"/>",
    "<string id=\"77\" fmt=\"z\">z</string>",
    "</node>",
    "<node>",
    "<schema>",
    "0",
    "9",
    "18446744073709551616",
    "-",
    "=",
];

/// Longest random range. It is short, so that most of the bytes stay.
const RANGE_MAX: usize = 60;

/// A random fault that fits bytes of any length: its numbers are reduced to places in them.
#[derive(Debug, Clone)]
pub(crate) struct RandomFault {
    pub(crate) kind: Kind,
    pub(crate) at: usize,
    pub(crate) other: usize,
    pub(crate) length: usize,
}

impl RandomFault {
    /// Returns the fault as a change of these bytes.
    pub(crate) fn in_bytes(&self, bytes: &[u8]) -> Mutation {
        let place = |number: usize, length: usize| number.checked_rem(length).unwrap_or(0);
        let at = place(self.at, bytes.len());
        let other = place(self.other, bytes.len());
        let range = at..at + 1 + self.length % RANGE_MAX;
        match self.kind {
            Kind::Flip => Mutation::Flip(at, self.other.to_le_bytes()[0]),
            Kind::Copy => Mutation::Set(at, bytes.get(other).copied().unwrap_or(0)),
            Kind::CutOff => Mutation::CutOff(at),
            Kind::Remove => Mutation::Remove(range),
            Kind::Repeat => Mutation::Repeat(range),
            Kind::Move => Mutation::Move(range, other),
            Kind::Swap => swapped(at..at + 1, other..other + 1),
            Kind::Insert => {
                let snippet = SNIPPETS[place(self.other, SNIPPETS.len())];
                Mutation::Insert(at, snippet.into())
            }
            Kind::RemoveTag => Mutation::Remove(tag(bytes, at)),
            Kind::SwapTags => swapped(tag(bytes, at), tag(bytes, other)),
        }
    }

    /// Makes one to four random faults. The seed makes them repeatable.
    pub(crate) fn apply_several(seed: u64, bytes: &mut Vec<u8>) {
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..=chance.below(4) {
            let fault = Self {
                kind: KINDS[chance.below(KINDS.len())],
                at: chance.below(usize::MAX),
                other: chance.below(usize::MAX),
                length: chance.below(usize::MAX),
            };
            fault.in_bytes(bytes).apply(bytes);
        }
    }
}

/// Returns the swap of two ranges, or no change where they overlap.
fn swapped(one: Range<usize>, other: Range<usize>) -> Mutation {
    let (first, second) = if one.start <= other.start {
        (one, other)
    } else {
        (other, one)
    };
    if first.end <= second.start {
        Mutation::Swap(first, second)
    } else {
        Mutation::Remove(0..0)
    }
}

/// Returns the range of the tag around a place, with the text behind it.
fn tag(bytes: &[u8], at: usize) -> Range<usize> {
    let (before, behind) = bytes.split_at((at + 1).min(bytes.len()));
    let start = before.iter().rposition(|&byte| byte == b'<');
    let end = behind.iter().position(|&byte| byte == b'<');
    start.unwrap_or(0)..end.map_or(bytes.len(), |end| before.len() + end)
}

/// A xorshift generator, which gives the same numbers on every machine.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

/// Returns a text with its first occurrence of `find` replaced. Panics if there is none, which is
/// an error of the test.
pub(crate) fn replaced(good: &str, find: &str, replace: impl AsRef<[u8]>) -> Vec<u8> {
    let at = good.find(find);
    let at = at.unwrap_or_else(|| panic!("nothing to replace: {find}"));
    let (before, behind) = (&good[..at], &good[at + find.len()..]);
    [before.as_bytes(), replace.as_ref(), behind.as_bytes()].concat()
}

/// Each kind of change, with its result.
#[test]
fn changes_do_what_they_say() {
    use Mutation::{CutOff, Flip, Insert, Move, Overwrite, Remove, Repeat, Replace, Set, Swap};

    let check = |mutation: Mutation, expected: &str| {
        let found = mutation.of(b"abcdef");
        assert_eq!(String::from_utf8(found).unwrap(), expected, "{mutation:?}");
    };
    check(Flip(1, 1), "accdef");
    check(Set(5, b'x'), "abcdex");
    check(CutOff(2), "ab");
    check(Remove(1..3), "adef");
    check(Repeat(1..3), "abcbcdef");
    check(Move(1..3, 4), "adefbc");
    check(Swap(0..1, 3..6), "defbca");
    check(Insert(6, b"xy".into()), "abcdefxy");
    check(Overwrite(4, b"xyz".into()), "abcdxyz");
    check(Replace(b"new".into()), "new");
    // Beyond the end.
    check(Flip(6, 1), "abcdef");
    check(Remove(4..9), "abcd");
    check(Swap(5..6, 6..7), "abcdef");

    let tagged = b"x<a>1<b/>2";
    let check = |kind, at, other, expected: &str| {
        let fault = RandomFault {
            kind,
            at,
            other,
            length: 0,
        };
        let found = fault.in_bytes(tagged).of(tagged);
        assert_eq!(String::from_utf8(found).unwrap(), expected, "{fault:?}");
    };
    check(Kind::RemoveTag, 3, 0, "x<b/>2");
    check(Kind::SwapTags, 6, 2, "x<b/>2<a>1");
    check(Kind::Copy, 0, 4, "1<a>1<b/>2");
    check(Kind::Insert, 1, 0, "x<row><a>1<b/>2");
}
