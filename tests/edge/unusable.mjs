// Opens files that cannot be used, each again and again, in whichever Node with SQLite runs this. Prints of each
// what it was told, and how many of the folder's files are open then.
//
// Usage: node unusable.mjs PACKAGE FOLDER
import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

const [folder, data] = process.argv.slice(2);
const { createHoldfast } = await import(pathToFileURL(join(folder, "node.js")));

const [newer, taken, none] = ["newer.db", "taken.db", "none.db"].map((name) => join(data, name));
const made = (file, sql) => {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
};
made(newer, "CREATE TABLE holdfast_schema (version INTEGER PRIMARY KEY, readableFrom INTEGER); INSERT INTO holdfast_schema VALUES (1000, 1000)");
made(taken, "CREATE TABLE own (name); CREATE INDEX holdfast_contexts ON own (name)");
writeFileSync(none, "This is no database. ".repeat(1000));

/** The files of the folder that this process has open. */
const opened = () =>
  readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith(data);
    } catch {
      return false;
    }
  });

for (const storage of [newer, taken, none]) {
  const services = { reports: { profile: "runharvester", baseUrl: "http://127.0.0.1:9" } };
  const holdfast = createHoldfast({ storage, account: () => "ann", services });
  for (let tried = 0; tried < 3; tried++) {
    const { message } = await holdfast.submit("reports", { intent: "one", body: {} }).catch((error) => error);
    console.log(JSON.stringify({ message, open: opened().length }));
  }
  await holdfast.close();
}
