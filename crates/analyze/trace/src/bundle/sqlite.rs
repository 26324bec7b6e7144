//! Reads the rows of a table of an SQLite database, as the file stores them.
//!
//! Only what a small database of Core Data has is read: tables with row ids, and text in UTF-8. A
//! page is visited once and the rows together may not be larger than the file, so that a hostile
//! file costs no more than its size.
//!
//! ```text
//! page 1   header, table of all tables ── root page and columns of a table ──┐
//! page N   interior page ── pages ── leaf pages ── cells ── overflow pages <─┘
//! ```

/// An SQLite database in memory.
pub(crate) struct Database<'a> {
    bytes: &'a [u8],
    page_size: usize,
    /// Number of bytes of a page that contain data.
    usable: usize,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    /// A real number or binary data.
    Other,
}

/// Reason why a database cannot be read.
pub(crate) type Fault = &'static str;

const MAGIC: &[u8] = b"SQLite format 3\0";
/// Size of the header before the first page's own header.
const HEADER: usize = 100;
/// Maximum number of rows of a table. Real ones have at most ten.
const MAX_ROWS: usize = 100_000;
const CUT: Fault = "its content is cut off";
const BROKEN_RECORD: Fault = "a row is damaged";

impl<'a> Database<'a> {
    /// Opens a database. Refuses a header that is unknown.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        if !bytes.starts_with(MAGIC) {
            return Err("it is not an SQLite database");
        }
        let page_size = match big(bytes, 16, 2).ok_or(CUT)? {
            1 => 1 << 16,
            size if size.is_power_of_two() && size >= 512 => size,
            _ => return Err("its page size is invalid"),
        };
        let reserved = big(bytes, 20, 1).ok_or(CUT)?;
        let usable = page_size.checked_sub(reserved).filter(|&size| size >= 480);
        if big(bytes, 56, 4) != Some(1) {
            return Err("its text is not UTF-8");
        }
        Ok(Self {
            bytes,
            page_size,
            usable: usable.ok_or("its pages have no room")?,
        })
    }

    /// Returns the wanted columns of all rows of a table. `None` if there is no such table. A column
    /// that the table does not have is null.
    pub(crate) fn rows<const N: usize>(
        &self,
        table: &str,
        wanted: [&str; N],
    ) -> Result<Option<Vec<[Value; N]>>, Fault> {
        // Columns of the table of tables: type, name, tbl_name, rootpage, sql.
        let tables = Walk::new(self).rows(1, [Some(0), Some(1), Some(3), Some(4)])?;
        let found = tables.into_iter().find_map(|[kind, name, root, sql]| {
            let is_table = is_text(&kind, "table") && is_text(&name, table);
            is_table.then_some((root, sql))
        });
        let (root, sql) = match found {
            None => return Ok(None),
            Some((Value::Integer(root), Value::Text(sql))) => (root, sql),
            Some(_) => return Err("its list of tables is damaged"),
        };
        let root = usize::try_from(root).map_err(|_| "a table has no page")?;
        let columns = columns(&sql);
        let places = wanted.map(|name| columns.iter().position(|column| *column == name));
        Walk::new(self).rows(root, places).map(Some)
    }

    /// Returns the bytes of a page that contain data, by its number from 1.
    fn page(&self, number: usize) -> Result<&'a [u8], Fault> {
        let start = number.checked_sub(1);
        let start = start.and_then(|before| before.checked_mul(self.page_size));
        let page = start.and_then(|start| self.bytes.get(start..start.checked_add(self.usable)?));
        page.ok_or("a page is missing")
    }

    /// Returns how many bytes of a row of this size its cell contains. The rest is on overflow pages.
    fn local(&self, size: usize) -> usize {
        let (most, least) = (self.usable - 35, (self.usable - 12) * 32 / 255 - 23);
        if size <= most {
            return size;
        }
        let fitting = least + (size - least) % (self.usable - 4);
        if fitting <= most { fitting } else { least }
    }
}

/// A walk over the pages of one table.
struct Walk<'a> {
    database: &'a Database<'a>,
    /// Pages that were visited.
    visited: Vec<bool>,
    /// Number of bytes that the rows may still have.
    left: usize,
}

impl<'a> Walk<'a> {
    fn new(database: &'a Database<'a>) -> Self {
        Self {
            database,
            visited: vec![false; database.bytes.len() / database.page_size + 1],
            left: database.bytes.len(),
        }
    }

    /// Returns the columns at these places of all rows below a page, in the order of their ids.
    fn rows<const N: usize>(
        &mut self,
        root: usize,
        places: [Option<usize>; N],
    ) -> Result<Vec<[Value; N]>, Fault> {
        let mut rows = Vec::new();
        let mut pages = vec![root];
        while let Some(number) = pages.pop() {
            let page = self.visit(number)?;
            let start = if number == 1 { HEADER } else { 0 };
            let kind = big(page, start, 1).ok_or(CUT)?;
            let count = big(page, start + 3, 2).ok_or(CUT)?;
            let (pointers, is_leaf) = match kind {
                0x0d => (start + 8, true),
                0x05 => (start + 12, false),
                _ => return Err("a page is of an unknown kind"),
            };

            let mut cells = (0..count).map(|cell| big(page, pointers + 2 * cell, 2).ok_or(CUT));
            if is_leaf {
                if rows.len() + count > MAX_ROWS {
                    return Err("it has too many rows");
                }
                for cell in cells {
                    rows.push(fields(&self.record(page, cell?)?, places)?);
                }
            } else {
                // The last page of the list is the next one.
                pages.push(big(page, start + 8, 4).ok_or(CUT)?);
                while let Some(cell) = cells.next_back() {
                    pages.push(big(page, cell?, 4).ok_or(CUT)?);
                }
            }
        }
        Ok(rows)
    }

    /// Returns a page that was not visited before: the pages of a sound table form a tree.
    fn visit(&mut self, number: usize) -> Result<&'a [u8], Fault> {
        let page = self.database.page(number)?;
        match self.visited.get_mut(number - 1) {
            Some(visited) if !*visited => *visited = true,
            _ => return Err("a page is used twice"),
        }
        Ok(page)
    }

    /// Returns the bytes of a row whose cell begins at an offset of a leaf page.
    fn record(&mut self, page: &[u8], cell: usize) -> Result<Vec<u8>, Fault> {
        let mut cell = page.get(cell..).ok_or(CUT)?;
        let size = usize::try_from(varint(&mut cell).ok_or(CUT)?).map_err(|_| CUT)?;
        varint(&mut cell).ok_or(CUT)?;
        let left = self.left.checked_sub(size.saturating_add(2));
        self.left = left.ok_or("its rows are larger than the file")?;

        let local = self.database.local(size);
        let mut record = cell.get(..local).ok_or(CUT)?.to_vec();
        let mut next = if local < size {
            big(cell, local, 4).ok_or(CUT)?
        } else {
            0
        };
        while record.len() < size {
            let page = self.visit(next)?;
            next = big(page, 0, 4).ok_or(CUT)?;
            let rest = size - record.len();
            let content = page.get(4..).ok_or(CUT)?;
            record.extend(content.iter().take(rest));
        }
        Ok(record)
    }
}

/// Returns the fields of a record at these places; null beyond its last one, since columns may have
/// been added to a table.
fn fields<const N: usize>(record: &[u8], places: [Option<usize>; N]) -> Result<[Value; N], Fault> {
    let mut header = record;
    let size = varint(&mut header).ok_or(BROKEN_RECORD)?;
    let size = usize::try_from(size).map_err(|_| BROKEN_RECORD)?;
    let taken = record.len() - header.len();
    let inside = size.checked_sub(taken).and_then(|size| header.get(..size));
    let mut types = inside.ok_or(BROKEN_RECORD)?;
    let mut body = record.get(size..).ok_or(BROKEN_RECORD)?;

    let mut values = [const { Value::Null }; N];
    let mut place = 0;
    while !types.is_empty() {
        let kind = varint(&mut types).ok_or(BROKEN_RECORD)?;
        let (bytes, rest) = width(kind)
            .and_then(|width| body.split_at_checked(width))
            .ok_or(BROKEN_RECORD)?;
        for (value, _) in values
            .iter_mut()
            .zip(places)
            .filter(|(_, at)| *at == Some(place))
        {
            *value = parse(kind, bytes)?;
        }
        (body, place) = (rest, place + 1);
    }
    Ok(values)
}

/// Returns the size of a field of a type, in bytes.
fn width(kind: u64) -> Option<usize> {
    match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => usize::try_from(kind).ok(),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        _ => usize::try_from((kind - 12) / 2).ok(),
    }
}

/// Parses the bytes of a field of a type.
fn parse(kind: u64, bytes: &[u8]) -> Result<Value, Fault> {
    Ok(match kind {
        0 => Value::Null,
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        1..=6 => {
            let sign = bytes.first().is_some_and(|first| *first >= 0x80);
            let start = if sign { -1 } else { 0 };
            Value::Integer(
                bytes
                    .iter()
                    .fold(start, |number, byte| number << 8 | i64::from(*byte)),
            )
        }
        text if text >= 13 && text % 2 == 1 => {
            let text = std::str::from_utf8(bytes).map_err(|_| "a text is not UTF-8")?;
            Value::Text(text.to_owned())
        }
        _ => Value::Other,
    })
}

/// Returns the names of the columns in `CREATE TABLE name (a INTEGER, b VARCHAR(9), …)`.
fn columns(sql: &str) -> Vec<&str> {
    let inside = sql.split_once('(').map_or("", |(_, inside)| inside);
    let mut depth = 0;
    let parts = inside.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    });
    let names = parts.map(|part| part.split_whitespace().next().unwrap_or(""));
    names
        .map(|name| name.trim_matches(['"', '`', '[', ']']))
        .collect()
}

fn is_text(value: &Value, expected: &str) -> bool {
    matches!(value, Value::Text(text) if text == expected)
}

/// Takes a number of one to nine bytes, each with seven bits, from the front.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for at in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if at == 8 {
            return Some(number << 8 | u64::from(byte));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Some(number)
}

/// Returns the number of up to four bytes at an offset, the highest byte first.
fn big(bytes: &[u8], start: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(start..start.checked_add(width)?)?;
    Some(
        bytes
            .iter()
            .fold(0, |number, byte| number << 8 | usize::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database that SQLite wrote: 189 rows on several pages, some of them on overflow pages.
    const MANY: &[u8] = include_bytes!("../../../../../fixtures/run-issues/many.storedata");

    #[test]
    fn every_row_of_a_database_is_read() {
        let database = Database::open(MANY).unwrap();
        let rows = database.rows(
            "ZISSUE",
            ["ZTYPE", "ZMESSAGE", "ZRELATIVETIMESTAMP", "Z_NEW"],
        );
        let numbers = (0_i64..200).filter(|number| !(59..70).contains(number));
        let expected = numbers.map(|number| {
            let length = if number % 50 == 7 { 2_000 } else { number % 9 };
            let text = "é".repeat(usize::try_from(length).unwrap());
            [
                Value::Integer(number % 3),
                Value::Text(format!("issue {number} {text}")),
                Value::Integer(-1_000_000_000 * (number + 1)),
                Value::Null,
            ]
        });
        assert_eq!(rows.unwrap().unwrap(), expected.collect::<Vec<_>>());
        let blob = database.rows("Z_METADATA", ["Z_PLIST"]).unwrap();
        assert_eq!(blob, Some(vec![[Value::Other]]));
        assert_eq!(database.rows("ZOTHER", ["Z_PK"]), Ok(None));
    }

    #[test]
    fn columns_are_found_in_every_form() {
        let sql = "CREATE TABLE t ( a INTEGER PRIMARY KEY, \"b\" VARCHAR(9, 2), [c] , `d` TEXT )";
        assert_eq!(columns(sql), ["a", "b", "c", "d"]);
        assert_eq!(columns(""), [""]);
    }

    #[test]
    fn pages_of_every_hostile_form_are_refused() {
        let check = |start: usize, bytes: &[u8], fault: Fault| {
            let mut broken = MANY.to_vec();
            broken.splice(start..start + bytes.len(), bytes.iter().copied());
            let rows =
                Database::open(&broken).and_then(|database| database.rows("ZISSUE", ["ZMESSAGE"]));
            assert_eq!(rows.unwrap_err(), fault);
        };
        // The root of the table is page 3, an interior page.
        let root = 2 * 512;
        check(0, b"X", "it is not an SQLite database");
        check(16, &[0, 3], "its page size is invalid");
        check(20, &[200], "its pages have no room");
        check(59, &[2], "its text is not UTF-8");
        check(root, &[9], "a page is of an unknown kind");
        check(root + 8, &[0, 0, 0, 3], "a page is used twice");
        check(root + 8, &[0xff; 4], "a page is missing");
        check(root + 3, &[0xff; 2], CUT);
        check(root + 12, &[0xff; 2], CUT);
    }
}
