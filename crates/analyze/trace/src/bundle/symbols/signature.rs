//! Reads image signatures from `form.template`: the binaries of a process and their addresses.
//!
//! ```text
//! little-endian
//!  0 u32 0xff01ff02  4 u32 1  8 u32 pid  12 u32 -  16 u32 -  20 u32 images
//! 24 images: UUID, u64 -, u64 loaded at, u64 unloaded at (i64::MAX: never),
//!            u32 CPU type, u32 CPU subtype, u32 segments, u32 length of path,
//!            path (ends with 0),
//!            segments, 32 bytes each: name[16], u64 address, u64 size
//!  … the system's shared cache, of some processes:
//!    u32 0x00c0ffee, u32 4, UUID, u64 where it was loaded
//! ```
//!
//! Binaries of the shared cache may be listed once for all processes, with addresses relative to
//! its start; a process then lists the parts that it uses, by keys that are texts or numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::images::{Image, Images};
use crate::bundle::files::{Files, TEMPLATE, TEMPLATE_LIMIT};
use crate::bundle::keyed::{Keyed, Object};

/// Reads the binaries of a run from `form.template`. `None` if they have an unknown form.
pub(crate) fn images(files: &Files, run: u64) -> Option<Images> {
    if !files.exists(TEMPLATE) {
        return Some(Images::default());
    }
    let archive = Keyed::parse(files.read(TEMPLATE, TEMPLATE_LIMIT).ok()?)?;
    let Some(runs) = archive.top("com.apple.xray.symbolstoremanager.symbolstores") else {
        return Some(Images::default());
    };

    let caches = Caches::read(archive.top("com.apple.xray.symbolstore.sharedcache.signatures"));
    let mut images = Images::default();
    let mut sound = true;
    let processes = runs.entries().filter(|(key, _)| number(*key) == Some(run));
    let mut pids = BTreeSet::new();
    for (key, process) in processes.flat_map(|(_, processes)| processes.entries()) {
        let pid = key
            .text()
            .and_then(|key| key.rsplit_once('.')?.1.parse().ok());
        // The kernel lists itself as process 0.
        let Some(pid) = pid.filter(|&pid: &u32| pid != 0) else {
            continue;
        };
        // With the same pid on two devices, the process of a stack is unknown.
        if !pids.insert(pid) {
            images.remove(pid);
            continue;
        }
        match process_images(process, pid, &caches) {
            Some(of_process) => sound &= images.add(pid, of_process),
            None => sound = false,
        }
    }

    sound.then_some(images)
}

fn number(key: Object<'_>) -> Option<u64> {
    key.integer().or_else(|| key.text()?.parse().ok())
}

/// Returns the binaries of a process. `None` if its signature is invalid or not its only one.
fn process_images(process: Object<'_>, pid: u32, caches: &Caches) -> Option<Vec<Image>> {
    let signature = Signature::parse(
        process
            .get("com.apple.xray.symbolstore.signature")?
            .data()?,
    )?;
    // Names of threads have been seen here. Anything else may be binaries that were loaded later.
    let has_more = process
        .get("$1")
        .is_some_and(|more| more.items().any(|item| item.text().is_none()));
    if signature.pid != pid || has_more {
        return None;
    }

    let mut images = signature.images;
    let shared = process.get("dsc_load_addresses");
    for key in shared.into_iter().flat_map(Object::items) {
        let (uuid, base) = signature.cache?;
        for image in caches.part(uuid, &part_key(key)?)? {
            let start = image.start.checked_add(base)?;
            images.push(Image {
                start,
                ..image.clone()
            });
        }
        if images.len() > MAX_IMAGES {
            return None;
        }
    }

    Some(images)
}

/// Maximum number of binaries of a process. Real ones have some hundreds.
const MAX_IMAGES: usize = 1 << 16;

/// The binaries of shared caches, with addresses relative to the start of the cache.
struct Caches(BTreeMap<(String, String), Option<Vec<Image>>>);

impl Caches {
    fn read(caches: Option<Object<'_>>) -> Self {
        let caches = caches.into_iter().flat_map(Object::entries);
        let parts = caches.flat_map(|(uuid, parts)| {
            let uuid = uuid_text(uuid).unwrap_or_default();
            parts
                .entries()
                .map(move |(key, part)| (uuid.clone(), key, part))
        });
        let parts = parts.filter_map(|(uuid, key, part)| {
            let signature = part.data().and_then(Signature::parse);
            let images = signature.map(|signature| signature.images);
            Some(((uuid, part_key(key)?), images))
        });
        Self(parts.collect())
    }

    fn part(&self, uuid: [u8; 16], key: &str) -> Option<&[Image]> {
        self.0.get(&(shown(uuid), key.to_owned()))?.as_deref()
    }
}

/// Returns the key of a part of a shared cache. Instruments 15 writes numbers.
fn part_key(key: Object<'_>) -> Option<String> {
    let text = key.text().map(str::to_owned);
    text.or_else(|| key.integer().map(|number| number.to_string()))
}

fn uuid_text(key: Object<'_>) -> Option<String> {
    let bytes = key.get("NS.uuidbytes").and_then(Object::data);
    match bytes {
        Some(bytes) => Some(shown(bytes.try_into().ok()?)),
        None => key.text().map(str::to_ascii_uppercase),
    }
}

/// Formats a UUID, such as `30313233-3435-3637-3839-616263646566`.
pub(crate) fn shown(uuid: [u8; 16]) -> String {
    let mut text = String::new();
    for (at, byte) in uuid.iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02X}"));
    }
    text
}

/// The binaries of a process, and the UUID and address of its shared cache.
#[derive(Debug, PartialEq, Eq)]
struct Signature {
    pid: u32,
    images: Vec<Image>,
    cache: Option<([u8; 16], u64)>,
}

const MAGIC: u32 = 0xff01_ff02;
const CACHE_MAGIC: u32 = 0x00c0_ffee;
/// Maximum number of segments of a binary. A kernel has some tens.
const MAX_SEGMENTS: usize = 1024;

impl Signature {
    /// Parses a signature. `None` if its form is unknown.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = Bytes(bytes);
        let known = rest.word()? == MAGIC && rest.word()? == 1;
        let pid = rest.word().filter(|_| known)?;
        rest.take(8)?;
        let count = rest.word()?;
        let mut images = Vec::new();
        for _ in 0..count {
            images.extend(image(&mut rest)?);
        }
        let cache = match rest.word() {
            Some(CACHE_MAGIC) if rest.word()? == 4 => Some((rest.uuid()?, rest.long()?)),
            Some(CACHE_MAGIC) => return None,
            _ => None,
        };
        Some(Self { pid, images, cache })
    }
}

/// Parses an image, if it has a `__TEXT`. The outer `None` means a broken signature.
fn image(rest: &mut Bytes<'_>) -> Option<Option<Image>> {
    let uuid = rest.uuid()?;
    rest.take(16)?;
    let never = u64::try_from(i64::MAX).ok()?;
    let gone = rest.long()? != never;
    rest.take(8)?;
    let segments = usize::try_from(rest.word()?).ok()?;
    let path = usize::try_from(rest.word()?).ok()?;
    let path = rest.take(path)?;
    let path = path.split(|&byte| byte == 0).next()?;
    let path = str::from_utf8(path).ok().map(str::to_owned);
    let mut texts = Vec::new();

    for _ in 0..Some(segments).filter(|&count| count <= MAX_SEGMENTS)? {
        let name = rest.take(16)?;
        let place = (rest.long()?, rest.long()?);
        if name.split(|&byte| byte == 0).next() == Some(b"__TEXT") {
            texts.push(place);
        }
    }

    let [(start, size)] = texts.as_slice() else {
        return Some(None);
    };
    Some(Some(Image {
        uuid,
        start: *start,
        size: Some(*size),
        path: path.filter(|path| !path.is_empty()),
        gone,
    }))
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn uuid(&mut self) -> Option<[u8; 16]> {
        self.take(16)?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: [u8; 16] = *b"0123456789abcdef";

    fn put(bytes: &mut Vec<u8>, words: &[u32], longs: &[u64]) {
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(longs.iter().flat_map(|long| long.to_le_bytes()));
    }

    fn name(bytes: &mut Vec<u8>, name: &str, length: usize) {
        bytes.extend(
            name.bytes()
                .chain(std::iter::repeat_n(0, length - name.len())),
        );
    }

    /// Returns two binaries, the second unloaded, and a shared cache, in the layout above.
    fn sample() -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, &[MAGIC, 1, 12, 0, 0x2000, 2], &[]);
        for (path, unloaded) in [("/bin/app", u64::MAX >> 1), ("/lib/b", 99)] {
            bytes.extend(UUID);
            put(&mut bytes, &[], &[0, 0, unloaded]);
            put(&mut bytes, &[0x0100_000c, 0, 2, 16], &[]);
            name(&mut bytes, path, 16);
            name(&mut bytes, "__PAGEZERO", 16);
            put(&mut bytes, &[], &[0, 1 << 32]);
            name(&mut bytes, "__TEXT", 16);
            put(&mut bytes, &[], &[0x1_0400_0000, 0x4000]);
        }
        put(&mut bytes, &[CACHE_MAGIC, 4], &[]);
        bytes.extend(UUID);
        put(&mut bytes, &[], &[0x1_8000_0000]);
        bytes
    }

    #[test]
    fn signatures_are_parsed() {
        let signature = Signature::parse(&sample()).unwrap();
        assert_eq!(signature.pid, 12);
        assert_eq!(signature.cache, Some((UUID, 0x1_8000_0000)));
        let [app, gone] = signature.images.as_slice() else {
            panic!("{signature:?}");
        };
        assert_eq!(app.name(), Some("app"));
        assert_eq!((app.start, app.size), (0x1_0400_0000, Some(0x4000)));
        assert!(!app.gone && gone.gone);
    }

    #[test]
    fn unknown_signatures_are_refused() {
        let cache = sample().len() - 32;
        for at in [0, 4, cache + 4] {
            let mut bytes = sample();
            bytes[at] ^= 0x40;
            assert_eq!(Signature::parse(&bytes), None, "{at}");
        }
    }

    #[test]
    fn signatures_may_be_cut_off_or_changed_anywhere() {
        let whole = sample();
        for at in 0..whole.len() {
            assert_ne!(Signature::parse(&whole[..at]), Signature::parse(&whole));
            for to in [0, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = to;
                let _ = Signature::parse(&bytes);
            }
        }
    }

    #[test]
    fn uuids_are_formatted() {
        assert_eq!(shown(UUID), "30313233-3435-3637-3839-616263646566");
    }

    fn map(entries: Vec<(plist::Value, plist::Value)>) -> plist::Value {
        let (keys, values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
        let mut map = plist::Dictionary::new();
        map.insert("NS.keys".to_owned(), keys.into());
        map.insert("NS.objects".to_owned(), values.into());
        map.into()
    }

    /// Reads a `form.template` of run 1 with these processes and one shared cache, whose part "a"
    /// has the binaries of the sample. Numbers as keys are written as such.
    fn images_of(processes: Vec<(&str, Vec<u8>, &str)>) -> Option<Images> {
        images_with_part("a", processes)
    }

    fn images_with_part(part: &str, processes: Vec<(&str, Vec<u8>, &str)>) -> Option<Images> {
        let key = |key: &str| match key.parse::<u64>() {
            Ok(number) => plist::Value::from(number),
            Err(_) => plist::Value::from(key),
        };
        let part_key = key(part);
        let process = |(pid, signature, part): (&str, Vec<u8>, &str)| {
            let mut parts = plist::Dictionary::new();
            let listed = Some(part).filter(|part| !part.is_empty());
            let listed: Vec<plist::Value> = listed.into_iter().map(key).collect();
            parts.insert("NS.objects".to_owned(), listed.into());
            let signature = plist::Value::Data(signature);
            let entries = vec![
                ("com.apple.xray.symbolstore.signature".into(), signature),
                ("dsc_load_addresses".into(), parts.into()),
            ];
            (pid.into(), map(entries))
        };

        let processes = map(processes.into_iter().map(process).collect());
        let part = map(vec![(part_key, plist::Value::Data(sample()))]);
        let mut top = plist::Dictionary::new();
        for (name, value) in [
            (
                "symbolstoremanager.symbolstores",
                map(vec![(1.into(), processes)]),
            ),
            (
                "symbolstore.sharedcache.signatures",
                map(vec![(shown(UUID).into(), part)]),
            ),
        ] {
            top.insert(format!("com.apple.xray.{name}"), value);
        }

        let mut archive = plist::Dictionary::new();
        archive.insert("$objects".to_owned(), plist::Value::Array(Vec::new()));
        archive.insert("$top".to_owned(), top.into());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("form.template");
        plist::Value::from(archive).to_file_binary(path).unwrap();
        images(&Files::folder(folder.path()), 1)
    }

    #[test]
    fn processes_have_the_images_of_their_signatures() {
        let starts = |images: &Images| -> Vec<u64> {
            images
                .of_process(12)
                .iter()
                .map(|image| image.start)
                .collect()
        };

        let images = images_of(vec![("D.12", sample(), ""), ("D.0", sample(), "")]).unwrap();
        assert_eq!(starts(&images), [0x1_0400_0000]);
        assert!(images.of_process(0).is_empty());
        let images = images_of(vec![("D.12", sample(), "a")]).unwrap();
        assert_eq!(starts(&images), [0x1_0400_0000, 0x2_8400_0000]);
        let images = images_with_part("4096", vec![("D.12", sample(), "4096")]).unwrap();
        assert_eq!(starts(&images), [0x1_0400_0000, 0x2_8400_0000], "numbers");
        let images = images_of(vec![("D.12", sample(), ""), ("E.12", sample(), "")]).unwrap();
        assert!(starts(&images).is_empty(), "two devices");
        assert!(
            images_of(vec![("D.13", sample(), "")]).is_none(),
            "another pid"
        );
        assert!(
            images_of(vec![("D.12", sample(), "b")]).is_none(),
            "no such part"
        );
        assert!(images_of(vec![("D.12", b"?".to_vec(), "")]).is_none());
    }
}
