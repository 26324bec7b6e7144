//! Identifies the table in a store: its schema, and the attributes that distinguish it.

use super::archive::Node;
use crate::optional::Optional;
use crate::scenario::Scenario;
use crate::scenario::table::Table;
use crate::sheet::Form;
use crate::values::kinds::TargetKind;

/// A table in the form of the table manager.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) schema: &'static str,
    /// Attributes that a table of contents shows on the `<table>` element.
    pub(super) attributes: Vec<(&'static str, Attribute)>,
    /// True if the recorder filled the table, false if a modeler did.
    pub(super) input: bool,
}

/// An input table, and its attributes.
pub(super) struct Input {
    pub(super) form: Form<Optional>,
    pub(super) attributes: &'static [(&'static str, Attribute)],
}

impl Input {
    pub(super) fn spec(&self) -> Spec {
        Spec {
            schema: self.form.schema.name,
            attributes: self.attributes.to_vec(),
            input: true,
        }
    }
}

/// The value of an attribute.
#[derive(Debug, Clone)]
pub(super) enum Attribute {
    Text(&'static str),
    Number(u64),
    Codes(&'static [&'static str]),
}

impl Spec {
    /// Returns the spec of one of our tables.
    pub(super) fn for_table(table: Table, scenario: &Scenario) -> Self {
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

    /// Returns the spec in the form of the archives.
    pub(super) fn node(&self) -> Node {
        let attributes = self
            .attributes
            .iter()
            .map(|(key, value)| (*key, value.node()));
        // Real specs have no set of keys if they have no attributes, and an empty set otherwise.
        let mergeable = if self.attributes.is_empty() {
            Node::Null
        } else {
            Node::empty_set()
        };
        let name = || Node::text(self.schema);
        Node::object(
            &["XRAnalysisCoreTableSpec", "NSObject"],
            [
                ("schemaName", name()),
                ("engineeringName", name()),
                ("mergeableAttributeKeys", mergeable),
                ("attributes", Node::mutable_dict(attributes)),
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
