use super::*;
use crate::resolve::tests::catalog;
use catalog::Catalog;

fn with<R>(entries: &str, ask: impl FnOnce(&View<'_, '_>) -> R) -> R {
    fn layer(catalog: &Catalog, generic: bool) -> Layer<'_> {
        Layer::new(catalog.artifacts.iter().filter(|a| a.id.family.is_generic() == generic))
    }
    let catalog = catalog(entries);
    ask(&View::new(&layer(&catalog, true), layer(&catalog, false)))
}

#[test]
fn of_several_artifacts_with_a_path_the_first_by_name_has_it() {
    let cases = [
        ("b_lib_generic f text f", "b_lib_generic"),
        ("b_lib_generic f text f\na_lib_generic f text g", "a_lib_generic"),
        ("b_lib_generic f text f\na_lib_gfx942 f text g", "a_lib_gfx942"),
        ("b_lib_generic f text f\nc_lib_gfx942 f text g", "b_lib_generic"),
        ("c_lib_gfx942 f text g", "c_lib_gfx942"),
    ];
    for (entries, expected) in cases {
        let has =
            with(entries, |view| view.get(&"f".parse().unwrap()).unwrap().artifact.id.to_string());
        assert_eq!(has, expected, "{entries}");
    }
}

#[test]
fn a_directory_is_empty_where_no_artifact_has_something_below_it() {
    let cases = [
        ("a_lib_generic d dir", true),
        ("a_lib_generic d dir\nb_lib_generic d/f text f", false),
        ("a_lib_generic d dir\nb_lib_gfx942 d/f text f", false),
        ("a_lib_gfx942 d dir\nb_lib_generic d/e dir", false),
        ("a_lib_generic d dir\nb_lib_generic de text f", true),
    ];
    for (entries, expected) in cases {
        let empty = with(entries, |view| view.is_empty_directory(&"d".parse().unwrap()));
        assert_eq!(empty, expected, "{entries}");
    }
}

fn leads(text: &str, entries: &str) -> String {
    with(entries, |view| match view.follow(&"d/l".parse().unwrap(), text) {
        Target::File(item) => item.entry.path.to_string(),
        Target::Directory => "directory".to_owned(),
        Target::Missing(path) => format!("no {path}"),
        Target::Outside => "outside".to_owned(),
        Target::Loop => "loop".to_owned(),
    })
}

#[test]
fn where_a_link_leads() {
    let entries = "a_lib_generic d/f text f
                   a_lib_generic d/e/g text g
                   a_lib_generic d/up link ..
                   a_lib_generic d/to-g link e/g
                   a_lib_generic d/abs link /etc
                   a_lib_generic d/self link self";
    let cases = [
        ("f", "d/f"),
        ("./f", "d/f"),
        ("../d//f", "d/f"),
        ("to-g", "d/e/g"),
        ("up/d/f", "d/f"),
        ("e/../f", "d/f"),
        ("e", "directory"),
        ("..", "directory"),
        ("h", "no d/h"),
        ("f/g", "no d/f/g"),
        ("h/i/j", "no d/h"),
        ("../..", "outside"),
        ("/d/f", "outside"),
        ("abs/x", "outside"),
        ("self", "loop"),
    ];
    for (text, expected) in cases {
        assert_eq!(leads(text, entries), expected, "{text}");
    }
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let chain = |links: usize| -> String {
        let link = |n: usize| format!("a_lib_generic d/{n} link {}\n", n + 1);
        (0..links).map(link).collect::<String>() + &format!("a_lib_generic d/{links} text end")
    };
    assert_eq!(leads("0", &chain(40)), "d/40");
    assert_eq!(leads("0", &chain(41)), "loop");
}
