//! Lists the shaders of the process, which the recording has without times.

use metalens_trace::Names;

use crate::report::Shader;
use crate::subject::chosen_processes::ChosenProcesses;
use crate::subject::shaders::{SHADERS, function};
use crate::tables::columns::{Texts, at};
use crate::tables::names::ShaderList;
use crate::tables::reader::TableResult;

/// Returns the shaders of the process, sorted by name.
pub(crate) fn inventory(
    table: &TableResult<ShaderList>,
    chosen: &ChosenProcesses,
    names: &Names,
) -> Vec<Shader> {
    let Ok(table) = table else {
        return Vec::new();
    };

    let rows = (0..table.names.len()).filter(|&row| chosen.owns_row(table.processes.as_ref(), row));
    let mut shaders: Vec<Shader> = rows
        .filter_map(|row| {
            Some(Shader {
                name: function(text(&table.names, row, names)?).to_owned(),
                pipeline: text(&table.pipelines, row, names).map(str::to_owned),
                kind: text(&table.kinds, row, names).map(str::to_owned),
                dispatches: None,
            })
        })
        .collect();
    shaders.sort();
    shaders.dedup();
    shaders.truncate(SHADERS);
    shaders
}

fn text<'n>(column: &Texts, row: usize, names: &'n Names) -> Option<&'n str> {
    let text = names.text(at(column, row)?);
    (!text.is_empty()).then_some(text)
}
