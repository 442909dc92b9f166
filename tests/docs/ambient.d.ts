// What the samples of the documentation take for granted.
import type { AuthorizeRequest, Authorization, Holdfast, Service, StandardSchema, createHoldfast as create } from "holdfast";

declare global {
  interface Env {
    TOKEN: string;
    JOBS: { idFromName(name: string): unknown; get(id: any): unknown };
    RESULTS: { put(name: string, value: unknown): Promise<void> };
  }
  const session: { userId: string | null };
  const day: string;
  const url: string;
  const body: object;
  const baseUrl: string;
  const profile: object;
  const services: { reports: Service };
  const assert: typeof import("node:assert/strict");
  function Report(properties: { data: unknown }): import("react").ReactElement;
  const file: string;
  const account: () => string | null;
  const authorize: (request: AuthorizeRequest) => Authorization | null;
  const ReportSchema: StandardSchema<{ rows: number }>;
  const createHoldfast: typeof create;
  const holdfast: Holdfast<{ reports: Service }>;
  function token(refresh: boolean): Promise<string>;
  function save(...all: unknown[]): Promise<void>;
  function render(...all: unknown[]): void;
  function onGoOn(act: () => void): void;
  function userOf(request: Request): Promise<string>;
}
