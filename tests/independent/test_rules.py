"""Self-tests of the independent rules: python3 -m unittest discover tests/independent"""

import base64
import hashlib
import os
import struct
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import elf
import elf_blocks
import elf_compare
import rpath
import rules
import tree
from elf_image import shared_object
from facts import Facts
from globs import matches
from wheels import Record, open_members


class Tree(unittest.TestCase):
    """A tree in a temporary directory: text is a link, bytes are a file, None a directory."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def make(self, name, content):
        artifact = Path(self.folder.name, name)
        for path, value in content.items():
            place = artifact / "stage" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if value is None:
                place.mkdir()
            elif isinstance(value, str):
                place.symlink_to(value)
            else:
                place.write_bytes(value)
        (artifact / "artifact_manifest.txt").write_text("stage\nabsent\n")
        return tree.read_entries(artifact)

    def package(self, tree, view=None, logical="core"):
        package = rules.Package(logical, "p", "_p", tree, view or tree)
        rules.fill_runtime(package, [])
        return package

    def forms(self, content):
        package = self.package(self.make("a_lib_generic", content))
        return {path: item.form for path, item in package.items.items()}, package.dropped


class Globs(unittest.TestCase):
    def test_star_stays_inside_one_segment(self):
        self.assertTrue(matches("lib/*.so", "lib/a.so"))
        self.assertFalse(matches("lib/*.so", "lib/a/b.so"))
        self.assertFalse(matches("lib/?.so", "lib//.so"))

    def test_double_star_spans_segments_and_none(self):
        for path in ("cmake", "cmake/x", "lib/cmake", "lib/a/cmake/b/c"):
            self.assertTrue(matches("**/cmake/**", path), path)
        for path in ("lib/cmakes/x", "lib/xcmake/y", "lib/cmake.txt"):
            self.assertFalse(matches("**/cmake/**", path), path)
        self.assertTrue(matches("share/**/x/**", "share/x"))
        self.assertTrue(matches("share/**/x/**", "share/a/b/x/y"))

    def test_trailing_double_star_matches_the_directory_itself(self):
        self.assertTrue(matches("a/**", "a"))
        self.assertTrue(matches("a/**", "a/b/c"))
        self.assertFalse(matches("a/**", "ab"))

    def test_case_and_dots_are_literal(self):
        self.assertFalse(matches("lib/A.so", "lib/a.so"))
        self.assertFalse(matches("lib/a.so", "lib/aXso"))
        self.assertTrue(matches("**", ".hidden/x\ny"))


class Links(Tree):
    def test_follows_directory_links_component_by_component(self):
        view = self.make("a_lib_generic", {
            "lib/real/deep/f": b"x", "lib/short": "real/deep", "bin/f": "../lib/short/../deep/f"})
        self.assertEqual(tree.resolve(view, "bin/f").path, "lib/real/deep/f")

    def test_circles_escapes_and_absolute_links_lead_nowhere(self):
        view = self.make("a_lib_generic", {
            "a": "b", "b": "a", "c": "../../etc", "d": "/etc/passwd", "f": b"", "g": "f/x"})
        for path in "abcdg":
            self.assertIsNone(tree.resolve(view, path), path)

    def test_a_link_to_the_own_directory_is_a_directory(self):
        view = self.make("a_lib_generic", {"include/hsa/hsa": ".", "include/hsa/x.h": b""})
        self.assertEqual(tree.resolve(view, "include/hsa/hsa").form, "dir")
        self.assertEqual(tree.resolve(view, "include/hsa/hsa/hsa/x.h").path, "include/hsa/x.h")

    def test_different_bytes_under_one_path_are_a_conflict(self):
        one = self.make("a_lib_generic", {"x": b"1", "y": b"2"})
        other = self.make("b_lib_generic", {"x": b"1", "y": b"3"})
        tree.add(dict(one), other["x"])
        with self.assertRaises(tree.Conflict):
            tree.add(dict(one), other["y"])


class Kinds(unittest.TestCase):
    def kind(self, **wishes):
        return elf.kind_of(elf.parse(shared_object(**wishes)))

    def test_from_the_bytes(self):
        self.assertEqual(self.kind(soname="libx.so.1"), elf.LIBRARY)
        self.assertEqual(self.kind(soname="libc.so.6", interp=True), elf.LIBRARY)
        self.assertEqual(self.kind(interp=True), elf.PROGRAM)
        self.assertEqual(self.kind(interp=True, flags=elf.DF_1_PIE), elf.PROGRAM)
        self.assertEqual(self.kind(flags=elf.DF_1_PIE), elf.STATIC_PROGRAM)
        self.assertEqual(self.kind(etype=2), elf.STATIC_PROGRAM)
        self.assertEqual(self.kind(etype=1), elf.PLAIN)

    def test_other_machines_and_classes_are_plain(self):
        image = bytearray(shared_object(soname="x"))
        image[18] = 224
        self.assertEqual(elf.kind_of(elf.parse(bytes(image))), elf.PLAIN)
        image[4] = 1
        self.assertIsNone(elf.parse(bytes(image)))

    def test_truncated_files_are_called_malformed(self):
        with self.assertRaises(elf.Malformed):
            elf.parse(shared_object(soname="x")[:100])


class Artifacts(unittest.TestCase):
    def test_devel_by_names_agrees_with_the_devel_columns(self):
        facts = Facts(Path(__file__).parent.parent / "facts")
        for kpack, column in ((True, 7), (False, 8)):
            names = facts.devel_names(kpack)
            excluded = facts.devel_excluded_components(kpack)
            for row in facts.rows["ARTIFACT"]:
                taken = row[0] in names and row[1] not in excluded
                self.assertEqual(taken, row[column] == "yes", row[:2])


class Runtime(Tree):
    LIB = shared_object(soname="libx.so.1")

    def test_soname_chain_ships_one_library(self):
        forms, dropped = self.forms({
            "lib/libx.so.1.2": self.LIB, "lib/libx.so.1": "libx.so.1.2", "lib/libx.so": "libx.so.1"})
        self.assertEqual(forms, {"lib/libx.so.1": rules.LINKED_ELF, "__init__.py": rules.INIT})
        self.assertEqual(dropped["lib/libx.so"], "alias")

    def test_library_that_no_entry_names_is_renamed(self):
        forms, _ = self.forms({"lib/libx-7.so": self.LIB, "lib/libx.so": "libx-7.so"})
        self.assertIn("lib/libx.so.1", forms)
        self.assertNotIn("lib/libx-7.so", forms)

    def test_library_without_soname_stays_and_its_links_are_aliases(self):
        forms, dropped = self.forms({"lib/p.so": shared_object(), "lib/q.so": "p.so"})
        self.assertEqual(forms["lib/p.so"], rules.LINKED_ELF)
        self.assertEqual(dropped["lib/q.so"], "alias")

    def test_links_to_programs_scripts_and_data(self):
        tree = self.make("a_run_generic", {
            "bin/tool": shared_object(interp=True), "bin/t": "tool", "bin/s": "run.py",
            "bin/run.py": b"#!/usr/bin/env python3\n", "bin/d": "note", "bin/note": b"#!x"})
        os.chmod(tree["bin/run.py"].source, 0o755)
        items = self.package(tree).items
        self.assertEqual([items[f"bin/{name}"].form for name in "tsd"],
                         [rules.STUB, rules.STUB, rules.COPY])

    def test_stub_is_dropped_when_its_target_is_not_shipped(self):
        tree = self.make("a_run_generic", {"bin/t": "tool"})
        view = {**tree, **self.make("b_run_generic", {"bin/tool": shared_object(interp=True)})}
        self.assertEqual(self.package(tree, view).dropped["bin/t"], "target not shipped")

    def test_requested_alias_is_a_forwarding_library(self):
        forms, _ = self.forms({"lib/libhiprtc.so.7": shared_object(soname="libhiprtc.so.7"),
                               "lib/libhiprtc.so": "libhiprtc.so.7"})
        self.assertEqual(forms["lib/libhiprtc.so"], rules.FORWARD)

    def test_a_device_package_has_no_init(self):
        tree = self.make("a_lib_gfx942", {"lib/k.co": b"x"})
        items = self.package(tree, logical="device").items
        self.assertNotIn("__init__.py", items)


class Devel(Tree):
    def test_first_rule_that_fits(self):
        lib = shared_object(soname="libx.so.1")
        tree = self.make("a_lib_generic", {
            "lib/libx.so.1.2": lib, "lib/libx.so.1": "libx.so.1.2", "lib/libx.so": "libx.so.1",
            "lib/old-8.so": shared_object(soname="old.so.8"), "lib/here": ".", "lib/none": "gone"})
        runtime = self.package(dict(tree))
        tree.update(self.make("a_dev_generic", {"include/x.h": b"x", "empty": None}))
        members = rules.devel_members(tree, tree, [runtime])
        links = {path: detail for path, (form, detail) in members.items() if form == "link"}
        self.assertEqual(links, {
            "lib/libx.so": "libx.so.1", "lib/libx.so.1.2": "libx.so.1",
            "lib/libx.so.1": "../../_p/lib/libx.so.1", "lib/old-8.so": "old.so.8",
            "lib/old.so.8": "../../_p/lib/old.so.8", "lib/here": ".", "lib/none": "gone"})
        self.assertEqual(members["include/x.h"][0], "file")
        self.assertEqual(members["empty"][0], "dir")


class Rpath(unittest.TestCase):
    def test_nothing_is_repeated_that_means_the_same(self):
        old = elf.parse(shared_object(soname="x", runpath="$ORIGIN:/opt/y:$ORIGIN/../lib/z"))
        self.assertEqual(
            rpath.expected(old, "_p/lib", ["_p/lib", "_p/lib/z", "_q/lib"]),
            ["_p/lib", "system:/opt/y", "_p/lib/z", "_q/lib"])

    def test_a_name_that_only_begins_like_origin_is_no_origin(self):
        self.assertEqual(rpath.meaning("$ORIGINAL/x", "_p/lib"), "system:$ORIGINAL/x")

    def test_an_edit_may_not_touch_other_bytes(self):
        source = shared_object(soname="x", tail=b"code and data")
        result = source[:-1] + b"A"
        old, new = elf.parse(source), elf.parse(result)
        ranges = list(elf_compare.unchanged_ranges(old, new, [], len(source)))
        self.assertEqual(len(list(elf_compare.byte_faults(source, result, ranges))), 1)
        self.assertEqual(list(elf_compare.byte_faults(source, source + b"tail", ranges)), [])

    def test_an_edit_may_not_touch_other_fields_of_the_elf_header(self):
        source = shared_object(soname="x")
        old = elf.parse(source)
        ranges = list(elf_compare.unchanged_ranges(old, old, [], len(source)))
        fields = {"e_type": 16, "e_machine": 18, "e_entry": 24, "e_flags": 48, "e_shentsize": 58}
        for name, at in fields.items():
            result = bytearray(source)
            result[at] ^= 1
            self.assertEqual(len(list(elf_compare.byte_faults(source, result, ranges))), 1, name)
        for name, at in {"e_phoff": 32, "e_shoff": 40, "e_phnum": 56, "e_shnum": 60}.items():
            result = bytearray(source)
            result[at] ^= 1
            self.assertEqual(list(elf_compare.byte_faults(source, result, ranges)), [], name)

    def test_runpath_is_reported(self):
        image = elf.parse(shared_object(soname="x", runpath="$ORIGIN"))
        self.assertTrue(list(elf_compare.rpath_faults(image, image, ["_p/lib"], "_p/lib")))


class DevelFiles(unittest.TestCase):
    """An ELF file in devel, which only changes RUNPATH to RPATH."""

    SOURCE = shared_object(soname="x", needed=["liby.so", "libz.so"], runpath="$ORIGIN", flags=elf.DF_1_PIE)

    def faults(self, *changes):
        """Return the faults of the file with its RPATH and changes of the dynamic section: tag, old and new entry."""
        source, old = self.SOURCE, elf.parse(self.SOURCE)
        start, end = old.dynamic_range
        section, values = source[start:end], dict(old.tags)
        entries = [(elf.DT_RUNPATH, elf.DT_RPATH, values[elf.DT_RUNPATH]), *changes]
        for tag, new_tag, new_value in entries:
            entry = struct.pack("<QQ", tag, values[tag])
            self.assertIn(entry, section)
            section = section.replace(entry, struct.pack("<QQ", new_tag, new_value))
        result = source[:start] + section + source[end:]
        return list(elf_compare.devel_faults(source, result, old, elf.parse(result)))

    def test_the_rpath_may_change_its_tag(self):
        self.assertEqual(self.faults(), [])

    def test_other_entries_stay(self):
        values = dict(elf.parse(self.SOURCE).tags)
        for tag, new_tag, new_value in (
            (elf.DT_NEEDED, elf.DT_NEEDED, values[elf.DT_SONAME]),
            (elf.DT_SONAME, elf.DT_SONAME, values[elf.DT_NEEDED]),
            (elf.DT_FLAGS_1, elf.DT_FLAGS_1, 0),
            (elf.DT_STRSZ, elf.DT_STRSZ, values[elf.DT_STRSZ] - 1),
            (elf.DT_SONAME, 0x6FFFFEF5, 0),
        ):
            self.assertTrue(self.faults((tag, new_tag, new_value)), (tag, new_tag, new_value))


class Moves(unittest.TestCase):
    """An edit that moves the note (at 64) of a file behind its old end."""

    NOTE, END = 64, 256

    def image(self, place, note=b"build-id"):
        """The bytes of the source (place 64) or of a result with the note elsewhere."""
        data = bytearray(b"\xaa" * self.END)
        data[self.NOTE:self.NOTE + 8] = note if place == self.NOTE else b"headers!"
        return bytes(data) if place < self.END else bytes(data) + note

    def faults(self, result, place):
        source = self.image(self.NOTE)
        old = elf.Elf(3, 62, segments=[elf.Segment(4, self.NOTE, self.NOTE, 8)])
        new = elf.Elf(3, 62, segments=[elf.Segment(4, place, place, 8)])
        moved = list(elf_blocks.blocks(source, result, old, new))
        ranges = elf_compare.unchanged_ranges(old, new, moved, len(source))
        return [*elf_blocks.block_faults(source, result, moved),
                *elf_compare.byte_faults(source, result, ranges)]

    def test_a_block_may_move_with_its_bytes(self):
        self.assertEqual(self.faults(self.image(self.END), self.END), [])

    def test_a_block_that_lost_its_bytes_is_found(self):
        self.assertEqual(len(self.faults(self.image(self.END, b"build-ie"), self.END)), 2)

    def test_bytes_beside_a_moved_block_stay(self):
        result = bytearray(self.image(self.END))
        result[self.NOTE + 8] = 0
        self.assertEqual(len(self.faults(bytes(result), self.END)), 1)

    def test_loads_and_tags_stay(self):
        def tables(size, tags):
            return elf.Elf(3, 62, segments=[elf.Segment(1, 0, 0, 9), elf.Segment(1, 9, 9, size)],
                           tags=tags)
        old = tables(5, [(12, 1), (5, 7)])
        self.assertEqual(list(elf_blocks.load_faults(old, tables(6, []))), [])
        self.assertEqual(len(list(elf_blocks.load_faults(old, tables(4, [])))), 1)
        self.assertEqual(list(elf_blocks.tag_faults(old, tables(5, [(15, 3), (12, 1), (5, 8)]))), [])
        self.assertEqual(len(list(elf_blocks.tag_faults(old, tables(5, [(12, 2), (5, 7)])))), 1)


class Records(unittest.TestCase):
    def faults(self, rows):
        with tempfile.TemporaryFile() as stream, zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("m/a b,c.py", b"text")
            archive.writestr("d-1.dist-info/RECORD", "\r\n".join(rows))
            record = Record(archive)
            faults = [fault for _, fault in record.faults(archive)]
            for info, content in open_members(archive):
                faults += record.entry_faults(info.filename, content)
            return faults

    def test_exact_record_passes_and_others_do_not(self):
        good = base64.urlsafe_b64encode(hashlib.sha256(b"text").digest()).rstrip(b"=").decode()
        line = "d-1.dist-info/RECORD,,"
        self.assertEqual(self.faults([f'"m/a b,c.py",sha256={good},4', line]), [])
        self.assertEqual(len(self.faults([f'"m/a b,c.py",sha256={good},5', line])), 1)
        self.assertEqual(len(self.faults([line])), 1)
        self.assertEqual(len(self.faults([f'"m/a b,c.py",sha256={good},4', line, "x,,"])), 1)


if __name__ == "__main__":
    unittest.main()
