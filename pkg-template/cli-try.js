// @ts-check
/** Tries a profile on a service: one real piece of work, and the same once more under the same key. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Client } from "./client.js";
import { Connection } from "./connection.js";
import { makeHoldfast } from "./create.js";
import { makeGlue } from "./glue-maker.js";
import { ownInstance } from "./module.js";
import { checkOptions } from "./options.js";
import { builtIn } from "./profiles/built-in.js";
import { Disk, storeOn } from "./testing-disk.js";

/**
 * What is tried.
 *
 * @typedef {{ profile: any, baseUrl: string, body: string, headers: Record<string, string>, params: Record<string, string>, twice: boolean }} Trial
 */

/**
 * Tells of each step as it goes; gives whether all came out as the profile promises.
 *
 * @param {Trial} trial
 * @param {(line: string) => void} tell
 */
export async function tried(trial, tell) {
  const key = trial.profile.key ? randomUUID() : undefined;
  const first = await carried(trial, key, tell);
  if (first.status !== "succeeded" || !trial.twice) return first.status === "succeeded";
  if (!key) {
    tell("Without idempotency keys there is nothing to send twice.");
    return true;
  }
  tell("");
  tell("The same bytes under the same key, as after a lost answer:");
  const again = await carried(trial, key, tell);
  const same = again.status === "succeeded" && again.jobId === first.jobId;
  tell(same ? "The service knows the key: it is the same job." : "This is not the same job: the key did not do what the profile says.");
  return same;
}

/**
 * Carries one piece of work to its end, from a storage in which nothing is.
 *
 * @param {Trial} trial
 * @param {string | undefined} key
 * @param {(line: string) => void} tell
 */
async function carried({ profile, baseUrl, body, headers, params }, key, tell) {
  const instance = ownInstance(makeGlue);
  const module = await readFile(new URL("./holdfast.wasm", import.meta.url));
  const database = storeOn(new Disk(), () => true, (error) => instance.replace(instance.generation, error));
  const observe = (/** @type {import("./index.d.ts").HoldfastEvent} */ { name, attributes }) => {
    const facts = ["http.response.status_code", "holdfast.job.state", "error.type", "holdfast.wait.reason"];
    tell(`  ${[name, ...facts.map((fact) => attributes[fact]).filter((own) => own !== undefined)].join(" · ")}`);
  };
  const services = { service: { profile, baseUrl, params, authorize: () => ({ headers }) } };
  const holdfast = makeHoldfast(checkOptions(/** @type {any} */ ({ account: () => "check", observe, services })), {
    open: async (settings, listeners) =>
      new Client(settings, listeners, {
        channel: null,
        connect: (own, host) =>
          new Connection({ ...own, options: { ...own.options, module } }, host, builtIn, { instance, database }),
      }),
  });
  try {
    const operation = await holdfast.submit("service", { intent: "check", body, ...(key && { key }) });
    const outcome = await operation.outcome();
    const { cost } = operation.ledger;
    tell("error" in outcome ? outcome.error.message : `It succeeded: ${operation.state.result?.bytes} bytes are the result; it cost ${cost}.`);
    return { status: outcome.status, jobId: operation.jobId };
  } finally {
    await holdfast.close();
  }
}
