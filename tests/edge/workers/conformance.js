// Runs the behaviours of stores over the SQL of one Durable Object, emptied for each.
import { DurableObject } from "cloudflare:workers";
import { makeGlue } from "pkg/glue-maker.js";
import module from "pkg/holdfast.wasm";
import { objectPort } from "pkg/object-storage.js";
import { sqlStore } from "pkg/sql-transaction.js";

export class Tried extends DurableObject {
  async run() {
    const { sql } = this.ctx.storage;
    const [shown, begun] = [[], new Set()];
    const open = (name) => {
      if (!begun.has(name)) {
        const tables = sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'holdfast_%'").toArray();
        for (const table of tables) sql.exec(`DROP TABLE ${table.name}`);
        begun.add(name);
      }
      return sqlStore(() => objectPort(this.ctx.storage, () => undefined), console.error);
    };
    const glue = makeGlue(queueMicrotask);
    await glue.default({ module_or_path: module });
    const over = glue.storeConformance(open, (name) => shown.push(name));
    // A behaviour that is not shown ends the module, and with it what is waited for.
    const late = new Promise((resolve) => setTimeout(resolve, 30_000));
    await Promise.race([over, late]);
    return shown;
  }
}

export default {
  async fetch(_, { TRIED }) {
    return Response.json(await TRIED.get(TRIED.idFromName("one")).run());
  },
};
