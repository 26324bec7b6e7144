//! Checks the rules of the trace event format, as its definition and Perfetto's reader define them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A slice, as a viewer draws it.
#[derive(Debug)]
pub(super) struct Slice {
    pub pid: u64,
    pub tid: u64,
    pub start_ns: u64,
    pub length_ns: u64,
    pub name: String,
    pub category: String,
    pub arguments: Map<String, Value>,
}

impl Slice {
    pub(super) fn end_ns(&self) -> u64 {
        self.start_ns + self.length_ns
    }
}

/// A stop of an arrow.
#[derive(Debug)]
pub(super) struct Stop {
    kind: char,
    at_ns: u64,
    /// Category of the slice that the stop is bound to: the one that is open there.
    pub slice_category: String,
}

/// The contents of a trace, as a viewer draws them.
pub(super) struct DrawnTrace {
    pub processes: BTreeMap<u64, String>,
    /// Names of tracks, by process and number.
    pub tracks: BTreeMap<(u64, u64), String>,
    /// Positions of tracks in the list, by process and number.
    places: BTreeMap<(u64, u64), u64>,
    pub slices: Vec<Slice>,
    /// Stops of arrows, by id.
    pub arrows: BTreeMap<u64, Vec<Stop>>,
    /// Points of counters, by process and name: time and value.
    pub counters: BTreeMap<(u64, String), Vec<(u64, f64)>>,
    pub other: Value,
}

pub(super) fn sum(slices: &[&Slice]) -> u64 {
    slices.iter().map(|slice| slice.length_ns).sum()
}

impl DrawnTrace {
    /// Reads a trace and checks the rules.
    pub(super) fn read_checked(text: &[u8], what: &str) -> Self {
        let text = std::str::from_utf8(text).unwrap();
        let raw = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(raw), "{what}: a raw control character");
        let mut trace: Value = serde_json::from_str(text).unwrap();
        assert_eq!(trace["displayTimeUnit"], "ns");
        let mut drawn = Self {
            processes: BTreeMap::new(),
            tracks: BTreeMap::new(),
            places: BTreeMap::new(),
            slices: Vec::new(),
            arrows: BTreeMap::new(),
            counters: BTreeMap::new(),
            other: trace["otherData"].take(),
        };

        let events = trace["traceEvents"].as_array().unwrap();
        for event in events {
            drawn.add_event(event.as_object().unwrap());
        }

        drawn
            .slices
            .sort_by_key(|slice| (slice.pid, slice.tid, slice.start_ns));

        drawn.check_tracks(what);
        drawn.check_order(what);
        drawn.check_nesting(what);
        drawn.check_arrows(what);
        drawn.check_counters(what);
        drawn
    }

    /// Returns the slices of some of a process's tracks, in order of time on each.
    pub(super) fn on(&self, pid: u64, wanted: impl Fn(&str) -> bool) -> Vec<&Slice> {
        let all = self.slices.iter().filter(|slice| slice.pid == pid);
        all.filter(|slice| wanted(&self.tracks[&(pid, slice.tid)]))
            .collect()
    }

    fn add_event(&mut self, event: &Map<String, Value>) {
        let pid = event["pid"].as_u64().unwrap();
        let name = event["name"].as_str().unwrap().to_owned();
        let tid = || event["tid"].as_u64().unwrap();
        match event["ph"].as_str().unwrap() {
            "M" => match name.as_str() {
                "process_name" => {
                    let name = event["args"]["name"].as_str().unwrap();
                    assert!(self.processes.insert(pid, name.to_owned()).is_none());
                }
                "thread_name" => {
                    let name = event["args"]["name"].as_str().unwrap();
                    assert!(self.tracks.insert((pid, tid()), name.to_owned()).is_none());
                }
                "process_sort_index" => assert!(event["args"]["sort_index"].is_u64()),
                "thread_sort_index" => {
                    let place = event["args"]["sort_index"].as_u64().unwrap();
                    assert!(self.places.insert((pid, tid()), place).is_none());
                }
                other => unreachable!("{other}"),
            },
            "X" => self.slices.push(Slice {
                pid,
                tid: tid(),
                start_ns: nanoseconds(&event["ts"]),
                length_ns: nanoseconds(&event["dur"]),
                name,
                category: event["cat"].as_str().unwrap().to_owned(),
                arguments: match event.get("args") {
                    Some(arguments) => arguments.as_object().unwrap().clone(),
                    None => Map::new(),
                },
            }),
            "C" => {
                let values = event["args"].as_object().unwrap();
                assert_eq!(values.len(), 1);
                let value = values.values().next().unwrap().as_f64().unwrap();
                let point = (nanoseconds(&event["ts"]), value);
                self.counters.entry((pid, name)).or_default().push(point);
            }
            kind @ ("s" | "t" | "f") => {
                assert_eq!(event.get("bp").is_some(), kind == "f");
                assert!(event["cat"].is_string());
                let at_ns = nanoseconds(&event["ts"]);
                // Perfetto binds the stop to the slice that began last on the track.
                let slice = self.slices.iter().rev();
                let mut slice = slice.filter(|slice| slice.pid == pid && slice.tid == tid());
                let slice = slice.find(|slice| slice.start_ns <= at_ns).unwrap();
                assert!(at_ns <= slice.end_ns(), "{event:?} on {slice:?}");
                let stop = Stop {
                    kind: kind.chars().next().unwrap(),
                    at_ns,
                    slice_category: slice.category.clone(),
                };
                let id = event["id"].as_u64().unwrap();
                self.arrows.entry(id).or_default().push(stop);
            }
            other => unreachable!("{other}"),
        }
    }

    /// Checks that the order of numbers, in which Perfetto lists tracks, is that of the index,
    /// which Chrome uses.
    fn check_order(&self, what: &str) {
        for pid in self.processes.keys() {
            let tracks = self.places.range((*pid, 0)..=(*pid, u64::MAX));
            let places: Vec<u64> = tracks.map(|(_, &place)| place).collect();
            assert!(places.is_sorted(), "{what}: {places:?}");
        }
    }

    fn check_tracks(&self, what: &str) {
        let mut numbers: Vec<u64> = self.tracks.keys().map(|&(_, tid)| tid).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(
            numbers.len(),
            self.tracks.len(),
            "{what}: numbers are unique"
        );
        for slice in &self.slices {
            assert!(
                self.tracks.contains_key(&(slice.pid, slice.tid)),
                "{what}: {slice:?}"
            );
            assert!(self.processes.contains_key(&slice.pid), "{what}: {slice:?}");
        }
    }

    /// Checks that slices of one track are apart, or nested if they are phases. An outer slice is
    /// written before its inner ones. A slice with arrows is the only one that begins in its
    /// nanosecond.
    fn check_nesting(&self, what: &str) {
        let mut by_track: BTreeMap<(u64, u64), Vec<&Slice>> = BTreeMap::new();
        for slice in &self.slices {
            let track = by_track.entry((slice.pid, slice.tid)).or_default();
            track.push(slice);
        }
        for mut slices in by_track.into_values() {
            // Readers sort by start and keep the order of slices with one start.
            slices.sort_by_key(|slice| slice.start_ns);
            let mut open: Vec<&Slice> = Vec::new();
            for next in slices {
                open.retain(|slice| {
                    let is_over = slice.end_ns() <= next.start_ns;
                    !is_over || slice.start_ns == next.start_ns
                });
                for slice in &open {
                    let nests = next.category == "phase" && next.end_ns() <= slice.end_ns();
                    assert!(nests, "{what}: {slice:?} {next:?}");
                }
                open.push(next);
            }
        }
    }

    /// Checks that an arrow begins once, ends once, and goes forward in time.
    fn check_arrows(&self, what: &str) {
        for (id, stops) in &self.arrows {
            let kinds: String = stops.iter().map(|stop| stop.kind).collect();
            assert!(
                ["sf", "stf"].contains(&kinds.as_str()),
                "{what}: {id} {kinds}"
            );
            assert!(
                stops.is_sorted_by_key(|stop| stop.at_ns),
                "{what}: {id} {stops:?}"
            );
        }
    }

    fn check_counters(&self, what: &str) {
        let (start_ns, end_ns) = self.window();
        for (name, points) in &self.counters {
            assert!(points.is_sorted_by_key(|&(at, _)| at), "{what}: {name:?}");
            assert!(
                points.iter().all(|&(_, value)| value >= 0.0),
                "{what}: {name:?}"
            );
            let times = || points.iter().map(|&(at, _)| at);
            assert!(
                times().all(|at| at >= start_ns),
                "{what}: {name:?} begins early"
            );
            // Time after the window was not analyzed, so the last value must not drop to 0.
            assert_eq!(times().next_back(), Some(end_ns), "{what}: {name:?}");
            let [.., before, last] = points.as_slice() else {
                unreachable!("{what}: {name:?} has one point");
            };
            assert_eq!(before.1.to_bits(), last.1.to_bits(), "{what}: {name:?}");
        }
    }

    /// Returns the window that the file states.
    pub(super) fn window(&self) -> (u64, u64) {
        let at = |key: &str| self.other[key].as_u64().unwrap();
        (at("window_start_ns"), at("window_end_ns"))
    }
}

/// Returns the nanoseconds of a time in microseconds. The tests' times are small enough for a
/// float.
fn nanoseconds(time: &Value) -> u64 {
    let time = time.as_number().unwrap().to_string();
    let (microseconds, rest) = time.split_once('.').unwrap_or((&time, ""));
    assert!(rest.len() <= 3, "{time}");
    let microseconds: u64 = microseconds.parse().unwrap();
    let rest: u64 = format!("{rest:0<3}").parse().unwrap();
    microseconds * 1_000 + rest
}
