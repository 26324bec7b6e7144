//! Decodes the numbers in rows, one value at a time.

use std::collections::BTreeMap;

use plist::Value;

use super::archive::Archive;
use super::rows::{Rows, lists, strings};
use super::{Bundled, Shown, core, displayed, file, tables};

/// The values that the numbers in rows refer to.
pub(super) struct Run {
    strings: Vec<String>,
    types: Vec<String>,
    lists: Vec<Option<Vec<u64>>>,
    typed: Vec<Option<Vec<u64>>>,
    displayed: BTreeMap<u64, String>,
    listed: BTreeMap<u64, String>,
}

impl Run {
    pub(super) fn read(files: &Bundled) -> Result<Self, String> {
        let archive = Archive::read(files, &core("uniquing/EngineeringTypes.etypes"))?;
        let types = archive.items(archive.top("root")?.ok_or("no types")?)?;
        let types = types.into_iter().map(Value::as_string);
        let types: Option<Vec<&str>> = types.collect();
        let mut run = Self {
            strings: strings(file(files, &core("uniquing/strings"))?)?,
            types: types
                .ok_or("a type is no text")?
                .into_iter()
                .map(str::to_owned)
                .collect(),
            lists: lists(files, "arrayUniquer")?,
            typed: lists(files, "typedArrayUniquer")?,
            displayed: displayed(files)?,
            listed: BTreeMap::new(),
        };

        let is_listed = |(_, schema): &(u64, String)| schema == "process-info";
        if let Some((number, _)) = tables(files)?.into_iter().find(is_listed) {
            let rows = Rows::read(files, number)?;
            for row in &rows.rows {
                let of = |name: &str| rows.column(name).and_then(|column| row[column]);
                let name = of("process-name").and_then(|name| run.string(name));
                if let (Some(process), Some(name)) = (of("process"), name) {
                    let name = name.to_owned();
                    run.listed.entry(process).or_insert(name);
                }
            }
        }

        Ok(run)
    }

    pub(super) fn table(
        &self,
        files: &Bundled,
        number: u64,
        listed: &str,
    ) -> Result<Shown, String> {
        let rows = Rows::read(files, number)?;
        if rows.schema != listed {
            return Err(format!("{listed} is {} in its store", rows.schema));
        }
        let mut lines = Vec::new();
        for (at, column) in rows.columns.iter().enumerate() {
            let cells = rows
                .rows
                .iter()
                .map(|row| self.cell(&column.type_id, row[at], column.ones));
            let cells: Result<Vec<String>, String> = cells.collect();
            lines.push(format!("{}: {:?}", column.mnemonic, cells?));
        }
        Ok((rows.schema, lines))
    }

    fn cell(&self, type_id: &str, value: Option<u64>, ones: u64) -> Result<String, String> {
        let nothing = || format!("{value:x?} refers to nothing");
        let Some(number) = value else {
            let full = matches!(type_id, "XRPrototypeValueTypeID" | "XRMetalEncoderIDTypeID");
            let is_raw = full || self.is_unknown(type_id);
            return Ok(if is_raw {
                format!("{:?}", Some(ones))
            } else {
                "None".to_owned()
            });
        };

        let text = |text: String| format!("{:?}", Some(text));
        let shown = match type_id {
            "XRGPUChannelNameTypeID" | "XRPrototypeStringTypeID" | "XRMetalObjectLabelTypeID" => {
                self.string(number).map(|found| text(found.to_owned()))
            }
            "XRProcessTypeID" => self
                .process(number)
                .map(|found| format!("{:?}", Some(found))),
            "XRThreadTypeID" => self.thread(number),
            "XRBacktraceTypeID" => self.stack(number),
            "XRCoreProfileCallstackTypeID" => self.callstack(number).map(text),
            "XRThreadNameTypeID" => {
                let name = self.string(number >> 32);
                let tid = self
                    .list(number & 0xffff_ffff)
                    .and_then(|list| list.first());
                name.zip(tid)
                    .map(|(name, tid)| text(format!("{name}  {tid:#x}")))
            }
            "XRLayoutIDTypeID" => Some(text(number.to_string())),
            "XRFormattedLabelTypeID" => self.label(number),
            "XRNarrativeEntryTypeID" => self.displayed_list(number).map(text),
            _ => Some(format!("{:?}", Some(number))),
        };

        shown.ok_or_else(nothing)
    }

    fn is_unknown(&self, type_id: &str) -> bool {
        let known = [
            "XRStartTimeTypeID",
            "XRDurationTypeID",
            "XRRecordedEventTimestampTypeID",
            "XRSampleTimestampTypeID",
            "XRGPUChannelNameTypeID",
            "XRPrototypeStringTypeID",
            "XRFormattedLabelTypeID",
            "XRNarrativeEntryTypeID",
            "XRProcessTypeID",
            "XRThreadTypeID",
            "XRBacktraceTypeID",
            "XRCoreProfileCallstackTypeID",
            "XRThreadNameTypeID",
            "XRLayoutIDTypeID",
        ];
        !known.contains(&type_id)
    }

    fn string(&self, at: u64) -> Option<&str> {
        let at = usize::try_from(at).ok()?;
        self.strings.get(at).map(String::as_str)
    }

    fn list(&self, at: u64) -> Option<&Vec<u64>> {
        self.lists.get(usize::try_from(at).ok()?)?.as_ref()
    }

    fn process(&self, number: u64) -> Option<(String, Option<u64>)> {
        let [pid, _] = self.list(number)?[..] else {
            return None;
        };
        let pid = pid & 0xffff_ffff;
        let name = self.displayed.get(&pid).or(self.listed.get(&number));
        let name = name.map_or("Unknown", |name| name.as_str());
        Some((name.to_owned(), Some(pid)))
    }

    /// Returns a thread as displayed. Without a name it has the name of its process.
    fn thread(&self, number: u64) -> Option<String> {
        let [tid, process] = self.list(number)?[..] else {
            return None;
        };
        let (name, pid) = self.process(process)?;
        let shown = format!("{name} {tid:#x} ({name}, pid: {})", pid?);
        Some(format!("{:?}", Some((shown, Some(tid)))))
    }

    fn stack(&self, number: u64) -> Option<String> {
        let mut frames = Vec::new();
        for piece in self.list(number)? {
            let piece = self.list(piece & 0xffff_ffff)?;
            frames.extend(piece.iter().map(|address| format!("{address:#x}")));
        }
        Some(format!("{:?}", Some(frames)))
    }

    fn callstack(&self, number: u64) -> Option<String> {
        let list = self.list(number)?;
        let frames = self.list(*list.first()?)?.len();
        let (counter, process) = (list.get(1)?, list.get(2)?);
        let (_, pid) = self.process(*process)?;
        let registers = list.len().saturating_sub(3);
        Some(format!(
            "PC:{counter:#x}, {frames} frames, {registers} regs, pid: {}",
            pid?
        ))
    }

    /// Returns the type, value and display form of each part.
    fn parts(&self, number: u64) -> Option<Vec<(&str, u64, String)>> {
        let list = self.typed.get(usize::try_from(number).ok()?)?.as_ref()?;
        let pairs = list.chunks_exact(2);
        pairs
            .map(|pair| {
                let type_id = self.types.get(usize::try_from(pair[0]).ok()?)?;
                Some((type_id.as_str(), pair[1], self.part(type_id, pair[1])?))
            })
            .collect()
    }

    fn part(&self, type_id: &str, value: u64) -> Option<String> {
        let scaled = |units: &[(&str, u64)]| {
            let (unit, scale) = units.iter().rev().find(|(_, scale)| value >= *scale)?;
            Some(format!("{} {unit}", hundredths(value, *scale)))
        };

        match type_id {
            "XRMetalObjectLabelTypeID" => self.string(value).map(str::to_owned),
            "XRMetalEncoderIDTypeID" => Some(format!("{value:#x}")),
            "XRProcessTypeID" if value == u64::MAX || value == 0xffff_ffff => {
                Some("n/a".to_owned())
            }
            "XRProcessTypeID" => {
                let (name, pid) = self.process(value)?;
                Some(format!("{name} ({})", pid?))
            }
            "XRStartTimeTypeID" => {
                let (minutes, us) = (value / 60_000_000_000, value % 60_000_000_000 / 1_000);
                let (seconds, milli) = (us / 1_000_000, us / 1_000 % 1_000);
                Some(format!(
                    "{minutes:02}:{seconds:02}.{milli:03}.{:03}",
                    us % 1_000
                ))
            }
            "XRDurationTypeID" if value < 1_000 => Some(format!("{value} ns")),
            "XRDurationTypeID" => scaled(&[
                ("µs", 1_000),
                ("ms", 1_000_000),
                ("s", 1_000_000_000),
                ("min", 60_000_000_000),
            ]),
            "XRSizeInBytesTypeID" if value < 1_024 => Some(format!("{value} Bytes")),
            "XRSizeInBytesTypeID" => {
                scaled(&[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)])
            }
            _ => Some(value.to_string()),
        }
    }

    fn displayed_list(&self, number: u64) -> Option<String> {
        let parts = self.parts(number)?;
        let parts: Vec<String> = parts.into_iter().map(|(_, _, shown)| shown).collect();
        Some(parts.join(" "))
    }

    /// Returns the text, the display form and the submission number of a label.
    fn label(&self, number: u64) -> Option<String> {
        let parts = self.parts(number)?;
        let display = self.displayed_list(number)?;
        let submission = parts
            .iter()
            .rfind(|part| part.0 == "XRMetalEncoderIDTypeID");
        let submission = submission.map(|part| part.1);
        let scaffold = ["XRProcessTypeID", "XRMetalEncoderIDTypeID"];
        let mixed =
            |part: &&(&str, u64, String)| !scaffold.contains(&part.0) && !part.2.trim().is_empty();
        let words: Vec<&str> = parts.iter().filter(mixed).map(|part| part.0).collect();
        let shown = parts.iter().find(mixed).map_or("", |part| part.2.trim());
        let text = match (&words[..], submission) {
            ([], Some(_)) => Some(String::new()),
            (["XRMetalObjectLabelTypeID"], Some(_)) => Some(shown.to_owned()),
            // The display form decides about a mixed label, which this reader does not parse again.
            _ => None,
        };
        let text = text.unwrap_or_else(|| "?".to_owned());
        Some(format!("{:?}", Some((text, Some(display), submission))))
    }
}

/// Formats a quotient with two decimals; halves are rounded to the even digit.
fn hundredths(value: u64, scale: u64) -> String {
    let (value, scale) = (u128::from(value), u128::from(scale));
    let (whole, rest) = (value * 100 / scale, value * 100 % scale);
    let whole = match (2 * rest).cmp(&scale) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Equal => whole + whole % 2,
        std::cmp::Ordering::Greater => whole + 1,
    };
    format!("{}.{:02}", whole / 100, whole % 100)
}
