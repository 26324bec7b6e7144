//! Each way into the readers of traces.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use metalens_trace::fuzzing::{self, ReadMethod};
use metalens_trace::{Input, LoadOptions, Names, Selection, read_document};

use super::Entry;
use crate::judge;
use crate::mini_bundle::{self, Bundled};
use crate::mutation::Mutation;

/// Every entry by its target's name.
pub const ENTRIES: [(&str, Entry); 9] = [
    ("bundle", bundle),
    ("compressed", compressed),
    ("keyed", keyed),
    ("layout", layout),
    ("toc", toc),
    ("uniques", uniques),
    ("xml", xml),
    ("xml_differential", xml_differential),
    ("xml_judge", xml_judge),
];

static GOOD: LazyLock<Bundled> = LazyLock::new(mini_bundle::good);

/// A whole bundle: a zip archive is read as it is; anything else is a list of
/// changes to a good bundle, which get past the compression.
///
/// A change is a file's place in the bundle, an offset of two bytes, a length
/// of one, and the bytes to put there. From place 128 on they are the new file,
/// and the offset is the upper part of their length.
pub fn bundle(bytes: &[u8]) {
    if bytes.starts_with(b"PK") {
        read_all(bytes);
        return;
    }
    let mut files = GOOD.clone();
    let mut rest = bytes;
    while let Some(more) = change(&mut files, rest) {
        rest = more;
    }
    fuzzing::bundle(files);
}

/// Makes the first change, and returns what follows it.
fn change<'a>(files: &mut Bundled, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (&[place, low, high, length], rest) = bytes.split_first_chunk()?;
    let offset = usize::from(u16::from_le_bytes([low, high]));
    let whole = place >= 128;
    let length = usize::from(length) + if whole { offset << 8 } else { 0 };
    let (new, rest) = rest.split_at(length.min(rest.len()));
    let at = usize::from(place & 127) % files.len();
    let file = files.values_mut().nth(at)?;
    let mutation = if whole {
        Mutation::Replace(new.to_vec())
    } else {
        Mutation::Overwrite(offset % (file.len() + 1), new.to_vec())
    };
    mutation.apply(file);
    Some(rest)
}

/// A file, compressed in some way: the first byte says by whom. By nobody: the input
/// is what a stranger says is gzip, zstd or zip. By us: what is inside is broken.
pub fn compressed(bytes: &[u8]) {
    let Some((&how, bytes)) = bytes.split_first() else {
        return;
    };
    let level = Compression::fast();
    match how {
        0 => {
            let mut gzip = GzEncoder::new(Vec::new(), level);
            gzip.write_all(bytes).unwrap();
            read_all(&gzip.finish().unwrap());
        }
        1 => {
            let mut zlib = ZlibEncoder::new(Vec::new(), level);
            zlib.write_all(bytes).unwrap();
            read_all(&zlib.finish().unwrap());
        }
        _ => read_all(bytes),
    }
}

/// A keyed archive of any bytes, walked through every accessor.
pub fn keyed(bytes: &[u8]) {
    fuzzing::keyed(bytes);
}

/// A store's `schema.xml` and `bulkstore_descriptor`: the one, a zero byte, the other.
pub fn layout(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |&byte| byte == 0);
    let schema = parts.next().unwrap_or_default();
    fuzzing::layout(schema, parts.next().unwrap_or_default());
}

/// A table of contents.
pub fn toc(bytes: &[u8]) {
    fuzzing::toc(bytes);
}

/// A run's uniqued values: four files, each behind its length of two bytes.
pub fn uniques(bytes: &[u8]) {
    let mut parts = split(bytes);
    let mut next = || parts.next().unwrap_or_default();
    let (index, data, strings, types) = (next(), next(), next(), next());
    fuzzing::uniques(index, data, strings, types);
}

/// Files one after another. What is said to be longer than there is ends there.
fn split(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (part, rest) = rest.split_at(length);
        bytes = rest;
        Some(part)
    })
}

/// A query document: from memory, strictly, and as a file, however it is
/// compressed and wherever it breaks off.
pub fn xml(bytes: &[u8]) {
    let selection = Selection::everything().with_rendered_labels();
    let read = read_document(bytes, "fuzz.xml", &mut Names::new(), &selection);
    drop(read);
    read_all(bytes);
}

/// A query document, read by way of quick-xml alone and with its plain rows
/// taken ahead: both must say the same, of good documents and of broken ones.
///
/// The first byte says how: size of the windows, threads, whether a document
/// may break off, which columns are kept.
pub fn xml_differential(bytes: &[u8]) {
    let Some((&how, document)) = bytes.split_first() else {
        return;
    };
    let window = [64, 200, 700, 4096][usize::from(how & 3)];
    // Threads cost more than the reading of so small a document: seldom.
    let workers = usize::from((how >> 2) & 7).saturating_sub(5);
    let cut = how & 32 != 0;
    let selection = match how >> 6 {
        0 | 1 => Selection::everything().with_rendered_labels(),
        2 => Selection::columns(&[("metal-gpu-intervals", &["start", "process"])]),
        _ => Selection::counts(),
    };
    let read = |method| {
        let mut names = Names::new();
        let read = fuzzing::xml(document, &mut names, &selection, cut, method);
        format!("{names:?} {read:?}")
    };
    let expected = read(ReadMethod::Reference);
    let found = read(ReadMethod::Windows(window, workers));
    assert_eq!(found, expected, "window {window}, workers {workers}");
}

/// A query document that is accepted: another XML library accepts it too, and finds in
/// every cell what was read.
pub fn xml_judge(bytes: &[u8]) {
    let mut names = Names::new();
    let selection = Selection::everything().with_rendered_labels();
    let Ok(tables) = read_document(bytes, "fuzz.xml", &mut names, &selection) else {
        return;
    };
    let text = std::str::from_utf8(bytes).unwrap();
    judge::agrees(text, "fuzz.xml", &tables, &names);
}

/// An input as a file, read as a user's is: opened, listed, and loaded whole.
fn read_all(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let Ok(input) = Input::open(file.path()) else {
        return;
    };
    let options = LoadOptions {
        allow_truncated: true,
        ..LoadOptions::default()
    };
    drop(input.list(options));
    let selection = Selection::everything().with_rendered_labels();
    let Ok(trace) = input.load(&selection, options) else {
        return;
    };
    for table in trace.tables() {
        drop(trace.table(&table.schema.name));
    }
}
