// @ts-check
import { checkNames, checkText } from "./check.js";
import { checkIntent } from "./submission.js";

/** Longest id of a job, in UTF-16 code units. */
const JOB_ID_LENGTH_MAX = 512;

/**
 * Checks an adoption, and gives it as the module takes it.
 *
 * @param {{ intent: string, jobId: string }} adoption
 */
export function sealAdoption(adoption) {
  checkNames(adoption, "adoption", "intent jobId");
  const { intent, jobId } = adoption;
  checkIntent(intent);
  checkText(jobId, "jobId", JOB_ID_LENGTH_MAX);
  return JSON.stringify({ intent, jobId });
}
