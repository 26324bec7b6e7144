//! Which binary lay where in a process's memory.
//!
//! Two places of a bundle say it, see [`signature`](super::signature) and
//! [`dyld`](super::dyld); what both say is put together. What was ever unloaded
//! or moved, or overlaps with something else, stands for nothing: when a stack
//! was taken is not looked at.

use std::collections::BTreeMap;

/// A binary in a process's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) uuid: [u8; 16],
    /// Where its `__TEXT` starts.
    pub(crate) start: u64,
    /// How long its `__TEXT` is, where that is said.
    pub(crate) size: Option<u64>,
    pub(crate) path: Option<String>,
    /// It was unloaded at some time.
    pub(crate) gone: bool,
}

/// The binaries of processes, by pid.
#[derive(Debug, Default)]
pub(crate) struct Images {
    processes: BTreeMap<u32, Vec<Image>>,
    count: usize,
}

/// So many are kept; a process has some hundreds.
const LIMIT: usize = 1 << 20;

impl Images {
    /// Takes in what is said of a process; `false` if that is too much.
    pub(crate) fn add(&mut self, pid: u32, images: Vec<Image>) -> bool {
        self.count = self.count.saturating_add(images.len());
        let few = self.count <= LIMIT;
        if few {
            self.processes.entry(pid).or_default().extend(images);
        }
        few
    }

    /// Forgets a process.
    pub(crate) fn remove(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }

    /// Takes in all that other says.
    pub(crate) fn merge(&mut self, other: Self) -> bool {
        let mut processes = other.processes.into_iter();
        processes.all(|(pid, images)| self.add(pid, images))
    }

    /// The binaries of a process, each place of each once.
    pub(crate) fn of(&self, pid: u32) -> Vec<Image> {
        let mut places: BTreeMap<(u64, [u8; 16]), Image> = BTreeMap::new();
        for image in self.processes.get(&pid).into_iter().flatten() {
            match places.get_mut(&(image.start, image.uuid)) {
                Some(known) => known.join(image),
                None => drop(places.insert((image.start, image.uuid), image.clone())),
            }
        }
        places.into_values().collect()
    }
}

impl Image {
    /// Its file's name.
    pub(crate) fn name(&self) -> Option<&str> {
        let name = self.path.as_deref()?.rsplit('/').next()?;
        (!name.is_empty()).then_some(name)
    }

    /// The same, said once more.
    fn join(&mut self, other: &Self) {
        let contradicts =
            |a: Option<u64>, b: Option<u64>| a.zip(b).is_some_and(|(one, two)| one != two);
        self.gone |= other.gone || contradicts(self.size, other.size);
        self.size = self.size.max(other.size);
        if self.path.is_none() {
            self.path.clone_from(&other.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sources_are_put_together() {
        let image = Image {
            uuid: [1; 16],
            start: 0x1000,
            size: None,
            path: Some("/usr/lib/libapp.dylib".to_owned()),
            gone: false,
        };
        let sized = Image {
            size: Some(0x4000),
            path: None,
            ..image.clone()
        };
        let other_size = Image {
            size: Some(0x8000),
            ..image.clone()
        };
        let mut images = Images::default();
        assert!(images.add(7, vec![sized.clone()]) && images.add(7, vec![image.clone()]));
        let joined = images.of(7);
        assert_eq!(joined.len(), 1);
        assert_eq!(joined[0].size, Some(0x4000));
        assert_eq!(joined[0].name(), Some("libapp.dylib"));
        assert!(!joined[0].gone);
        assert!(images.add(7, vec![other_size]));
        assert!(images.of(7)[0].gone, "two sizes are none");
        assert!(images.of(8).is_empty());
        assert!(!images.add(9, vec![image; LIMIT]));
    }
}
