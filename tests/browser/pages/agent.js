// Does what the harness asks of a page in a browser that nobody drives. A page that was not opened by
// such a harness is left alone.
{
  const given = /#agent=(.*)/.exec(location.hash)?.[1];
  if (given) {
    sessionStorage.setItem("agent", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const base = given ?? sessionStorage.getItem("agent");
  if (base) {
    const init = new XMLHttpRequest();
    init.open("GET", `${base}/init`, false);
    init.send();
    (0, eval)(init.responseText);
    const { fetch } = globalThis;
    const document = crypto.randomUUID();
    const post = (what, told) => fetch(`${base}/${what}`, { method: "POST", body: JSON.stringify(told) });
    const carryOut = async ({ id, source }) => {
      try {
        return { id, value: await (0, eval)(source) };
      } catch (error) {
        return { id, error: `${error}\n${error?.stack ?? ""}` };
      }
    };
    const serve = async () => {
      for (;;) {
        const order = await (await post("next", { document })).json();
        carryOut(order).then((done) => post("done", done));
      }
    };
    // It fails when the page is left, or the harness is gone.
    const begin = () => serve().catch(() => undefined);
    begin();
    addEventListener("pageshow", ({ persisted }) => persisted && begin());
  }
}
