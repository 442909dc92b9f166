// @ts-check
/** How the inspector looks: light and dark, wide and narrow. */
export const style = `
:host { display: block; color-scheme: light dark; container-type: inline-size; font: 15px/1.5 system-ui, sans-serif;
  --ground: light-dark(#f6f5f1, #14171a); --sheet: light-dark(#fff, #1d2226); --ink: light-dark(#1b1f23, #e8eaec);
  --quiet: light-dark(#565e66, #a4adb5); --line: light-dark(#d9d8d2, #343b41); --accent: light-dark(#0b5c7d, #6cc4e6);
  --good: light-dark(#1d6a37, #7bd494); --bad: light-dark(#a3261b, #ff9d92); --wait: light-dark(#7a4f00, #f0c267);
  --edge: light-dark(#6b737b, #7d878f); color: var(--ink); background: var(--ground); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
h2, h3, h4 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
h4 { font-size: .9rem; margin-top: .9rem; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; padding: .7rem .9rem; border-bottom: 1px solid var(--line); background: var(--sheet); }
.bar h2 { margin-right: auto; align-self: center; }
.bar h2 span { color: var(--quiet); font-weight: 400; }
label { display: grid; gap: .1rem; font-size: .8rem; color: var(--quiet); }
input, select, button, textarea { font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--edge); border-radius: 6px; padding: .25rem .55rem; min-width: 0; }
.bar :is(input, select) { min-height: 2.4em; }
textarea { width: 100%; min-height: 5rem; font: 13px/1.4 ui-monospace, monospace; }
button { cursor: pointer; }
button:hover { border-color: var(--accent); }
button.risky { color: var(--bad); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
.panes { display: grid; grid-template-columns: minmax(14rem, 2fr) minmax(0, 5fr); }
ul { list-style: none; margin: 0; padding: 0; max-height: 34rem; overflow: auto; border-right: 1px solid var(--line); }
li button { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 .6rem; width: 100%; text-align: left; border: 0; border-bottom: 1px solid var(--line); border-radius: 0; padding: .5rem .9rem; background: var(--sheet); }
li button[aria-current="true"] { box-shadow: inset 4px 0 var(--accent); background: var(--ground); }
li .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600; }
li .why { grid-column: 1 / -1; font-size: .8rem; color: var(--quiet); }
.status { font-weight: 600; color: var(--accent); white-space: nowrap; }
.status::before { content: ""; display: inline-block; width: .6em; height: .6em; margin-right: .35em; border-radius: 50%; background: currentColor; }
.status[data-kind=good] { color: var(--good); } .status[data-kind=bad] { color: var(--bad); } .status[data-kind=wait] { color: var(--wait); }
.detail { padding: .8rem .9rem 1.2rem; min-width: 0; background: var(--ground); }
.detail header { display: flex; flex-wrap: wrap; gap: .3rem .8rem; align-items: baseline; margin-bottom: .5rem; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .05rem .9rem; margin: 0; font-size: .88rem; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-top: .7rem; }
form.row { margin: 0; } form.tall { display: grid; width: 100%; gap: .4rem; justify-items: start; }
.said { margin: .5rem 0 0; font-size: .88rem; color: var(--quiet); overflow-wrap: anywhere; } .said.wrong { color: var(--bad); }
/* A shadow at an edge says that the table goes on there; at its end the ground covers it. */
.scroll { --shade: light-dark(#1b1f2340, #000000b0); overflow-x: auto; background:
  linear-gradient(to right, var(--ground) 1rem, transparent) left / 2.5rem 100% no-repeat local, linear-gradient(to left, var(--ground) 1rem, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / .8rem 100% no-repeat, linear-gradient(to left, var(--shade), transparent) right / .8rem 100% no-repeat; }
table { border-collapse: collapse; width: 100%; font-size: .82rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
th { color: var(--quiet); font-weight: 500; }
pre { margin: .4rem 0; padding: .6rem; background: var(--sheet); border: 1px solid var(--line); border-radius: 6px; max-height: 18rem; overflow: auto; font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; font-size: .9rem; margin-top: .9rem; width: max-content; border-radius: 4px; }
.pages { margin: 0; padding: .5rem .9rem; }
.empty { padding: 1rem .9rem; color: var(--quiet); margin: 0; }
@container (max-width: 44rem) { .bar h2 { flex-basis: 100%; } .bar label { flex: 1 1 7rem; } .panes { grid-template-columns: minmax(0, 1fr); } ul { border-right: 0; max-height: 16rem; } }
`;
