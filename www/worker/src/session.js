// Who asks: a name, for which a password was given once, in a signed cookie. An app has its own sign-in;
// what matters is that the same person is the same caller after a crash, on another day, on another device.

/** How long a browser stays signed in, in seconds. */
const LASTS_S = 30 * 24 * 3600;

/** `GET`: who is signed in. `POST` with a name and the password: signs in. */
export async function session(request, env) {
  const headers = { "cache-control": "no-store" };
  if (request.method !== "POST") {
    const known = await callerOf(request, env);
    return Response.json(known, { status: known ? 200 : 401, headers });
  }
  const { name, password } = await request.json().catch(() => ({}));
  const isKnown = typeof name === "string" && /^[a-z][a-z0-9-]{0,30}$/.test(name) && (await isSame(password, env.PASSWORD));
  if (!isKnown) return Response.json(null, { status: 401, headers });
  const value = `${name}.${await signed(name, env.SESSION_SECRET)}`;
  headers["set-cookie"] = `session=${value}; Path=/; Max-Age=${LASTS_S}; HttpOnly; Secure; SameSite=Strict`;
  return Response.json({ caller: name }, { headers });
}

/** `{ caller }` of a request that bears a session of ours; `null` of any other. */
export async function callerOf(request, env) {
  const cookies = request.headers.get("cookie") ?? "";
  const [, name, mark] = /(?:^|; )session=([a-z][a-z0-9-]*)\.([0-9a-f]{64})(?:;|$)/.exec(cookies) ?? [];
  return name && (await isSame(mark, await signed(name, env.SESSION_SECRET))) ? { caller: name } : null;
}

async function signed(text, secret) {
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mark = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
  return [...mark].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether two texts are the same; how long that takes tells nothing of either. */
async function isSame(one, other) {
  if (typeof one !== "string" || !other) return false;
  const secret = crypto.randomUUID();
  return (await signed(one, secret)) === (await signed(other, secret));
}
