"use client";
import { useOperation } from "holdfast/react";
import { holdfast } from "./holdfast.js";

export function Report({ intent }) {
  const view = useOperation(holdfast, "reports", intent);
  const make = () => view.submit({ body: { url: "https://example.com", duration_ms: 500 } });
  return (
    <>
      <p id="status">{view.status}</p>
      {view.status === "absent" && <button onClick={make}>Make it</button>}
      {view.outcome?.status === "succeeded" && <pre>{JSON.stringify(view.outcome.data)}</pre>}
    </>
  );
}
