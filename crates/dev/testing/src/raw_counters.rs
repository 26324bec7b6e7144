//! Reads the hardware counters of the one real bundle that has some from the bytes of its stores,
//! with nothing of metalens: a second way to the same numbers.

use std::io::Read;
use std::path::{Path, PathBuf};

/// Folder of the bundle below the folder of real recordings.
const BUNDLE: &str = "m2-counters-bundle/julia_1.trace";
/// Raw value that stands for zero.
const ZERO: i128 = i64::MAX as i128;

/// Hardware counters of a real bundle.
pub struct RawCounters {
    /// Path of the bundle.
    pub bundle: PathBuf,
    /// Names of the counters, by number.
    pub names: Vec<String>,
    /// Values in the order of the store: time in nanoseconds, number of the counter, and billionths.
    pub values: Vec<(u64, u32, i128)>,
}

/// Returns the counters below the folder of real recordings.
pub fn raw_counters(recordings: &Path) -> RawCounters {
    let bundle = recordings.join(BUNDLE);
    let core = bundle.join("corespace/run1/core");
    // Stores 17 and 32 are the tables of values and of names, by their schemas.
    let values = rows(&core, 17, "gpu-counter-value", 44, 7_050);
    let names = rows(&core, 32, "gpu-counter-info", 64, 30);

    let text = String::from_utf8(inflated(&core.join("uniquing/strings"))).unwrap();
    let strings: Vec<&str> = text
        .split("<string")
        .skip(1)
        .map(|rest| match rest.strip_prefix('>') {
            Some(rest) => rest.split_once("</string>").unwrap().0,
            None => "",
        })
        .collect();

    let name = |row: &Vec<u8>| {
        let index = u32::from_le_bytes(row[20..24].try_into().unwrap());
        strings[index as usize].to_owned()
    };
    RawCounters {
        names: names.iter().map(name).collect(),
        values: values
            .iter()
            .map(|row| {
                let time_ns = u64::from_le_bytes(row[..8].try_into().unwrap());
                let counter = u32::from_le_bytes(row[16..20].try_into().unwrap());
                let raw = u64::from_le_bytes(row[20..28].try_into().unwrap());
                (time_ns, counter, i128::from(raw) - ZERO)
            })
            .collect(),
        bundle,
    }
}

/// Returns the rows of a store, which have `size` bytes each.
fn rows(core: &Path, store: u32, schema: &str, size: usize, count: usize) -> Vec<Vec<u8>> {
    let folder = core.join(format!("stores/indexed-store-{store}"));
    let declared = String::from_utf8(inflated(&folder.join("schema.xml"))).unwrap();
    assert!(declared.contains(&format!("name=\"{schema}\"")), "{schema}");
    let bytes = inflated(&folder.join("bulkstore"));
    let rows = bytes[0x1000..].chunks_exact(size).take(count);
    let rows: Vec<Vec<u8>> = rows.map(<[u8]>::to_vec).collect();
    // What follows the last row is zero.
    let rest = &bytes[0x1000 + size * count..];
    assert!(rest.iter().all(|&byte| byte == 0), "{schema} has more rows");
    rows
}

fn inflated(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    let mut inflated = Vec::new();
    if bytes.first() == Some(&0x78) {
        let mut decoder = flate2::read::ZlibDecoder::new(&bytes[..]);
        decoder.read_to_end(&mut inflated).unwrap();
        inflated
    } else {
        bytes
    }
}
