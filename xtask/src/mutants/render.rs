//! A file with all its changes in it, each behind a switch.

use std::collections::BTreeMap;
use std::ops::Range;

use super::find::{Change, Place};

/// The switch: one number for the life of a process, from its environment; and who has asked.
pub(super) fn switch(count: usize) -> String {
    format!(
        r#"
#[doc(hidden)]
#[allow(missing_docs, clippy::all)]
pub mod mutant {{
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{{AtomicBool, AtomicU32, Ordering}};
    const UNREAD: u32 = u32::MAX;
    static WHICH: AtomicU32 = AtomicU32::new(UNREAD);
    static SEEN: [AtomicBool; {count}] = [const {{ AtomicBool::new(false) }}; {count}];
    #[inline(always)]
    pub fn is(number: u32) -> bool {{
        let which = WHICH.load(Ordering::Relaxed);
        if which < UNREAD {{ which == number }} else {{ read(number) }}
    }}
    #[cold]
    fn read(number: u32) -> bool {{
        static PATH: LazyLock<Option<std::ffi::OsString>> =
            LazyLock::new(|| std::env::var_os("{REACHED}"));
        let Some(path) = &*PATH else {{
            let which = std::env::var("{WHICH}").ok().and_then(|text| text.parse().ok());
            WHICH.store(which.unwrap_or(0), Ordering::Relaxed);
            return is(number);
        }};
        if !SEEN[number as usize].swap(true, Ordering::Relaxed) {{
            let mut file =
                std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            writeln!(file, "{{number}}").unwrap();
        }}
        false
    }}
}}
"#
    )
}

/// The variable that says which change is made.
pub(super) const WHICH: &str = "HOLDFAST_MUTANT";

/// The variable that names a file to which each number is written that is asked for.
pub(super) const REACHED: &str = "HOLDFAST_MUTANTS_REACHED";

/// The text with every one of these changes in it, by their numbers.
pub(super) fn render(text: &str, changes: &[(u32, &Change)]) -> String {
    let mut nodes: BTreeMap<(usize, usize), Vec<(u32, &Change)>> = BTreeMap::new();
    for (number, change) in changes {
        // Of those that begin at the same place the longest comes first.
        let key = (change.range.start, usize::MAX - change.range.end);
        nodes.entry(key).or_default().push((*number, change));
    }
    let nodes: Vec<_> = nodes.into_values().collect();
    inside(text, 0..text.len(), &nodes)
}

type Node<'a> = Vec<(u32, &'a Change)>;

/// A range of the text with the nodes that lie in it.
fn inside(text: &str, range: Range<usize>, nodes: &[Node<'_>]) -> String {
    let mut out = String::new();
    let mut at = range.start;
    let mut rest = nodes;
    while let Some((node, after)) = rest.split_first() {
        let Some((_, first)) = node.first() else { break };
        let own = first.range.clone();
        out.push_str(text.get(at..own.start).unwrap_or_default());
        let within = after
            .iter()
            .take_while(|node| node.first().is_some_and(|(_, next)| next.range.start < own.end))
            .count();
        let (children, others) = after.split_at(within);
        let original = inside(text, own.clone(), children);
        out.push_str(&switched(node, first.place, &original));
        (at, rest) = (own.end, others);
    }
    out.push_str(text.get(at..range.end).unwrap_or_default());
    out
}

fn switched(node: &Node<'_>, place: Place, original: &str) -> String {
    let mut out = String::new();
    for (number, change) in node {
        out.push_str(&format!("if crate::mutant::is({number}) {{ {} /*{number}*/ }}", change.with));
        out.push_str(if place == Place::Entry { "" } else { " else " });
    }
    let ends: String = node.iter().map(|(number, _)| format!("/*~{number}*/")).collect();
    match place {
        Place::Entry => format!(" {out}{ends}"),
        Place::Statement => format!("{out}{{ {original} {ends}}}"),
        Place::Expression => format!("({out}{{ {original} {ends}}})"),
    }
}

/// Which changes a place in the written text belongs to: those whose own text it is in, else the
/// innermost one around it, else all that are near.
pub(super) fn blamed(text: &str, numbers: &[u32], at: usize) -> Vec<u32> {
    let find = |marker: String| text.find(&marker);
    let around = |number: u32, end: String| {
        let (from, to) = (find(format!("mutant::is({number})"))?, find(end)?);
        (from..=to).contains(&at).then_some((to - from, number))
    };
    let own: Vec<u32> = numbers
        .iter()
        .filter_map(|number| around(*number, format!("/*{number}*/")))
        .map(|(_, number)| number)
        .collect();
    if !own.is_empty() {
        return own;
    }
    let whole = numbers.iter().filter_map(|number| around(*number, format!("/*~{number}*/")));
    if let Some((_, innermost)) = whole.min() {
        return vec![innermost];
    }
    let is_near = |number: &u32| {
        find(format!("/*~{number}*/")).is_some_and(|place| place.abs_diff(at) < NEAR)
    };
    numbers.iter().copied().filter(is_near).collect()
}

/// In bytes: about a function.
const NEAR: usize = 1_000;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::find::{Found, find};
    use super::*;

    const CODE: &str = "\
const LEAST: u64 = 1 + 2;
fn is_due(at: u64, now: u64) -> bool {
    log(at);
    at < now && !bites(Tooth::LoseDue)
}
#[cfg(test)]
mod tests {
    fn never() -> bool {
        1 < 2
    }
}
";

    fn found() -> Found {
        find(CODE, &BTreeSet::new()).expect("it is Rust")
    }

    #[test]
    fn what_ships_is_changed_and_no_constant_test_or_deliberate_fault() {
        let found: Vec<_> = found().changes.into_iter().map(|own| (own.line, own.what)).collect();
        let expected = [
            (2, "is_due returns true"),
            (2, "is_due returns false"),
            (3, "delete log(at);"),
            (4, "replace < by <="),
            (4, "negate <"),
        ];
        assert_eq!(found, expected.map(|(line, what)| (line, what.to_owned())));
    }

    #[test]
    fn each_change_stands_behind_its_switch_and_is_found_by_its_place() {
        let found = found();
        let numbered: Vec<_> = (1..).zip(&found.changes).collect();
        let text = render(CODE, &numbered);
        syn::parse_file(&text).expect("it is Rust still");
        let at = text.find("at <= now").expect("it is there");
        assert_eq!(blamed(&text, &[1, 2, 3, 4, 5], at), [4]);
        let unchanged = text.find("at < now /*~").expect("it is there");
        assert_eq!(blamed(&text, &[1, 2, 3, 4, 5], unchanged), [5]);
    }
}
