//! Builds a small bundle, file by file, so that a test can break any of them.
//!
//! ```text
//! store 1  process-info            the processes
//! store 2  metal-gpu-intervals     two intervals: texts, processes, labels
//! store 3  time-profile            a thread and its stack
//! ```

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use plist::{Dictionary, Uid, Value};

/// The uncompressed files of a bundle, by their paths inside it.
pub(crate) type Bundled = BTreeMap<String, Vec<u8>>;

const CORE: &str = "corespace/run1/core";

/// Returns the path of a file of the run.
pub(crate) fn core(path: &str) -> String {
    format!("{CORE}/{path}")
}

/// Returns the path of a file of a store.
pub(crate) fn store(number: u64, file: &str) -> String {
    core(&format!("stores/indexed-store-{number}/{file}"))
}

/// Returns a bundle that is read without errors.
pub(crate) fn good() -> Bundled {
    let mut files = Bundled::new();
    Uniques {
        types: &TYPES,
        strings: &STRINGS,
        lists: &LISTS,
        typed: &TYPED,
    }
    .add_to(&mut files);
    add_stores(&mut files, &[processes(), intervals(), samples()]);
    files.insert("form.template".to_owned(), template());
    files
}

/// Adds stores with the list of them.
pub(crate) fn add_stores(files: &mut Bundled, stores: &[Store]) {
    for (store, number) in stores.iter().zip(1..) {
        store.add_to(files, number);
    }
    let listed = stores.iter().zip(1..);
    let listed: Vec<(u64, &str)> = listed.map(|(store, at)| (at, store.schema)).collect();
    files.insert(core("table-manager/tables.plist"), tables(&listed));
}

/// Writes the bundle into a folder, as `X.trace`, and returns its path.
pub(crate) fn written(files: &Bundled, folder: &Path) -> PathBuf {
    let root = folder.join("X.trace");
    for (path, bytes) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    root
}

/// Returns the bundle as an archive, with each file as a zlib stream, as in most bundles.
pub(crate) fn zip(files: &Bundled) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        let path = format!("X.trace/{path}");
        archive.start_file(path, options).unwrap();
        archive.write_all(&zlib(bytes)).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Compresses bytes as a zlib stream.
pub(crate) fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive while it is built: its objects, of which the first is null.
pub(crate) struct Archive {
    objects: Vec<Value>,
}

impl Archive {
    pub(crate) fn new() -> Self {
        Self {
            objects: vec![Value::from("$null")],
        }
    }

    /// Adds an object, and returns a reference to it.
    pub(crate) fn add(&mut self, object: impl Into<Value>) -> Value {
        self.objects.push(object.into());
        Value::Uid(Uid::new(self.objects.len() as u64 - 1))
    }

    pub(crate) fn dictionary<'k>(
        &mut self,
        entries: impl IntoIterator<Item = (&'k str, Value)>,
    ) -> Value {
        self.add(dictionary(entries))
    }

    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        self.dictionary([("NS.objects", Value::Array(items))])
    }

    /// Adds a dictionary whose keys and values are objects.
    pub(crate) fn map(&mut self, entries: Vec<(Value, Value)>) -> Value {
        let (keys, values): (Vec<Value>, Vec<Value>) = entries.into_iter().unzip();
        self.dictionary([
            ("NS.keys", Value::Array(keys)),
            ("NS.objects", Value::Array(values)),
        ])
    }

    /// Returns the bytes of the archive with a named object.
    pub(crate) fn finish(self, name: &str, object: Value) -> Vec<u8> {
        let archive = dictionary([
            ("$archiver", "NSKeyedArchiver".into()),
            ("$objects", Value::Array(self.objects)),
            ("$top", dictionary([(name, object)])),
            ("$version", 100_000.into()),
        ]);
        binary(&archive)
    }
}

/// Returns a dictionary with these entries.
pub(crate) fn dictionary<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    let mut dictionary = Dictionary::new();
    for (key, value) in entries {
        dictionary.insert(key.to_owned(), value);
    }
    Value::Dictionary(dictionary)
}

/// Returns a property list in its binary form.
pub(crate) fn binary(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.to_writer_binary(&mut bytes).unwrap();
    bytes
}

/// Returns the list of the table manager: stores by number, with their schemas.
pub(crate) fn tables(stores: &[(u64, &str)]) -> Vec<u8> {
    let named: Vec<(String, &str)> = stores
        .iter()
        .map(|(number, schema)| {
            let path = format!("run1/core/stores/indexed-store-{number}");
            (path, *schema)
        })
        .collect();
    let named: Vec<(&str, &str)> = named.iter().map(|(p, s)| (p.as_str(), *s)).collect();
    tables_at(&named)
}

/// Returns the list of the table manager: paths of stores, with their schemas.
pub(crate) fn tables_at(stores: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Archive::new();
    let mut details = vec![("$0".to_owned(), Value::from(stores.len() as u64))];
    for (at, (path, schema)) in stores.iter().enumerate() {
        let (key, codes) = (archive.add("codes"), archive.add("0x1,0x2"));
        let attributes = archive.map(vec![(key, codes)]);
        let schema = archive.add(*schema);
        let spec = archive.dictionary([("schemaName", schema), ("attributes", attributes)]);
        let path = archive.add(*path);
        let table =
            archive.dictionary([("storeSubpath", path), ("side", 1.into()), ("spec", spec)]);
        details.push((format!("${}", 2 * at + 1), Value::from(at as u64)));
        details.push((format!("${}", 2 * at + 2), table));
    }
    let details = archive.dictionary(details.iter().map(|(k, v)| (k.as_str(), v.clone())));
    let root = archive.dictionary([("tableDetails", details)]);
    archive.finish("root", root)
}

/// A store of a table.
pub(crate) struct Store {
    pub(crate) schema: &'static str,
    /// Topology: 7 is a point in time, 6 an interval.
    pub(crate) topology: u64,
    /// Mnemonic, type, and field of the topology, if the column is in it.
    pub(crate) columns: Vec<(&'static str, &'static str, Option<&'static str>)>,
    /// Fields after the topology, with their types: 1 has 4 bytes, 2 has 8.
    pub(crate) fields: Vec<(&'static str, u64)>,
    pub(crate) rows: Vec<Vec<u8>>,
}

impl Store {
    pub(crate) fn add_to(&self, files: &mut Bundled, number: u64) {
        let rows = self.rows.len() as u64;
        files.insert(store(number, "schema.xml"), self.schema_xml());
        files.insert(store(number, "bulkstore_descriptor"), self.descriptor(rows));
        files.insert(store(number, "bulkstore"), self.bulkstore());
    }

    pub(crate) fn row_size(&self) -> u64 {
        let topology = if self.topology == 6 { 24 } else { 16 };
        topology + self.fields.iter().map(|(_, kind)| 4 * kind).sum::<u64>()
    }

    pub(crate) fn schema_xml(&self) -> Vec<u8> {
        let mut xml = format!("<schema name=\"{}\">", self.schema);
        for (mnemonic, kind, topology) in &self.columns {
            let topology = topology.map(|field| format!(" topologyField=\"{field}\""));
            let topology = topology.unwrap_or_default();
            xml += &format!(
                "<column mnemonic=\"{mnemonic}\" engineeringName=\"{mnemonic}\" engineeringType=\"{kind}\"{topology}/>"
            );
        }
        (xml + "</schema>").into_bytes()
    }

    /// Returns a descriptor with this row count.
    pub(crate) fn descriptor(&self, rows: u64) -> Vec<u8> {
        let mut archive = Archive::new();
        let all = std::iter::once(("topology", self.topology)).chain(self.fields.iter().copied());
        let fields = all.zip(0_u64..).map(|((name, kind), at)| {
            let name = archive.add(name);
            let field = archive.dictionary([
                ("_name", name),
                ("_index", at.into()),
                ("_type", kind.into()),
            ]);
            archive.dictionary([("$0", field)])
        });

        let fields = fields.collect();
        let fields = archive.list(fields);
        let (key, count) = (archive.add("next_event_id"), archive.add(rows));
        let props = archive.map(vec![(key, count)]);
        let descriptor = archive.dictionary([
            ("_maxEventSize", self.row_size().into()),
            ("_minEventSize", self.row_size().into()),
            ("_variableSize", false.into()),
            ("_version", 1.into()),
            ("_props", props),
            ("_fields", fields),
        ]);

        let root = archive.dictionary([("$0", descriptor)]);
        archive.finish("root", root)
    }

    /// Returns the header of a bulkstore, without rows.
    pub(crate) fn header(&self) -> Vec<u8> {
        let size = u32::try_from(self.row_size()).unwrap();
        let words = [0x1234_0a0a, 3, 40, 0x1000, size, size * 0x4000, 0x4000];
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.resize(0x1000, 0);
        bytes
    }

    fn bulkstore(&self) -> Vec<u8> {
        let mut bytes = self.header();
        bytes.extend(self.rows.iter().flatten());
        // Instruments preallocates more space for the next rows.
        bytes.resize(bytes.len() + 64, 0);
        bytes
    }
}

/// Returns the bytes of numbers with these widths.
pub(crate) fn row(numbers: &[(u64, usize)]) -> Vec<u8> {
    let bytes = numbers
        .iter()
        .flat_map(|(number, width)| number.to_le_bytes().into_iter().take(*width));
    bytes.collect()
}

pub(crate) const TIME: Option<&str> = Some("XRTraceRelativeTimestampFieldID");
const DURATION: Option<&str> = Some("XRDurationFieldID");

fn processes() -> Store {
    Store {
        schema: "process-info",
        topology: 7,
        columns: vec![
            ("time", "XRRecordedEventTimestampTypeID", TIME),
            ("process", "XRProcessTypeID", None),
            ("process-name", "XRPrototypeStringTypeID", None),
        ],
        fields: vec![("process", 1), ("process-name", 1)],
        rows: vec![row(&[(0, 8), (0, 8), (0, 4), (1, 4)])],
    }
}

/// Returns the store with the most kinds of columns.
pub(crate) fn intervals() -> Store {
    Store {
        schema: "metal-gpu-intervals",
        topology: 6,
        columns: vec![
            ("start", "XRStartTimeTypeID", TIME),
            ("duration", "XRDurationTypeID", DURATION),
            ("channel", "XRGPUChannelNameTypeID", None),
            ("label", "XRFormattedLabelTypeID", None),
            ("narrative", "XRNarrativeEntryTypeID", None),
            ("process", "XRProcessTypeID", None),
            ("bytes", "XRPrototypeValueTypeID", None),
            ("odd", "XRNeverSeenTypeID", None),
        ],
        fields: vec![
            ("channel", 1),
            ("label", 1),
            ("narrative", 1),
            ("process", 1),
            ("bytes", 2),
            ("odd", 2),
        ],
        // Rows are not sorted by time, as in real stores.
        rows: [(900, 0), (100, 1)]
            .map(|(start, label)| {
                row(&[
                    (start, 8),
                    (50, 8),
                    (0, 8),
                    (2, 4),
                    (label, 4),
                    (1, 4),
                    (0, 4),
                    (u64::MAX, 8),
                    (7, 8),
                ])
            })
            .to_vec(),
    }
}

fn samples() -> Store {
    Store {
        schema: "time-profile",
        topology: 7,
        columns: vec![
            ("time", "XRSampleTimestampTypeID", TIME),
            ("thread", "XRThreadTypeID", None),
            ("stack", "XRBacktraceTypeID", None),
            ("callstack", "XRCoreProfileCallstackTypeID", None),
            ("thread-name", "XRThreadNameTypeID", None),
            ("layout", "XRLayoutIDTypeID", None),
        ],
        fields: vec![
            ("thread", 1),
            ("stack", 1),
            ("callstack", 1),
            ("thread-name", 2),
            ("layout", 2),
        ],
        rows: vec![row(&[
            (5, 8),
            (0, 8),
            (1, 4),
            (3, 4),
            (4, 4),
            (1 << 32 | 1, 8),
            (6, 8),
        ])],
    }
}

/// Lists of numbers: a process, its thread, addresses, a stack, and the stack of a sample.
pub(crate) const LISTS: [&[u64]; 5] = [
    &[12, 0],
    &[0x1f, 0],
    &[0x1000, 0x2000],
    &[2],
    &[2, 0x1000, 0, 9],
];

/// Typed lists, with indices into [`TYPES`]: a text, a number and a process; a text.
const TYPED: [&[u64]; 2] = [&[0, 3, 1, 31, 2, 0, 3, 0, 4, 1_000, 5, 4_096], &[0, 3]];

const TYPES: [&str; 6] = [
    "XRMetalObjectLabelTypeID",
    "XRMetalEncoderIDTypeID",
    "XRProcessTypeID",
    "XRStartTimeTypeID",
    "XRDurationTypeID",
    "XRSizeInBytesTypeID",
];

const STRINGS: [&str; 4] = ["", "bench", "Compute", "sin &amp; more"];

/// The values that numbers in rows refer to.
#[derive(Default)]
pub(crate) struct Uniques<'a> {
    pub(crate) types: &'a [&'a str],
    pub(crate) strings: &'a [&'a str],
    pub(crate) lists: &'a [&'a [u64]],
    pub(crate) typed: &'a [&'a [u64]],
}

impl Uniques<'_> {
    pub(crate) fn add_to(&self, files: &mut Bundled) {
        let mut archive = Archive::new();
        let types = self.types.iter().map(|name| archive.add(*name)).collect();
        let types = archive.list(types);
        let types = archive.finish("root", types);
        files.insert(core("uniquing/EngineeringTypes.etypes"), types);
        files.insert(core("uniquing/strings"), strings(self.strings));
        for (folder, all) in [
            ("arrayUniquer", self.lists),
            ("typedArrayUniquer", self.typed),
        ] {
            let (index, data) = lists(all);
            let path = core(&format!("uniquing/{folder}/integeruniquer"));
            files.insert(format!("{path}.index"), index);
            files.insert(format!("{path}.data"), data);
        }
    }
}

/// Returns a list of strings, which must be escaped.
pub(crate) fn strings(strings: &[&str]) -> Vec<u8> {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<array>\n".to_owned();
    for string in strings {
        xml += &format!("\t<string>{string}</string>\n");
    }
    (xml + "</array>\n</plist>\n").into_bytes()
}

/// Returns the index and the data of lists of numbers, in one block.
pub(crate) fn lists(lists: &[&[u64]]) -> (Vec<u8>, Vec<u8>) {
    let header = [0x0123_4567, 0x000a_337e, 1, 0, 1, 0, 0, 0x0010_0000];
    let header: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
    let (mut index, mut data) = (header.clone(), header);
    index.extend([0; 8]);
    for list in lists {
        let offset = u32::try_from(data.len()).unwrap();
        index.extend(offset.to_le_bytes());
        index.extend(0_u32.to_le_bytes());
        let count = u32::try_from(list.len()).unwrap();
        data.extend(count.to_le_bytes());
        data.extend(list.iter().flat_map(|number| number.to_le_bytes()));
    }
    (index, data)
}

fn template() -> Vec<u8> {
    let mut archive = Archive::new();
    let text = |archive: &mut Archive, text: &str| archive.add(text);
    let (bench, path) = (
        text(&mut archive, "bench"),
        text(&mut archive, "/bin/bench"),
    );
    let start = archive.add(1_700_000_000.5);
    let model = text(&mut archive, "Mac0,0");
    let info = archive.dictionary([
        ("_targetModel", model),
        ("_templateName", bench.clone()),
        ("_targetProcessName", bench.clone()),
        ("_targetProcessPid", 12.into()),
        ("_rawStartTime", start),
        ("targetType", 1.into()),
    ]);

    let process = archive.dictionary([("_execname", path), ("_pid", 12.into())]);
    let processes = archive.list(vec![process.clone()]);
    let run = archive.dictionary([
        ("runInfo", info),
        ("target", process),
        ("processDatas", processes),
        ("runningTime", 2_000_000_u64.into()),
    ]);

    let one = archive.add(1);
    let runs = archive.map(vec![(one, run)]);
    let data = archive.dictionary([("$1", runs)]);
    archive.finish("com.apple.xray.run.data", data)
}
