//! Which table a store holds: its schema and the attributes that tell it from its like.

use super::archive::{Field, Node};
use crate::scenario::Scenario;
use crate::scenario::recording::TargetKind;
use crate::scenario::table::Table;

/// A table as the table manager knows it.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) schema: &'static str,
    /// What a table of contents shows on the `<table>` element.
    pub(super) attributes: Vec<(&'static str, Attribute)>,
    /// Whether the recorder filled it, not a modeler.
    pub(super) input: bool,
}

/// An attribute's value.
#[derive(Debug, Clone)]
pub(super) enum Attribute {
    Text(&'static str),
    Number(u64),
    Codes(&'static [&'static str]),
}

impl Spec {
    /// One of our tables.
    pub(super) fn of(table: Table, scenario: &Scenario) -> Self {
        let pids = match scenario.recording.target {
            TargetKind::AllProcesses => "ALL",
            TargetKind::Launched | TargetKind::Attached => "SINGLE",
        };
        let attributes = if table.has_target_pid() {
            vec![("target-pid", Attribute::Text(pids))]
        } else {
            Vec::new()
        };
        Self {
            schema: table.name(),
            attributes,
            input: matches!(table, Table::ProcessInfo | Table::TimeProfile),
        }
    }

    /// As the archives have it.
    pub(super) fn node(&self) -> Node {
        let attributes = self
            .attributes
            .iter()
            .map(|(key, value)| (*key, value.node()));
        // Two recordings of a table may differ in these; there are none where there are no attributes.
        let mergeable = if self.attributes.is_empty() {
            Node::Null
        } else {
            Node::empty_set()
        };
        let name = || Field::Of(Node::text(self.schema));
        Node::object(
            &["XRAnalysisCoreTableSpec", "NSObject"],
            [
                ("schemaName", name()),
                ("engineeringName", name()),
                ("mergeableAttributeKeys", Field::Of(mergeable)),
                ("attributes", Field::Of(Node::mutable_dict(attributes))),
            ],
        )
    }
}

impl Attribute {
    fn node(&self) -> Node {
        match *self {
            Self::Text(text) => Node::text(text),
            Self::Number(value) => Node::int(value),
            Self::Codes(codes) => Node::mutable_array(codes.iter().map(|code| Node::text(*code))),
        }
    }
}
