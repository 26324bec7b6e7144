//! Defines values that are usually one of some names: shells complete the names, any text is
//! accepted, and the command explains what it does not know.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

/// Parser of a text that is usually one of these names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names(fn() -> Vec<&'static str>);

impl Names {
    /// Returns a parser of these names.
    pub(crate) const fn new(names: fn() -> Vec<&'static str>) -> Self {
        Self(names)
    }

    /// The bundled workloads.
    pub(crate) const WORKLOADS: Self = Self(|| {
        let workloads = metalens_workload::workloads();
        workloads.map(metalens_workload::Workload::name).collect()
    });
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
