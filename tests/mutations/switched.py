# SPDX-License-Identifier: MIT
"""Mutations as switches: one source with all of them, of which a variable chooses one at run time.

At the place of a mutation, its number selects one of two texts:

    if crate::mutated(7) { MUTANT } else { ORIGINAL }

So the tests are compiled once for all mutations.
"""

from dataclasses import dataclass

# The variable with the number of the mutation that counts.
CHOSEN = "ROCKPACK_MUTATION"

# Addition to the copy's lib.rs. Without the variable, no mutation is active.
FUNCTION = f"""
/// Whether the mutation of this number counts.
pub(crate) fn mutated(number: u32) -> bool {{
    static CHOSEN: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    let chosen = || std::env::var("{CHOSEN}").ok()?.parse().ok();
    *CHOSEN.get_or_init(chosen) == Some(number)
}}
"""

# Marks the place of the switch in a mutant that has it inside.
SWITCH = "mutated()"


@dataclass(frozen=True)
class Mutation:
    """A plausible mistake.

    `file` is below crates/plan/src/resolve. `original` occurs there once; if it occurs more often, `within` is a longer
    text that occurs there once and has it once. `mutant` takes its place: an expression for an expression, statements
    for statements. Where neither fits (a pattern, an argument of a longer call), the mutant has all of the text, with
    `mutated()` for "this mutation is active".
    """

    file: str
    meaning: str
    original: str
    mutant: str
    within: str | None = None


class Misplaced(Exception):
    """Mutations that the source has no place for."""


@dataclass(frozen=True)
class Place:
    """A mutation in the text of its file."""

    number: int
    mutation: Mutation
    start: int
    end: int
    line: int

    @property
    def title(self):
        """The file and the line, as compilers name them."""
        return f"{self.mutation.file}:{self.line}"

    def switched(self, original):
        """Returns the text with the switch; `original` is the source's text, with the inner switches."""
        number, mutant = self.number, self.mutant
        if SWITCH in mutant:
            return mutant.replace(SWITCH, f"crate::mutated({number})")
        text = f"if crate::mutated({number}) {{ {mutant} }} else {{ {original} }}"
        return text if original.rstrip().endswith((";", "}")) else f"({text})"

    @property
    def mutant(self):
        return self.mutation.mutant


def find(number, mutation, text):
    """The place of a mutation, or raise Misplaced, which names it."""
    def find_once(part, whole, name):
        count = whole.count(part)
        if count != 1:
            stands = "is not there any more" if count == 0 else f"stands there {count} times"
            raise Misplaced(f"mutation {number} ({mutation.file}: {mutation.meaning}): {name} {stands}:\n{part}")
        return whole.index(part)

    start = 0
    if mutation.within is not None:
        start = find_once(mutation.within, text, "the text around it")
        start += find_once(mutation.original, mutation.within, "its text")
    else:
        start = find_once(mutation.original, text, "its text")
    line = text.count("\n", 0, start) + 1
    return Place(number, mutation, start, start + len(mutation.original), line)


def find_all(mutations, read):
    """Every place, in the order of the mutations; `read` gives the text of a file. All that is wrong is raised at once."""
    places, errors = [], []
    for number, mutation in enumerate(mutations, 1):
        try:
            places.append(find(number, mutation, read(mutation.file)))
        except Misplaced as error:
            errors.append(str(error))
    errors += crossing(places)
    if errors:
        raise Misplaced("\n".join(errors))
    return places


def crossing(places):
    """Returns the faults of overlapping places: one place may be inside another only if that one's switch surrounds it.
    """
    for one in places:
        for other in places:
            if one.number == other.number or one.mutation.file != other.mutation.file:
                continue
            if one.start <= other.start < one.end:
                inside = other.end <= one.end and (other.start, other.end) != (one.start, one.end)
                if not inside or SWITCH in one.mutant:
                    yield f"mutations {one.number} and {other.number} overlap ({one.title})"


def apply(text, places):
    """The text of one file with the switches of its places."""
    def switch_between(start, end, inner):
        out, at = [], start
        for place in outermost(inner):
            within = [p for p in inner if p is not place and place.start <= p.start and p.end <= place.end]
            out.append(text[at:place.start])
            out.append(place.switched(switch_between(place.start, place.end, within)))
            at = place.end
        out.append(text[at:end])
        return "".join(out)

    return switch_between(0, len(text), places)


def outermost(places):
    """Returns the places outside all others, in the order of the text."""
    inside = [p for p in places for q in places if p is not q and q.start <= p.start and p.end <= q.end]
    return sorted((p for p in places if p not in inside), key=lambda place: place.start)
