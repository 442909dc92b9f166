//! README and guides as the package ships them: the repository's, without what leads nowhere from there.
//! A picture that is not shipped is told in the words that stand for it.

/// What only those need who have the repository, from its heading to the licence.
const REPOSITORY_ONLY: [&str; 2] = ["## Work on it", "MIT OR Apache-2.0."];

/// Where the package has what these folders of the repository hold.
const MOVED: [&str; 2] = ["pkg-template/", "www/"];

/// A document that is shipped at `to`, a place in the package, and links from `from`, its folder in the
/// repository. Links to what the package has lead there; what it has not is text without a link.
pub(crate) fn shipped(text: &str, from: &str, to: &str, has: impl Fn(&str) -> bool) -> String {
    let text = without_repository(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find('[') {
        let (before, found) = rest.split_at(start);
        out.push_str(before);
        let Some((label, target, after)) = link(found) else {
            out.push('[');
            rest = &found[1..];
            continue;
        };
        match place(target, from, to, &has) {
            Some(place) => out.push_str(&format!("[{label}]({place})")),
            None => {
                if out.ends_with('!') {
                    out.pop();
                }
                out.push_str(label);
            }
        }
        rest = after;
    }
    out + rest
}

/// Where a link leads in the package, seen from the document.
fn place(target: &str, from: &str, to: &str, has: impl Fn(&str) -> bool) -> Option<String> {
    if target.contains("://") || target.starts_with('#') {
        return Some(target.to_owned());
    }
    let (path, anchor) = target.find('#').map_or((target, ""), |at| target.split_at(at));
    let whole = joined(from, path);
    let moved = MOVED.iter().find_map(|folder| whole.strip_prefix(folder)).unwrap_or(&whole);
    if !has(moved) {
        return None;
    }
    let own = to.rsplit_once('/').map_or("", |(folder, _)| folder);
    let seen = match moved.strip_prefix(own).and_then(|rest| rest.strip_prefix('/')) {
        Some(beside) => beside.to_owned(),
        None => "../".repeat(to.matches('/').count()) + moved,
    };
    Some(seen + anchor)
}

/// A path from a folder, without the steps up.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

fn without_repository(readme: &str) -> String {
    let [from, to] = REPOSITORY_ONLY.map(|text| readme.find(text));
    match (from, to) {
        (Some(from), Some(to)) if from < to => [&readme[..from], &readme[to..]].concat(),
        (Some(_) | None, Some(_) | None) => readme.to_owned(),
    }
}

/// The label and target of a link that begins here, and what comes after it.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (label, after) = text.strip_prefix('[')?.split_once(']')?;
    let (target, after) = after.strip_prefix('(')?.split_once(')')?;
    Some((label, target, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_shipped(text: &str) -> String {
        shipped(text, "", "README.md", |name| name == "index.d.ts")
    }

    #[test]
    fn a_link_to_what_is_shipped_leads_to_where_the_package_has_it() {
        assert_eq!(
            as_shipped("see [`types`](pkg-template/index.d.ts)."),
            "see [`types`](index.d.ts)."
        );
        assert_eq!(as_shipped("[here](https://a.example/b)"), "[here](https://a.example/b)");
    }

    #[test]
    fn a_link_to_what_is_not_shipped_is_text() {
        assert_eq!(as_shipped("[a page](tests/contracts) and a[0]"), "a page and a[0]");
    }

    #[test]
    fn a_picture_that_is_not_shipped_is_told_in_words() {
        assert_eq!(as_shipped("see:\n\n![Once.](www/a.svg)\n"), "see:\n\nOnce.\n");
    }

    #[test]
    fn a_guide_leads_to_guides_beside_it_and_to_what_the_package_has_above() {
        let has = |name: &str| ["docs/errors.md", "index.d.ts", "story.svg"].contains(&name);
        let guide = |text: &str| shipped(text, "www/docs", "docs/index.md", has);
        assert_eq!(guide("[parks](errors.md#parks)"), "[parks](errors.md#parks)");
        assert_eq!(guide("[types](../../pkg-template/index.d.ts)"), "[types](../index.d.ts)");
        assert_eq!(guide("![Once.](../story.svg)"), "![Once.](../story.svg)");
        assert_eq!(guide("[tests](../../tests/profiles)"), "tests");
    }

    #[test]
    fn what_needs_the_repository_is_left_out() {
        assert_eq!(
            as_shipped("one\n\n## Work on it\n\nmake\n\nMIT OR Apache-2.0.\n"),
            "one\n\nMIT OR Apache-2.0.\n"
        );
    }
}
