// The search for secrets finds what it shall find: without that, its silence proves nothing.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeProfile, removeProfile } from "./harness/process.mjs";
import { credentials, findSecret } from "./harness/secrets.mjs";

const SECRET = "secret-3f9a?ÿ>c1e";

const forms = {
  plain: Buffer.from(SECRET),
  "UTF-16": Buffer.from(SECRET, "utf16le"),
  hexadecimal: Buffer.from(Buffer.from(SECRET).toString("hex")),
  ...Object.fromEntries(
    ["", "a", "ab", "abc"].flatMap((before) => [
      [`base64 behind "${before}"`, Buffer.from(Buffer.from(before + SECRET).toString("base64"))],
      [`base64url behind "${before}"`, Buffer.from(Buffer.from(before + SECRET).toString("base64url"))],
    ]),
  ),
};

for (const [name, bytes] of Object.entries(forms)) {
  test(`a secret in a file is found: ${name}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-secret-"));
    try {
      await writeFile(join(folder, "a"), Buffer.concat([Buffer.from("before "), bytes, Buffer.from(" after")]));
      await writeFile(join(folder, "b"), "nothing");
      const { found, files } = await findSecret(folder, SECRET);
      assert.equal(found.length, 1);
      assert.equal(files, 2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

test("no profile goes unsearched, and one with a credential in it fails whatever used it", async () => {
  credentials.add(SECRET);
  const profile = await makeProfile();
  await mkdir(join(profile, "kept"));
  await writeFile(join(profile, "kept", "a"), forms.hexadecimal);
  await assert.rejects(removeProfile(profile), /A credential is in the profile: \S+kept\/a \(hexadecimal\)/);
  assert.ok(!existsSync(profile));
});
