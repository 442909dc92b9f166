// The package's types as TypeScript reads them: what each entry exports, with its documentation.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { API } from "typescript/unstable/sync";
import { SyntaxKind } from "typescript/unstable/ast";

/**
 * Something that an entry exports, or a member of it.
 *
 * @typedef {{ name: string, kind: string, doc: string, code: string, members: Declared[] }} Declared
 */

const KINDS = { InterfaceDeclaration: "interface", TypeAliasDeclaration: "type", FunctionDeclaration: "function", ClassDeclaration: "class" };

/**
 * The entries of a package that have types.
 *
 * @param {string} folder The package's folder, or its template's.
 * @returns {{ entry: string, file: string, doc: string, declared: Declared[], others: { from: string, names: string[] | undefined }[] }[]}
 */
export function entriesOf(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const api = new API({ cwd: folder });
  try {
    return Object.entries(exports).filter(([, target]) => target.types).map(([name, { types }]) => {
      const file = join(folder, types);
      const project = api.updateSnapshot({ openFiles: [file] }).getDefaultProjectForFile(file);
      return { entry: name.replace(".", "holdfast"), file: types, ...contents(project.program.getSourceFile(file)) };
    });
  } finally {
    api.close();
  }
}

function contents(source) {
  const { text } = source;
  const declared = [];
  const others = [];
  const unnamed = [];
  for (const statement of source.statements) {
    // It is the first of the statements, and its number has that name too.
    const kind = statement.kind === SyntaxKind.VariableStatement ? "value" : KINDS[SyntaxKind[statement.kind]];
    const own = kind && declaration(text, statement, kind);
    if (own?.code.startsWith("export ")) declared.push({ ...own, code: own.code.slice("export ".length) });
    else if (own) unnamed.push(own);
    else if (SyntaxKind[statement.kind] === "ExportDeclaration") others.push(passedOn(statement));
    else if (SyntaxKind[statement.kind] === "ExportAssignment") declared.push(unnamed.find(({ name }) => name === statement.expression.text));
  }
  const [first = ""] = /^\/\*\*[\s\S]*?\*\//.exec(text) ?? [];
  return { doc: documentation(first), declared, others };
}

/** What an entry exports of another. */
const passedOn = ({ exportClause, moduleSpecifier }) => ({
  from: moduleSpecifier.text,
  names: exportClause && exportClause.elements.map(({ name }) => name.text),
});

/** @returns {Declared} */
function declaration(text, node, kind) {
  // The last comment before something is about it; an earlier one may be the file's.
  const comment = node.jsDoc?.at(-1);
  const start = comment?.end ?? node.pos;
  const members = (node.members ?? []).map((member) => declaration(text, member, "member"));
  return {
    name: nameOf(text, node),
    kind,
    doc: comment ? documentation(text.slice(comment.pos, comment.end)) : "",
    code: text.slice(start, node.end).trim(),
    members,
  };
}

function nameOf(text, { name, declarationList, pos, end }) {
  if (declarationList) return declarationList.declarations[0].name.text;
  if (name) return name.text ?? text.slice(name.pos, name.end).trim();
  return text.slice(pos, end).trim().split("(")[0];
}

/** A comment's text, without what makes it a comment. */
const documentation = (comment) =>
  comment.replace(/^\s*\/\*\*?/, "").replace(/\*\/$/, "").replace(/^[ \t]*\* ?/gm, "").replace(/@packageDocumentation/, "").trim();
