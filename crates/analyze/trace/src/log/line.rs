//! Defines the objects of a command-buffer log, and what holds for each of them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU64;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Name and version of the format.
pub(super) const FORMAT: &str = "command-buffer-log/1";
/// Largest time: ninety years. Sums of times stay far below 2⁶⁴.
const LATEST: u64 = 90 * 365 * 86_400 * 1_000_000_000;

/// The header of a log.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header<'a> {
    #[serde(borrow)]
    format: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) program: Cow<'a, str>,
    pub(super) pid: u32,
    #[serde(borrow)]
    pub(super) writer: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) arguments: Vec<String>,
    #[serde(borrow)]
    pub(super) device: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) os: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) started: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) synthetic: bool,
}

/// A time in nanoseconds. It is never 0: a time that is unknown is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time(NonZeroU64);

impl Time {
    /// Returns the time of this many nanoseconds, or why it is none.
    pub(super) fn new(ns: u64) -> Result<Self, String> {
        match NonZeroU64::new(ns) {
            None => Err("the time is 0: leave out a time that is unknown".to_owned()),
            Some(_) if ns > LATEST => Err(format!(
                "the time {ns} is later than {LATEST}: times are nanoseconds"
            )),
            Some(ns) => Ok(Self(ns)),
        }
    }

    /// Returns the time in nanoseconds.
    pub(super) fn ns(self) -> u64 {
        self.0.get()
    }
}

/// A command buffer.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Buffer<'a> {
    pub(super) command_buffer: u64,
    pub(super) commit: Time,
    pub(super) gpu_start: Option<Time>,
    pub(super) gpu_end: Option<Time>,
    pub(super) encode: Option<Time>,
    pub(super) scheduled: Option<Time>,
    pub(super) completed: Option<Time>,
    pub(super) queue: Option<u64>,
    pub(super) thread: Option<u64>,
    #[serde(borrow)]
    pub(super) label: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) encoders: Vec<Encoder<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<Cow<'a, str>>,
}

/// An encoder of a command buffer.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Encoder<'a> {
    pub(super) kind: EncoderKind,
    #[serde(borrow)]
    pub(super) label: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) kernels: Kernels<'a>,
    pub(super) start: Option<Time>,
    pub(super) end: Option<Time>,
    pub(super) gpu_start: Option<Time>,
    pub(super) gpu_end: Option<Time>,
    #[serde(default)]
    pub(super) upper_bound: bool,
}

/// The kind of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EncoderKind {
    Compute,
    Blit,
    Render,
    AccelerationStructure,
    ResourceState,
    MachineLearning,
}

impl EncoderKind {
    /// Every kind, in the order of their declaration.
    pub(super) const ALL: [Self; 6] = [
        Self::Compute,
        Self::Blit,
        Self::Render,
        Self::AccelerationStructure,
        Self::ResourceState,
        Self::MachineLearning,
    ];

    /// Returns the name of the kind.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Compute => "Compute",
            Self::Blit => "Blit",
            Self::Render => "Render",
            Self::AccelerationStructure => "Acceleration Structure",
            Self::ResourceState => "Resource State",
            Self::MachineLearning => "Machine Learning",
        }
    }
}

/// Functions of an encoder, in the order of their first dispatch, with the number of dispatches.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Kernels<'a>(Vec<(Cow<'a, str>, u64)>);

impl<'a> Kernels<'a> {
    /// Returns these functions, or why they are none: each may be there once.
    pub(super) fn new(functions: Vec<(Cow<'a, str>, u64)>) -> Result<Self, String> {
        // Most encoders have one function, which needs no set.
        if functions.len() > 1 {
            let mut known = BTreeSet::new();
            if let Some((name, _)) = functions.iter().find(|(name, _)| !known.insert(name)) {
                return Err(format!("{name:?} is there twice"));
            }
        }
        Ok(Self(functions))
    }

    /// Returns the functions with their numbers of dispatches.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, count)| (name.as_ref(), *count))
    }
}

/// A phase that the program named.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phase<'a> {
    #[serde(borrow)]
    pub(super) phase: Cow<'a, str>,
    pub(super) start: Time,
    pub(super) end: Time,
    #[serde(default, rename = "thread")]
    pub(super) _thread: Option<u64>,
}

/// A time in which the program waited for a command buffer.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    pub(super) wait: u64,
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) thread: Option<u64>,
}

/// A note of the writer about something that it could not do.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    note: String,
}

/// The last line of a log.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) end: Time,
    pub(super) command_buffers: u64,
    #[serde(default)]
    pub(super) lost: u64,
    #[serde(default, rename = "cost_ns_per_command_buffer")]
    _cost: Option<u64>,
}

/// An object after the header.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    Buffer(Buffer<'a>),
    Phase(Phase<'a>),
    Wait(Wait),
    Note(String),
    End(End),
}

/// The keys that tell the kinds of objects apart.
#[derive(Deserialize)]
struct Keys {
    command_buffer: Option<IgnoredAny>,
    phase: Option<IgnoredAny>,
    wait: Option<IgnoredAny>,
    note: Option<IgnoredAny>,
    end: Option<IgnoredAny>,
    format: Option<IgnoredAny>,
}

/// Reason why a line is no object of the log.
pub(super) struct LineError {
    pub(super) detail: String,
    /// True if the line ends before its object does.
    pub(super) is_cut: bool,
}

impl From<String> for LineError {
    fn from(detail: String) -> Self {
        Self {
            detail,
            is_cut: false,
        }
    }
}

impl<'a> Header<'a> {
    /// Parses the first line.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, String> {
        let has_format = memchr::memmem::find(text, b"\"format\"").is_some();
        let header: Self = parse(text).map_err(|error| {
            if error.is_cut || has_format {
                return error.detail;
            }
            "the first line is the header, an object with format, program and pid; this is another object"
                .to_owned()
        })?;
        if header.format != FORMAT {
            return Err(format!(
                "the format is {:?}; metalens reads {FORMAT:?}",
                header.format
            ));
        }
        Ok(header)
    }
}

impl<'a> Line<'a> {
    /// Parses a line after the header, in any form.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, LineError> {
        match text.first() {
            Some(b'{') => {}
            Some(_) => return Err("a line is a JSON object".to_owned().into()),
            None => return Err("the line is empty: each is a JSON object".to_owned().into()),
        }
        // Nearly all lines are command buffers, so that others may take a second look.
        let error = match serde_json::from_slice(text) {
            Ok(buffer) => return Ok(Self::Buffer(buffer)),
            Err(error) => error,
        };
        if error.is_eof() || error.is_syntax() {
            return Err(cause::<Buffer<'_>>(text, &error));
        }
        let keys: Keys = parse(text)?;
        if keys.command_buffer.is_some() {
            return Err(cause::<Buffer<'_>>(text, &error));
        }
        if keys.phase.is_some() {
            let phase: Phase<'_> = parse(text)?;
            in_order([("start", Some(phase.start)), ("end", Some(phase.end))])?;
            return Ok(Self::Phase(phase));
        }
        if keys.wait.is_some() {
            let wait: Wait = parse(text)?;
            in_order([("start", Some(wait.start)), ("end", Some(wait.end))])?;
            return Ok(Self::Wait(wait));
        }
        if keys.note.is_some() {
            return Ok(Self::Note(parse::<Note>(text)?.note));
        }
        if keys.end.is_some() {
            return Ok(Self::End(parse(text)?));
        }
        let detail = match keys.format {
            Some(_) => "there is a second header: write a log of its own for each run",
            None => {
                "the object has none of the keys command_buffer, phase, wait, note and end, which say \
                 what it is"
            }
        };
        Err(detail.to_owned().into())
    }
}

impl Buffer<'_> {
    /// Checks what holds for every command buffer.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.command_buffer == 0 || self.command_buffer == u64::MAX {
            return Err("command_buffer: numbers begin at 1".to_owned());
        }
        if self.queue == Some(0) {
            return Err("queue: numbers begin at 1".to_owned());
        }
        match (self.gpu_start, self.gpu_end) {
            (Some(_), Some(_)) => {}
            (None, None) if self.error.is_some() => {}
            (None, None) => {
                return Err("gpu_start and gpu_end are missing, and there is no error".to_owned());
            }
            _ => return Err("only one of gpu_start and gpu_end is there".to_owned()),
        }
        in_order([
            ("encode", self.encode),
            ("commit", Some(self.commit)),
            ("gpu_start", self.gpu_start),
            ("gpu_end", self.gpu_end),
            ("completed", self.completed),
        ])?;
        in_order([("commit", Some(self.commit)), ("scheduled", self.scheduled)])?;
        for (place, encoder) in self.encoders.iter().enumerate() {
            let check = encoder.check();
            check.map_err(|detail| format!("encoders[{place}]: {detail}"))?;
        }
        Ok(())
    }
}

impl Encoder<'_> {
    fn check(&self) -> Result<(), String> {
        in_order([("start", self.start), ("end", self.end)])?;
        in_order([("gpu_start", self.gpu_start), ("gpu_end", self.gpu_end)])?;
        if self.gpu_start.is_some() != self.gpu_end.is_some() {
            return Err("only one of gpu_start and gpu_end is there".to_owned());
        }
        Ok(())
    }
}

/// Checks that the times that are there come in this order.
#[inline]
fn in_order<const N: usize>(times: [(&str, Option<Time>); N]) -> Result<(), String> {
    let mut last: Option<(&str, Time)> = None;
    for (key, time) in times {
        let Some(time) = time else {
            continue;
        };
        if let Some(last) = last.filter(|last| time < last.1) {
            return Err(disorder((key, time), last));
        }
        last = Some((key, time));
    }
    Ok(())
}

#[cold]
fn disorder(next: (&str, Time), last: (&str, Time)) -> String {
    let (next_ns, last_ns) = (next.1.ns(), last.1.ns());
    format!("{} ({next_ns}) is before {} ({last_ns})", next.0, last.0)
}

fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, LineError> {
    serde_json::from_slice(text).map_err(|error| cause::<T>(text, &error))
}

/// Returns why a text is no object of a type, with the key of the value that is wrong.
fn cause<'a, T: Deserialize<'a>>(text: &'a [u8], error: &serde_json::Error) -> LineError {
    let is_cut = error.is_eof();
    let mut json = serde_json::Deserializer::from_slice(text);
    let found = serde_path_to_error::deserialize::<_, T>(&mut json);
    let key = found.err().map(|error| error.path().to_string());
    let key = key.filter(|key| key != "." && !key.starts_with('?'));
    let words = error.to_string();
    let words = words
        .rsplit_once(" at line ")
        .map_or(words.as_str(), |(words, _)| words);
    let words = ["u64", "u32"].iter().fold(words.to_owned(), |words, kind| {
        words.replace(&format!("expected {kind}"), "expected a whole number")
    });
    let detail = match key {
        _ if is_cut => "the line ends before its object does".to_owned(),
        Some(key) => format!("{key}: {words}"),
        None => format!("{words} (byte {} of the line)", error.column()),
    };
    LineError { detail, is_cut }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(u64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Kernels<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Kernels<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of functions with their numbers of dispatches")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut pairs = Vec::new();
                while let Some(Text(name)) = map.next_key()? {
                    pairs.push((name, map.next_value()?));
                }
                Kernels::new(pairs).map_err(M::Error::custom)
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

/// A text that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
