//! Reads a query document: nodes, each with a schema and rows.
//!
//! ```xml
//! <trace-query-result>
//!   <node xpath='//trace-toc[1]/run[1]/data[1]/table[108]'>
//!     <schema name="metal-gpu-intervals"><col>…</col>…</schema>
//!     <row>…</row>
//!     …
//! ```

use std::collections::BTreeSet;
use std::io::Read;

use super::attributes::{self, all, shorten};
use super::cells::{Cells, unexpected_element, unexpected_text};
use super::details;
use super::plain::{FastPath, Plain};
use super::pull::{Pull, Token};
use super::rows::TableBuilder;
use super::values::KeptNames;
use crate::error::{Error, Problem, Result, malformed, too_many};
use crate::kind::Kind;
use crate::names::Names;
use crate::note::{TraceNote, UnknownElements};
use crate::place::Place;
use crate::select::{Columns, Selection};
use crate::table::{ColumnSpec, Origin, Schema, Table};

/// Maximum number of columns of a table. Real ones have at most 40.
const MAX_COLUMNS: usize = 1_000;

/// Maximum number of tables in a document. Real recordings have at most 200.
const MAX_TABLES: usize = 10_000;

/// Options for reading a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadOptions<'a> {
    pub(crate) selection: &'a Selection,
    /// True if the complete rows of a document that is cut off are used.
    pub(crate) allow_truncated: bool,
    /// Settings of the fast path for plain rows.
    pub(crate) fast_path: FastPath,
}

/// The tables and notes of a document.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) tables: Vec<Table>,
    pub(crate) notes: Vec<TraceNote>,
}

/// Reads a complete document. Tables that are not selected are checked and dropped.
pub(crate) fn read<R: Read>(
    input: R,
    file: &str,
    names: &mut Names,
    options: ReadOptions<'_>,
) -> Result<Document> {
    let mut reader = Reader::new(input, file, names, options);
    reader.read()?;
    Ok(reader.document)
}

/// The kind of a document, according to its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Header {
    Toc,
    /// A command-buffer log, which is no XML.
    Log,
    /// A query that matched nothing.
    Empty,
    /// The first node's table.
    Table {
        schema: String,
        origin: Origin,
    },
}

/// Reads a document up to its first schema.
pub(crate) fn read_header<R: Read>(input: R, file: &str) -> Result<Header> {
    let selection = Selection::counts();
    let mut names = Names::new();
    let options = ReadOptions {
        selection: &selection,
        allow_truncated: false,
        fast_path: FastPath::OFF,
    };
    let mut reader = Reader::new(input, file, &mut names, options);

    match reader.root() {
        Err(error) if matches!(error.problem(), Problem::TocAlone) => return Ok(Header::Toc),
        other => other?,
    };

    let Some(node) = reader.next_child("trace-query-result")? else {
        return Ok(Header::Empty);
    };
    let origin = origin_of(&node.attributes);
    let Some(child) = reader.next_child("node")? else {
        return Err(reader.pull.error(Problem::NoSchema));
    };

    let schema = match details::schema(&node.attributes, &child.attributes) {
        Some(schema) => schema,
        None => reader.schema(child)?,
    };
    Ok(Header::Table {
        schema: schema.name,
        origin,
    })
}

/// Reads one query document, element by element.
struct Reader<'a, R: Read> {
    pull: Pull<R>,
    cells: Cells<'a>,
    options: ReadOptions<'a>,
    synthetic: bool,
    document: Document,
    /// Elements that no known export has, if there are any.
    unknown: Option<UnknownElements>,
    /// Number of rows without a schema, after a table with one.
    without_schema: u64,
}

/// A child element whose start tag was read.
struct Child {
    name: String,
    attributes: Vec<(String, String)>,
    empty: bool,
}

impl<'a, R: Read> Reader<'a, R> {
    fn new(input: R, file: &str, names: &'a mut Names, options: ReadOptions<'a>) -> Self {
        Self {
            pull: Pull::new(input, file),
            cells: Cells::new(names),
            options,
            synthetic: false,
            document: Document::default(),
            unknown: None,
            without_schema: 0,
        }
    }

    fn read(&mut self) -> Result<()> {
        self.root()?;
        match self.nodes().and_then(|()| self.after_root()) {
            Err(error) if self.may_go_on_after(&error) => {
                if let Some(table) = self.document.tables.last_mut() {
                    table.truncated = true;
                }
            }
            other => other?,
        }
        self.note_truncation();
        let unknown = self.unknown.take();
        let notes = &mut self.document.notes;
        notes.extend(unknown.map(TraceNote::UnknownElements));
        if self.without_schema > 0 {
            notes.push(TraceNote::WithoutSchema {
                file: self.pull.file().to_owned(),
                rows: self.without_schema,
            });
        }
        let selection = self.options.selection;
        let tables = &mut self.document.tables;
        tables.retain(|table| selection.columns_of(&table.schema.name).is_some());
        Ok(())
    }

    /// Opens the root, which must be the result of a query.
    fn root(&mut self) -> Result<()> {
        let Some(root) = self.next_child("document")? else {
            return Err(self.pull.error(Problem::NotXml {
                found: "an empty file",
            }));
        };
        let problem = match root.name.as_str() {
            "trace-query-result" if root.empty => Problem::NothingSelected,
            "trace-query-result" => {
                self.synthetic = root.attributes.iter().any(|(name, _)| name == "synthetic");
                return Ok(());
            }
            "trace-toc" => Problem::TocAlone,
            _ => Problem::NotAnExport {
                root: shorten(&root.name),
            },
        };
        Err(self.pull.error(problem))
    }

    /// Reads all nodes. A document must have at least one.
    fn nodes(&mut self) -> Result<()> {
        let mut any = false;
        while let Some(child) = self.next_child("trace-query-result")? {
            if child.name == "node" {
                any = true;
                if !child.empty {
                    self.node(&child)?;
                }
            } else {
                self.ignore(&child)?;
            }
        }
        if any {
            return Ok(());
        }
        Err(self.pull.error(Problem::NothingSelected))
    }

    fn after_root(&mut self) -> Result<()> {
        match self.next_child("document")? {
            None => Ok(()),
            Some(_) => Err(self.pull.error(malformed("a second document begins"))),
        }
    }

    /// Reads one node: its schema, then its rows.
    fn node(&mut self, node: &Child) -> Result<()> {
        if self.document.tables.len() >= MAX_TABLES {
            return Err(self.pull.error(too_many("tables in one file", MAX_TABLES)));
        }
        let refused = self.without_schema;
        let mut builder: Option<TableBuilder> = None;
        let mut plain = Plain::new(self.options.fast_path);
        let mut is_detail = false;
        let ended = loop {
            if let Some(builder) = builder.as_mut().filter(|_| !is_detail) {
                plain.take_rows(self.pull.guard(), &mut self.cells, builder);
            }
            match self.next_child("node") {
                Err(error) => break Err(error),
                Ok(None) => break Ok(()),
                Ok(Some(child)) => {
                    let schema = builder.is_none() && child.name == "row";
                    let schema =
                        schema.then(|| details::schema(&node.attributes, &child.attributes));
                    let read = if let Some(schema) = schema.flatten() {
                        is_detail = true;
                        let table = self.table_builder(schema, node);
                        table.and_then(|table| self.detail_row(&child, builder.insert(table)))
                    } else if let Some(table) = builder.as_mut().filter(|_| is_detail) {
                        self.detail_row(&child, table)
                    } else {
                        self.node_child(child, node, &mut builder)
                    };
                    if read.is_err() {
                        break read;
                    }
                }
            }
        };

        let end = match ended {
            // The schema came after rows, so that the table would lack them.
            Ok(()) if builder.is_some() && self.without_schema > refused => {
                Err(self.pull.error(Problem::NoSchema))
            }
            ended => ended,
        };

        let rows = builder.as_ref().map_or(0, TableBuilder::rows);
        let table = builder.as_ref().map(|builder| builder.name().to_owned());
        if let Some(builder) = builder {
            self.document.tables.push(builder.finish());
        }

        end.map_err(|error| with_table(error, table, rows))
    }

    /// Reads a child of a node: the schema, which must come first, or a row.
    fn node_child(
        &mut self,
        child: Child,
        node: &Child,
        builder: &mut Option<TableBuilder>,
    ) -> Result<()> {
        match (child.name.as_str(), builder) {
            ("schema", builder @ None) => {
                *builder = Some(self.start_table(child, node)?);
                Ok(())
            }
            ("schema", Some(_)) => Err(self
                .pull
                .error(malformed("duplicate <schema> inside <node>"))),
            // The rows of this table are refused; those of the tables before it are certain.
            ("row", None) if !self.document.tables.is_empty() => {
                self.without_schema += 1;
                self.skip(&child)
            }
            ("row", None) => Err(self.pull.error(Problem::NoSchema)),
            ("row", Some(builder)) => {
                let row = builder.read_row(&mut self.pull, &mut self.cells, child.empty);
                if row.is_err() {
                    self.cells.abandon();
                }
                row
            }
            _ => self.ignore(&child),
        }
    }

    /// Reads the schema of a node and prepares the table.
    fn start_table(&mut self, schema: Child, node: &Child) -> Result<TableBuilder> {
        let schema = self.schema(schema)?;
        self.table_builder(schema, node)
    }

    /// Reads a row of a detail, whose values are attributes. What is inside of it is skipped.
    fn detail_row(&mut self, row: &Child, builder: &mut TableBuilder) -> Result<()> {
        if row.name != "row" {
            return self.ignore(row);
        }
        let read = builder.read_attributes(&row.attributes, &mut self.cells);
        read.map_err(|problem| builder.at_row(self.pull.error(problem), None))?;
        self.skip(row)
    }

    fn table_builder(&mut self, schema: Schema, node: &Child) -> Result<TableBuilder> {
        let none = Columns::None;
        let columns = self
            .options
            .selection
            .columns_of(&schema.name)
            .unwrap_or(&none);
        let kept = kept_names(&schema, columns, self.options.selection);
        self.cells.start_node(kept);
        let table = Table {
            schema,
            origin: origin_of(&node.attributes),
            file: self.pull.file().to_owned(),
            truncated: false,
            synthetic: self.synthetic,
            rows: 0,
            columns: Vec::new(),
        };

        let builder = TableBuilder::new(table, columns, &mut self.cells.tags);
        builder.map_err(|problem| self.pull.error(problem))
    }

    /// Reads `<schema name="…"><col>…</col>…</schema>`.
    fn schema(&mut self, child: Child) -> Result<Schema> {
        if child.name != "schema" {
            return Err(self.pull.error(Problem::NoSchema));
        }
        let mut schema = Schema::default();
        for (name, value) in child.attributes {
            if name == "name" {
                schema.name = value;
            }
        }

        let mut mnemonics = BTreeSet::new();
        while !child.empty
            && let Some(col) = self.next_child("schema")?
        {
            if col.name == "col" && !col.empty {
                let spec = self.column_spec(schema.columns.len() + 1)?;
                if !mnemonics.insert(spec.mnemonic.clone()) {
                    let detail = format!("two columns have the name `{}`", spec.mnemonic);
                    return Err(self.pull.error(Problem::Unexpected(detail)));
                }
                if schema.columns.len() >= MAX_COLUMNS {
                    return Err(self
                        .pull
                        .error(too_many("columns in one table", MAX_COLUMNS)));
                }
                schema.columns.push(spec);
            } else {
                self.ignore(&col)?;
            }
        }

        Ok(schema)
    }

    /// Reads `<mnemonic>start</mnemonic><name>Creation</name><engineering-type>start-time</…>`.
    fn column_spec(&mut self, position: usize) -> Result<ColumnSpec> {
        let mut spec = ColumnSpec {
            mnemonic: String::new(),
            name: String::new(),
            engineering_type: String::new(),
        };
        while let Some(part) = self.next_child("col")? {
            let text = if part.empty {
                String::new()
            } else {
                self.text_of(&part.name)?
            };
            match part.name.as_str() {
                "mnemonic" => spec.mnemonic = text,
                "name" => spec.name = text,
                "engineering-type" => spec.engineering_type = text,
                _ => {}
            }
        }

        let missing = match (spec.mnemonic.is_empty(), spec.engineering_type.is_empty()) {
            (true, _) => "mnemonic",
            (false, true) => "engineering-type",
            (false, false) => return Ok(spec),
        };

        let detail = format!("the schema's column {position} has no {missing}");
        Err(self.pull.error(Problem::Unexpected(detail)))
    }

    /// Reads the text of an element that contains nothing else.
    fn text_of(&mut self, name: &str) -> Result<String> {
        let mut text = String::new();
        loop {
            match self.pull.next()? {
                Token::Text(more) => text.push_str(&more),
                Token::Nothing => {}
                Token::Close | Token::End => return Ok(text),
                Token::Open { tag, .. } => {
                    let problem = unexpected_element(&shorten(tag.name().as_ref()), name);
                    return Err(self.pull.error(problem));
                }
            }
        }
    }

    /// Opens the next element inside the open one. `None` at its end.
    fn next_child(&mut self, inside: &str) -> Result<Option<Child>> {
        loop {
            let problem = match self.pull.next()? {
                Token::Nothing => continue,
                Token::Text(text) if text.trim().is_empty() => continue,
                Token::Text(text) if inside == "document" => {
                    drop(text);
                    Problem::NotXml { found: "text" }
                }
                Token::Text(text) => unexpected_text(&text),
                Token::Close | Token::End => return Ok(None),
                Token::Open { tag, empty } => match all(tag.attributes_raw()) {
                    Ok(attributes) => {
                        return Ok(Some(Child {
                            name: tag.name().as_ref().to_owned(),
                            attributes,
                            empty,
                        }));
                    }
                    Err(problem) => problem,
                },
            };
            return Err(self.pull.error(problem));
        }
    }

    /// Skips an element that no known export has, and counts it.
    fn ignore(&mut self, child: &Child) -> Result<()> {
        let pull = &self.pull;
        let unknown = self.unknown.get_or_insert_with(|| {
            let line = pull.error(Problem::NoSchema).place().line.unwrap_or(0);
            UnknownElements::new(pull.file().to_owned(), line)
        });
        unknown.add(&child.name, shorten);
        self.skip(child)
    }

    /// Skips an element.
    fn skip(&mut self, child: &Child) -> Result<()> {
        let mut depth = usize::from(!child.empty);
        while depth > 0 {
            let checked = match self.pull.next()? {
                Token::Open { tag, empty } => {
                    depth += usize::from(!empty);
                    attributes::check(tag.attributes_raw())
                }
                Token::Close => {
                    depth -= 1;
                    Ok(())
                }
                Token::End => break,
                Token::Text(_) | Token::Nothing => Ok(()),
            };
            checked.map_err(|problem| self.pull.error(problem))?;
        }

        Ok(())
    }

    fn may_go_on_after(&self, error: &Error) -> bool {
        self.options.allow_truncated
            && matches!(error.problem(), Problem::Truncated { .. })
            && !self.document.tables.is_empty()
    }

    fn note_truncation(&mut self) {
        let cut = self.document.tables.iter().filter(|table| table.truncated);
        let notes = cut.map(|table| TraceNote::Truncated {
            file: table.file.clone(),
            table: table.schema.name.clone(),
            rows: table.rows,
        });
        self.document.notes.extend(notes);
    }
}

/// Returns which names the kept columns of a table can contain.
fn kept_names(schema: &Schema, columns: &Columns, selection: &Selection) -> KeptNames {
    let kept = schema
        .columns
        .iter()
        .filter(|c| columns.contains(&c.mnemonic));
    let kinds: Vec<Kind> = kept.map(|c| Kind::from_type(&c.engineering_type)).collect();
    let labels = kinds.contains(&Kind::Label);
    KeptNames {
        texts: labels || kinds.contains(&Kind::Text),
        labels,
        rendered: selection.wants_rendered_labels(),
        numbered: selection.wants_numbered_labels(),
        stacks: kinds.contains(&Kind::Stack),
    }
}

/// Parses `//trace-toc[1]/run[1]/data[1]/table[108]` into run 1, table 108.
fn origin_of(attributes: &[(String, String)]) -> Origin {
    let xpath = attributes.iter().find(|(name, _)| name == "xpath");
    let xpath = xpath.map_or("", |(_, value)| value.as_str());
    let number_after = |step: &str| {
        let (_, rest) = xpath.split_once(step)?;
        let (number, _) = rest.split_once(']')?;
        number.parse().ok()
    };
    Origin {
        run: number_after("/run["),
        table: number_after("/table["),
    }
}

/// Adds the table to an error, and the number of complete rows to a truncation.
fn with_table(error: Error, table: Option<String>, rows: usize) -> Error {
    let place = Place {
        table,
        ..error.place().clone()
    };
    let whole_rows = rows as u64;
    let problem = match error.into_problem() {
        Problem::Truncated { .. } => Problem::Truncated { whole_rows },
        problem => problem,
    };
    Error::new(problem, place)
}
