//! Reads bundles, with code that shares nothing with the writer. Checks the layout of every file on
//! the way, and shows values like the XML reader does.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use plist::Value;

use crate::keyed::{archive, get, int_keyed, plain};

const BLOCK: usize = 1 << 20;

/// The data of one run of a bundle.
pub(crate) struct Run {
    corespace: PathBuf,
    strings: Vec<String>,
    types: Vec<String>,
    pub(crate) arrays: Integers,
    pub(crate) typed: Integers,
    /// Name of the table of every store, by the store's subpath.
    pub(crate) stores: BTreeMap<String, String>,
}

/// A table that was read back, with its rows ordered by time.
pub(crate) struct Stored {
    /// Mnemonic, name, engineering type and topology field of each column.
    pub(crate) columns: Vec<[String; 4]>,
    /// Values of `_name` and `_type` in the descriptor.
    pub(crate) fields: Vec<(String, u64)>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Number of rows that come before their predecessor.
    pub(crate) steps_back: usize,
    /// Words of the header.
    pub(crate) header: [u32; 7],
}

/// Returns the content of a file, inflated if it is compressed.
pub(crate) fn inflated(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    match bytes.as_slice() {
        [0x78, second, ..] if (0x7800 + u32::from(*second)).is_multiple_of(31) => {
            let mut out = Vec::new();
            let mut decoder = ZlibDecoder::new(bytes.as_slice());
            decoder.read_to_end(&mut out).unwrap();
            assert_eq!(
                decoder.total_in(),
                bytes.len() as u64,
                "nothing after the stream of {}",
                path.display()
            );
            out
        }
        _ => bytes,
    }
}

/// The content of an `integeruniquer`.
pub(crate) struct Integers {
    pub(crate) lists: Vec<Vec<u64>>,
    pub(crate) blocks: usize,
}

fn integers(dir: &Path) -> Integers {
    let index = inflated(&dir.join("integeruniquer.index"));
    let data = inflated(&dir.join("integeruniquer.data"));
    for file in [&index, &data] {
        assert_eq!(words(&file[..20]), [0x0123_4567, 0x000a_337e, 1, 0, 1]);
    }
    assert_eq!(words(&index[28..40]), [1 << 20, 0, 0]);
    assert_eq!(index.len() % 8, 0);
    assert!(
        !data.is_empty() && data.len().is_multiple_of(BLOCK),
        "whole blocks"
    );

    let list = |entry: &[u8]| {
        let [offset, block] = words(entry)[..] else {
            panic!("two words")
        };
        let start = block as usize * BLOCK + offset as usize;
        let count = words(&data[start..start + 4])[0] as usize;
        let end = start + 4 + 8 * count;
        assert_eq!(start / BLOCK, (end - 1) / BLOCK, "no list crosses a block");
        numbers(&data[start + 4..end])
    };
    Integers {
        lists: index[40..].chunks_exact(8).map(list).collect(),
        blocks: data.len() / BLOCK,
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks_exact(4).map(word).collect()
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks_exact(8).map(number).collect()
}

impl Run {
    pub(crate) fn open(bundle: &Path, run: u32) -> Self {
        let corespace = bundle.join("corespace");
        let core = corespace.join(format!("run{run}/core"));
        let uniquing = core.join("uniquing");
        let strings = Value::from_reader_xml(inflated(&uniquing.join("strings")).as_slice());
        let types = archive(&uniquing.join("EngineeringTypes.etypes"));
        let name = |value: &Value| plain(get(value, "NS.string"));
        let manager = archive(&core.join("table-manager/tables.plist"));
        let details = get(&manager["root"], "tableDetails")
            .as_dictionary()
            .unwrap();
        Self {
            strings: strings
                .unwrap()
                .into_array()
                .unwrap()
                .iter()
                .map(plain)
                .collect(),
            types: types["root"].as_array().unwrap().iter().map(name).collect(),
            arrays: integers(&uniquing.join("arrayUniquer")),
            typed: integers(&uniquing.join("typedArrayUniquer")),
            stores: int_keyed(details)
                .values()
                .map(|table| {
                    let name = get(get(table, "spec"), "schemaName");
                    (plain(get(table, "storeSubpath")), plain(name))
                })
                .collect(),
            corespace,
        }
    }

    /// Returns the folders of a table's stores.
    pub(crate) fn stores_of(&self, table: &str) -> Vec<PathBuf> {
        let ours = self.stores.iter().filter(|(_, name)| *name == table);
        ours.map(|(path, _)| self.corespace.join(path)).collect()
    }

    /// Returns the only store of a table.
    pub(crate) fn table(&self, table: &str) -> Stored {
        match self.stores_of(table).as_slice() {
            [store] => self.store(store),
            stores => panic!("{table}: {stores:?}"),
        }
    }

    pub(crate) fn store(&self, store: &Path) -> Stored {
        let columns = columns(&inflated(&store.join("schema.xml")));
        let (fields, row_bytes, count) = descriptor(store);
        let bytes = inflated(&store.join("bulkstore"));
        let header: [u32; 7] = words(&bytes[..28]).try_into().unwrap();
        assert_eq!(header[4] as usize, row_bytes);
        let (rows, rest) = bytes[0x1000..].split_at(count * row_bytes);
        assert_eq!(rest.len(), padding(count, &header), "whole blocks");
        assert!(is_zero(&bytes[28..0x1000]) && is_zero(rest));

        let mut rows: Vec<&[u8]> = rows.chunks_exact(row_bytes).collect();
        let time = |row: &&[u8]| u64::from_le_bytes(row[..8].try_into().unwrap());
        let steps_back = rows
            .windows(2)
            .filter(|pair| time(&pair[1]) < time(&pair[0]));
        let steps_back = steps_back.count();
        rows.sort_by_key(time);
        let places = places(&columns, &fields);

        let row = |row: &&[u8]| {
            let cells = columns.iter().zip(&places);
            cells
                .map(|(column, place)| self.value(&column[2], &row[place.clone()]))
                .collect()
        };
        Stored {
            rows: rows.iter().map(row).collect(),
            columns,
            fields,
            steps_back,
            header,
        }
    }

    /// Shows a value like the XML reader does.
    fn value(&self, engineering_type: &str, bytes: &[u8]) -> String {
        let kind = engineering_type.strip_prefix("XR").unwrap();
        let kind = kind.strip_suffix("TypeID").unwrap();
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let value = u64::from_le_bytes(wide);
        let at = usize::try_from(value).unwrap();
        let is_null = bytes.iter().all(|byte| *byte == 0xff);

        match kind {
            // Instruments shows these in full: they are ids, whose NULL is shown as a number.
            "PrototypeValue" | "MetalCommandBufferID" | "GPUHardwareTraceID" => value.to_string(),
            _ if is_null => "null".to_owned(),
            "FormattedLabel" | "NarrativeEntry" => self.label(at),
            "Process" => {
                let [pid, session] = self.arrays.lists[at][..] else {
                    panic!("a pid and a session")
                };
                format!("{pid} {}", self.strings[usize::try_from(session).unwrap()])
            }
            "Thread" => {
                let [tid, process] = self.arrays.lists[at][..] else {
                    panic!("a tid and a process")
                };
                let process = u32::try_from(process).unwrap().to_le_bytes();
                format!("{tid} {}", self.value("XRProcessTypeID", &process))
            }
            "Backtrace" => {
                let [part] = self.arrays.lists[at][..] else {
                    panic!("one part")
                };
                let (owner, addresses) = (part >> 32, part & u64::from(u32::MAX));
                let owner = &self.arrays.lists[usize::try_from(owner).unwrap()];
                assert_eq!(owner.len(), 2, "a process");
                let addresses = &self.arrays.lists[usize::try_from(addresses).unwrap()];
                let shown = addresses.iter().map(|address| format!("{address:#x}"));
                format!("{:?}", shown.collect::<Vec<_>>())
            }
            "PrototypeFixedDecimalValue" => {
                let billionths = value - (u64::MAX >> 1);
                let (whole, rest) = (billionths / 1_000_000_000, billionths % 1_000_000_000);
                format!("{whole}.{rest:09}")
            }
            _ if TEXTS.contains(&kind) => self.strings[at].clone(),
            _ => value.to_string(),
        }
    }

    fn label(&self, at: usize) -> String {
        let part = |pair: &[u64]| {
            let engineering_type = &self.types[usize::try_from(pair[0]).unwrap()];
            self.value(engineering_type, &pair[1].to_le_bytes())
        };
        let parts: Vec<String> = self.typed.lists[at].chunks_exact(2).map(part).collect();
        format!("{parts:?}")
    }
}

/// Engineering types whose values are indices of strings.
const TEXTS: [&str; 23] = [
    "PrototypeString",
    "NarrativeText",
    "MetalObjectLabel",
    "GPUChannelName",
    "GPUState",
    "MetalDeviceName",
    "MetalEventName",
    "MetalEvent",
    "GPUDriverName",
    "DeviceSession",
    "GPUPerformanceState",
    "ThermalState",
    "GPUEventName",
    "ThreadState",
    "OSLogEvent",
    "OSLogFormatString",
    "OSLogSubsystem",
    "OSLogCategory",
    "SignpostName",
    "HangType",
    "GPUCounterName",
    "GPUMemoryEventName",
    "MetalMemoryLevelEvent",
];

fn is_zero(bytes: &[u8]) -> bool {
    let zeros = [0; 4_096];
    let mut chunks = bytes.chunks(zeros.len());
    chunks.all(|chunk| *chunk == zeros[..chunk.len()])
}

fn padding(count: usize, header: &[u32; 7]) -> usize {
    let [_, _, _, _, row, block, rows_per_block] = header.map(|word| word as usize);
    assert_eq!(row * rows_per_block, block);
    count.div_ceil(rows_per_block) * block - count * row
}

/// Returns the fields, the size of a row and the number of rows.
fn descriptor(store: &Path) -> (Vec<(String, u64)>, usize, usize) {
    let archive = archive(&store.join("bulkstore_descriptor"));
    let facts = get(&archive["root"], "$0");
    let number = |value: &Value| value.as_unsigned_integer().unwrap();
    let fields = get(facts, "_fields").as_array().unwrap().iter().enumerate();
    let fields: Vec<(String, u64)> = fields
        .map(|(index, field)| {
            let field = get(field, "$0");
            assert_eq!(number(get(field, "_index")), index as u64);
            assert_eq!(number(get(field, "_multi")), 1);
            (plain(get(field, "_name")), number(get(field, "_type")))
        })
        .collect();

    let size = fields.iter().map(|(_, kind)| width(*kind)).sum::<usize>();
    assert_eq!(number(get(facts, "_maxEventSize")), size as u64);
    assert_eq!(get(facts, "_minEventSize"), get(facts, "_maxEventSize"));
    assert_eq!(get(facts, "_variableSize").as_boolean(), Some(false));
    let props = get(facts, "_props");
    assert_eq!(get(props, "next_event_id"), get(props, "mono_event_id"));
    let count = number(get(props, "next_event_id"));
    (fields, size, usize::try_from(count).unwrap())
}

const fn width(kind: u64) -> usize {
    match kind {
        1 => 4,
        2 => 8,
        7 => 16,
        6 => 24,
        _ => panic!("a known type"),
    }
}

/// Returns the range of bytes of each column in a row.
fn places(columns: &[[String; 4]], fields: &[(String, u64)]) -> Vec<std::ops::Range<usize>> {
    let category = width(fields[0].1) - 8;
    let mut own = fields.iter();
    let mut end = width(own.next().unwrap().1);
    let place = |column: &[String; 4]| match column[3].as_str() {
        "XRTraceRelativeTimestampFieldID" => 0..8,
        "XRDurationFieldID" => 8..16,
        "XRCategory1FieldID" => category..category + 4,
        "" => {
            let (name, kind) = own.next().expect("a field for the column");
            assert_eq!(*name, column[0]);
            let start = end;
            end += width(*kind);
            start..end
        }
        other => panic!("{other}"),
    };
    let places = columns.iter().map(place).collect();
    assert_eq!(own.next(), None, "a column for the field");
    places
}

/// Reads the columns of a `schema.xml`: one element per column, attributes in quotes.
fn columns(xml: &[u8]) -> Vec<[String; 4]> {
    let text = std::str::from_utf8(xml).unwrap();
    let column = |element: &str| {
        let attribute = |name: &str| {
            let value = element.split_once(&format!(" {name}=\""));
            let value = value.and_then(|(_, value)| value.split_once('"'));
            value.map_or_else(String::new, |(value, _)| value.to_owned())
        };
        [
            attribute("mnemonic"),
            attribute("engineeringName"),
            attribute("engineeringType"),
            attribute("topologyField"),
        ]
    };
    text.split("<column").skip(1).map(column).collect()
}
