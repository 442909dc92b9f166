// What a server renders of components that use the hooks.
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { createElement as h } from "react";
import { renderToPipeableStream, renderToString } from "react-dom/server";
import { useOperation, useOperations } from "holdfast/react";

function Page({ holdfast }) {
  const { status } = useOperation(holdfast, "reports", "a");
  const list = useOperations(holdfast);
  return h("div", null, h("p", null, status), h("ul", null, list.status, list.items.length));
}

const plain = (html) => html.replaceAll("<!-- -->", "");

export const renderWhole = (holdfast) => plain(renderToString(h(Page, { holdfast })));

export const renderStreamed = async (holdfast) =>
  plain(await text(renderToPipeableStream(h(Page, { holdfast })).pipe(new PassThrough())));
