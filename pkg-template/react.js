"use client";
// @ts-check
/** Hooks of React over a client's operations. */
/** @import * as Api from "./react.d.ts" */
import { useMemo, useSyncExternalStore } from "react";
import { watchOperation, watchOperations } from "./watch.js";

/** What a server shows, and a page until it has read its storage. */
const NONE = { getSnapshot: () => PENDING, subscribe: () => () => undefined };
/** @type {any} */
const PENDING = Object.freeze({ status: "pending", submit: unready, items: Object.freeze([]) });

/** @type {typeof Api.useOperation} */
export function useOperation(holdfast, service, intent) {
  const watch = useMemo(
    () => (intent === undefined ? NONE : watchOperation(holdfast, service, intent)),
    [holdfast, service, intent],
  );
  return useSyncExternalStore(watch.subscribe, watch.getSnapshot, NONE.getSnapshot);
}

/** @type {typeof Api.useOperations} */
export function useOperations(holdfast, filter = {}) {
  const key = JSON.stringify(filter, Object.keys(filter).sort());
  const watch = useMemo(() => watchOperations(holdfast, JSON.parse(key)), [holdfast, key]);
  return useSyncExternalStore(watch.subscribe, watch.getSnapshot, NONE.getSnapshot);
}

async function unready() {
  throw new Error("There is no intent yet, or this is a server: submit from an event of a mounted component.");
}
