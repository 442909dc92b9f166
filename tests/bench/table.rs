//! What a benchmark prints: a table for people, and a line of JSON for each row.

use serde_json::{Map, Value, json};

/// A table that prints itself.
pub struct Table {
    bench: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<Value>>,
}

impl Table {
    pub const fn new(bench: &'static str, columns: &'static [&'static str]) -> Self {
        Self { bench, columns, rows: Vec::new() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = Value>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Prints the table, then its rows as JSON.
    pub fn print(&self) {
        let text = |cell: &Value| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        let mut lines = vec![self.columns.iter().map(|name| (*name).to_owned()).collect()];
        lines.extend(self.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>()));
        let widths: Vec<_> = (0..self.columns.len())
            .map(|at| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or_default())
            .collect();
        for line in &lines {
            let cells = line.iter().zip(&widths).enumerate();
            let cells = cells.map(|(at, (cell, width))| match at {
                0 | 1 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        println!();
        for row in &self.rows {
            let mut object = Map::new();
            object.insert("bench".into(), self.bench.into());
            let names = self.columns.iter().map(|name| (*name).to_owned());
            object.extend(names.zip(row.iter().cloned()));
            object.insert("versions".into(), json!({ "holdfast": env!("CARGO_PKG_VERSION") }));
            println!("{}", Value::Object(object));
        }
        println!();
    }
}

/// A number with so many digits after the point.
pub fn number(value: f64, digits: i32) -> Value {
    let scale = 10_f64.powi(digits);
    Value::from((value * scale).round() / scale)
}
