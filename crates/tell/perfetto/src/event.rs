//! Writes events of the trace format, one by one.

use std::io::{self, Write};

/// Largest integer that every reader of JSON represents exactly.
const EXACT: u64 = (1 << 53) - 1;

/// A track on which viewers draw events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Track {
    /// Process under which the track is listed.
    pub pid: u64,
    /// Number of the track, unique in the file.
    pub tid: u64,
}

/// A writer of the list of events, which numbers their tracks.
pub(crate) struct Trace<'o> {
    out: &'o mut dyn Write,
    line: Vec<u8>,
    first: bool,
    /// Number of the analyzed process.
    pub(crate) pid: u64,
    /// Number of the last track.
    pub(crate) last: u64,
    /// True once the GPU itself has its name.
    pub(crate) has_machine: bool,
    pub(crate) is_synthetic: bool,
}

impl<'o> Trace<'o> {
    pub(crate) fn new(out: &'o mut dyn Write, pid: u64, is_synthetic: bool) -> Self {
        Self {
            out,
            line: Vec::with_capacity(512),
            first: true,
            pid,
            last: 0,
            has_machine: false,
            is_synthetic,
        }
    }

    /// Begins a slice on a track, from one time to another.
    pub(crate) fn slice(
        &mut self,
        track: Track,
        category: &str,
        name: &str,
        start_ns: u64,
        end_ns: u64,
    ) -> io::Result<TraceEvent<'_, 'o>> {
        let mut event = self.begin(b'X')?.on(track).name(name)?;
        event.raw(b",\"cat\":");
        event.raw_text(category)?;
        event.time(b",\"ts\":", start_ns);
        event.time(b",\"dur\":", end_ns.saturating_sub(start_ns));
        Ok(event)
    }

    /// Writes a stop of an arrow: its start `s`, a stop between `t`, or its end `f`.
    pub(crate) fn arrow(&mut self, end: u8, id: u64, track: Track, at_ns: u64) -> io::Result<()> {
        let mut event = self.begin(end)?.on(track).name("work")?;
        event.raw(b",\"cat\":\"work\",\"id\":");
        event.integer(id);
        if end == b'f' {
            event.raw(b",\"bp\":\"e\"");
        }
        event.time(b",\"ts\":", at_ns);
        event.finish()
    }

    /// Writes the value of a counter from a time on.
    pub(crate) fn counter(
        &mut self,
        pid: u64,
        name: &str,
        unit: &str,
        at_ns: u64,
        value: &serde_json::Number,
    ) -> io::Result<()> {
        let mut event = self.begin(b'C')?.process(pid).name(name)?;
        event.time(b",\"ts\":", at_ns);
        event.key(unit);
        serde_json::to_writer(&mut event.trace.line, value)?;
        event.finish()
    }

    /// Begins an event about a process or a track: its name, or its position in the list.
    pub(crate) fn about(
        &mut self,
        what: &str,
        pid: u64,
        tid: Option<u64>,
    ) -> io::Result<TraceEvent<'_, 'o>> {
        let event = self.begin(b'M')?;
        match tid {
            Some(tid) => event.on(Track { pid, tid }),
            None => event.process(pid),
        }
        .name(what)
    }

    fn begin(&mut self, kind: u8) -> io::Result<TraceEvent<'_, 'o>> {
        self.line.clear();
        let comma: &[u8] = if self.first { b"" } else { b"," };
        self.first = false;
        self.line.extend_from_slice(comma);

        self.line.extend_from_slice(b"\n{\"ph\":\"");
        self.line.extend_from_slice(&[kind, b'"']);
        Ok(TraceEvent {
            trace: self,
            has_arguments: false,
        })
    }
}

/// An event that is being written. [`finish`](Self::finish) ends it.
#[must_use = "an event is written when it is finished"]
pub(crate) struct TraceEvent<'e, 'o> {
    trace: &'e mut Trace<'o>,
    has_arguments: bool,
}

impl TraceEvent<'_, '_> {
    /// Adds a number as an argument. A number that JSON cannot represent exactly becomes text.
    pub(crate) fn number(mut self, key: &str, value: u64) -> Self {
        self.key(key);
        if value > EXACT {
            self.raw(b"\"");
            self.integer(value);
            self.raw(b"\"");
        } else {
            self.integer(value);
        }
        self
    }

    /// Adds a number as an argument, if it is known.
    pub(crate) fn known(self, key: &str, value: Option<u64>) -> Self {
        match value {
            Some(value) => self.number(key, value),
            None => self,
        }
    }

    /// Adds the time from one moment to another in nanoseconds, if both are known. It is negative
    /// if the second is earlier.
    pub(crate) fn between(mut self, key: &str, from_ns: Option<u64>, to_ns: Option<u64>) -> Self {
        if let (Some(from), Some(to)) = (from_ns, to_ns) {
            self.key(key);
            if to < from {
                self.raw(b"-");
            }
            self.integer(to.abs_diff(from));
        }
        self
    }

    /// Adds a text as an argument, if it is known.
    pub(crate) fn text(mut self, key: &str, value: Option<&str>) -> io::Result<Self> {
        if let Some(value) = value {
            self.key(key);
            self.raw_text(value)?;
        }
        Ok(self)
    }

    /// Adds a flag as an argument, if it is known.
    pub(crate) fn flag(mut self, key: &str, value: Option<bool>) -> Self {
        if let Some(value) = value {
            self.key(key);
            self.raw(if value { b"true" } else { b"false" });
        }
        self
    }

    /// Writes the event to the output.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.raw(if self.has_arguments { b"}}" } else { b"}" });
        self.trace.out.write_all(&self.trace.line)
    }

    fn on(mut self, track: Track) -> Self {
        self = self.process(track.pid);
        self.raw(b",\"tid\":");
        self.integer(track.tid);
        self
    }

    fn process(mut self, pid: u64) -> Self {
        self.raw(b",\"pid\":");
        self.integer(pid);
        self
    }

    fn name(mut self, name: &str) -> io::Result<Self> {
        self.raw(b",\"name\":");
        self.raw_text(name)?;
        Ok(self)
    }

    /// Begins an argument. Keys are words of this crate, which need no escaping.
    fn key(&mut self, key: &str) {
        self.raw(if self.has_arguments {
            b",\""
        } else {
            b",\"args\":{\""
        });
        self.has_arguments = true;
        self.raw(key.as_bytes());
        self.raw(b"\":");
    }

    /// Writes a time in microseconds, with all nanoseconds.
    fn time(&mut self, key: &[u8], ns: u64) {
        self.raw(key);
        self.integer(ns / 1_000);
        let rest = ns % 1_000;
        if rest > 0 {
            let digit = |value: u64| b'0' + u8::try_from(value % 10).unwrap_or(0);
            self.raw(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)]);
        }
    }

    fn integer(&mut self, value: u64) {
        self.raw(itoa::Buffer::new().format(value).as_bytes());
    }

    /// Writes any text. JSON allows a raw DEL character, but older versions of Perfetto refuse a file
    /// that has one.
    fn raw_text(&mut self, text: &str) -> io::Result<()> {
        let line = &mut self.trace.line;
        if !text.contains('\u{7f}') {
            return Ok(serde_json::to_writer(line, text)?);
        }

        let escaped = serde_json::to_string(text)?.replace('\u{7f}', "\\u007f");
        line.extend_from_slice(escaped.as_bytes());
        Ok(())
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.trace.line.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(fill: impl FnOnce(&mut Trace<'_>)) -> String {
        let mut out = Vec::new();
        fill(&mut Trace::new(&mut out, 7, false));
        String::from_utf8(out).unwrap().trim().to_owned()
    }

    const TRACK: Track = Track { pid: 7, tid: 8 };

    #[test]
    fn times_keep_every_nanosecond() {
        let check = |ns: u64, expected: &str| {
            let text = written(|events| events.arrow(b's', 1, TRACK, ns).unwrap());
            let expected = format!("\"ts\":{expected}}}");
            assert!(text.ends_with(&expected), "{text}");
        };
        check(0, "0");
        check(1, "0.001");
        check(1_000, "1");
        check(1_010, "1.010");
        check(123_456, "123.456");
        check(86_400_000_000_001, "86400000000.001");
        check(u64::MAX, "18446744073709551.615");
    }

    #[test]
    fn special_characters_in_texts_are_escaped() {
        let hostile = "a\"}],\\ \u{7f}\u{1b}\u{0}\n日本";
        let text = written(|events| {
            let event = events.slice(TRACK, "gpu", hostile, 1, 2).unwrap();
            let event = event.text("label", Some(hostile)).unwrap();
            event
                .number("id", u64::MAX)
                .between("early_ns", Some(5), Some(3))
                .finish()
                .unwrap();
        });
        assert!(!text.contains(char::is_control), "{text}");
        let event: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(event["name"], hostile);
        assert_eq!(event["args"]["label"], hostile);
        assert_eq!(event["args"]["id"], "18446744073709551615");
        assert_eq!(event["args"]["early_ns"], -2);
    }
}
