//! Defines values that are usually one of some names: shells complete the names, any text is
//! accepted, and the command explains what it does not know.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

/// Parser of a text that is usually one of these names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names(pub(crate) fn() -> Vec<&'static str>);

impl Names {
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
