//! Writes one store: a folder with the rows of a table and the files that describe them.

use std::path::{Path, PathBuf};

use super::archive::{self, Node};
use super::bulkstore::{Bulkstore, rows_per_block};
use super::file::{compressed, create_dir};
use super::layout::{self, Layout};
use super::spec::Spec;
use super::uniquing::Uniquing;
use crate::error::Error;
use crate::export::display;
use crate::plan::Plan;
use crate::random::Random;
use crate::scenario::Scenario;
use crate::sheet::{Kind, Schema, Sheet, Value};
use crate::values::kinds::Generation;

/// A store that is being written.
#[derive(Debug)]
pub(super) struct Store<'a> {
    generation: Generation,
    dir: PathBuf,
    spec: Spec,
    plan: &'a Plan,
    uniquing: &'a mut Uniquing,
    layout: Layout,
    /// The bytes of a row.
    row: Vec<u8>,
    bulk: Bulkstore,
}

impl<'a> Store<'a> {
    /// Starts a store of the plan's run, which has a number in it, from 0.
    pub(super) fn create(
        corespace: &Path,
        number: usize,
        schema: &Schema,
        spec: Spec,
        scenario: &'a Scenario,
        plan: &'a Plan,
        uniquing: &'a mut Uniquing,
    ) -> Result<Self, Error> {
        let dir = create_dir(corespace.join(subpath(plan.run, number)))?;
        let layout = Layout::new(schema, scenario);
        let place = [ORDER, u64::from(plan.run), number as u64];
        Ok(Self {
            generation: scenario.xcode,
            bulk: Bulkstore::create(
                &dir.join("bulkstore"),
                layout.row_bytes,
                rows_per_block(scenario),
                Random::new(scenario.seed, &place),
            )?,
            dir,
            spec,
            plan,
            uniquing,
            row: vec![0; layout.row_bytes],
            layout,
        })
    }

    /// Ends the rows and adds the files that describe them.
    pub(super) fn finish(self) -> Result<Spec, Error> {
        let (spec, layout) = (self.spec, &self.layout);
        let rows = self.bulk.finish()?;
        let file = |name: &str| self.dir.join(name);
        compressed(&file("schema.xml"), |out| {
            out.write_all(&schema_xml(spec.schema, layout, self.generation))
        })?;
        compressed(&file("spec.plist"), |out| archive::write(spec.node(), out))?;
        compressed(&file("bulkstore_descriptor"), |out| {
            archive::write(descriptor(spec.schema, layout, rows), out)
        })?;
        Ok(spec)
    }
}

/// Seed that keeps the draws of the insertion order apart from those of the plan.
const ORDER: u64 = 0x0bde;

impl Sheet for Store<'_> {
    fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        self.row.fill(0);
        for (column, value) in self.layout.columns.iter().zip(values) {
            let stored = stored(self.plan, self.uniquing, column.kind, *value);
            // A value that does not fit its field becomes NULL.
            let bytes = if column.width == 8 {
                stored.to_le_bytes()
            } else {
                u64::from(u32::try_from(stored).unwrap_or(u32::MAX)).to_le_bytes()
            };
            self.row[column.offset..column.offset + column.width]
                .copy_from_slice(&bytes[..column.width]);
        }
        self.bulk.push(&self.row)?;
        self.uniquing.flush_full()
    }
}

/// Returns a value as it is stored.
fn stored(plan: &Plan, uniquing: &mut Uniquing, kind: Kind, value: Value<'_>) -> u64 {
    let reference = match (value.in_column(kind, plan), kind) {
        (Value::Null | Value::Usual, _) => return u64::MAX,
        // Zero is stored as 2^63 - 1, so that negative values fit an unsigned number.
        (Value::Number(value), Kind::FixedDecimal | Kind::Percent) => {
            return value + 0x7fff_ffff_ffff_ffff;
        }
        (Value::Number(value), _) => return value,
        (Value::Worker(process), Kind::ThreadName) => return uniquing.worker_name(plan, process),
        (Value::Worker(process), _) => uniquing.worker(plan, process),
        (Value::Text(text), _) => uniquing.string(text),
        (Value::Process(process), Kind::Thread) => uniquing.thread(plan, process),
        (Value::Process(process), _) => uniquing.process(plan, process),
        (Value::Stack(stack), _) => uniquing.stack(plan, stack),
        (Value::Label(parts), _) => uniquing.label(plan, parts, true),
        (Value::LabelOnce(parts), _) => uniquing.label(plan, parts, false),
    };
    u64::from(reference)
}

/// Returns the path of a store below `corespace`.
pub(super) fn subpath(run: u32, number: usize) -> String {
    format!("run{run}/core/stores/indexed-store-{number}")
}

/// Returns the `schema.xml` of a store.
fn schema_xml(name: &str, layout: &Layout, generation: Generation) -> Vec<u8> {
    let mut out = Vec::new();
    // Both beginnings occur in real bundles.
    out.extend_from_slice(match generation {
        Generation::Xcode16 => b"\n".as_slice(),
        _ => b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n",
    });
    out.extend_from_slice(b"<schema");
    attribute("name", name, &mut out);
    attribute("topology", layout.topology(), &mut out);
    out.extend_from_slice(b">");

    for column in &layout.columns {
        out.extend_from_slice(b"<column");
        attribute("mnemonic", column.mnemonic, &mut out);
        attribute("engineeringName", column.name, &mut out);
        attribute("engineeringType", column.kind.facts().bundle_name, &mut out);
        if let Some(field) = column.topology_field {
            attribute("topologyField", field, &mut out);
        }
        out.extend_from_slice(b"/>");
    }

    out.extend_from_slice(b"</schema>\n");
    out
}

fn attribute(name: &str, value: &str, out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    display::escaped(value, out);
    out.push(b'"');
}

/// Returns the content of `bulkstore_descriptor`: the fields, their types, and the number of rows.
fn descriptor(name: &str, layout: &Layout, rows: u64) -> Node {
    let topology = ("topology", layout.topology_type());
    let own = layout
        .own_fields()
        .map(|column| (column.mnemonic, layout::field_type(column.width)));
    let fields = (0_u64..)
        .zip(std::iter::once(topology).chain(own))
        .map(|(index, (name, field_type))| field(name, index, field_type));
    let size = || Node::int(layout.row_bytes as u64);
    let props = Node::dict([
        ("storage_manager_version", Node::int(1)),
        ("next_event_id", Node::int(rows)),
        ("mono_event_id", Node::int(rows)),
    ]);

    let contents = Node::mutable_dict([
        ("_eventClass", Node::text("XRManagedEvent")),
        ("_fields", Node::array(fields)),
        ("_maxEventSize", size()),
        ("_minEventSize", size()),
        ("_version", Node::int(1)),
        ("_variableSize", Node::bool(false)),
        ("_synopsis", Node::text(name)),
        ("_publicProps", Node::mutable_dict([])),
        ("_substitutions", substitutions()),
        ("_name", Node::text(name)),
        ("_props", props),
        ("_identifier", Node::text(name)),
    ]);
    Node::numbered(&["XREventDescriptor", "NSObject"], [contents])
}

fn field(name: &str, index: u64, field_type: u64) -> Node {
    let facts = Node::dict([
        ("_name", Node::text(name)),
        ("_index", Node::int(index)),
        ("_type", Node::int(field_type)),
        ("_multi", Node::int(1)),
    ]);
    Node::numbered(&["XRFieldDescriptor", "NSObject"], [facts])
}

/// Returns the substitutions, which are always empty.
fn substitutions() -> Node {
    let facts = Node::mutable_dict([
        ("next_id", Node::int(0)),
        ("id_map_nsdata", Node::mutable_data(EMPTY_MAP)),
        ("substitution_version", Node::int(1)),
    ]);
    Node::numbered(&["XRDescriptorSubstitutions", "NSObject"], [facts])
}

/// An archive of the older kind that contains 0.
const EMPTY_MAP: &[u8] = b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01I\x00";
