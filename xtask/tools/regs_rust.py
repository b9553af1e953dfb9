"""Writes Rust types and a table of the registers of a SystemRDL file to standard output.

PeakRDL's own Rust back end gives pointers to memory-mapped registers, unsafe by nature and tied
to a crate of its own. Here registers are reached through a trait, by offset, so what is wanted
is a value type for each register and a table to walk.

    python regs_rust.py FILE.rdl
"""

import re
import sys

from systemrdl import RDLCompiler
from systemrdl.node import FieldNode, MemNode, RegNode


def camel(name):
    """UpperCamelCase of a snake_case name."""
    return "".join(part[:1].upper() + part[1:].lower() for part in name.split("_") if part)


def doc(text, indent=""):
    """Doc comments of a text, one sentence at least."""
    lines = [line.strip() for line in (text or "").strip().splitlines()] or [""]
    return [f"{indent}/// {line}".rstrip() for line in lines]


def text_of(node):
    """The name and description of a node as documentation."""
    name = node.get_property("name")
    description = node.get_property("desc") or ""
    if not description:
        return f"{name}."
    if name == node.inst_name:
        return description
    return f"{name}: {description}"


def dimensions(node, top):
    """The (count, stride) of every array that a node is in, the outermost first, and its first
    address."""
    found, at, address = [], node, 0
    while at is not None and at != top:
        if at.is_array:
            found = [(n, None) for n in at.array_dimensions] + found
            stride = at.array_stride
            for place in range(len(at.array_dimensions) - 1, -1, -1):
                found[place] = (at.array_dimensions[place], stride)
                stride *= at.array_dimensions[place]
        address += at.raw_address_offset
        at = at.parent
    return found, address


def path_of(node, top):
    """The names of a node below the top, without its arrays' indices."""
    names = []
    while node is not None and node != top:
        names.insert(0, node.inst_name)
        node = node.parent
    return names


def access(readable, writable):
    return {
        (True, True): "Access::ReadWrite",
        (True, False): "Access::ReadOnly",
        (False, True): "Access::WriteOnly",
        (False, False): "Access::None",
    }[(readable, writable)]


def rust_enum(encoding, name):
    members = list(encoding)
    out = doc(f"Values of a field: {name}.")
    out += ["#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]", "#[repr(u32)]"]
    out += [f"pub enum {name} {{"]
    for member in members:
        out += doc(member.rdl_desc or member.rdl_name or f"`{member.name}`.", "    ")
        out += [f"    {camel(member.name)} = {member.value},"]
    out += ["}", "", f"impl {name} {{"]
    out += ["    /// The value with this code, if there is one."]
    out += ["    pub const fn from_code(code: u32) -> Option<Self> {", "        match code {"]
    out += [f"            {m.value} => Some(Self::{camel(m.name)})," for m in members]
    out += ["            _ => None,", "        }", "    }", "}", ""]
    return out


def accessors(field, word, enums):
    """The getter and the builder of a field."""
    name = field.inst_name.lower()
    name = f"r#{name}" if name in {"type", "match", "move", "ref", "in", "loop", "use"} else name
    bare = name.removeprefix("r#")
    lsb, mask = field.low, (1 << field.width) - 1
    encoding = field.get_property("encode")
    out = doc(text_of(field), "    ")
    if encoding is not None:
        kind = enums[encoding]
        got = f"{kind}::from_code(((self.0 >> {lsb}) & {mask:#x}) as u32)"
        out += [f"    pub const fn {name}(self) -> Option<{kind}> {{", f"        {got}", "    }"]
        given = f"{kind}"
        value = f"(value as u32 as {word})"
    elif field.width == 1:
        out += [f"    pub const fn {name}(self) -> bool {{"]
        out += [f"        (self.0 >> {lsb}) & 1 != 0", "    }"]
        given, value = "bool", f"(value as {word})"
    else:
        given = "u32" if field.width <= 32 else word
        got = f"((self.0 >> {lsb}) & {mask:#x}) as {given}"
        out += [f"    pub const fn {name}(self) -> {given} {{", f"        {got}", "    }"]
        value = f"(value as {word} & {mask:#x})"
    out += ["", f"    /// The register with another `{bare}`; bits beyond the field are dropped."]
    out += ["    #[must_use]", f"    pub const fn with_{bare}(self, value: {given}) -> Self {{"]
    out += [f"        Self(self.0 & !({mask:#x} << {lsb}) | {value} << {lsb})", "    }", ""]
    return out


def reset_of(register):
    value = 0
    for field in register.fields():
        reset = field.get_property("reset")
        if isinstance(reset, int):
            value |= reset << field.low
    return value


def offset_functions(dims, address):
    out = ["    /// The offset in the register window, in bytes; of an array, of its first."]
    out += [f"    pub const OFFSET: u32 = {address:#x};", ""]
    if not dims:
        return out
    names = "ijklm"[: len(dims)]
    arguments = ", ".join(f"{n}: u32" for n in names)
    inside = " && ".join(f"{n} < {count}" for n, (count, _) in zip(names, dims))
    terms = " + ".join(f"{n} * {stride:#x}" for n, (_, stride) in zip(names, dims))
    for place, (count, stride) in enumerate(dims):
        suffix = "" if len(dims) == 1 else f"_{place}"
        out += ["    /// How many there are.", f"    pub const COUNT{suffix}: u32 = {count};"]
        out += ["    /// The bytes from one to the next."]
        out += [f"    pub const STRIDE{suffix}: u32 = {stride:#x};", ""]
    out += ["    /// The offset of one of them, if there is one with this index."]
    out += [f"    pub const fn offset({arguments}) -> Option<u32> {{"]
    out += [f"        if {inside} {{", f"            Some(Self::OFFSET + {terms})"]
    out += ["        } else {", "            None", "        }", "    }", ""]
    return out


def register_type(register, top, enums):
    dims, address = dimensions(register, top)
    name = camel("_".join(path_of(register, top)))
    word = "u64" if register.get_property("regwidth") > 32 else "u32"
    out = doc(text_of(register))
    out += ["#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]", f"pub struct {name}(pub {word});"]
    out += ["", f"impl {name} {{"]
    out += offset_functions(dims, address)
    out += ["    /// The value after reset.", f"    pub const RESET: Self = Self({reset_of(register):#x});"]
    out += [""]
    for field in register.fields():
        out += accessors(field, word, enums)
    return out + ["}", "", f"impl Default for {name} {{", "    fn default() -> Self {",
                  "        Self::RESET", "    }", "}", ""]


def window_type(memory, top):
    dims, address = dimensions(memory, top)
    name = camel("_".join(path_of(memory, top)))
    out = doc(text_of(memory)) + [f"pub enum {name} {{}}", "", f"impl {name} {{"]
    out += offset_functions(dims, address)
    out += ["    /// How many words it has.", f"    pub const WORDS: u32 = {memory.get_property('mementries')};"]
    out += ["    /// The bytes of a word.", f"    pub const WORD_BYTES: u32 = {memory.get_property('memwidth') // 8};"]
    return out + ["}", ""]


def table(registers, top):
    out = ["/// Every register, by offset.", "pub const REGISTERS: &[Register] = &["]
    for register in registers:
        dims, address = dimensions(register, top)
        count = 1
        for n, _ in dims:
            count *= n
        arrays = ", ".join(f"({n}, {stride:#x})" for n, stride in dims)
        path = ".".join(path_of(register, top))
        out += [f'    Register {{ name: "{path}", offset: {address:#x}, arrays: &[{arrays}], '
                f"reset: {reset_of(register):#x}, "
                f"access: {access(register.has_sw_readable, register.has_sw_writable)}, fields: &["]
        for field in register.fields():
            out += [f'        Field {{ name: "{field.inst_name}", lsb: {field.low}, '
                    f"width: {field.width}, "
                    f"access: {access(field.is_sw_readable, field.is_sw_writable)} }},"]
        out += ["    ] },"]
    return out + ["];", ""]


PREAMBLE = """//! Generated by `cargo xtask regs` from `rtl/abi/nd_regs.rdl`: do not edit.
//!
//! A value type for each register, with its offset, reset value and fields, and a table of all.
#![allow(clippy::all)]

/// Who may touch a register or field from the host's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read and write.
    ReadWrite,
    /// Read only.
    ReadOnly,
    /// Write only.
    WriteOnly,
    /// Neither.
    None,
}

/// A field in the table of all registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The lowest bit.
    pub lsb: u32,
    /// The number of bits.
    pub width: u32,
    /// Who may touch it.
    pub access: Access,
}

/// A register in the table of all registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// The path of names, with dots.
    pub name: &'static str,
    /// The offset in bytes; of an array, of its first.
    pub offset: u32,
    /// For each array it is in: how many, and the bytes from one to the next.
    pub arrays: &'static [(u32, u32)],
    /// The value after reset.
    pub reset: u64,
    /// Who may touch it.
    pub access: Access,
    /// The fields, from the lowest bit.
    pub fields: &'static [Field],
}
"""


def main():
    compiler = RDLCompiler()
    compiler.compile_file(sys.argv[1])
    top = compiler.elaborate().top
    registers, memories, encodings = [], [], []
    for node in top.descendants(unroll=False):
        if isinstance(node, MemNode):
            memories.append(node)
        elif isinstance(node, RegNode) and not isinstance(node.parent, MemNode):
            registers.append(node)
        elif isinstance(node, FieldNode):
            encoding = node.get_property("encode")
            if encoding is not None and encoding not in encodings:
                encodings.append(encoding)
    taken = {camel("_".join(path_of(n, top))) for n in registers + memories}
    enums = {}
    for encoding in encodings:
        name = camel(re.sub(r"(_e|_t)$", "", encoding.type_name or encoding.__name__))
        enums[encoding] = name + "Code" if name in taken else name
    lines = [PREAMBLE]
    for encoding, name in enums.items():
        lines += rust_enum(encoding, name)
    for register in registers:
        lines += register_type(register, top, enums)
    for memory in memories:
        lines += window_type(memory, top)
    lines += table(registers, top)
    print("\n".join(lines))


main()
