// What Firefox keeps of IndexedDB, as plain bytes: its values are compressed, which hides a text.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { program } from "./environment.mjs";

const run = promisify(execFile);

/**
 * Every value in the database files of a profile, decompressed.
 *
 * @param {readonly string[]} paths
 * @returns {Promise<[path: string, value: Buffer][]>}
 */
export async function firefoxValues(paths) {
  const values = [];
  for (const path of paths.filter((path) => /[/\\]idb[/\\][^/\\]*\.sqlite$/.test(path))) {
    const query = "select hex(data) from object_data where typeof(data) = 'blob'";
    const { stdout } = await run(program("sqlite3"), [path, query], { maxBuffer: 2 ** 30 });
    for (const line of stdout.split("\n").filter(Boolean)) values.push([path, unsnap(Buffer.from(line, "hex"))]);
  }
  return values;
}

/** Snappy's inverse: literals, and copies of what has been written before. */
function unsnap(from) {
  let at = 0;
  const little = (bytes) => {
    const value = from.readUIntLE(at, bytes);
    at += bytes;
    return value;
  };
  let [length, shift] = [0, 0];
  for (let more = true; more; shift += 7) {
    const byte = little(1);
    length += (byte & 0x7f) * 2 ** shift;
    more = byte > 0x7f;
  }
  const to = Buffer.alloc(length);
  for (let end = 0; end < length && at < from.length; ) {
    const tag = little(1);
    let count = (tag >> 2) + 1;
    if ((tag & 3) === 0) {
      if (count > 60) count = little(count - 60) + 1;
      from.copy(to, end, at, at + count);
      at += count;
      end += count;
      continue;
    }
    const near = (tag & 3) === 1;
    if (near) count = ((tag >> 2) & 7) + 4;
    const back = near ? ((tag >> 5) << 8) + little(1) : little((tag & 3) === 2 ? 2 : 4);
    // A copy may read what it has just written.
    for (; count > 0; count--, end++) to[end] = to[end - back];
  }
  return to;
}
