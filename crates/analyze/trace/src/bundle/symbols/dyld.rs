//! Reads the binaries that the dynamic linker loaded during the recording, from the kernel's trace.
//!
//! Tables `kdebug` that were recorded with the codes `0x1f,0x05` have two consecutive events of one
//! thread for each binary:
//!
//! ```text
//! class 0x1f, subclass 5   argument 1, 2   3             4
//! code 0   loaded          UUID            load address
//! code 1   loaded, more                    argument 2 is the id of the path
//! code 5   unloaded        UUID            load address
//! code 10  the shared cache of a program that starts
//! ```
//!
//! The tables `kdebug-strings` with the same codes have the path of each id.

use std::collections::{BTreeMap, BTreeSet};

use super::images::{Image, Images};
use crate::bundle::files::Files;
use crate::bundle::manager::Store;
use crate::bundle::process_names::ProcessNames;
use crate::bundle::store::Rows;
use crate::bundle::uniquing::Uniques;
use crate::error::Result;

/// Reads the binaries from the tables of a run.
pub(crate) fn images(files: &Files, stores: &[Store], uniques: &Uniques) -> Result<Images> {
    let mut paths = BTreeMap::new();
    for store in of_dyld(stores, "kdebug-strings") {
        read_paths(files, store, uniques, &mut paths)?;
    }
    let mut events = Events::default();
    for store in of_dyld(stores, "kdebug") {
        events.read(files, store, uniques)?;
    }
    Ok(events.images(&paths))
}

fn of_dyld<'a>(stores: &'a [Store], schema: &'a str) -> impl Iterator<Item = &'a Store> {
    let is_of_dyld = move |store: &&Store| {
        let codes = store.codes.iter();
        store.schema == schema
            && codes
                .map(|code| code.trim_matches('"'))
                .any(|code| code == "0x1f,0x05")
    };
    stores.iter().filter(is_of_dyld)
}

/// The path of each id; `None` for an id with two different paths.
type Paths = BTreeMap<u64, Option<String>>;

/// Reads the paths by their ids. A path that has two texts is unknown.
fn read_paths(files: &Files, store: &Store, uniques: &Uniques, paths: &mut Paths) -> Result<()> {
    let rows = Rows::read_all(files, store)?;
    let (Some(id), Some(text)) = (rows.slot("raw-string-id"), rows.slot("raw-string")) else {
        return Ok(());
    };
    for (id, text) in rows.values(id).zip(rows.values(text)) {
        let text = text.and_then(|text| uniques.string(text));
        // An empty string ends each path.
        if let (Some(id), Some(text)) = (id, text.filter(|text| !text.is_empty())) {
            let path = paths.entry(id).or_insert_with(|| Some(text.to_owned()));
            if path.as_deref() != Some(text) {
                *path = None;
            }
        }
    }
    Ok(())
}

/// The binaries that the events of dyld name.
#[derive(Default)]
struct Events {
    /// Loaded binaries by pid, with the id of the path.
    loaded: BTreeMap<u32, Vec<(Image, Option<u64>)>>,
    /// Processes that started a program, and those that started a second one.
    started: BTreeSet<u32>,
    restarted: BTreeSet<u32>,
}

/// The needed columns, in the order of the numbers of an event.
const COLUMNS: [&str; 7] = [
    "thread", "class", "subclass", "code", "arg1", "arg2", "arg3",
];

impl Events {
    /// Reads all events of a table.
    fn read(&mut self, files: &Files, store: &Store, uniques: &Uniques) -> Result<()> {
        let rows = Rows::read_all(files, store)?;
        let slots: Option<Vec<_>> = COLUMNS.iter().map(|name| rows.slot(name)).collect();
        let Some(slots) = slots else {
            return Ok(());
        };
        let mut columns: Vec<_> = slots.into_iter().map(|slot| rows.values(slot)).collect();
        // Index of the last binary of each thread.
        let mut last: BTreeMap<u64, (u32, usize)> = BTreeMap::new();
        loop {
            let row: Option<Vec<_>> = columns.iter_mut().map(Iterator::next).collect();
            let Some(row) = row else {
                return Ok(());
            };
            if let [Some(thread), Some(0x1f), Some(5), Some(code), a, b, c] = row.as_slice() {
                let arguments = [*a, *b, *c];
                self.take(*thread, *code, arguments, uniques, &mut last);
            }
        }
    }

    /// Handles one event: a part of a binary's description, or the start of a program.
    fn take(
        &mut self,
        thread: u64,
        code: u64,
        arguments: [Option<u64>; 3],
        uniques: &Uniques,
        last: &mut BTreeMap<u64, (u32, usize)>,
    ) {
        let Some(pid) = pid_of(thread, uniques) else {
            return;
        };

        match (code, arguments) {
            (0 | 5, [Some(low), Some(high), Some(start)]) => {
                let image = Image {
                    uuid: uuid(low, high),
                    start,
                    size: None,
                    path: None,
                    gone: code == 5,
                };
                let images = self.loaded.entry(pid).or_default();
                last.insert(thread, (pid, images.len()));
                images.push((image, None));
            }
            (1, [_, Some(path), _]) => {
                if let Some((pid, at)) = last.remove(&thread)
                    && let Some(image) = self.loaded.get_mut(&pid).and_then(|all| all.get_mut(at))
                {
                    image.1 = Some(path);
                }
            }
            (10, _) if !self.started.insert(pid) => drop(self.restarted.insert(pid)),
            _ => drop(last.remove(&thread)),
        }
    }

    fn images(self, paths: &Paths) -> Images {
        let mut images = Images::default();
        for (pid, loaded) in self.loaded {
            // A process that became another program has the binaries of both programs here.
            if self.restarted.contains(&pid) {
                continue;
            }
            let loaded = loaded.into_iter().map(|(image, path)| Image {
                path: path.and_then(|id| paths.get(&id)?.clone()),
                ..image
            });
            images.add(pid, loaded.collect());
        }
        images
    }
}

fn pid_of(thread: u64, uniques: &Uniques) -> Option<u32> {
    let [_, process] = uniques.pair(thread)?;
    u32::try_from(ProcessNames::pid(process, uniques)?).ok()
}

fn uuid(low: u64, high: u64) -> [u8; 16] {
    let both = u128::from(low) | (u128::from(high) << 64);
    both.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_made_of_two_arguments() {
        let bytes = uuid(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        assert!(bytes.iter().copied().eq(0..16));
    }

    #[test]
    fn events_become_images() {
        // Array 0 is process 12. Arrays 1 and 2 are its threads. Array 3 is a thread of no process.
        let uniques = Uniques::from_arrays(&[&[12, 0], &[0x1f, 0], &[0x2f, 0], &[0x3f, 99]]);
        let mut events = Events::default();
        let mut last = BTreeMap::new();
        let mut take = |thread, code, a, b, c| {
            let arguments = [Some(a), Some(b), Some(c)];
            events.take(thread, code, arguments, &uniques, &mut last);
        };

        take(1, 10, 0, 0, 0x1000);
        take(1, 0, 1, 2, 0x10_0000);
        take(2, 0, 3, 4, 0x20_0000);
        take(1, 1, 0, 71, 0);
        take(2, 1, 0, 72, 0);
        take(1, 1, 0, 73, 0);
        take(1, 5, 3, 4, 0x20_0000);
        take(3, 0, 5, 6, 0x30_0000);
        take(1, 11, 0, 0, 0);
        take(99, 0, 5, 6, 0x30_0000);
        let path = |path: &str| Some(path.to_owned());
        let paths = BTreeMap::from([(71, path("/bin/app")), (72, None), (73, path("/no"))]);
        let images = events.images(&paths).of_process(12);
        let summary: Vec<_> = images
            .iter()
            .map(|image| (image.start, image.name(), image.gone))
            .collect();
        assert_eq!(
            summary,
            [(0x10_0000, Some("app"), false), (0x20_0000, None, true)]
        );
    }

    #[test]
    fn a_process_that_became_another_program_has_no_images() {
        let uniques = Uniques::from_arrays(&[&[12, 0], &[0x1f, 0]]);
        let mut events = Events::default();
        let mut last = BTreeMap::new();
        for (code, start) in [(10, 0), (0, 0x10_0000), (10, 0), (0, 0x20_0000)] {
            let arguments = [Some(1), Some(2), Some(start)];
            events.take(1, code, arguments, &uniques, &mut last);
        }
        assert!(events.images(&BTreeMap::new()).of_process(12).is_empty());
    }
}
