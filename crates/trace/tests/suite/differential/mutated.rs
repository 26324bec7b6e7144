//! Tests good documents with random changes of bytes, ranges and tags.

use metalens_trace::Selection;
use metalens_trace::fuzzing::ReadMethod;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{Chopped, GOOD, read, same};
use crate::EVERYTHING;

/// Texts that are inserted at random positions.
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

#[derive(Debug, Clone)]
enum Change {
    Flip(Index, u8),
    Delete(Index, Index),
    Repeat(Index, Index),
    Swap(Index, Index),
    Insert(Index, &'static str),
    /// Swaps two of the pieces that begin with `<`.
    SwapTags(Index, Index),
    DeleteTag(Index),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<Index>;
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, bits)| Change::Flip(at, bits)),
        (place(), place()).prop_map(|(from, to)| Change::Delete(from, to)),
        (place(), place()).prop_map(|(from, to)| Change::Repeat(from, to)),
        (place(), place()).prop_map(|(a, b)| Change::Swap(a, b)),
        (place(), select(SNIPPETS)).prop_map(|(at, what)| Change::Insert(at, what)),
        (place(), select(SNIPPETS)).prop_map(|(at, what)| Change::Insert(at, what)),
        (place(), place()).prop_map(|(a, b)| Change::SwapTags(a, b)),
        place().prop_map(Change::DeleteTag),
        place().prop_map(Change::Cut),
    ]
}

/// Maximum length of a changed range. It is short, so that most of the document stays.
const MAX_RANGE: usize = 60;

fn apply(change: &Change, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    let range = |from: &Index, to: &Index| {
        let from = from.index(length);
        from..(from + to.index(MAX_RANGE)).min(length)
    };

    match change {
        Change::Flip(at, bits) => bytes[at.index(length)] ^= bits,
        Change::Delete(from, to) => drop(bytes.drain(range(from, to))),
        Change::Repeat(from, to) => {
            let again = bytes[range(from, to)].to_vec();
            let at = range(from, to).end;
            bytes.splice(at..at, again);
        }
        Change::Swap(a, b) => bytes.swap(a.index(length), b.index(length)),
        Change::Insert(at, what) => {
            let at = at.index(length);
            bytes.splice(at..at, what.bytes());
        }
        Change::SwapTags(a, b) => {
            let mut tags = tags_of(bytes);
            let (a, b) = (a.index(tags.len()), b.index(tags.len()));
            tags.swap(a, b);
            *bytes = tags.concat();
        }
        Change::DeleteTag(at) => {
            let mut tags = tags_of(bytes);
            tags.remove(at.index(tags.len()));
            *bytes = tags.concat();
        }
        Change::Cut(at) => bytes.truncate(at.index(length)),
    }
}

/// Returns each tag with the text after it.
fn tags_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut tags = vec![Vec::new()];
    for &byte in bytes {
        if byte == b'<' {
            tags.push(Vec::new());
        }
        tags.last_mut().unwrap().push(byte);
    }
    tags
}

fn method() -> impl Strategy<Value = ReadMethod> {
    let window = prop_oneof![Just(64_usize), 64..4096_usize];
    (window, 0..4_usize).prop_map(|(window, workers)| ReadMethod::Windows(window, workers))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    fn all_methods_agree_after_any_change(
        small in any::<bool>(),
        changes in vec(change(), 1..4),
        leave in any::<bool>(),
        methods in [method(), method()],
    ) {
        let document = if small { GOOD } else { EVERYTHING };
        let mut bytes = document.as_bytes().to_vec();
        for change in &changes {
            apply(change, &mut bytes);
        }
        let everything = Selection::everything().with_rendered_labels();
        let expected = read(&bytes[..], &everything, leave, ReadMethod::Reference);
        for method in methods {
        let found = read(Chopped::new(&bytes), &everything, leave, method);
        same(&String::from_utf8_lossy(&bytes), method, &expected, &found);
        }
    }
}
