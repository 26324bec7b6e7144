//! Gives polars the cells of a table: of the runs and columns that a query needs.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use metalens_dataset::{CellKind, ColumnInfo, RUN_KEY, TABLE_KEY, UNKNOWN};
use polars::prelude::{
    AnonymousScan, AnonymousScanArgs, ChunkedBuilder, Column, DataFrame, DataType, Expr, Field,
    IdxSize, IntoLazy, Operator, PlSmallStr, PolarsError, PolarsResult, Schema, SchemaRef,
};
use rayon::prelude::*;

use crate::cells::ColumnBuilder;
use crate::damage::{Damage, wrong};
use crate::file_bytes::FileBytes;
use crate::parquet_file::ParquetFile;
use crate::source_run::SourceRun;

/// Tables that a run has only if a later version of metalens wrote it.
const LATER: [&str; 3] = ["counters", "phase_kernels", "steps"];
/// Number of files that are open at a time.
const OPEN_FILES: usize = 64;
/// Number of rows after which a filter is applied, so that the rows it leaves out need no memory.
const BATCH_ROWS: usize = 1 << 20;

/// A table of all runs.
pub(crate) struct TableScan {
    pub(crate) table: &'static str,
    pub(crate) columns: Vec<ColumnInfo>,
    pub(crate) runs: Arc<Vec<SourceRun>>,
}

impl TableScan {
    /// Returns the names and types of the columns.
    pub(crate) fn polars_schema(&self) -> Schema {
        let field = |column: &ColumnInfo| {
            let kind = match column.kind {
                CellKind::Integer => DataType::Int64,
                CellKind::Id => DataType::UInt64,
                CellKind::Number => DataType::Float64,
                CellKind::Flag => DataType::Boolean,
                CellKind::Text => DataType::String,
                CellKind::Date => DataType::Date,
            };
            Field::new(column.name.into(), kind)
        };
        self.columns.iter().map(field).collect()
    }

    /// Returns the runs that a filter can leave rows of, by the parts of it that are only about
    /// device, date and run.
    fn runs_for(&self, filter: Option<&Expr>) -> PolarsResult<Vec<&SourceRun>> {
        let mut parts = filter.map(conjuncts).unwrap_or_default();
        let columns = self.columns.iter();
        let keys: Vec<&ColumnInfo> = columns.filter(|column| column.is_partition).collect();
        let is_key = |name: &PlSmallStr| keys.iter().any(|key| name == key.name);
        // A part without a column has one value, not one for each run.
        parts.retain(|part| leaves(part).next().is_some() && leaves(part).all(is_key));
        let Some(of_keys) = parts.into_iter().cloned().reduce(Expr::and) else {
            return Ok(self.runs.iter().collect());
        };

        let mut builders = builders(&keys);
        for run in self.runs.iter() {
            for (column, cells) in keys.iter().zip(&mut builders) {
                push_key(column.name, run, 1, cells)?;
            }
        }
        let frame = frame(self.runs.len(), builders)?;
        let kept = frame.lazy().select([of_keys]).collect()?;
        let kept = kept.columns().first().map(Column::bool).transpose()?;
        let is_kept = |number: usize| kept.is_none_or(|kept| kept.get(number) == Some(true));
        let runs = self.runs.iter().enumerate();
        Ok(runs
            .filter(|(number, _)| is_kept(*number))
            .map(|(_, run)| run)
            .collect())
    }

    /// Opens the table's file of a run. Returns `None` if an older version wrote the run without it.
    fn open<'a>(&self, run: &'a SourceRun) -> PolarsResult<Option<OpenFile<'a>>> {
        let path = format!("{}/{}/{}", run.dataset, self.table, run.file);
        let file = match self.parquet(&path, run) {
            Ok(file) => file,
            Err(Damage::Io(error))
                if error.kind() == std::io::ErrorKind::NotFound && LATER.contains(&self.table) =>
            {
                return Ok(None);
            }
            Err(damage) => return Err(damaged(&path, &damage)),
        };
        Ok(Some(OpenFile { run, path, file }))
    }

    fn parquet(&self, path: &str, run: &SourceRun) -> Result<ParquetFile, Damage> {
        let file = ParquetFile::new(FileBytes::open(Path::new(path))?)?;
        for (key, what, expected) in [
            (TABLE_KEY, "the table", self.table),
            (RUN_KEY, "the run", run.partition.run.as_str()),
        ] {
            if let Some(value) = file.value(key).filter(|value| *value != expected) {
                return Err(wrong(format!(
                    "it belongs to {what} {value:?}, but its folder is that of {expected:?}"
                )));
            }
        }
        Ok(file)
    }
}

impl AnonymousScan for TableScan {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self, _: Option<usize>) -> PolarsResult<SchemaRef> {
        Ok(Arc::new(self.polars_schema()))
    }

    fn allows_predicate_pushdown(&self) -> bool {
        true
    }

    fn allows_projection_pushdown(&self) -> bool {
        true
    }

    fn scan(&self, asked: AnonymousScanArgs) -> PolarsResult<DataFrame> {
        let filter = asked.predicate.as_ref().and_then(required);
        let answered: Vec<PlSmallStr> = match &asked.with_columns {
            Some(names) => names.to_vec(),
            None => self
                .columns
                .iter()
                .map(|column| column.name.into())
                .collect(),
        };
        let is_read = |column: &&ColumnInfo| {
            let of_filter = || filter.iter().flat_map(leaves);
            answered.iter().any(|name| name == column.name)
                || of_filter().any(|name| name == column.name)
        };
        let columns: Vec<&ColumnInfo> = self.columns.iter().filter(is_read).collect();
        let runs = self.runs_for(filter.as_ref())?;

        let (mut parts, mut rows) = (Vec::new(), 0);
        for some in runs.chunks(OPEN_FILES) {
            let files: PolarsResult<Vec<_>> = some.par_iter().map(|run| self.open(run)).collect();
            let files: Vec<OpenFile<'_>> = files?.into_iter().flatten().collect();
            for batch in batches(&files) {
                let height = height(batch)?;
                let cells = read(batch, &columns)?;
                let mut part = frame(height, cells)?;
                rows += part.height();
                if let Some(filter) = &filter {
                    part = part.lazy().filter(filter.clone()).collect()?;
                }
                parts.push(part.select(answered.iter().cloned())?);
            }
            // A slice is pushed down only where there is no filter.
            if asked.n_rows.is_some_and(|most| rows >= most) {
                break;
            }
        }
        let whole = joined(parts)?.map_or_else(
            || DataFrame::empty_with_schema(&self.polars_schema()).select(answered),
            Ok,
        )?;
        Ok(match asked.n_rows {
            Some(most) => whole.head(Some(most)),
            None => whole,
        })
    }
}

/// A file of a run whose footer was read.
struct OpenFile<'a> {
    run: &'a SourceRun,
    path: String,
    file: ParquetFile,
}

/// Splits files into batches that have enough rows for a filter.
fn batches<'a, 'b>(files: &'a [OpenFile<'b>]) -> Vec<&'a [OpenFile<'b>]> {
    let mut batches = Vec::new();
    let (mut rest, mut rows, mut count) = (files, 0, 0);
    for file in files {
        rows += file.file.rows();
        count += 1;
        if rows >= BATCH_ROWS {
            let (batch, others) = rest.split_at(count);
            batches.push(batch);
            (rest, rows, count) = (others, 0, 0);
        }
    }
    if !rest.is_empty() {
        batches.push(rest);
    }
    batches
}

/// Returns the number of rows of several files.
fn height(files: &[OpenFile<'_>]) -> PolarsResult<usize> {
    let rows = files.iter().map(|file| file.file.rows());
    let rows = rows.fold(0, usize::saturating_add);
    if IdxSize::try_from(rows).is_err() {
        let what = format!("{rows} rows are more than polars can have in a table");
        return Err(PolarsError::ComputeError(what.into()));
    }
    Ok(rows)
}

/// Reads columns of several files.
fn read(files: &[OpenFile<'_>], columns: &[&ColumnInfo]) -> PolarsResult<Vec<ColumnBuilder>> {
    columns
        .par_iter()
        .map(|column| {
            let mut cells = ColumnBuilder::new(column.name, column.kind);
            for file in files {
                if column.is_partition {
                    push_key(column.name, file.run, file.file.rows(), &mut cells)?;
                } else {
                    let read = file.file.read(column.name, &mut cells);
                    read.map_err(|damage| damaged(&file.path, &damage))?;
                }
            }
            Ok(cells)
        })
        .collect()
}

fn builders(columns: &[&ColumnInfo]) -> Vec<ColumnBuilder> {
    let columns = columns.iter();
    columns
        .map(|column| ColumnBuilder::new(column.name, column.kind))
        .collect()
}

fn frame(rows: usize, cells: Vec<ColumnBuilder>) -> PolarsResult<DataFrame> {
    let columns = cells.into_iter().map(ColumnBuilder::finish);
    DataFrame::new(rows, columns.collect::<PolarsResult<Vec<_>>>()?)
}

/// Adds what a run's folder says to several rows.
fn push_key(
    name: &str,
    run: &SourceRun,
    rows: usize,
    cells: &mut ColumnBuilder,
) -> PolarsResult<()> {
    let partition = &run.partition;
    let text = match name {
        "device" => Some(partition.device.as_deref().unwrap_or(UNKNOWN)),
        "run" => Some(partition.run.as_str()),
        _ => None,
    };
    match cells {
        ColumnBuilder::Text(cells) => cells
            .push(text.map(str::as_bytes), rows)
            .map_err(|error| PolarsError::ComputeError(error.to_string().into()))?,
        ColumnBuilder::Date(cells) => {
            (0..rows).for_each(|_| cells.append_option(partition.date));
        }
        other => other.push_absent(rows),
    }
    Ok(())
}

/// Returns the rows of all parts; `None` without parts.
fn joined(parts: Vec<DataFrame>) -> PolarsResult<Option<DataFrame>> {
    let mut parts = parts.into_iter();
    let Some(mut whole) = parts.next() else {
        return Ok(None);
    };
    for part in parts {
        whole.vstack_mut(&part)?;
    }
    Ok(Some(whole))
}

/// Returns the operands of a chain of ANDs.
fn conjuncts(filter: &Expr) -> Vec<&Expr> {
    match filter {
        Expr::BinaryExpr {
            left,
            op: Operator::And | Operator::LogicalAnd,
            right,
        } => conjuncts(left)
            .into_iter()
            .chain(conjuncts(right))
            .collect(),
        part => vec![part],
    }
}

/// Returns the parts of a filter that rows have to pass. A part that can only be displayed is a hint of
/// polars: which rows the largest so far leave, where only the largest are wanted.
fn required(filter: &Expr) -> Option<Expr> {
    let parts = conjuncts(filter).into_iter();
    parts
        .filter(|part| !is_hint(part))
        .cloned()
        .reduce(Expr::and)
}

fn is_hint(part: &&Expr) -> bool {
    part.into_iter()
        .any(|inner| matches!(inner, Expr::Display { .. }))
}

/// Returns the names of the columns in an expression.
fn leaves(expression: &Expr) -> impl Iterator<Item = &PlSmallStr> {
    expression.into_iter().filter_map(|part| match part {
        Expr::Column(name) => Some(name),
        _ => None,
    })
}

/// Makes an error that names the file.
fn damaged(path: &str, damage: &Damage) -> PolarsError {
    std::io::Error::other(format!("{path}: {damage}")).into()
}
