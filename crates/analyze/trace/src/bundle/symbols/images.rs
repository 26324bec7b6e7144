//! Stores the addresses of the binaries in the memory of each process.
//!
//! A bundle has them in two places, see [`signature`](super::signature) and [`dyld`](super::dyld);
//! both are merged. A binary that was ever unloaded or moved, or overlaps with another one, is not
//! used, since the time of a stack is not considered.

use std::collections::BTreeMap;

/// A binary in the memory of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) uuid: [u8; 16],
    /// Start address of its `__TEXT`.
    pub(crate) start: u64,
    /// Size of its `__TEXT`, if it is known.
    pub(crate) size: Option<u64>,
    pub(crate) path: Option<String>,
    /// True if the binary was unloaded at some time.
    pub(crate) gone: bool,
}

/// The binaries of processes, by pid.
#[derive(Debug, Default)]
pub(crate) struct Images {
    processes: BTreeMap<u32, Vec<Image>>,
    count: usize,
}

/// Maximum number of binaries. A process has some hundreds.
const MAX_IMAGES: usize = 1 << 20;

impl Images {
    /// Adds the binaries of a process. Returns false if there are too many.
    pub(crate) fn add(&mut self, pid: u32, images: Vec<Image>) -> bool {
        self.count = self.count.saturating_add(images.len());
        let fits = self.count <= MAX_IMAGES;
        if fits {
            self.processes.entry(pid).or_default().extend(images);
        }
        fits
    }

    /// Removes the binaries of a process.
    pub(crate) fn remove(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }

    /// Adds all binaries of another source. Returns false if there are too many.
    pub(crate) fn merge(&mut self, other: Self) -> bool {
        let mut processes = other.processes.into_iter();
        processes.all(|(pid, images)| self.add(pid, images))
    }

    /// Returns the binaries of a process. The same binary at the same address appears once.
    pub(crate) fn of_process(&self, pid: u32) -> Vec<Image> {
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
    /// Returns the file name of the binary.
    pub(crate) fn name(&self) -> Option<&str> {
        let name = self.path.as_deref()?.rsplit('/').next()?;
        (!name.is_empty()).then_some(name)
    }

    /// Merges another description of the same binary.
    fn join(&mut self, other: &Self) {
        let contradicts = |a: Option<u64>, b: Option<u64>| a.zip(b).is_some_and(|(a, b)| a != b);
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
    fn two_sources_are_merged() {
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
        let joined = images.of_process(7);
        assert_eq!(joined.len(), 1);
        assert_eq!(joined[0].size, Some(0x4000));
        assert_eq!(joined[0].name(), Some("libapp.dylib"));
        assert!(!joined[0].gone);
        assert!(images.add(7, vec![other_size]));
        assert!(images.of_process(7)[0].gone, "two sizes contradict");
        assert!(images.of_process(8).is_empty());
        assert!(!images.add(9, vec![image; MAX_IMAGES]));
    }
}
