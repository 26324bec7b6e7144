//! A whole bundle: a zip archive is read as it is; anything else is a list of
//! changes to a good bundle, which get past the compression.
//!
//! A change is a file's place in the bundle, an offset of two bytes, a length
//! of one, and the bytes to put there. From place 128 on they are the new file,
//! and the offset is the upper part of their length.

#![no_main]

#[path = "../file.rs"]
mod file;
#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../../crates/trace/tests/suite/mini_bundle.rs"]
mod mini_bundle;

use std::sync::LazyLock;

use mini_bundle::Bundled;

static GOOD: LazyLock<Bundled> = LazyLock::new(mini_bundle::good);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(b"PK") {
        file::read_all(bytes);
        return;
    }
    let mut files = GOOD.clone();
    let mut rest = bytes;
    while let Some(more) = change(&mut files, rest) {
        rest = more;
    }
    metalens_trace::fuzzing::bundle(files);
});

/// Makes the first change, and returns what follows it.
fn change<'a>(files: &mut Bundled, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (&[place, low, high, length], rest) = bytes.split_first_chunk()?;
    let offset = usize::from(u16::from_le_bytes([low, high]));
    let whole = place >= 128;
    let length = usize::from(length) + if whole { offset << 8 } else { 0 };
    let (new, rest) = rest.split_at(length.min(rest.len()));
    let at = usize::from(place & 127) % files.len();
    let file = files.values_mut().nth(at)?;
    if whole {
        *file = new.to_vec();
    } else {
        let offset = offset % (file.len() + 1);
        let end = (offset + new.len()).min(file.len());
        file.splice(offset..end, new.iter().copied());
    }
    Some(rest)
}
