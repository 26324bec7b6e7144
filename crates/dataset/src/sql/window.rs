//! Window functions: what a row makes of the rows around it.

use polars_core::prelude::*;
use polars_lazy::prelude::*;
use sqlparser::ast::{
    Expr as Ast, Function, Ident, NamedWindowExpr, NullTreatment, Select, WindowSpec, WindowType,
};

use super::aggregates::Aggregate;
use super::calls::{calls, name_of, plain_arguments};
use super::datum::{self, Datum};
use super::query::{Order, Planner};
use super::relation::{Col, Typed, called};
use super::scope::{Scope, wrong};
use super::select::is_over;
use super::window_frames::{Frame, Sums};
use crate::cells::Kind;
use crate::error::Result;

/// What can only be asked over a window.
pub(crate) const NAMES: &[&str] = &[
    "row_number",
    "rank",
    "dense_rank",
    "percent_rank",
    "cume_dist",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "last_value",
];

/// Whether a function has no meaning without a window.
pub(crate) fn is_only_window(name: &str) -> bool {
    NAMES.contains(&name)
}

/// What is computed of each row.
#[derive(Clone)]
enum Wanted {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile(i64),
    /// So many rows before; after, if negative. What to take where there is none.
    Shifted(i64, Datum),
    First,
    Last,
    Aggregate(Aggregate),
}

/// One window function, its columns by their names.
#[derive(Clone)]
struct Window {
    wanted: Wanted,
    input: Option<Col>,
    partition: Vec<Col>,
    order: Vec<(Col, Order)>,
    frame: Frame,
    into: PlSmallStr,
    kind: Kind,
}

impl Planner<'_> {
    /// The same rows with every window function of the query computed.
    pub(crate) fn windows(
        &self,
        frame: LazyFrame,
        select: &Select,
        every: &[&Ast],
        scope: &mut Scope<'_>,
    ) -> Result<LazyFrame> {
        let mut inputs = Vec::new();
        let mut windows = Vec::new();
        let mut computed = Vec::new();
        for ast in calls(every, is_over) {
            let Ast::Function(function) = &ast else {
                continue;
            };
            let window = self.window(function, &ast, select, scope, &mut inputs)?;
            let made = Col::new("", window.into.clone(), Some(window.kind));
            computed.push((ast, made.typed()));
            windows.push(window);
        }
        scope.computed.extend(computed);
        if windows.is_empty() {
            return Ok(frame);
        }
        let added: Vec<Field> = windows
            .iter()
            .map(|one| Field::new(one.into.clone(), crate::frame::data_type(one.kind)))
            .collect();
        let schema = move |schema: &Schema| {
            let mut schema = schema.clone();
            schema.extend(added.iter().cloned());
            Ok(Arc::new(schema))
        };
        let compute = move |mut frame: DataFrame| {
            for window in &windows {
                let made = window.compute(&frame)?;
                frame.with_column(made)?;
            }
            Ok(frame)
        };
        let frame = frame.with_columns(inputs);
        // Nothing may be moved past it: it looks at all rows, and at columns of its own.
        let none = AllowedOptimizations::empty();
        Ok(frame.map(compute, none, Some(Arc::new(schema)), Some("window")))
    }

    fn window(
        &self,
        function: &Function,
        ast: &Ast,
        select: &Select,
        scope: &Scope<'_>,
        inputs: &mut Vec<Expr>,
    ) -> Result<Window> {
        let spec = spec(function, select, ast)?;
        let mut column = |typed: &Typed| {
            let inner = self.fresh("window");
            inputs.push(typed.expr.clone().alias(inner.clone()));
            Col::new("", inner, typed.kind)
        };
        let (wanted, input, kind) = self.wanted(function, ast, scope)?;
        let input = input.as_ref().map(&mut column);
        let mut partition = Vec::new();
        for by in &spec.partition_by {
            partition.push(column(&self.expr(by, scope)?));
        }
        let mut order = Vec::new();
        for by in &spec.order_by {
            let column = column(&self.expr(&by.expr, scope)?);
            let how = Order::new(column.inner.clone(), by.options);
            order.push((column, how));
        }
        let frame = Frame::new(spec.window_frame.as_ref(), !order.is_empty()).ok_or_else(|| {
            wrong(
                "of the frames only ROWS, and RANGE up to the row, are known",
                ast,
            )
        })?;
        Ok(Window {
            wanted,
            input,
            partition,
            order,
            frame,
            into: self.fresh("over"),
            kind,
        })
    }

    /// What to compute, of which column, and the kind of it.
    fn wanted(
        &self,
        function: &Function,
        ast: &Ast,
        scope: &Scope<'_>,
    ) -> Result<(Wanted, Option<Typed>, Kind)> {
        let name = name_of(function);
        if matches!(function.null_treatment, Some(NullTreatment::IgnoreNulls)) {
            return Err(wrong("IGNORE NULLS is not known here", ast));
        }
        if !is_only_window(&name) {
            return self.over(&name, function, ast, scope);
        }
        let inputs = self.exprs(plain_arguments(function, ast)?, scope)?;
        let of_input = |wanted, input: &Typed| {
            let kind = input.kind.unwrap_or(Kind::Text);
            Ok((wanted, Some(input.clone()), kind))
        };
        let plain = |wanted, kind| Ok((wanted, None, kind));
        match (name.as_str(), inputs.as_slice()) {
            ("row_number", []) => plain(Wanted::RowNumber, Kind::Integer),
            ("rank", []) => plain(Wanted::Rank, Kind::Integer),
            ("dense_rank", []) => plain(Wanted::DenseRank, Kind::Integer),
            ("percent_rank", []) => plain(Wanted::PercentRank, Kind::Number),
            ("cume_dist", []) => plain(Wanted::CumeDist, Kind::Number),
            ("ntile", [tiles]) => match whole(tiles, &name, ast)? {
                tiles @ 1.. => plain(Wanted::Ntile(tiles), Kind::Integer),
                _ => Err(wrong("ntile() takes a whole number above 0", ast)),
            },
            ("lag" | "lead", [input, rest @ ..]) if rest.len() <= 2 => {
                of_input(shifted(&name, input, rest, ast)?, input)
            }
            ("first_value", [input]) => of_input(Wanted::First, input),
            ("last_value", [input]) => of_input(Wanted::Last, input),
            _ => Err(wrong(
                format!("`{ast}` has other arguments than it takes"),
                ast,
            )),
        }
    }

    /// An aggregate over a window.
    fn over(
        &self,
        name: &str,
        function: &Function,
        ast: &Ast,
        scope: &Scope<'_>,
    ) -> Result<(Wanted, Option<Typed>, Kind)> {
        if !super::aggregates::NAMES.contains(&name) {
            return Err(wrong(format!("{name}() is nothing over a window"), ast));
        }
        let (aggregate, input, kind) = self.aggregate(function, ast, scope)?;
        if !Sums::know(aggregate) {
            return Err(wrong(format!("{name}() is not known over a window"), ast));
        }
        Ok((Wanted::Aggregate(aggregate), Some(input), kind))
    }
}

/// `lag(x, by, otherwise)` and `lead`.
fn shifted(name: &str, input: &Typed, rest: &[Typed], ast: &Ast) -> Result<Wanted> {
    let by = rest.first().map_or(Ok(1), |by| whole(by, name, ast))?;
    let by = match name {
        "lag" => by,
        _ => by.saturating_neg(),
    };
    let kind = input.kind.unwrap_or(Kind::Text);
    let otherwise = rest.get(1).map_or(Ok(Datum::Null), |typed| {
        let found = typed.as_kind(kind).and_then(|typed| typed.constant);
        found.ok_or_else(|| {
            let what = called(typed.kind);
            wrong(format!("{name}() cannot put {what} there"), ast)
        })
    })?;
    Ok(Wanted::Shifted(by, otherwise))
}

/// A whole number that a query itself has.
fn whole(typed: &Typed, name: &str, ast: &Ast) -> Result<i64> {
    match &typed.constant {
        Some(Datum::Integer(number)) => Ok(*number),
        _ => Err(wrong(format!("{name}() takes a whole number there"), ast)),
    }
}

/// A call's window: its own, or the one of that name.
fn spec(function: &Function, select: &Select, ast: &Ast) -> Result<WindowSpec> {
    let named = |name: &Ident| -> Option<WindowSpec> {
        let mut named = select.named_window.iter();
        let found = named.find(|one| one.0.value == name.value)?;
        match &found.1 {
            NamedWindowExpr::WindowSpec(spec) => Some(spec.clone()),
            NamedWindowExpr::NamedWindow(_) => None,
        }
    };
    let found = match &function.over {
        Some(WindowType::WindowSpec(spec)) if spec.window_name.is_none() => Some(spec.clone()),
        Some(WindowType::NamedWindow(name)) => named(name),
        _ => None,
    };
    found.ok_or_else(|| wrong(format!("there is no such window as `{ast}` names"), ast))
}

impl Window {
    fn compute(&self, frame: &DataFrame) -> PolarsResult<Column> {
        let rows = frame.height();
        let sorted = self.sorted(frame)?;
        let read = |column: &Col| -> PolarsResult<Vec<Datum>> {
            let cells = frame.column(&column.inner)?;
            let cells = cells.as_materialized_series().rechunk();
            let one = |row: &usize| Ok(Datum::of(&cells.get(*row)?, column.kind));
            sorted.iter().map(one).collect()
        };
        let all = |columns: Vec<&Col>| -> PolarsResult<Vec<Vec<Datum>>> {
            columns.into_iter().map(read).collect()
        };
        let partition = all(self.partition.iter().collect())?;
        let order = all(self.order.iter().map(|(column, _)| column).collect())?;
        let input = self.input.as_ref().map(read).transpose()?;
        let mut made = vec![Datum::Null; rows];
        for part in runs(0..rows, &partition) {
            let peers = runs(part.clone(), &order);
            let input = input.as_ref().and_then(|input| input.get(part.clone()));
            let found = self.of_part(input.unwrap_or_default(), &part, &peers);
            let found = found.map_err(|why| polars_err!(ComputeError: "{why}"))?;
            for (row, value) in sorted.get(part).unwrap_or_default().iter().zip(found) {
                if let Some(cell) = made.get_mut(*row) {
                    *cell = value;
                }
            }
        }
        Ok(datum::column(&self.into, self.kind, made))
    }

    /// The rows' places, by partition and then by order.
    fn sorted(&self, frame: &DataFrame) -> PolarsResult<Vec<usize>> {
        let rows = frame.height();
        let place = PlSmallStr::from_static("place");
        let places = Int64Chunked::from_iter_options(
            place.clone(),
            (0..rows).map(|row| i64::try_from(row).ok()),
        );
        let mut by: Vec<PlSmallStr> = Vec::new();
        let (mut descending, mut nulls_last) = (Vec::new(), Vec::new());
        for column in &self.partition {
            by.push(column.inner.clone());
            descending.push(false);
            nulls_last.push(true);
        }
        for (column, how) in &self.order {
            by.push(column.inner.clone());
            descending.push(how.descending);
            nulls_last.push(!how.nulls_first);
        }
        let mut keys = frame.select(by.iter().cloned())?;
        keys.with_column(places.into_column())?;
        if !by.is_empty() {
            let options = SortMultipleOptions::default()
                .with_order_descending_multi(descending)
                .with_nulls_last_multi(nulls_last)
                .with_maintain_order(true);
            keys = keys.sort(by, options)?;
        }
        let places = keys.column(&place)?.i64()?.iter().flatten();
        Ok(places.filter_map(|row| usize::try_from(row).ok()).collect())
    }

    /// The values of the rows of one partition, in their order.
    fn of_part(
        &self,
        input: &[Datum],
        part: &std::ops::Range<usize>,
        peers: &[std::ops::Range<usize>],
    ) -> Result<Vec<Datum>, String> {
        let rows = part.len();
        let mut made = Vec::with_capacity(rows);
        let mut sums = Sums::default();
        let share = |some: usize, of: usize| Datum::Number(some as f64 / of as f64);
        for (nth, peer) in peers.iter().enumerate() {
            let peer = peer.start - part.start..peer.end - part.start;
            for row in peer.clone() {
                let frame = self.frame.of(row, &peer, rows);
                let within = input.get(frame.clone()).unwrap_or_default();
                made.push(match &self.wanted {
                    Wanted::RowNumber => Datum::count(row + 1),
                    Wanted::Rank => Datum::count(peer.start + 1),
                    Wanted::DenseRank => Datum::count(nth + 1),
                    Wanted::PercentRank if rows == 1 => Datum::Number(0.0),
                    Wanted::PercentRank => share(peer.start, rows - 1),
                    Wanted::CumeDist => share(peer.end, rows),
                    Wanted::Ntile(tiles) => Datum::count(tile(row, rows, *tiles) + 1),
                    Wanted::Shifted(by, otherwise) => i64::try_from(row)
                        .ok()
                        .and_then(|row| usize::try_from(row.checked_sub(*by)?).ok())
                        .and_then(|row| input.get(row))
                        .unwrap_or(otherwise)
                        .clone(),
                    Wanted::First => within.first().cloned().unwrap_or(Datum::Null),
                    Wanted::Last => within.last().cloned().unwrap_or(Datum::Null),
                    Wanted::Aggregate(aggregate) => {
                        sums.of(*aggregate, input, &frame, self.kind)?
                    }
                });
            }
        }
        Ok(made)
    }
}

/// Which of so many equal parts a row is in; the first ones have a row more.
fn tile(row: usize, rows: usize, tiles: i64) -> usize {
    let tiles = usize::try_from(tiles).unwrap_or(1).max(1);
    let (small, larger) = (rows / tiles, rows % tiles);
    match row < larger * (small + 1) {
        true => row / (small + 1),
        false => {
            larger
                + (row - larger * (small + 1))
                    .checked_div(small)
                    .unwrap_or_default()
        }
    }
}

/// Ranges of neighbours that are equal in all columns.
fn runs(within: std::ops::Range<usize>, columns: &[Vec<Datum>]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = within.start;
    for row in within.clone() {
        let differs = |column: &Vec<Datum>| column.get(row) != column.get(row + 1);
        if row + 1 == within.end || columns.iter().any(differs) {
            found.push(start..row + 1);
            start = row + 1;
        }
    }
    found
}
