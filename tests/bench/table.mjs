// A table for people.

/**
 * The lines of a table whose columns are as wide as what is in them, the heads first.
 *
 * @param {readonly string[]} columns The heads, and the members of each row that are shown.
 * @param {readonly Record<string, unknown>[]} rows
 * @param {(cell: unknown) => string} [told]
 */
export function lines(columns, rows, told = String) {
  const cells = [columns, ...rows.map((row) => columns.map((column) => told(row[column])))];
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at].length)));
  return cells.map((row) => row.map((cell, at) => cell.padEnd(widths[at])).join("  ").trimEnd());
}
