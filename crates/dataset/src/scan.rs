//! A table as polars reads it: only the columns a query names, only the runs and
//! groups of rows that its condition leaves.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use polars_core::prelude::*;
use polars_lazy::prelude::*;
use rayon::prelude::*;

use crate::error::Error;
use crate::folder::StoredRun;
use crate::frame;
use crate::hive::Partition;
use crate::parquet_read::PartFile;
use crate::prune::Condition;
use crate::tables::{About, Which};

/// A run's tables, wherever they are.
#[derive(Clone)]
pub(crate) enum Run {
    /// In files.
    Stored(StoredRun),
    /// In memory, in the order of [`Which::ALL`].
    Held(Partition, Arc<Vec<DataFrame>>),
}

impl Run {
    pub(crate) fn partition(&self) -> &Partition {
        match self {
            Self::Stored(run) => &run.partition,
            Self::Held(partition, _) => partition,
        }
    }
}

/// The first failure, for whom polars' words do not suffice.
pub(crate) type Failure = Arc<Mutex<Option<Error>>>;

/// One table of some runs.
pub(crate) struct Scan {
    pub(crate) which: Which,
    pub(crate) runs: Arc<Vec<Run>>,
    pub(crate) failure: Failure,
    /// How many groups of rows were read, for tests.
    pub(crate) groups_read: Arc<AtomicUsize>,
}

impl AnonymousScan for Scan {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self, _: Option<usize>) -> PolarsResult<SchemaRef> {
        Ok(frame::schema(self.which))
    }

    fn allows_projection_pushdown(&self) -> bool {
        true
    }

    fn allows_predicate_pushdown(&self) -> bool {
        true
    }

    fn scan(&self, wanted: AnonymousScanArgs) -> PolarsResult<DataFrame> {
        let columns = self.columns(wanted.with_columns.as_deref());
        let condition = Condition::new(wanted.predicate.as_ref());
        let predicate = condition.whole();
        // What polars can print and no longer work with.
        let printed = |part: &Expr| matches!(part, Expr::Display { .. });
        if predicate.iter().flatten().any(printed) {
            polars_bail!(ComputeError: "a condition that no scan understands");
        }
        let partitions: Vec<&Partition> = self.runs.iter().map(Run::partition).collect();
        let runs = condition.runs(&partitions);
        let runs: Vec<&Run> = runs
            .iter()
            .filter_map(|&place| self.runs.get(place))
            .collect();
        let predicate = predicate.as_ref();
        let read = |run: &Run, most| self.run(run, &columns, &condition, predicate, most);
        let frames = match wanted.n_rows {
            Some(rows) => first(&runs, rows, read)?,
            // By polars' own threads, which a scan runs on: others would wait for them.
            None => {
                let frames = runs.par_iter().map(|run| read(run, usize::MAX));
                // All of them first: of several failures the first run's is told.
                let frames: Vec<PolarsResult<DataFrame>> = frames.collect();
                frames.into_iter().collect::<PolarsResult<_>>()?
            }
        };
        stacked(frames, &columns)
    }
}

/// The first rows of the first runs: who says LIMIT without ORDER BY wants any.
fn first(
    runs: &[&Run],
    mut rows: usize,
    read: impl Fn(&Run, usize) -> PolarsResult<DataFrame>,
) -> PolarsResult<Vec<DataFrame>> {
    let mut frames = Vec::new();
    for run in runs {
        if rows == 0 {
            break;
        }
        let frame = read(run, rows)?;
        rows = rows.saturating_sub(frame.height());
        frames.push(frame);
    }
    Ok(frames)
}

/// One below the other; of none an empty one with these columns.
fn stacked(frames: Vec<DataFrame>, columns: &[About]) -> PolarsResult<DataFrame> {
    let mut frames = frames.into_iter();
    let Some(mut all) = frames.next() else {
        let fields = columns.iter();
        let fields = fields.map(|one| Field::new(one.name.into(), frame::data_type(one.kind)));
        return Ok(DataFrame::empty_with_schema(&fields.collect()));
    };
    if columns.is_empty() {
        let rows = frames.map(|frame| frame.height()).sum::<usize>() + all.height();
        return DataFrame::new(rows, Vec::new());
    }
    for frame in frames {
        all.vstack_mut_owned(frame)?;
    }
    Ok(all)
}

impl Scan {
    /// The columns that were named, in their order; all of them if none were.
    fn columns(&self, named: Option<&[PlSmallStr]>) -> Vec<About> {
        let all = self.which.columns();
        let Some(named) = named else {
            return all;
        };
        let find = |name: &PlSmallStr| all.iter().find(|one| *name == one.name).copied();
        named.iter().filter_map(find).collect()
    }

    fn run(
        &self,
        run: &Run,
        columns: &[About],
        condition: &Condition,
        predicate: Option<&Expr>,
        most: usize,
    ) -> PolarsResult<DataFrame> {
        match run {
            Run::Held(_, frames) => {
                let at = Which::ALL.iter().position(|&one| one == self.which);
                let frame = at
                    .and_then(|at| frames.get(at))
                    .cloned()
                    .unwrap_or_default();
                let frame = select(&frame, columns)?.slice(0, most);
                filtered(frame, predicate)
            }
            Run::Stored(run) => self.stored(run, columns, condition, predicate, most),
        }
    }

    fn stored(
        &self,
        run: &StoredRun,
        columns: &[About],
        condition: &Condition,
        predicate: Option<&Expr>,
        most: usize,
    ) -> PolarsResult<DataFrame> {
        let file = PartFile::open(&run.file(self.which)).map_err(|error| self.failed(error))?;
        let (mut frames, mut rows) = (Vec::new(), 0);
        for group in 0..file.groups() {
            if rows >= most {
                break;
            }
            if !condition.may_hold(|column| file.bounds(group, column)) {
                continue;
            }
            let frame = self
                .group(&file, group, &run.partition, columns)?
                .slice(0, most - rows);
            rows += frame.height();
            frames.push(filtered(frame, predicate)?);
        }
        stacked(frames, columns)
    }

    fn group(
        &self,
        file: &PartFile,
        group: usize,
        partition: &Partition,
        columns: &[About],
    ) -> PolarsResult<DataFrame> {
        self.groups_read.fetch_add(1, Ordering::Relaxed);
        let rows = file.rows(group);
        let mut read = Vec::new();
        for about in columns {
            read.push(match about.is_partition {
                true => frame::partition_column(about, partition, rows),
                false => {
                    let cells = file.read(group, about.name, about.kind);
                    let cells = cells.map_err(|error| self.failed(error))?;
                    frame::read(about.name, about.kind, cells, rows)?
                }
            });
        }
        DataFrame::new(rows, read)
    }

    /// Keeps a failure, and tells polars that there is one.
    fn failed(&self, error: Error) -> PolarsError {
        let told = polars_err!(ComputeError: "{error}");
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        told
    }
}

fn select(frame: &DataFrame, columns: &[About]) -> PolarsResult<DataFrame> {
    let columns = columns
        .iter()
        .map(|about| frame.column(about.name).cloned());
    let columns: PolarsResult<Vec<Column>> = columns.collect();
    DataFrame::new(frame.height(), columns?)
}

fn filtered(frame: DataFrame, predicate: Option<&Expr>) -> PolarsResult<DataFrame> {
    match predicate {
        Some(predicate) => frame.lazy().filter(predicate.clone()).collect(),
        None => Ok(frame),
    }
}
