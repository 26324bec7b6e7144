//! Fuzzes the readers of recordings: bundles, exports, and their parts.

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

/// The entries, by the names of their targets.
pub const ENTRIES: [(&str, Entry); 11] = [
    ("bundle", bundle),
    ("compressed", compressed),
    ("issues", issues),
    ("keyed", keyed),
    ("layout", layout),
    ("log", log),
    ("toc", toc),
    ("uniques", uniques),
    ("xml", xml),
    ("xml_differential", xml_differential),
    ("xml_judge", xml_judge),
];

/// A valid bundle, which inputs change.
static GOOD: LazyLock<Bundled> = LazyLock::new(mini_bundle::good);

/// Reads a whole bundle. An input that starts as a zip archive is read as one. Any other input is a
/// list of changes to a valid bundle: random bytes would hardly ever pass the compression.
///
/// A change consists of a file's position in the bundle (one byte), an offset (two bytes), a length
/// (one byte), and the bytes that replace those at the offset. With a position of 128 or more the
/// bytes replace the whole file, and the offset is the upper part of their length.
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

/// Makes the first change, and returns the bytes after it.
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

/// Reads a file that may be compressed. With a first byte of 0 or 1 the rest is compressed here, so
/// that the reader of the content is tested. Otherwise it is read as it is, which tests the
/// decompressors with damaged files.
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

/// Reads the issues of a run: an SQLite database.
pub fn issues(bytes: &[u8]) {
    fuzzing::issues(bytes);
}

/// Reads a keyed archive with every accessor.
pub fn keyed(bytes: &[u8]) {
    fuzzing::keyed(bytes);
}

/// Reads the layout of a store: `schema.xml`, a zero byte, and `bulkstore_descriptor`.
pub fn layout(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |&byte| byte == 0);
    let schema = parts.next().unwrap_or_default();
    fuzzing::layout(schema, parts.next().unwrap_or_default());
}

/// Reads a command-buffer log.
pub fn log(bytes: &[u8]) {
    fuzzing::log(bytes);
}

/// Reads a table of contents.
pub fn toc(bytes: &[u8]) {
    fuzzing::toc(bytes);
}

/// Reads the uniqued values of a run: four files, each after its length of two bytes.
pub fn uniques(bytes: &[u8]) {
    let mut parts = split(bytes);
    let mut next = || parts.next().unwrap_or_default();
    let (index, data, strings, types) = (next(), next(), next(), next());
    fuzzing::uniques(index, data, strings, types);
}

/// Splits an input into files, each after its length. The last one ends with the input.
fn split(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (part, rest) = rest.split_at(length);
        bytes = rest;
        Some(part)
    })
}

/// Reads a query document twice: strictly from memory, and as a file that may be compressed or cut
/// off.
pub fn xml(bytes: &[u8]) {
    let selection = Selection::everything().with_rendered_labels();
    let read = read_document(bytes, "fuzz.xml", &mut Names::new(), &selection);
    drop(read);
    read_all(bytes);
}

/// Reads a query document with quick-xml alone, and with the fast reader of plain rows. The results
/// or errors must be the same.
///
/// The first byte selects the size of the windows, the number of threads, whether the document may
/// be cut off, and which columns are kept.
pub fn xml_differential(bytes: &[u8]) {
    let Some((&how, document)) = bytes.split_first() else {
        return;
    };
    let window = [64, 200, 700, 4096][usize::from(how & 3)];
    // Starting threads takes longer than reading such a small document, so few inputs use them.
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

/// Reads a query document. If it is accepted, another XML library must accept it too, and must find
/// the same value in every cell.
pub fn xml_judge(bytes: &[u8]) {
    let mut names = Names::new();
    let selection = Selection::everything().with_rendered_labels();
    let Ok(tables) = read_document(bytes, "fuzz.xml", &mut names, &selection) else {
        return;
    };
    let text = std::str::from_utf8(bytes).unwrap();
    judge::agrees(text, "fuzz.xml", &tables, &names);
}

/// Writes an input to a file, then opens, lists and loads it as the program does.
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
